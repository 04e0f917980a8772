//! What can happen to a run, and what is about to: facts and intents, as they are stored.

use camino::Utf8PathBuf;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::start::Start;
use crate::agent::{Usage, Verdict};
use crate::failure::Failure;
use crate::id::{Oid, SessionId, WorktreeKey};
use crate::machine::names;
use crate::problem::Problem;
pub use crate::sandbox::{Gap, Sandbox};

/// Where a run works.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Workspace {
    pub key: WorktreeKey,
    pub path: Utf8PathBuf,
    pub branch: String,
    /// The name the base was asked for by: `main`.
    pub base: String,
    /// Where the branch stood when this run began.
    pub base_oid: Oid,
    /// The branch's commits after this one are the task's own: they go along when it is put on somebody else's.
    pub ours_after: Oid,
    /// A commit whose work is in the files and not on the branch: the next commit has it as its second parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merges: Option<Box<Oid>>,
}

/// How a branch gets to what others have pushed to it, worked out before anything is touched.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Arrival {
    pub from: Oid,
    pub to: Oid,
    /// What the files become: those of `to`, or a tree with our own work on top as edits, when that does not go
    /// together with theirs commit by commit.
    pub files: Oid,
    /// Where both sides are in the files, between markers.
    pub conflicts: Vec<String>,
    /// The tip that others have pushed, and how many commits of theirs are new.
    pub theirs: Oid,
    pub commits: u32,
    /// The tip of the base that is merged: its work comes into the files and is committed by the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Oid>,
}

impl Arrival {
    /// Our commits are not on the branch any more, only what they did is in the files.
    pub fn takes_commits_apart(&self) -> bool {
        self.files != self.to && self.base.is_none()
    }
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
    Worktree(PlannedWorktree),
    SetUp,
    Launch,
    Commit(PlannedCommit),
    Push(PlannedPush),
    /// The worktree goes; with it the branch, when nothing of it is to stay.
    Remove {
        branch: BranchFate,
    },
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlannedWorktree {
    pub workspace: Workspace,
    pub arrival: Option<Box<Arrival>>,
    /// Where work of an earlier run is kept that comes back with it, uncommitted as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlannedCommit {
    pub tree: Oid,
    pub parent: Oid,
    /// What it merges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merges: Option<Oid>,
    pub message: String,
    pub at: Timestamp,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlannedPush {
    pub oid: Oid,
    /// Somebody else's tip that it stands on.
    pub expected: Option<Oid>,
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
    /// Worked out before anything is made.
    StartsFrom {
        start: Start,
    },
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
    /// On its own branch, and that is where it stays: the repository has no remote.
    CommittedLocally {
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
    Failed {
        failure: Failure,
    },
    /// A failed commit or push is to be tried again; the agent's work stands.
    Resumed,
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
    /// Its worktree is no longer needed: the pull request is open, or merged, and the configuration says so.
    Released,
    /// Nothing is left to do.
    Settled,
}

/// Something the fence kept a run from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Refusal {
    pub path: Utf8PathBuf,
    pub what: RefusedWhat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusedWhat {
    Read,
    Write,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    /// What a run starts from is its [`Start`]; earlier versions noted these three instead.
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
    /// Some layers of the fence are missing on this machine.
    FenceIsPartial {
        missing: Vec<String>,
        open: Vec<Gap>,
    },
    /// What the run's tools said the fence refused.
    FenceRefused {
        refusals: Vec<Refusal>,
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
    /// What others pushed could not come in: uncommitted edits are in the same files.
    EditsInTheWay {
        files: Vec<String>,
    },
    /// What others pushed contradicts our own commits: they were kept, and both sides are in the files now.
    ConflictBrought {
        files: Vec<String>,
    },
    /// The newest base was merged: so many commits of it are new to the branch.
    BaseMerged {
        base: String,
        commits: u32,
    },
    WorktreeRemade,
    SetUpFailed {
        command: String,
        tail: String,
    },
    /// A lock file asks for a program that is not on the PATH: nothing is installed for it.
    SetUpToolMissing {
        file: String,
        program: String,
    },
    /// The agent does not tell what it costs: the budget cannot be kept for it.
    BudgetNotKept {
        agent: String,
    },
    /// An agent without hooks: the guards judge what it asks for, and only the fence holds the rest.
    AsksItself {
        agent: String,
    },
    /// The agent could not go on with its conversation: a new one was told what came before.
    ConversationAnew {
        agent: String,
    },
    /// Work kept when the worktree was removed by hand is back in it.
    KeptWorkBack {
        reference: String,
    },
    /// Work that a canceled run kept did not come back: the branch has moved on since.
    KeptWorkStays {
        reference: String,
    },
    /// A branch of that name was there: the worktree stands on it as it was.
    BranchAttached {
        branch: String,
    },
    /// Guards of the run were ended before they answered, or tools ran without a guard having been asked.
    Unjudged {
        calls: u32,
    },
    /// The worktree of a run that is over could not be removed: it is left where it is.
    NotCleanedUp {
        problem: Problem,
    },
}

names!(Fact {
    Admitted => "admitted",
    StartsFrom => "starts_from",
    Intended => "intended",
    WorktreeReady => "worktree_ready",
    SetUpDone => "set_up_done",
    Launched => "launched",
    SessionSeen => "session_seen",
    AgentEnded => "agent_ended",
    Staged => "staged",
    Committed => "committed",
    CommittedLocally => "committed_locally",
    Rebased => "rebased",
    Pushed => "pushed",
    Failed => "failed",
    Resumed => "resumed",
    CancelRequested => "cancel_requested",
    Stopped => "stopped",
    Preserved => "preserved",
    Removed => "removed",
    Noted => "noted",
    Released => "released",
    Settled => "settled",
});

names!(Intent {
    Worktree => "worktree",
    SetUp => "set_up",
    Launch => "launch",
    Commit => "commit",
    Push => "push",
    Remove => "remove",
});
