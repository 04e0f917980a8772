//! A pull request: a machine of its own, born when a branch is pushed that wants one, or when somebody asks for it.
//!
//! What it is to be is its [`PullWanted`]; a follow-up that pushes to the same branch wants it again, with its own commit.
//! Where it is (GitHub, or the embedded forge) is not its business. The run it came from is over when its branch is
//! pushed: a pull request that cannot be opened does not undo that.

mod words;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::{HostId, Oid, PullId, RepoId, RunId, TaskId};
use crate::machine::{About, Consequence, IllegalFact, Machine, Next, names};
use crate::problem::Problem;

pub use words::PullWords;

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

/// The sum of a pull request's facts.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Pull {
    pub spec: PullSpec,
    pub wanted: PullWanted,
    pub standing: Standing,
}

/// What never changes about it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PullSpec {
    pub id: PullId,
    pub repo: RepoId,
    pub host: HostId,
    pub head: String,
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
    Closed {
        link: PullLink,
    },
    Merged {
        link: PullLink,
    },
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum PullFact {
    /// Opened or brought up to date, this is what it is to be.
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
    PullClosed => "pull_closed",
    PullReopened => "pull_reopened",
    PullMerged => "pull_merged",
});

/// The one thing that is done about it: the forge is made to show what is wanted.
#[derive(Clone, PartialEq, Debug)]
pub struct PutPull {
    pub wanted: PullWanted,
    pub link: Option<PullLink>,
}

impl Pull {
    pub fn new(id: PullId, wanted: PullWanted) -> Self {
        let spec =
            PullSpec { id, repo: wanted.repo, host: wanted.host, head: wanted.head.clone(), created_at: wanted.at };
        Self { spec, wanted, standing: Standing::Wanted { link: None } }
    }

    pub fn link(&self) -> Option<&PullLink> {
        match &self.standing {
            Standing::Wanted { link } | Standing::Putting { link } | Standing::Failed { link, .. } => link.as_ref(),
            Standing::Open { link } | Standing::Closed { link } | Standing::Merged { link } => Some(link),
        }
    }

    pub fn problem(&self) -> Option<&Problem> {
        match &self.standing {
            Standing::Failed { problem, .. } => Some(problem),
            Standing::Wanted { .. }
            | Standing::Putting { .. }
            | Standing::Open { .. }
            | Standing::Closed { .. }
            | Standing::Merged { .. } => None,
        }
    }

    /// Closed or merged on the forge.
    pub fn is_over(&self) -> bool {
        matches!(self.standing, Standing::Closed { .. } | Standing::Merged { .. })
    }

    /// The forge has not yet answered to what is wanted.
    pub fn is_pending(&self) -> bool {
        matches!(self.standing, Standing::Wanted { .. } | Standing::Putting { .. })
    }

    fn after(&self, fact: &PullFact) -> Option<Standing> {
        use Standing::{Closed, Failed, Merged, Open, Putting, Wanted};
        let link = self.link().cloned();
        Some(match (fact, &self.standing) {
            // One that is over stays over: what is wanted after it is another.
            (PullFact::PullWanted { .. }, Closed { .. } | Merged { .. }) => return None,
            (PullFact::PullWanted { .. }, _) => Wanted { link },
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
            // What is said of another than the one we know says nothing of it.
            (
                PullFact::PullClosed { number } | PullFact::PullMerged { number } | PullFact::PullReopened { number },
                _,
            ) if link.as_ref().is_none_or(|link| link.number != *number) => return None,
            (PullFact::PullReopened { .. }, Closed { link }) => Open { link: link.clone() },
            (PullFact::PullClosed { .. }, Open { link }) => Closed { link: link.clone() },
            (PullFact::PullMerged { .. }, Open { link } | Closed { link }) => Merged { link: link.clone() },
            // Wanted again since: the one that has ended is no longer it, and another takes its place.
            (PullFact::PullClosed { .. } | PullFact::PullMerged { .. }, Wanted { .. }) => Wanted { link: None },
            (PullFact::PullClosed { .. } | PullFact::PullMerged { .. }, Putting { .. }) => Putting { link: None },
            (PullFact::PullClosed { .. } | PullFact::PullMerged { .. }, Failed { problem, .. }) => {
                Failed { link: None, problem: problem.clone() }
            }
            _ => return None,
        })
    }
}

