//! What workers have done comes together on the order's branch, one commit after the other; then it becomes one pull request.

use dandori_domain::failure::Failure;
use dandori_domain::run::{Brings, Errand, OnConflict, Purpose, Role, Run, Status};
use dandori_domain::{Epoch, Problem};
use dandori_formation::protocol::{self, Verdict};
use dandori_formation::{AgentId, Command, Ledger, Outcome, ResultRow, Task};
use dandori_store::Scope;

use super::ids::{integration, order_task};
use super::tell::{ToTell, gather_pull};
use super::{Formation, Point};
use crate::run::{NewTaskRequest, RunChoice};
use crate::trouble::store_problem;

/// How often a merge is tried that fails for reasons which have nothing to do with the work.
const ATTEMPTS: u32 = 3;

impl Formation {
    pub(super) async fn integrate_all(&self) -> Result<(), Problem> {
        let open = self.look(|book| book.open_commands()).await?;
        for command in open {
            // One at a time: each is merged into what the one before has left.
            let next = self.look(move |book| book.to_verify(command)).await?;
            if let Some((command, task, result)) = next {
                self.integrate(&command, &task, &result).await?;
            }
        }
        Ok(())
    }

    async fn integrate(&self, command: &Command, task: &Task, result: &ResultRow) -> Result<(), Problem> {
        for attempt in 0..ATTEMPTS {
            let errand = Errand {
                command: Some(command.id),
                message: integration(result.id),
                epoch: Epoch(i64::from(attempt) + 1),
                purpose: Purpose::Integrate,
                agent: task.doer.worker().unwrap_or(AgentId::Planner).to_string(),
                role: Role::Worker,
                about: dandori_domain::wording::title(&command.content),
            };
            let Some(run) = self.run_if_any(errand.run_id()).await? else {
                return match self.start_integration(errand, command, task, result).await {
                    Ok(()) => Ok(()),
                    Err(problem) if attempt + 1 == ATTEMPTS => {
                        let why = self.engine.put_in_words(&ToTell::Problem(problem));
                        self.decide(task, result, Verdict::Misfit { why }).await
                    }
                    Err(problem) => Err(problem),
                };
            };
            if !run.is_settled() {
                return Ok(());
            }
            let words = |failure: &Failure| self.engine.put_in_words(&ToTell::Failure(failure.clone()));
            if let Some(verdict) = verdict(&run, words) {
                return self.decide(task, result, verdict).await;
            }
        }
        let why = "it could not be merged: the merge failed again and again".to_owned();
        self.decide(task, result, Verdict::Misfit { why }).await
    }

    async fn decide(&self, task: &Task, result: &ResultRow, verdict: Verdict) -> Result<(), Problem> {
        let (task, result) = (task.id, result.id);
        self.take(Point::Verified, Scope::Task(task), move |book, step| {
            protocol::verified(book, step, task, result, verdict.clone())
        })
        .await?;
        Ok(())
    }

    /// A run of the order's own task that brings the worker's commit.
    async fn start_integration(
        &self,
        errand: Errand,
        command: &Command,
        task: &Task,
        result: &ResultRow,
    ) -> Result<(), Problem> {
        let Some(oid) = result.report.work.clone() else { return Ok(()) };
        let agent = task.doer.worker().unwrap_or(AgentId::Planner);
        let choice = RunChoice {
            pr: Some(false),
            caller: self.engine.formation_caller(self.repo.id),
            brings: Some(Brings::Commit { oid, name: task.name.clone(), on_conflict: OnConflict::GiveBack }),
            check: self.settings().check.clone(),
            errand: Some(errand),
            ..RunChoice::default()
        };
        match self.task_with_runs(order_task(command.id)).await? {
            None => {
                let request = NewTaskRequest {
                    id: Some(order_task(command.id)),
                    path: self.repo.root.clone(),
                    instruction: command.content.clone(),
                    agents: vec![self.agent_of(agent).to_string()],
                    base: None,
                    choice,
                };
                self.engine.create_task(request).await?;
            }
            Some((_, Some(run))) if !run.is_settled() => {}
            Some((order, Some(run))) => {
                self.engine.follow_up(&order, &run, command.content.clone(), choice).await?;
            }
            Some((_, None)) => {}
        }
        Ok(())
    }

    /// The pull request of an order that is complete: asked for once, however often this is called.
    pub(super) async fn pull_of_order(
        &self,
        command: &Command,
        result: &ResultRow,
    ) -> Result<Option<(u64, String)>, Problem> {
        if result.outcome != Outcome::Completed {
            return Ok(None);
        }
        let Some((_, Some(_))) = self.task_with_runs(order_task(command.id)).await? else { return Ok(None) };
        let runs = self.engine.store().runs_of(order_task(command.id)).await.map_err(|e| store_problem(&e))?;
        let Some(run) = runs.into_iter().rev().find(|run| run.status() == Status::Succeeded) else { return Ok(None) };
        let (about, row) = (command.clone(), result.clone());
        let told = self.look(move |book| gather_pull(book, about.clone(), &row)).await?;
        let words = self.engine.put_in_words(&ToTell::Pull(Box::new(told)));
        let (title, body) = words.split_once("\n\n").unwrap_or((&words, ""));
        let caller = self.engine.formation_caller(self.repo.id);
        let made = self.engine.create_pull(&run, Some(title.to_owned()), Some(body.to_owned()), caller).await?;
        Ok(Some((made.0.record.number, made.0.record.url)))
    }
}

/// `None`: it says nothing about the work, and is tried again.
fn verdict(run: &Run, words: impl Fn(&Failure) -> String) -> Option<Verdict> {
    match (run.status(), run.failure()) {
        (Status::Succeeded, _) => Some(Verdict::Fits),
        (Status::Canceled, _) => Some(Verdict::Misfit { why: "a person canceled the merge".to_owned() }),
        (_, Some(failure @ (Failure::DoesNotMerge { .. } | Failure::Check { .. }))) => {
            Some(Verdict::Misfit { why: words(failure) })
        }
        _ => None,
    }
}
