//! A run: what was asked, what has happened, and what that means.
//!
//! A run's truth is the list of its facts. [`RunFacts`] is their sum, made by [`RunFacts::apply`] alone, the one
//! place that says which fact may follow which. [`RunFacts::status`] derives the state of T7 from it; no state is
//! ever stored. Before each side effect an [`Intent`] is recorded as a fact; the fact of its outcome settles it.

use camino::Utf8PathBuf;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::agent::{AgentName, Usage, Verdict};
use crate::failure::{Failure, Limit, Stage};
use crate::id::{HostId, Oid, RepoId, RunId, SessionId, TaskId, TaskNumber, Usd, WorktreeKey};
use crate::problem::Problem;
use crate::step::{Step, next_step};

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

/// What was asked. Written once, never changed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunSpec {
    pub id: RunId,
    pub task: TaskId,
    pub number: TaskNumber,
    pub repo: RepoId,
    /// The state root whose daemon runs it: worktrees are local.
    pub host: HostId,
    pub agent: AgentName,
    pub kind: RunKind,
    pub instruction: String,
    /// A branch or ref asked for; `None` is the repository's default.
    pub base: Option<String>,
    pub settings: RunSettings,
    pub created_at: Timestamp,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RunKind {
    /// A fresh worktree and a fresh conversation.
    First,
    /// Goes on with an earlier run's branch, worktree and conversation.
    FollowUp { after: RunId, workspace: Workspace, session: Option<SessionId> },
}

/// The configuration as it stood when the run was asked for: a later edit does not change a run in flight.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunSettings {
    pub model: Option<String>,
    pub wants_pull: bool,
    pub budget: Option<Usd>,
    pub limits: Limits,
    pub cleanup: Cleanup,
    /// Further forbidden patterns, beside [`crate::paths::FORBIDDEN`].
    pub forbidden_paths: Vec<String>,
    pub set_up: SetUpChoice,
    pub commit_template: String,
    pub push_retries: u32,
    pub sandbox: SandboxSettings,
    /// Names of further environment variables the agent may see.
    pub pass_env: Vec<String>,
    /// The command of a custom agent.
    pub custom_command: Option<String>,
}

/// How a fresh worktree is made ready for work.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetUpChoice {
    /// The project's own package manager, found by its lock file; its failure is only noted.
    Detect,
    /// These shell lines in order; a failure ends the run.
    Commands(Vec<String>),
    Nothing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Limits {
    pub start_seconds: u64,
    pub silence_seconds: u64,
    pub run_seconds: u64,
    /// How often an agent may try a dead API again before we end it.
    pub api_retries: u32,
    pub grace_seconds: u64,
}

impl Limits {
    pub fn seconds(&self, limit: Limit) -> u64 {
        match limit {
            Limit::Start => self.start_seconds,
            Limit::Silence => self.silence_seconds,
            Limit::Run => self.run_seconds,
        }
    }
}

/// When a successful run's worktree goes. Its branch stays.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cleanup {
    /// Kept for CI and review fixes until the pull request is merged or closed.
    Merged,
    /// As soon as the pull request is open.
    Pr,
    /// As soon as the branch is pushed.
    Push,
    /// Only by hand.
    Never,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SandboxSettings {
    pub mode: SandboxMode,
    /// Further paths an agent may write (`~` is the home folder).
    pub write: Vec<String>,
    /// Further paths an agent may not read.
    pub hide: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// The kernel's, where it has one; the run says so where it has not.
    Auto,
    /// No sandbox, no run.
    Require,
    Off,
}

/// What the kernel really enforced.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "level", rename_all = "snake_case")]
pub enum Sandbox {
    Landlock { abi: u32 },
    None { reason: String },
}

/// Where a run works.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Workspace {
    pub key: WorktreeKey,
    pub path: Utf8PathBuf,
    pub branch: String,
    /// The name the base was asked for by: `main`.
    pub base: String,
    pub base_oid: Oid,
}

/// A process that cannot be mistaken for another: pids come round again, start times within a boot do not.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProcessRef {
    pub pid: u32,
    pub started: u64,
    pub boot: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Changes {
    pub files: u32,
    pub insertions: u64,
    pub deletions: u64,
}