impl Machine for Pull {
    const NAME: &'static str = "pull";
    const VERSION: i64 = 1;
    const FACTS: &'static [&'static str] = PullFact::NAMES;
    const INTENTS: &'static [&'static str] = &["put"];
    type Id = PullId;
    type Fact = PullFact;
    type Step = PutPull;

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
            Standing::Closed { .. } => "closed",
            Standing::Merged { .. } => "merged",
        }
    }

    fn apply(&mut self, fact: &PullFact, _at: Timestamp) -> Result<(), IllegalFact> {
        let after = self.after(fact).ok_or_else(|| IllegalFact::of(self, fact))?;
        self.standing = after;
        if let PullFact::PullWanted { wanted } = fact {
            self.wanted = wanted.clone();
        }
        Ok(())
    }

    fn next(&self, _now: Timestamp) -> Next<Self> {
        match &self.standing {
            Standing::Wanted { .. } => Next::Record(PullFact::PullIntended),
            Standing::Putting { link } => Next::Take(PutPull { wanted: self.wanted.clone(), link: link.clone() }),
            // What happens to it on the forge, or is asked for, comes from outside.
            Standing::Open { .. } | Standing::Failed { .. } | Standing::Closed { .. } => Next::Wait,
            Standing::Merged { .. } => Next::Rest,
        }
    }

    fn fact_name(fact: &PullFact) -> &'static str {
        fact.name()
    }

    fn intent_of(fact: &PullFact) -> Option<&'static str> {
        matches!(fact, PullFact::PullIntended).then_some("put")
    }

    fn step_name(_step: &PutPull) -> &'static str {
        "put"
    }

    fn carries_out(_step: &PutPull) -> Option<&'static str> {
        Some("put")
    }

    fn consequences(&self, facts: &[PullFact], _at: Timestamp) -> Vec<Consequence> {
        let is_there = facts.iter().any(|f| matches!(f, PullFact::PullOpened { .. } | PullFact::PullUpdated { .. }));
        let released = is_there && self.wanted.then_release;
        released.then_some(Consequence::ReleaseRun(self.wanted.run)).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn wanted(oid: &str, then_release: bool) -> PullWanted {
        PullWanted {
            repo: RepoId::mint(at(0), 1),
            host: HostId::mint(at(0), 2),
            task: TaskId::mint(at(0), 3),
            run: RunId::mint(at(0), 4),
            head: "dandori/abcd1234".into(),
            base: "main".into(),
            head_oid: Oid::new(oid),
            words: PullWords { title: "t".into(), body: "b".into() },
            wanted_by: WantedBy::Run,
            then_release,
            at: at(0),
        }
    }

    fn link() -> PullLink {
        PullLink { number: 1, url: "u".into() }
    }

    fn taking(pull: &mut Pull, facts: &[PullFact]) {
        for fact in facts {
            pull.apply(fact, at(1)).unwrap();
        }
    }

    #[test]
    fn what_is_wanted_is_put_on_the_forge_and_then_waits_for_what_happens_there() {
        let mut pull = Pull::new(PullId::mint(at(0), 5), wanted("a", false));
        assert_eq!(pull.next(at(1)), Next::Record(PullFact::PullIntended));
        taking(&mut pull, &[PullFact::PullIntended]);
        assert_eq!(pull.next(at(1)), Next::Take(PutPull { wanted: wanted("a", false), link: None }));
        taking(&mut pull, &[PullFact::PullOpened { link: link() }]);
        assert_eq!((pull.next(at(1)), pull.is_pending()), (Next::Wait, false));
        taking(&mut pull, &[PullFact::PullMerged { number: 1 }]);
        assert_eq!(pull.next(at(1)), Next::Rest);
        assert!(pull.apply(&PullFact::PullWanted { wanted: wanted("b", false) }, at(2)).is_err(), "it is over");
    }

    #[test]
    fn one_that_is_wanted_otherwise_while_the_forge_is_asked_is_asked_for_again() {
        let mut pull = Pull::new(PullId::mint(at(0), 5), wanted("a", false));
        taking(&mut pull, &[PullFact::PullIntended, PullFact::PullWanted { wanted: wanted("b", false) }]);
        taking(&mut pull, &[PullFact::PullOpened { link: link() }]);
        assert!(pull.is_pending() && pull.link() == Some(&link()), "{pull:?}");
        taking(&mut pull, &[PullFact::PullIntended]);
        assert_eq!(pull.next(at(1)), Next::Take(PutPull { wanted: wanted("b", false), link: Some(link()) }));
    }

    #[test]
    fn one_that_failed_is_tried_again_when_somebody_wants_it() {
        let mut pull = Pull::new(PullId::mint(at(0), 5), wanted("a", false));
        let problem = Problem::ForgeRefused { reason: "no".into() };
        taking(&mut pull, &[PullFact::PullIntended, PullFact::PullFailed { problem: problem.clone() }]);
        assert_eq!((pull.problem(), pull.next(at(1))), (Some(&problem), Next::Wait));
        taking(&mut pull, &[PullFact::PullWanted { wanted: wanted("a", false) }]);
        assert_eq!(pull.next(at(1)), Next::Record(PullFact::PullIntended));
    }

    #[test]
    fn an_open_one_lets_the_worktree_go_where_the_configuration_says_so() {
        let opened = [PullFact::PullOpened { link: link() }];
        let pull = |then_release| Pull::new(PullId::mint(at(0), 5), wanted("a", then_release));
        let release = vec![Consequence::ReleaseRun(RunId::mint(at(0), 4))];
        assert_eq!(pull(true).consequences(&opened, at(1)), release);
        assert_eq!(pull(false).consequences(&opened, at(1)), Vec::new());
        assert_eq!(pull(true).consequences(&[PullFact::PullIntended], at(1)), Vec::new());
    }

    #[test]
    fn one_closed_by_hand_can_be_opened_again_and_nothing_is_closed_that_never_was() {
        let mut pull = Pull::new(PullId::mint(at(0), 5), wanted("a", false));
        assert!(pull.apply(&PullFact::PullClosed { number: 1 }, at(1)).is_err(), "it is nowhere yet");
        taking(&mut pull, &[PullFact::PullIntended, PullFact::PullOpened { link: link() }]);
        assert!(pull.apply(&PullFact::PullClosed { number: 2 }, at(1)).is_err(), "another one was closed");
        taking(&mut pull, &[PullFact::PullClosed { number: 1 }]);
        assert!(pull.is_over());
        taking(&mut pull, &[PullFact::PullReopened { number: 1 }]);
        assert!(!pull.is_over());
    }

    #[test]
    fn one_that_was_merged_unnoticed_does_not_swallow_what_is_wanted_since() {
        let mut pull = Pull::new(PullId::mint(at(0), 5), wanted("a", false));
        taking(&mut pull, &[PullFact::PullIntended, PullFact::PullOpened { link: link() }]);
        taking(&mut pull, &[PullFact::PullWanted { wanted: wanted("b", false) }, PullFact::PullMerged { number: 1 }]);
        assert!(pull.is_pending() && pull.link().is_none(), "{pull:?}");
        taking(&mut pull, &[PullFact::PullIntended]);
        let second = PullLink { number: 2, url: "v".into() };
        taking(&mut pull, &[PullFact::PullOpened { link: second.clone() }]);
        assert_eq!((pull.link(), pull.is_over()), (Some(&second), false));
    }
}
