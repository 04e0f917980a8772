//! How far a run has come: one state after the other, each with what is true in it and nothing else.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    Changes, Fact, Intent, PlannedCommit, PlannedPush, PlannedWorktree, ProcessRef, Sandbox, Status, Workspace,
};
use crate::agent::{Usage, Verdict};
use crate::id::Oid;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "at", rename_all = "snake_case")]
pub enum Progress {
    /// In the queue.
    Waiting,
    Admitted {
        admitted_at: Timestamp,
    },
    /// The worktree is being made, or was half made.
    Making {
        admitted_at: Timestamp,
        planned: PlannedWorktree,
    },
    /// The worktree is there, not yet set up.
    Ready {
        admitted_at: Timestamp,
        workspace: Workspace,
    },
    SettingUp {
        admitted_at: Timestamp,
        workspace: Workspace,
    },
    Prepared {
        admitted_at: Timestamp,
        workspace: Workspace,
    },
    /// The agent is being started, or was.
    Launching {
        admitted_at: Timestamp,
        workspace: Workspace,
    },
    Running {
        work: Work,
    },
    Ended {
        work: Work,
        ended: Ended,
    },
    Staged {
        work: Work,
        ended: Ended,
        staged: Staged,
    },
    Committing {
        work: Work,
        ended: Ended,
        staged: Staged,
        planned: PlannedCommit,
    },
    Committed {
        work: Work,
        ended: Ended,
        staged: Staged,
        commit: Commit,
    },
    Pushing {
        work: Work,
        ended: Ended,
        staged: Staged,
        commit: Commit,
        planned: PlannedPush,
    },
    Pushed {
        work: Work,
        ended: Ended,
        staged: Staged,
        commit: Commit,
    },
    /// Committed on its branch in a repository that has no remote.
    Local {
        work: Work,
        ended: Ended,
        staged: Staged,
        commit: Commit,
    },
}

/// An agent that was started, and where.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Work {
    pub admitted_at: Timestamp,
    pub workspace: Workspace,
    pub launched_at: Timestamp,
    pub shim: ProcessRef,
    pub sandbox: Sandbox,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ended {
    pub verdict: Verdict,
    pub exit: Option<i32>,
    pub signal: Option<i32>,
    pub usage: Usage,
    pub at: Timestamp,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Staged {
    pub tree: Oid,
    pub parent: Oid,
    /// `None`: the agent changed nothing, and there is nothing to commit. A merge is committed with no changes as well.
    pub changes: Option<Changes>,
}

/// What the run has committed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Commit {
    pub oid: Oid,
    /// How often it was put on somebody else's commits since it was last told to go on.
    pub rebased: u32,
    /// The newest foreign tip our commits were put on.
    pub rebased_onto: Option<Oid>,
}

