//! A run: what was asked, what has happened, and what that means.
//!
//! A run's truth is the list of its facts. [`RunFacts`] is their sum, made by [`RunFacts::apply`] alone, the one
//! place that says which fact may follow which. [`RunFacts::status`] derives the state of T7 from it; no state is
//! ever stored. Before each side effect an [`Intent`] is recorded as a fact; the fact of its outcome settles it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::agent::{Usage, Verdict};
use crate::failure::{Failure, Stage};
use crate::id::{Oid, SessionId};
use crate::problem::Problem;
use crate::step::{Step, next_step};

pub use crate::fact::{
    Arrival, BranchFate, Changes, Fact, FactKind, Intent, IntentKind, Note, ProcessRef, Refusal, RefusedWhat, Sandbox,
    Workspace,
};
pub use crate::spec::{
    Cleanup, CustomAgent, Limits, RunKind, RunSettings, RunSpec, SandboxMode, SandboxSettings, SetUpChoice,
};

/// The states of T7.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    Pending,
    Running,
    Staging,
    Committing,
    Pushing,
    Succeeded,
    Failed,
    Canceled,
}

impl Status {
    pub const ALL: [Self; 8] = [
        Self::Pending,
        Self::Running,
        Self::Staging,
        Self::Committing,
        Self::Pushing,
        Self::Succeeded,
        Self::Failed,
        Self::Canceled,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Running => "RUNNING",
            Self::Staging => "STAGING",
            Self::Committing => "COMMITTING",
            Self::Pushing => "PUSHING",
            Self::Succeeded => "SUCCEEDED",
            Self::Failed => "FAILED",
            Self::Canceled => "CANCELED",
        }
    }

    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Canceled)
    }
}

/// The sum of a run's facts.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunFacts {
    pub spec: RunSpec,
    pub admitted_at: Option<Timestamp>,
    /// The newest intent whose outcome is not yet known.
    pub open_intent: Option<Intent>,
    /// Where the worktree is or was meant to be: also what a half-made one is cleaned up by.
    pub workspace: Option<Workspace>,
    pub worktree_ready: bool,
    pub set_up_done: bool,
    pub launched_at: Option<Timestamp>,
    pub shim: Option<ProcessRef>,
    pub sandbox: Option<Sandbox>,
    pub session: Option<SessionId>,
    pub ended: Option<Ended>,
    pub staged: Option<Staged>,
    pub commit: Option<Oid>,
    pub rebased: u32,
    /// The newest foreign tip our commits were put on.
    pub rebased_onto: Option<Oid>,
    pub pushed: Option<Oid>,
    pub pull: Option<Pull>,
    pub failure: Option<Failure>,
    pub cancel_requested_at: Option<Timestamp>,
    pub stopped: bool,
    pub preserved: Option<Preserved>,
    pub removed: Option<BranchFate>,
    pub notes: Vec<Note>,
    pub settled_at: Option<Timestamp>,
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
    pub changes: Option<Changes>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "pull", rename_all = "snake_case")]
