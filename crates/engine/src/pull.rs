//! Pull requests: walked until the forge shows what is wanted and has done what was decided, and asked for by hand.

mod change;
mod find;
mod forge;
mod notice;
mod page;
mod put;

use dandori_domain::pull::{Pull, PullDraft, PullFact, PullLink, PullState, PullStep, PutPull};
use dandori_domain::run::Run;
use dandori_domain::task::Repo;
use dandori_domain::{AgentName, Problem, RunId, TaskNumber};
use dandori_store::Recorded;
use jiff::Timestamp;
use tokio::sync::Notify;

use crate::Engine;
use crate::kernel::{Kernel, WalkError, Walker};

pub use change::{Ended, LocalBase, MergeRequest};
pub(crate) use forge::RealForge;
pub use page::{PageCommit, PageFile, PullContents, PullPage};
pub use put::{Moved, PutHow};

/// A pull request of either forge.
#[derive(Clone, Debug)]
pub struct PullRecord {
    pub number: u64,
    pub url: String,
    pub draft: PullDraft,
    pub state: PullState,
    pub commit: Option<String>,
    pub forge: &'static str,
    pub run: Option<RunId>,
    pub created_at: Timestamp,
}

impl PullRecord {
    /// It is one of the embedded forge.
    pub fn is_embedded(&self) -> bool {
        self.forge == EMBEDDED_FORGE
    }
}

pub(crate) const EMBEDDED_FORGE: &str = "local";

/// A pull request, and whose work it is.
#[derive(Clone, Debug)]
pub struct PullEntry {
    pub record: PullRecord,
    pub maker: Option<Maker>,
}

/// The run a pull request is of.
#[derive(Clone, Debug)]
pub struct Maker {
    pub task: TaskNumber,
    pub run: RunId,
    pub agent: AgentName,
}

/// How pull requests are walked.
#[derive(Clone)]
pub(crate) struct PullWalker(pub(crate) Engine);

impl Walker for PullWalker {
    type Machine = Pull;

    fn kernel(&self) -> &Kernel {
        &self.0.0.kernel
    }

    /// One that cannot be opened does not undo the push: it says why, and waits to be wanted again.
    async fn take(&self, step: PullStep, pull: &Pull, _bell: &Notify) -> Result<Vec<PullFact>, WalkError> {
        let (outcome, refused): (_, fn(Problem) -> PullFact) = match step {
            PullStep::Put(step) => (self.0.put_pull(&step).await, |problem| PullFact::PullFailed { problem }),
            PullStep::Change { link, change } => {
                let changed = self.0.change_pull(pull, &link, change).await;
                (changed, |problem| PullFact::ChangeRefused { problem })
            }
        };
        match outcome {
            Ok(fact) => Ok(vec![fact]),
            Err(problem @ (Problem::StoreUnavailable { .. } | Problem::StoreFull)) => Err(WalkError::Trouble(problem)),
            Err(problem) => Ok(vec![refused(problem)]),
        }
    }

    fn recorded(&self, recorded: &Recorded<Pull>) {
        recorded.touched.iter().for_each(|touched| self.0.wake(&touched.subject));
    }

    fn rests(&self, pull: &Pull) {
        self.0.forget_caller(pull.wanted.run);
    }
}

impl Engine {
    async fn put_pull(&self, step: &PutPull) -> Result<PullFact, Problem> {
        let wanted = &step.wanted;
        let site = self.site_of(wanted.repo, wanted.run).await?;
        let config = self.config_of(&site.repo)?;
        let record = self.0.edges.forge.put(&site, &config, step).await?;
        let link = PullLink { number: record.number, url: record.url };
        let is_new = step.link.as_ref().is_none_or(|known| *known != link);
        Ok(if is_new { PullFact::PullOpened { link } } else { PullFact::PullUpdated { link } })
    }

    /// Those of a repository in a state, or all of them, newest first.
    pub async fn list_pulls(
        &self,
        path: &camino::Utf8Path,
        state: Option<PullState>,
    ) -> Result<Vec<PullEntry>, Problem> {
        let site = self.site_at(path).await?;
        let config = self.config_of(&site.repo)?;
        self.notice_merged(&site.repo).await;
        let records = self.0.edges.forge.list(&site, &config, state).await?;
        self.notice_ends(&site, &config, &records, state).await;
        let mut entries = Vec::with_capacity(records.len());
        for record in records {
            entries.push(self.entry(&site.repo, record).await);
        }
        Ok(entries)
    }

    /// Who made it, as far as the store knows.
    async fn entry(&self, repo: &Repo, record: PullRecord) -> PullEntry {
        let run = match record.run {
            Some(run) => Some(run),
            None => self.pull_known_as(repo, &record).await.map(|pull| pull.wanted.run),
        };
        let run = match run {
            Some(run) => self.store().run(run).await.ok(),
            None => None,
        };
        let maker = run.map(|run| Maker { task: run.spec.number, run: run.spec.id, agent: run.spec.agent.clone() });
        PullEntry { record, maker }
    }

    /// What the store knows of a forge's pull request.
    async fn pull_known_as(&self, repo: &Repo, record: &PullRecord) -> Option<Pull> {
        let pulls = self.store().pulls_on(repo.id, record.draft.head.clone()).await.ok()?;
        pulls.into_iter().rfind(|pull| pull.link().is_some_and(|link| link.number == record.number))
    }
}

/// The one that is open or wanted, else the newest. They come oldest first.
pub fn pull_of_branch<'p>(pulls: &'p [Pull], run: &Run) -> Option<&'p Pull> {
    let mut of_branch = pulls.iter().filter(|pull| Some(pull.head()) == run.branch());
    of_branch.clone().find(|pull| !pull.is_over()).or_else(|| of_branch.next_back())
}
