//! The loop that keeps formations going. Level, not edge: each look takes in all there is and does what follows from it; bells
//! only make the next look come sooner.

use std::time::Duration;

use dandori_domain::{Problem, RepoId};
use dandori_formation::Ledger;
use dandori_formation::protocol;
use dandori_store::Scope;

use super::{Formation, Point};
use crate::Engine;
use crate::trouble::store_problem;

/// How often time alone is asked what it has brought about.
const LOOK: Duration = Duration::from_secs(5);

impl Engine {
    pub(crate) async fn keep_formations(self) {
        let mut events = self.store().watch_events();
        loop {
            events.borrow_and_update();
            match self.store().formations().await {
                Ok(repos) => {
                    for repo in repos {
                        if let Err(problem) = Box::pin(self.keep_formation(repo)).await {
                            tracing::warn!("the formation of {repo}: {problem:?}");
                        }
                    }
                }
                Err(e) => tracing::warn!("cannot look for formations: {e}"),
            }
            tokio::select! {
                () = self.0.formations.notified() => {}
                _ = events.changed() => {}
                () = tokio::time::sleep(LOOK) => {}
                () = self.stopping().cancelled() => return,
            }
        }
    }

    /// One whose repository is not there, or another host's, waits.
    async fn keep_formation(&self, repo: RepoId) -> Result<(), Problem> {
        let known = self.store().repo(repo).await.map_err(|e| store_problem(&e))?;
        if known.host != self.life().host || self.0.edges.git.is_gone(&known) {
            return Ok(());
        }
        let formation = self.formation_in(repo).await?;
        formation.keep().await?;
        formation.write_page().await
    }
}

impl Formation {
    /// Until there is nothing left to do but wait.
    async fn keep(&self) -> Result<(), Problem> {
        self.let_time_pass().await?;
        self.attend_all().await?;
        self.stop_the_forgotten().await?;
        self.integrate_all().await?;
        self.take_commit_steps().await?;
        self.give_out().await
    }

    /// Deadlines, and planners that have to be told again.
    async fn let_time_pass(&self) -> Result<(), Problem> {
        let open = self.look(|book| book.open_commands()).await?;
        for command in open {
            let scope = Scope::Command(command);
            self.take(Point::Scanned, scope, move |book, step| protocol::scan(book, step, command)).await?;
        }
        Ok(())
    }

    /// dandori's own step at the end of a plan: everything is on the order's branch by now.
    async fn take_commit_steps(&self) -> Result<(), Problem> {
        let open = self.look(|book| book.open_commands()).await?;
        for command in open {
            let Some(task) = self.look(move |book| book.commit_step(command)).await? else { continue };
            let summary = "Everything is committed on the order's branch.".to_owned();
            let scope = Scope::Task(task);
            self.take(Point::Committed, scope, move |book, step| protocol::committed(book, step, task, &summary))
                .await?;
        }
        Ok(())
    }

    /// Whoever has nothing to do gets its next message.
    async fn give_out(&self) -> Result<(), Problem> {
        let is_up = self.look(|book| Ok(book.standing()?.is_up)).await?;
        if !is_up {
            return Ok(());
        }
        for agent in dandori_formation::AgentId::all(self.settings().workers) {
            let holder = self.engine.life().host.to_string();
            let claimed = self
                .take(Point::Claimed, Scope::Agent(agent), move |book, step| {
                    protocol::claim(book, step, agent, &holder)
                })
                .await?;
            if let Some(Some(claim)) = claimed {
                Box::pin(self.attend(claim.message)).await?;
            }
        }
        Ok(())
    }
}
