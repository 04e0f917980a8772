//! Pull requests asked for by hand: opened, brought up to date, moved to another branch.

use std::sync::Arc;
use std::time::Duration;

use dandori_domain::candidate::{Candidate, candidates};
use dandori_domain::plain::{plain, plain_line};
use dandori_domain::pull::{Pull, PullFact, PullWords, Standing, WantedBy};
use dandori_domain::run::{Run, Status};
use dandori_domain::task::Task;
use dandori_domain::{Oid, Problem, PullId};
use dandori_host::Env;

use super::{PullEntry, PullRecord};
use crate::Engine;
use crate::edges::{NO_BRANCH, Site};
use crate::run::check_words;
use crate::trouble::store_problem;

/// How long whoever asks for something by hand waits for the forge. Its own limits are below.
const PATIENCE: Duration = Duration::from_mins(3);

/// What was done about a pull request that was asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PutHow {
    Opened,
    Updated,
    /// It was open, and nothing else was asked for.
    Unchanged,
}

impl PutHow {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
        }
    }
}

/// A pull request that went along with a pick.
#[derive(Clone, Debug)]
pub struct Moved {
    /// What shows the picked branch now.
    pub entry: PullEntry,
    /// The one that showed the other branch before: the same, or, where a forge cannot change a head, one that is closed.
    pub before: u64,
    pub from: String,
}

impl Engine {
    /// The pull request of a run's branch: the one that is open or wanted, else the newest.
    pub(crate) async fn pull_of(&self, run: &Run) -> Result<Option<Pull>, Problem> {
        let pulls = self.store().pulls_of(run.spec.task).await.map_err(|e| store_problem(&e))?;
        Ok(super::pull_of_branch(&pulls, run).cloned())
    }

    /// The run whose branch is meant: the one that is named, or of a task the picked one, or the only one there is.
    pub async fn run_to_pull(&self, text: &str) -> Result<Run, Problem> {
        let runs = self.store().find_runs(text).await.map_err(|e| store_problem(&e))?;
        let (Some(newest), true) = (runs.last(), runs.len() > 1) else {
            return runs.into_iter().next().ok_or_else(|| Problem::NoSuchTask { text: text.to_owned() });
        };
        let task: Task = self.store().task(newest.spec.task).await.map_err(|e| store_problem(&e))?;
        let rivals = candidates(&runs);
        let picked = task.picked.and_then(|run| rivals.iter().find(|candidate| candidate.has(run)));
        if let Some(run) = picked.and_then(Candidate::to_pick) {
            return Ok(run.clone());
        }
        let ready: Vec<&Run> = rivals.iter().filter_map(Candidate::to_pick).collect();
        match ready.as_slice() {
            [] => Ok(newest.clone()),
            [one] => Ok((*one).clone()),
            several => Err(Problem::PickFirst {
                task: task.number.to_string(),
                candidates: several.iter().map(|run| run.spec.id.key().to_string()).collect(),
            }),
        }
    }

    /// `dandori pr create`: for a run that ended without one, or whose one failed; words of a person's replace those of one
    /// that is open.
    pub async fn create_pull(
        &self,
        run: &Run,
        title: Option<String>,
        body: Option<String>,
        caller: Option<Arc<Env>>,
    ) -> Result<(PullEntry, PutHow), Problem> {
        let nothing = || match (run.spec.id.key().to_string(), run.status()) {
            (run, Status::Succeeded) => Problem::NothingChanged { run },
            (run, status) => Problem::NothingToPull { run, status },
        };
        if run.status() != Status::Succeeded {
            return Err(nothing());
        }
        let repo = self.repo_here(run.spec.repo).await?;
        if let Some(title) = &title {
            check_words("title", title)?;
        }
        if let Some(body) = &body {
            check_words("body", body)?;
        }
        let site = Site { repo, base: None, own: self.own_env_for(caller.as_ref()) };
        let open = match self.pull_of(run).await?.as_ref().map(|pull| &pull.standing) {
            Some(Standing::Open { link }) => {
                let config = self.config_of(&site.repo)?;
                Some(self.0.edges.forge.show(&site, &config, link.number).await?)
            }
            _ => None,
        };
        let wanted_by = if title.is_some() || body.is_some() { WantedBy::Hand } else { WantedBy::Run };
        let how = match (&open, wanted_by) {
            (None, _) => PutHow::Opened,
            (Some(_), WantedBy::Hand) => PutHow::Updated,
            (Some(_), WantedBy::Run) => PutHow::Unchanged,
        };
        // What is not said anew stays as it is.
        let ours = match open {
            Some(PullRecord { draft, .. }) => PullWords { title: draft.title, body: draft.body },
            None => self.pull_words(run).await?,
        };
        let words = PullWords {
            title: title.map_or(ours.title, |title| plain_line(&title)),
            body: body.map_or(ours.body, |body| plain(&body)),
        };
        let mut wanted = run.pull_wanted(words, wanted_by, self.now()).ok_or_else(nothing)?;
        if let Some(workspace) = run.workspace().filter(|_| wanted.base == NO_BRANCH) {
            let began = run.spec.here.as_ref().map_or(&workspace.base_oid, |here| &here.commit);
            wanted.base = self.branch_to_pull_to(&site, began.clone()).await?;
        }
        let pull = self.store().want_pull(self.life(), wanted, self.now()).await.map_err(|e| store_problem(&e))?;
        self.0.kernel.recorded::<Pull>(&PullFact::PullWanted { wanted: pull.wanted.clone() }).await;
        self.remember_caller(run.spec.id, caller.as_ref());
        self.0.kernel.walk(&self.pulls(), pull.spec.id);
        Ok((self.shown_on_forge(&site, pull.spec.id).await?, how))
    }