/// A side effect that is about to happen.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "intent", rename_all = "snake_case")]
pub enum Intent {
    Worktree {
        workspace: Workspace,
    },
    SetUp,
    Launch,
    Commit {
        tree: Oid,
        parent: Oid,
        message: String,
        at: Timestamp,
    },
    Push {
        oid: Oid,
        expected: Option<Oid>,
    },
    Pull {
        title: String,
        body: String,
    },
    /// The worktree goes; with it the branch, when nothing of it is to stay.
    Remove {
        branch: BranchFate,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BranchFate {
    Keep,
    Delete,
}

/// Something that has happened. Recorded once, in one transaction with its line in the event log.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum Fact {
    Admitted,
    Intended {
        intent: Intent,
    },
    WorktreeReady {
        workspace: Workspace,
        from_pool: bool,
    },
    SetUpDone {
        commands: u32,
    },
    Launched {
        shim: ProcessRef,
        sandbox: Sandbox,
    },
    /// The agent named its conversation: kept at once, so that a crash does not lose it.
    SessionSeen {
        session: SessionId,
    },
    AgentEnded {
        verdict: Verdict,
        exit: Option<i32>,
        signal: Option<i32>,
        usage: Usage,
    },
    Staged {
        tree: Oid,
        parent: Oid,
        changes: Option<Changes>,
    },
    Committed {
        oid: Oid,
    },
    /// Somebody else had pushed to the branch: our commits now stand on theirs.
    Rebased {
        onto: Oid,
        oid: Oid,
    },
    Pushed {
        oid: Oid,
    },
    PullOpened {
        number: u64,
        url: String,
    },
    PullFailed {
        problem: Problem,
    },
    /// A pull request that was opened for the run's branch later, by hand.
    PullLinked {
        number: u64,
        url: String,
    },
    Failed {
        failure: Failure,
    },
    /// A failed push is to be tried again.
    PushResumed,
    CancelRequested,
    /// The agent's whole process tree is gone.
    Stopped,
    Preserved {
        reference: String,
        oid: Oid,
    },
    Removed {
        branch: BranchFate,
    },
    /// Something the user should know, though the run goes on.
    Noted {
        note: Note,
    },
    /// Nothing is left to do.
    Settled,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    Offline {
        reason: String,
    },
    MainCheckoutDirty {
        files: u32,
    },
    MainCheckoutDetached,
    NoSandbox {
        reason: String,
    },
    BaseIsLocal {
        base: String,
    },
    HookManager {
        name: String,
    },
    PulledBefore {
        commits: u32,
    },
    WorktreeRemade,
    SetUpFailed {
        command: String,
        tail: String,
    },
    /// The agent does not tell what it costs: the budget cannot be kept for it.
    BudgetNotKept {
        agent: String,
    },
    /// Work kept when the worktree was removed by hand is back in it.
    KeptWorkBack {
        reference: String,
    },
    /// A branch of that name was there: the worktree stands on it as it was.
    BranchAttached {
        branch: String,
    },
}

/// Kinds by name: for the event log, and for the tests that crash after each of them.
macro_rules! kinds {
    ($kind:ident for $of:ident { $($variant:ident => $name:literal),+ $(,)? }) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        pub enum $kind { $($variant),+ }

        impl $kind {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }

        impl $of {
            pub fn kind(&self) -> $kind {
                match self { $(Self::$variant { .. } => $kind::$variant),+ }
            }
        }
    };
}

kinds!(FactKind for Fact {
    Admitted => "admitted",
    Intended => "intended",
    WorktreeReady => "worktree_ready",
    SetUpDone => "set_up_done",
    Launched => "launched",
    SessionSeen => "session_seen",
    AgentEnded => "agent_ended",
    Staged => "staged",
    Committed => "committed",
    Rebased => "rebased",
    Pushed => "pushed",
    PullOpened => "pull_opened",
    PullFailed => "pull_failed",
    PullLinked => "pull_linked",
    Failed => "failed",
    PushResumed => "push_resumed",
    CancelRequested => "cancel_requested",
    Stopped => "stopped",
    Preserved => "preserved",
    Removed => "removed",
    Noted => "noted",
    Settled => "settled",
});

kinds!(IntentKind for Intent {
    Worktree => "worktree",
    SetUp => "set_up",
    Launch => "launch",
    Commit => "commit",
    Push => "push",
    Pull => "pull",
    Remove => "remove",
});

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
                if let Intent::Worktree { workspace } = intent {
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
            Fact::PushResumed => {
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

    /// Which fact may come now. What is over stays over, but for a failed push that is tried again.
    fn takes(&self, fact: &Fact) -> bool {
        if self.is_settled() {
            return match fact {
                Fact::PushResumed => self.push_can_be_resumed(),
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
            Fact::PushResumed => self.push_can_be_resumed(),
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

    pub fn push_can_be_resumed(&self) -> bool {
        self.cancel_requested_at.is_none()
            && self.commit.is_some()
            && self.failure.as_ref().is_some_and(|f| f.stage() == Stage::Push)
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