impl Progress {
    /// Where it stands after `fact`; `None` when that cannot follow.
    pub(super) fn after(&self, fact: &Fact, at: Timestamp) -> Option<Self> {
        let next = match (fact, self.clone()) {
            (Fact::Admitted, Self::Waiting) => Self::Admitted { admitted_at: at },
            (Fact::Intended { intent }, before) => return before.intending(intent),
            (
                Fact::WorktreeReady { workspace, .. },
                Self::Admitted { admitted_at } | Self::Making { admitted_at, .. },
            ) => Self::Ready { admitted_at, workspace: workspace.clone() },
            (
                Fact::SetUpDone { .. },
                Self::Ready { admitted_at, workspace } | Self::SettingUp { admitted_at, workspace },
            ) => Self::Prepared { admitted_at, workspace },
            // A launch that was under way when a cancel came is a fact all the same: it must be stopped.
            (
                Fact::Launched { shim, sandbox },
                Self::Prepared { admitted_at, workspace } | Self::Launching { admitted_at, workspace },
            ) => {
                let (shim, sandbox) = (shim.clone(), sandbox.clone());
                Self::Running { work: Work { admitted_at, workspace, launched_at: at, shim, sandbox } }
            }
            (Fact::AgentEnded { verdict, exit, signal, usage }, Self::Running { work }) => {
                let ended = Ended { verdict: verdict.clone(), exit: *exit, signal: *signal, usage: *usage, at };
                Self::Ended { work, ended }
            }
            (Fact::Staged { tree, parent, changes }, Self::Ended { work, ended }) => {
                let staged = Staged { tree: tree.clone(), parent: parent.clone(), changes: *changes };
                Self::Staged { work, ended, staged }
            }
            (
                Fact::Committed { oid },
                Self::Staged { work, ended, staged } | Self::Committing { work, ended, staged, .. },
            ) if staged.changes.is_some() => {
                let commit = Commit { oid: oid.clone(), rebased: 0, rebased_onto: None };
                Self::Committed { work, ended, staged, commit }
            }
            (
                Fact::CommittedLocally { oid },
                Self::Staged { work, ended, staged } | Self::Committing { work, ended, staged, .. },
            ) if staged.changes.is_some() => {
                let commit = Commit { oid: oid.clone(), rebased: 0, rebased_onto: None };
                Self::Local { work, ended, staged, commit }
            }
            // There was a remote when it was committed, and there is none to push to.
            (
                Fact::CommittedLocally { oid },
                Self::Committed { work, ended, staged, commit } | Self::Pushing { work, ended, staged, commit, .. },
            ) if commit.oid == *oid => Self::Local { work, ended, staged, commit },
            (
                Fact::Rebased { onto, oid },
                Self::Committed { work, ended, staged, commit } | Self::Pushing { work, ended, staged, commit, .. },
            ) => {
                let rebased = commit.rebased + 1;
                let commit = Commit { oid: oid.clone(), rebased, rebased_onto: Some(onto.clone()) };
                Self::Committed { work, ended, staged, commit }
            }
            (
                Fact::Pushed { oid },
                Self::Committed { work, ended, staged, commit } | Self::Pushing { work, ended, staged, commit, .. },
            ) if commit.oid == *oid => Self::Pushed { work, ended, staged, commit },
            _ => return None,
        };
        Some(next)
    }

    fn intending(self, intent: &Intent) -> Option<Self> {
        let next = match (intent, self) {
            (Intent::Worktree(planned), Self::Admitted { admitted_at } | Self::Making { admitted_at, .. }) => {
                Self::Making { admitted_at, planned: planned.clone() }
            }
            (Intent::SetUp, Self::Ready { admitted_at, workspace }) => Self::SettingUp { admitted_at, workspace },
            (Intent::Launch, Self::Prepared { admitted_at, workspace }) => Self::Launching { admitted_at, workspace },
            (Intent::Commit(planned), Self::Staged { work, ended, staged }) if staged.changes.is_some() => {
                Self::Committing { work, ended, staged, planned: planned.clone() }
            }
            (Intent::Push(planned), Self::Committed { work, ended, staged, commit }) => {
                Self::Pushing { work, ended, staged, commit, planned: planned.clone() }
            }
            _ => return None,
        };
        Some(next)
    }

    /// Where it stands when what was intended is not to be: the state before the intent. A worktree that may be half made
    /// is kept in mind, so that it can be cleaned up.
    pub(super) fn without_intent(self) -> Self {
        match self {
            Self::SettingUp { admitted_at, workspace } => Self::Ready { admitted_at, workspace },
            Self::Launching { admitted_at, workspace } => Self::Prepared { admitted_at, workspace },
            Self::Committing { work, ended, staged, .. } => Self::Staged { work, ended, staged },
            Self::Pushing { work, ended, staged, commit, .. } => Self::Committed { work, ended, staged, commit },
            other => other,
        }
    }

    /// Told to go on: it may be put on somebody else's commits as often as at first.
    pub(super) fn with_fresh_retries(mut self) -> Self {
        if let Self::Committed { commit, .. } = &mut self {
            commit.rebased = 0;
        }
        self
    }