    /// Of work that began at no branch: the one it goes back to, which may have been made since.
    pub(crate) async fn branch_to_pull_to(&self, site: &Site, began: Oid) -> Result<String, Problem> {
        let git = self.0.opener.open_as(site.repo.clone(), &site.own).git;
        let commit = began.clone();
        let found = self.blocking(move |_| git.branch_around(&commit)).await?.map_err(|e| e.problem())?;
        found.ok_or(Problem::NoBranchToPullTo { commit: began })
    }

    /// What the pull request of a run's branch says: with the follow-ups that led to it.
    pub(crate) async fn pull_words(&self, run: &Run) -> Result<PullWords, Problem> {
        let runs = self.store().runs_of(run.spec.task).await.map_err(|e| store_problem(&e))?;
        let all = candidates(&runs);
        let branch = all.iter().find(|candidate| candidate.has(run.spec.id));
        let before = branch.into_iter().flat_map(Candidate::runs).take_while(|earlier| earlier.spec.id != run.spec.id);
        let before: Vec<&Run> = before.filter(|earlier| earlier.status() == Status::Succeeded).collect();
        Ok(PullWords::of_all(run, &before))
    }

    /// The pull request of another branch of this task that a pick takes along; `None` when the picked branch has its own,
    /// or there is none.
    pub(crate) async fn pull_to_move(&self, run: &Run) -> Result<Option<Pull>, Problem> {
        let pulls = self.store().pulls_of(run.spec.task).await.map_err(|e| store_problem(&e))?;
        if pulls.iter().any(|pull| !pull.is_over() && Some(pull.head()) == run.branch()) {
            return Ok(None);
        }
        Ok(pulls.into_iter().find(|pull| !pull.is_over() && pull.link().is_some()))
    }

    /// Until the forge shows the picked branch.
    pub(crate) async fn moved(&self, before: &Pull, caller: Option<&Arc<Env>>) -> Result<Moved, Problem> {
        let pull: Pull = self.store().subject(before.spec.id).await.map_err(|e| store_problem(&e))?;
        self.remember_caller(pull.wanted.run, caller);
        self.0.kernel.recorded::<Pull>(&PullFact::PullWanted { wanted: pull.wanted.clone() }).await;
        self.0.kernel.walk(&self.pulls(), before.spec.id);
        let repo = self.repo_here(pull.spec.repo).await?;
        let site = Site { repo, base: None, own: self.own_env_for(caller) };
        let entry = self.shown_on_forge(&site, before.spec.id).await?;
        let number = before.link().map_or(entry.record.number, |link| link.number);
        Ok(Moved { entry, before: number, from: before.head().to_owned() })
    }

    /// The pull request as the forge shows it once it has answered.
    async fn shown_on_forge(&self, site: &Site, id: PullId) -> Result<PullEntry, Problem> {
        let pull = self.answered(id).await?;
        let link = match (pull.problem(), pull.link()) {
            (Some(problem), _) => return Err(problem.clone()),
            (None, Some(link)) => link,
            (None, None) => return Err(Problem::NoPullOf { text: pull.head().to_owned() }),
        };
        let config = self.config_of(&site.repo)?;
        let record = self.0.edges.forge.show(site, &config, link.number).await?;
        Ok(self.entry(&site.repo, record).await)
    }

    /// Until the forge has answered to what is wanted or decided.
    pub(super) async fn answered(&self, id: PullId) -> Result<Pull, Problem> {
        let mut events = self.store().watch_events();
        let waited = async {
            loop {
                events.borrow_and_update();
                let pull: Pull = self.store().subject(id).await.map_err(|e| store_problem(&e))?;
                if !pull.is_pending() {
                    return Ok(pull);
                }
                // The log is the truth; the bell may be lost.
                let _ = tokio::time::timeout(Duration::from_secs(1), events.changed()).await;
            }
        };
        let late = Problem::ForgeUnreachable { reason: "no answer yet; trying again".to_owned() };
        tokio::time::timeout(PATIENCE, waited).await.unwrap_or(Err(late))
    }
}
