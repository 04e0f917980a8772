//! A pull request: a machine of its own, born when a branch is pushed that wants one, or when somebody asks for it.
//!
//! What it is to be is its [`PullWanted`]; a follow-up that pushes to the same branch wants it again, with its own commit.
//! Where it is (GitHub, or the embedded forge) is not its business. The run it came from is over when its branch is
//! pushed: a pull request that cannot be opened does not undo that.

mod merge;
mod words;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::{HostId, Oid, PullId, RepoId, RunId, TaskId};
use crate::machine::{About, Consequence, IllegalFact, Machine, Next, names};
use crate::problem::Problem;

pub use merge::{BaseCheckout, MergeAsked, MergeLook, MergeObstacle, MergeRule, MergeWay, PlannedMerge, may_merge};
pub use words::PullWords;

/// How often a merge is worked out anew because others were faster.
pub const MERGE_TRIES: u32 = 5;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PullState {
    Open,
    Merged,
    Closed,
}

impl PullState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Merged => "merged",
            Self::Closed => "closed",
        }
    }
}

impl std::fmt::Display for PullState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a pull request is made from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PullDraft {
    pub title: String,
    pub body: String,
    pub head: String,
    pub base: String,
}

/// A pull request of the embedded forge.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LocalPull {
    pub repo: RepoId,
    pub number: u64,
    pub run: Option<RunId>,
    pub draft: PullDraft,
    pub head_oid: Oid,
    pub state: PullState,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Who wants it as it is wanted now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WantedBy {
    /// Words we made: they do not replace those of a pull request that is open already.
    Run,
    /// A person's words.
    Hand,
}

/// A pull request as it is to be.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PullWanted {
    pub repo: RepoId,
    pub host: HostId,
    pub task: TaskId,
    /// Whose branch it is.
    pub run: RunId,
    pub head: String,
    pub base: String,
    pub head_oid: Oid,
    #[serde(flatten)]
    pub words: PullWords,
    pub wanted_by: WantedBy,
    /// Once it is open, the run's worktree may go.
    pub then_release: bool,
    /// Once it is merged or closed, the run's worktree may go.
    #[serde(default)]
    pub release_when_over: bool,
    pub at: Timestamp,
}

impl PullWanted {
    pub fn draft(&self) -> PullDraft {
        PullDraft {
            title: self.words.title.clone(),
            body: self.words.body.clone(),
            head: self.head.clone(),
            base: self.base.clone(),
        }
    }
}

/// Where it is found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PullLink {
    pub number: u64,
    pub url: String,
}

/// What addresses of the embedded forge begin with.
pub const EMBEDDED: &str = "dandori:";

impl PullLink {
    /// It is in the embedded forge.
    pub fn is_embedded(&self) -> bool {
        self.url.starts_with(EMBEDDED)
    }
}

/// How a person has decided it goes on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum PullChange {
    Merge(PlannedMerge),
    Close,
    Reopen,
}

impl PullChange {
    pub const NAMES: &'static [&'static str] = &["merge", "close", "reopen"];

    pub fn name(&self) -> &'static str {
        match self {
            Self::Merge(_) => "merge",
            Self::Close => "close",
            Self::Reopen => "reopen",
        }
    }
}

/// The sum of a pull request's facts.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Pull {
    pub spec: PullSpec,
    pub wanted: PullWanted,
    pub standing: Standing,
    /// Why the last change that was decided on did not come about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Problem>,
}