    /// The state as long as nothing stops it.
    pub(super) fn status(&self) -> Status {
        match self {
            Self::Waiting
            | Self::Admitted { .. }
            | Self::Making { .. }
            | Self::Ready { .. }
            | Self::SettingUp { .. }
            | Self::Prepared { .. }
            | Self::Launching { .. } => Status::Pending,
            Self::Running { .. } => Status::Running,
            Self::Ended { .. } => Status::Staging,
            Self::Staged { staged, .. } if staged.changes.is_none() => Status::Succeeded,
            Self::Staged { .. } | Self::Committing { .. } => Status::Committing,
            Self::Committed { .. } | Self::Pushing { .. } => Status::Pushing,
            Self::Pushed { .. } | Self::Local { .. } => Status::Succeeded,
        }
    }

    pub fn admitted_at(&self) -> Option<Timestamp> {
        match self {
            Self::Waiting => None,
            Self::Admitted { admitted_at }
            | Self::Making { admitted_at, .. }
            | Self::Ready { admitted_at, .. }
            | Self::SettingUp { admitted_at, .. }
            | Self::Prepared { admitted_at, .. }
            | Self::Launching { admitted_at, .. } => Some(*admitted_at),
            _ => self.work().map(|work| work.admitted_at),
        }
    }

    /// Where it works; also a worktree that is only meant, or half made.
    pub fn workspace(&self) -> Option<&Workspace> {
        match self {
            Self::Making { planned, .. } => Some(&planned.workspace),
            _ => self.ready_workspace(),
        }
    }

    /// A worktree that is there.
    pub fn ready_workspace(&self) -> Option<&Workspace> {
        match self {
            Self::Ready { workspace, .. }
            | Self::SettingUp { workspace, .. }
            | Self::Prepared { workspace, .. }
            | Self::Launching { workspace, .. } => Some(workspace),
            _ => self.work().map(|work| &work.workspace),
        }
    }

    pub fn is_set_up(&self) -> bool {
        matches!(self, Self::Prepared { .. } | Self::Launching { .. }) || self.work().is_some()
    }

    pub fn work(&self) -> Option<&Work> {
        match self {
            Self::Running { work }
            | Self::Ended { work, .. }
            | Self::Staged { work, .. }
            | Self::Committing { work, .. }
            | Self::Committed { work, .. }
            | Self::Pushing { work, .. }
            | Self::Pushed { work, .. }
            | Self::Local { work, .. } => Some(work),
            _ => None,
        }
    }

    pub fn ended(&self) -> Option<&Ended> {
        match self {
            Self::Ended { ended, .. }
            | Self::Staged { ended, .. }
            | Self::Committing { ended, .. }
            | Self::Committed { ended, .. }
            | Self::Pushing { ended, .. }
            | Self::Pushed { ended, .. }
            | Self::Local { ended, .. } => Some(ended),
            _ => None,
        }
    }

    pub fn staged(&self) -> Option<&Staged> {
        match self {
            Self::Staged { staged, .. }
            | Self::Committing { staged, .. }
            | Self::Committed { staged, .. }
            | Self::Pushing { staged, .. }
            | Self::Pushed { staged, .. }
            | Self::Local { staged, .. } => Some(staged),
            _ => None,
        }
    }

    pub fn commit(&self) -> Option<&Commit> {
        match self {
            Self::Committed { commit, .. }
            | Self::Pushing { commit, .. }
            | Self::Pushed { commit, .. }
            | Self::Local { commit, .. } => Some(commit),
            _ => None,
        }
    }

    /// What is on the remote.
    pub fn pushed(&self) -> Option<&Oid> {
        match self {
            Self::Pushed { commit, .. } => Some(&commit.oid),
            _ => None,
        }
    }

    /// What it has to show, where it belongs: on the remote, or on its own branch where there is no remote.
    pub fn delivered(&self) -> Option<&Oid> {
        match self {
            Self::Pushed { commit, .. } | Self::Local { commit, .. } => Some(&commit.oid),
            _ => None,
        }
    }

    /// Something was started, or is about to be: a process may be alive.
    pub(super) fn may_have_processes(&self) -> bool {
        matches!(self, Self::SettingUp { .. } | Self::Launching { .. }) || self.work().is_some()
    }
}