pub enum Pull {
    Opened { number: u64, url: String },
    Failed { problem: Problem },
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Preserved {
    pub reference: String,
    pub oid: Oid,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a run that is {status} takes no fact {fact}", status = status.as_str(), fact = fact.as_str())]
pub struct IllegalFact {
    pub status: Status,
    pub fact: FactKind,
}

impl RunFacts {
    pub fn new(spec: RunSpec) -> Self {
        let workspace = match &spec.kind {
            RunKind::First => None,
            RunKind::FollowUp { workspace, .. } => Some(workspace.clone()),
        };
        Self {
            spec,
            admitted_at: None,
            open_intent: None,
            workspace,
            worktree_ready: false,
            set_up_done: false,
            launched_at: None,
            shim: None,
            sandbox: None,
            session: None,
            ended: None,
            staged: None,
            commit: None,
            rebased: 0,
            rebased_onto: None,
            pushed: None,
            pull: None,
            failure: None,
            cancel_requested_at: None,
            stopped: false,
            preserved: None,
            removed: None,
            notes: Vec::new(),
            settled_at: None,
        }
    }

    /// The state of T7, derived.
    pub fn status(&self) -> Status {
        if self.is_canceled() {
            return Status::Canceled;
        }
        if self.failure.is_some() {
            return Status::Failed;
        }
        if self.launched_at.is_none() {
            return Status::Pending;
        }
        if self.ended.is_none() {
            return Status::Running;
        }
        match (&self.staged, &self.commit, &self.pushed) {
            (None, _, _) => Status::Staging,
            (Some(Staged { changes: None, .. }), _, _) => Status::Succeeded,
            (Some(_), None, _) => Status::Committing,
            (Some(_), Some(_), None) => Status::Pushing,
            (Some(_), Some(_), Some(_)) => Status::Succeeded,
        }
    }

    /// Waiting for a place: neither admitted nor given up.
    pub fn is_waiting(&self) -> bool {
        self.admitted_at.is_none() && self.cancel_requested_at.is_none() && self.settled_at.is_none()
    }

    pub fn is_settled(&self) -> bool {
        self.settled_at.is_some()
    }

    /// A cancel that came in time has taken effect: nothing of the run is alive any more.
    fn is_canceled(&self) -> bool {
        self.cancel_requested_at.is_some() && (self.stopped || !self.may_have_processes())
    }

    /// A launch was at least intended: something may be running.
    pub fn may_have_processes(&self) -> bool {
        self.launched_at.is_some() || matches!(self.open_intent, Some(Intent::Launch | Intent::SetUp))
    }

    /// The conversation a follow-up would go on with.
    pub fn conversation(&self) -> Option<&SessionId> {
        self.session.as_ref().or(match &self.spec.kind {
            RunKind::FollowUp { session, .. } => session.as_ref(),
            RunKind::First => None,
        })
    }

    /// Where a follow-up would work: commits of ours that never got to the remote are still the task's own.
    pub fn next_workspace(&self) -> Option<Workspace> {
        let workspace = self.workspace.clone()?;
        let shared = self.pushed.as_ref().or(self.rebased_onto.as_ref());
        Some(Workspace { ours_after: shared.unwrap_or(&workspace.ours_after).clone(), ..workspace })
    }

    pub fn summary(&self) -> Option<&str> {
        match &self.ended.as_ref()?.verdict {
            Verdict::Done { summary } => Some(summary),
            Verdict::Failed { .. } => None,
        }
    }

    /// Takes one more fact in, or says that it cannot be.
    pub fn apply(&mut self, fact: &Fact, at: Timestamp) -> Result<(), IllegalFact> {
        if !self.takes(fact) {
            return Err(IllegalFact { status: self.status(), fact: fact.kind() });
        }
        match fact {
            Fact::Admitted => self.admitted_at = Some(at),
            Fact::Intended { intent } => {
                if let Intent::Worktree { workspace, .. } = intent {
                    self.workspace = Some(workspace.clone());
                }
                self.open_intent = Some(intent.clone());
            }
            Fact::WorktreeReady { workspace, .. } => {
                self.workspace = Some(workspace.clone());
                self.worktree_ready = true;
                self.settle_intent(IntentKind::Worktree);
            }
            Fact::SetUpDone { .. } => {
                self.set_up_done = true;
                self.settle_intent(IntentKind::SetUp);
            }
            Fact::Launched { shim, sandbox } => {
                self.launched_at = Some(at);
                self.shim = Some(shim.clone());
                self.sandbox = Some(sandbox.clone());
                self.settle_intent(IntentKind::Launch);
            }
            Fact::SessionSeen { session } => self.session = Some(session.clone()),
            Fact::AgentEnded { verdict, exit, signal, usage } => {
                self.ended = Some(Ended { verdict: verdict.clone(), exit: *exit, signal: *signal, usage: *usage, at });
                if let Verdict::Failed { failure } = verdict {
                    self.failure.get_or_insert(Failure::Agent { failure: failure.clone() });
                }
            }
            Fact::Staged { tree, parent, changes } => {
                self.staged = Some(Staged { tree: tree.clone(), parent: parent.clone(), changes: *changes });
            }
            Fact::Committed { oid } => {
                self.commit = Some(oid.clone());
                self.settle_intent(IntentKind::Commit);
            }
            Fact::Rebased { onto, oid } => {
                self.commit = Some(oid.clone());
                self.rebased_onto = Some(onto.clone());
                self.rebased += 1;
                self.settle_intent(IntentKind::Push);
            }
            Fact::Pushed { oid } => {
                self.pushed = Some(oid.clone());
                self.settle_intent(IntentKind::Push);
            }
            Fact::PullOpened { number, url } => {
                self.pull = Some(Pull::Opened { number: *number, url: url.clone() });
                self.settle_intent(IntentKind::Pull);
            }
            Fact::PullFailed { problem } => {
                self.pull = Some(Pull::Failed { problem: problem.clone() });
                self.settle_intent(IntentKind::Pull);
            }
            Fact::PullLinked { number, url } => self.pull = Some(Pull::Opened { number: *number, url: url.clone() }),
            Fact::Failed { failure } => {
                self.failure = Some(failure.clone());
                self.open_intent = None;
            }
            Fact::Resumed => {
                self.failure = None;
                self.settled_at = None;
                self.rebased = 0;
            }
            Fact::CancelRequested => self.cancel_requested_at = Some(at),
            Fact::Stopped => {
                self.stopped = true;
                self.settle_intent(IntentKind::Launch);
                self.settle_intent(IntentKind::SetUp);
            }
            Fact::Preserved { reference, oid } => {
                self.preserved = Some(Preserved { reference: reference.clone(), oid: oid.clone() });
            }
            Fact::Removed { branch } => {
                self.removed = Some(*branch);
                self.settle_intent(IntentKind::Remove);
            }
            Fact::Noted { note } => {
                if !self.notes.contains(note) {
                    self.notes.push(note.clone());
                }
            }
            Fact::Settled => {
                self.settled_at = Some(at);
                self.open_intent = None;
            }
        }
        Ok(())
    }

    /// Which fact may come now. What is over stays over, but for a failed commit or push that is tried again.
    fn takes(&self, fact: &Fact) -> bool {
        if self.is_settled() {
            return match fact {
                Fact::Resumed => self.can_be_resumed(),
                Fact::PullLinked { .. } => self.pushed.is_some(),
                _ => false,
            };
        }
        let canceling = self.cancel_requested_at.is_some();
        let flowing = self.failure.is_none() && !canceling;
        match fact {
            Fact::Admitted => self.is_waiting(),
            Fact::Intended { intent: Intent::Remove { .. } } => self.removed.is_none(),
            Fact::Intended { intent: Intent::Pull { .. } } => flowing && self.pull.is_none() && self.pushed.is_some(),
            Fact::Intended { intent: Intent::Push { .. } } => flowing && self.pushed.is_none() && self.commit.is_some(),
            Fact::Intended { intent: Intent::Commit { .. } } => flowing && self.commit.is_none() && self.has_changes(),
            Fact::Intended { intent: Intent::Launch } => flowing && self.worktree_ready && self.launched_at.is_none(),
            Fact::Intended { intent: Intent::SetUp } => flowing && self.worktree_ready && !self.set_up_done,
            Fact::Intended { intent: Intent::Worktree { .. } } => {
                flowing && self.admitted_at.is_some() && !self.worktree_ready
            }
            Fact::WorktreeReady { .. } => self.admitted_at.is_some() && self.launched_at.is_none(),
            Fact::SetUpDone { .. } => self.worktree_ready && !self.set_up_done,
            // A launch that was under way when the cancel came is a fact all the same: it must be stopped.
            Fact::Launched { .. } => self.launched_at.is_none() && self.worktree_ready,
            Fact::SessionSeen { .. } => self.may_have_processes(),
            Fact::AgentEnded { .. } => self.launched_at.is_some() && self.ended.is_none(),
            Fact::Staged { .. } => flowing && self.ended.is_some() && self.staged.is_none(),
            Fact::Committed { .. } => flowing && self.has_changes() && self.commit.is_none(),
            Fact::Rebased { .. } | Fact::Pushed { .. } => flowing && self.commit.is_some() && self.pushed.is_none(),
            Fact::PullOpened { .. } | Fact::PullFailed { .. } => self.pushed.is_some() && self.pull.is_none(),
            Fact::PullLinked { .. } => self.pushed.is_some(),
            Fact::Failed { .. } => self.failure.is_none() && self.pushed.is_none() && !self.is_canceled(),
            Fact::Resumed => self.can_be_resumed(),
            // T7: only what is pending or running can be canceled; asking twice is not an error of the second.
            Fact::CancelRequested => !canceling && matches!(self.status(), Status::Pending | Status::Running),
            Fact::Stopped => !self.stopped,
            Fact::Preserved { .. } => self.workspace.is_some(),
            Fact::Removed { .. } => self.removed.is_none(),
            Fact::Noted { .. } => true,
            // Not merely terminal: whoever decided this may not have known of a cancel, after which work is left.
            Fact::Settled => next_step(self) == Step::Settle,
        }
    }

    /// The agent's work is done and staged, or even committed: what failed after it can be done again without it.
    pub fn can_be_resumed(&self) -> bool {
        self.cancel_requested_at.is_none()
            && match self.failure.as_ref().map(Failure::stage) {
                Some(Stage::Commit) => self.has_changes() && self.commit.is_none(),
                Some(Stage::Push) => self.commit.is_some(),
                // Nothing is wrong with the agent's work: what it was to be staged into was away, the disk full, or something
                // in the way that a person has cleared since.
                Some(Stage::Staging) => {
                    use Failure::{DiskFull, RepositoryGone, Unstageable};
                    matches!(self.failure, Some(RepositoryGone { .. } | DiskFull { .. } | Unstageable { .. }))
                        && self.summary().is_some()
                        && self.staged.is_none()
                }
                Some(Stage::Workspace | Stage::Agent) | None => false,
            }
    }

    /// It was tried often enough: what is left is for `worktree remove`.
    pub(crate) fn clean_up_is_given_up(&self) -> bool {
        self.notes.iter().any(|note| matches!(note, Note::NotCleanedUp { .. }))
    }

    pub fn has_changes(&self) -> bool {
        self.staged.as_ref().is_some_and(|s| s.changes.is_some())
    }

    fn settle_intent(&mut self, kind: IntentKind) {
        if self.open_intent.as_ref().is_some_and(|i| i.kind() == kind) {
            self.open_intent = None;
        }
    }
}