/// What never changes about it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PullSpec {
    pub id: PullId,
    pub repo: RepoId,
    pub host: HostId,
    pub created_at: Timestamp,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Standing {
    /// The forge does not show it yet as it is wanted.
    Wanted {
        link: Option<PullLink>,
    },
    /// The forge is being asked.
    Putting {
        link: Option<PullLink>,
    },
    Open {
        link: PullLink,
    },
    /// The forge would not, or could not be asked.
    Failed {
        link: Option<PullLink>,
        problem: Problem,
    },
    /// What was decided is being done.
    Changing {
        link: PullLink,
        change: PullChange,
        /// It was wanted otherwise meanwhile: its branch has more commits.
        again: bool,
    },
    Closed {
        link: PullLink,
    },
    Merged {
        link: PullLink,
        /// When it was noticed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Timestamp>,
    },
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum PullFact {
    /// Opened or brought up to date, this is what it is to be. With another head it moves to that branch.
    PullWanted {
        wanted: PullWanted,
    },
    /// The forge is about to be asked.
    PullIntended,
    PullOpened {
        link: PullLink,
    },
    /// The one that was open shows what is wanted.
    PullUpdated {
        link: PullLink,
    },
    PullFailed {
        problem: Problem,
    },
    /// A person has decided; it is about to be done.
    ChangeIntended {
        change: PullChange,
    },
    /// What was decided did not come about: it stands as before.
    ChangeRefused {
        problem: Problem,
    },
    /// On the forge, as the two below.
    PullClosed {
        number: u64,
    },
    PullReopened {
        number: u64,
    },
    PullMerged {
        number: u64,
    },
}

names!(PullFact {
    PullWanted => "pull_wanted",
    PullIntended => "pull_intended",
    PullOpened => "pull_opened",
    PullUpdated => "pull_updated",
    PullFailed => "pull_failed",
    ChangeIntended => "change_intended",
    ChangeRefused => "change_refused",
    PullClosed => "pull_closed",
    PullReopened => "pull_reopened",
    PullMerged => "pull_merged",
});

/// Something to be done about it.
#[derive(Clone, PartialEq, Debug)]
pub enum PullStep {
    /// The forge is made to show what is wanted.
    Put(PutPull),
    Change {
        link: PullLink,
        change: PullChange,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub struct PutPull {
    pub wanted: PullWanted,
    /// The one that is there, perhaps with another head.
    pub link: Option<PullLink>,
}

impl Pull {
    pub fn new(id: PullId, wanted: PullWanted) -> Self {
        let spec = PullSpec { id, repo: wanted.repo, host: wanted.host, created_at: wanted.at };
        Self { spec, wanted, standing: Standing::Wanted { link: None }, refused: None }
    }

    pub fn link(&self) -> Option<&PullLink> {
        match &self.standing {
            Standing::Wanted { link } | Standing::Putting { link } | Standing::Failed { link, .. } => link.as_ref(),
            Standing::Open { link }
            | Standing::Changing { link, .. }
            | Standing::Closed { link }
            | Standing::Merged { link, .. } => Some(link),
        }
    }

    pub fn problem(&self) -> Option<&Problem> {
        match &self.standing {
            Standing::Failed { problem, .. } => Some(problem),
            Standing::Wanted { .. }
            | Standing::Putting { .. }
            | Standing::Open { .. }
            | Standing::Changing { .. }
            | Standing::Closed { .. }
            | Standing::Merged { .. } => None,
        }
    }

    /// Closed or merged on the forge.
    pub fn is_over(&self) -> bool {
        matches!(self.standing, Standing::Closed { .. } | Standing::Merged { .. })
    }

    /// When it was merged; of one that was recorded without it, when it was last wanted.
    pub fn merged_at(&self) -> Option<Timestamp> {
        match self.standing {
            Standing::Merged { at, .. } => Some(at.unwrap_or(self.wanted.at)),
            _ => None,
        }
    }

    /// The forge has not yet answered to what is wanted or decided.
    pub fn is_pending(&self) -> bool {
        matches!(self.standing, Standing::Wanted { .. } | Standing::Putting { .. } | Standing::Changing { .. })
    }

    /// The branch it is of.
    pub fn head(&self) -> &str {
        &self.wanted.head
    }

    fn after(&self, fact: &PullFact, at: Timestamp) -> Option<Standing> {
        use Standing::{Changing, Closed, Failed, Merged, Open, Putting, Wanted};
        let link = self.link().cloned();
        Some(match (fact, &self.standing) {
            // One that is over stays over: what is wanted after it is another.
            (PullFact::PullWanted { .. }, Closed { .. } | Merged { .. }) => return None,
            // What was decided comes first.
            (PullFact::PullWanted { .. }, Changing { link, change, .. }) => {
                Changing { link: link.clone(), change: change.clone(), again: true }
            }
            (PullFact::PullWanted { .. }, Wanted { .. } | Putting { .. } | Open { .. } | Failed { .. }) => {
                Wanted { link }
            }
            (PullFact::PullIntended, Wanted { .. }) => Putting { link },
            (PullFact::PullOpened { link } | PullFact::PullUpdated { link }, Putting { .. }) => {
                Open { link: link.clone() }
            }
            // It was wanted otherwise meanwhile: it is there, and has to be asked for once more.
            (PullFact::PullOpened { link } | PullFact::PullUpdated { link }, Wanted { .. }) => {
                Wanted { link: Some(link.clone()) }
            }
            (PullFact::PullFailed { problem }, Putting { .. }) => Failed { link, problem: problem.clone() },
            (PullFact::PullFailed { .. }, Wanted { .. }) => Wanted { link },
            (PullFact::ChangeIntended { change }, standing) => {
                let again = may_begin(change, standing)?;
                Changing { link: link?, change: change.clone(), again }
            }
            (PullFact::ChangeRefused { .. }, Changing { link, change, again }) => match (change, again) {
                (PullChange::Reopen, false) => Closed { link: link.clone() },
                (PullChange::Reopen, true) => Wanted { link: None },
                (_, false) => Open { link: link.clone() },
                (_, true) => Wanted { link: Some(link.clone()) },
            },
            // What is said of another than the one we know says nothing of it.
            (
                PullFact::PullClosed { number } | PullFact::PullMerged { number } | PullFact::PullReopened { number },
                _,
            ) if link.as_ref().is_none_or(|link| link.number != *number) => return None,
            (PullFact::PullReopened { .. }, Changing { link, change: PullChange::Reopen, again: true }) => {
                Wanted { link: Some(link.clone()) }
            }
            (
                PullFact::PullReopened { .. },
                Closed { link } | Changing { link, change: PullChange::Reopen, again: false },
            ) => Open { link: link.clone() },
            // Whoever looks before it is reopened sees it closed.
            (PullFact::PullClosed { .. }, Changing { change: PullChange::Reopen, .. }) => return None,
            (PullFact::PullClosed { .. }, Open { link } | Changing { link, again: false, .. }) => {
                Closed { link: link.clone() }
            }
            (PullFact::PullMerged { .. }, Open { link } | Closed { link } | Changing { link, again: false, .. }) => {
                Merged { link: link.clone(), at: Some(at) }
            }
            // Wanted again since: the one that has ended is no longer it, and another takes its place.
            (
                PullFact::PullClosed { .. } | PullFact::PullMerged { .. },
                Wanted { .. } | Changing { again: true, .. },
            ) => Wanted { link: None },
            (PullFact::PullClosed { .. } | PullFact::PullMerged { .. }, Putting { .. }) => Putting { link: None },
            (PullFact::PullClosed { .. } | PullFact::PullMerged { .. }, Failed { problem, .. }) => {
                Failed { link: None, problem: problem.clone() }
            }
            _ => return None,
        })
    }
}

/// Whether a change may be begun now: `None` is no; else whether it is wanted otherwise already.
fn may_begin(change: &PullChange, standing: &Standing) -> Option<bool> {
    match (change, standing) {
        (PullChange::Merge(_) | PullChange::Close, Standing::Open { .. })
        | (PullChange::Close, Standing::Failed { link: Some(_), .. })
        | (PullChange::Reopen, Standing::Closed { .. }) => Some(false),
        // Others were faster: the same merge, worked out anew.
        (PullChange::Merge(_), Standing::Changing { change: PullChange::Merge(_), again, .. }) => Some(*again),
        _ => None,
    }
}

impl Machine for Pull {
    const NAME: &'static str = "pull";
    const VERSION: i64 = 1;
    const FACTS: &'static [&'static str] = PullFact::NAMES;
    const INTENTS: &'static [&'static str] = &["put", "merge", "close", "reopen"];
    type Id = PullId;
    type Fact = PullFact;
    type Step = PullStep;

    fn id(&self) -> PullId {
        self.spec.id
    }

    fn about(&self) -> About {
        let wanted = &self.wanted;
        About { host: wanted.host, repo: Some(wanted.repo), task: Some(wanted.task), run: Some(wanted.run) }
    }

    fn status_name(&self) -> &'static str {
        match &self.standing {
            Standing::Wanted { .. } => "wanted",
            Standing::Putting { .. } => "being opened",
            Standing::Open { .. } => "open",
            Standing::Failed { .. } => "failed",
            Standing::Changing { change: PullChange::Merge(_), .. } => "being merged",
            Standing::Changing { change: PullChange::Close, .. } => "being closed",
            Standing::Changing { change: PullChange::Reopen, .. } => "being reopened",
            Standing::Closed { .. } => "closed",
            Standing::Merged { .. } => "merged",
        }
    }

    fn apply(&mut self, fact: &PullFact, at: Timestamp) -> Result<(), IllegalFact> {
        let after = self.after(fact, at).ok_or_else(|| IllegalFact::of(self, fact))?;
        self.standing = after;
        match fact {
            PullFact::PullWanted { wanted } => self.wanted = wanted.clone(),
            PullFact::ChangeIntended { .. } => self.refused = None,
            PullFact::ChangeRefused { problem } => self.refused = Some(problem.clone()),
            PullFact::PullIntended
            | PullFact::PullOpened { .. }
            | PullFact::PullUpdated { .. }
            | PullFact::PullFailed { .. }
            | PullFact::PullClosed { .. }
            | PullFact::PullReopened { .. }
            | PullFact::PullMerged { .. } => {}
        }
        Ok(())
    }

    fn next(&self, _now: Timestamp) -> Next<Self> {
        match &self.standing {
            Standing::Wanted { .. } => Next::Record(PullFact::PullIntended),
            Standing::Putting { link } => {
                Next::Take(PullStep::Put(PutPull { wanted: self.wanted.clone(), link: link.clone() }))
            }
            Standing::Changing { link, change, .. } => {
                Next::Take(PullStep::Change { link: link.clone(), change: change.clone() })
            }
            // What happens to it on the forge, or is asked for, comes from outside.
            Standing::Open { .. } | Standing::Failed { .. } | Standing::Closed { .. } => Next::Wait,
            Standing::Merged { .. } => Next::Rest,
        }
    }

    fn fact_name(fact: &PullFact) -> &'static str {
        fact.name()
    }

    fn intent_of(fact: &PullFact) -> Option<&'static str> {
        match fact {
            PullFact::PullIntended => Some("put"),
            PullFact::ChangeIntended { change } => Some(change.name()),
            _ => None,
        }
    }

    fn step_name(step: &PullStep) -> &'static str {
        match step {
            PullStep::Put(_) => "put",
            PullStep::Change { change, .. } => change.name(),
        }
    }

    fn carries_out(step: &PullStep) -> Option<&'static str> {
        Some(Self::step_name(step))
    }

    /// An open pull request, or one that is over, may let the worktree go.
    fn consequences(&self, facts: &[PullFact], _at: Timestamp) -> Vec<Consequence> {
        let is_there = facts.iter().any(|f| matches!(f, PullFact::PullOpened { .. } | PullFact::PullUpdated { .. }));
        let released = is_there && self.wanted.then_release || self.is_over() && self.wanted.release_when_over;
        released.then_some(Consequence::ReleaseRun(self.wanted.run)).into_iter().collect()
    }
}

#[cfg(test)]
mod tests;
