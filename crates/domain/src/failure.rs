//! Why a run failed, as data: shown in two languages, judged by code, stored as a fact.

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use crate::agent::AgentFailure;
use crate::id::Usd;

/// Where in its flow a run stood when it failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    Workspace,
    Agent,
    Staging,
    Commit,
    Push,
}

/// Which of our own limits ended the agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// No word from it since it was started.
    Start,
    /// No word from it while no tool was running.
    Silence,
    /// The whole run.
    Run,
}

/// Something an agent did that it may not do, found before staging.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Finding {
    /// The worktree's HEAD no longer stands on the run's branch.
    HeadMoved { expected: String, found: String },
    /// The run's branch has commits that dandori did not make.
    BranchMoved { expected: String, found: String },
    /// The worktree's `.git` file was changed, replaced or removed.
    GitFileChanged { path: Utf8PathBuf },
    /// The repository's configuration can now run a program it could not run before.
    GitConfigChanged { key: String },
    /// A repository inside the worktree: its contents would not be committed.
    NestedRepository { path: String },
    /// A path that must not be touched would be staged.
    ForbiddenPath { path: String, pattern: String },
    /// The worktree itself is no longer where it was made.
    WorktreeMissing { path: Utf8PathBuf },
}

/// A path that cannot be staged, and why.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Unfit {
    pub path: String,
    #[serde(flatten)]
    pub why: UnfitWhy,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum UnfitWhy {
    /// A named pipe, a socket or a device where a file was, or where git looks for its own files.
    Special,
    /// Longer than the system's limit for paths.
    TooLong,
    /// Not ours to read.
    Unreadable,
    /// All that changed is more than the limit; this is the largest of it.
    TooLarge {
        bytes: u64,
        limit: u64,
    },
    TooMany {
        files: u64,
        limit: u64,
    },
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Failure {
    /// The worktree could not be made.
    Worktree {
        reason: String,
    },
    /// The repository was moved or deleted after the run was asked for.
    RepositoryGone {
        path: Utf8PathBuf,
        /// What it was needed for when it was missed; before there was a worktree without it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        during: Option<Stage>,
    },
    /// The daemon's own program, which also runs the agents' supervisors, was moved or removed.
    DandoriGone {
        program: Utf8PathBuf,
    },
    /// The project's set-up command failed.
    SetUp {
        command: String,
        tail: String,
    },
    /// The agent's program is not there.
    AgentMissing {
        agent: String,
        program: String,
    },
    Agent {
        failure: AgentFailure,
    },
    TimedOut {
        limit: Limit,
        seconds: u64,
    },
    OverBudget {
        budget: Usd,
        spent: Usd,
    },
    /// The shim ended without a record: killed, or the machine went down.
    SupervisorLost,
    /// Processes of the run could not be ended: its files may still change, so nothing of them was taken.
    ProcessesLeft {
        pids: Vec<u32>,
    },
    Tampered {
        findings: Vec<Finding>,
    },
    /// Both sides of a conflict are still in the files.
    ConflictLeft {
        files: Vec<String>,
    },
    /// A commit that was to be merged does not go together with the branch: nothing was changed.
    DoesNotMerge {
        name: String,
        files: Vec<String>,
    },
    /// What git had merged did not pass the check: nothing was committed.
    Check {
        command: String,
        tail: String,
    },
    /// Something in the worktree cannot be committed: nothing was, and nothing was lost.
    Unstageable {
        paths: Vec<Unfit>,
    },
    Staging {
        reason: String,
    },
    /// No room on the disk for what the agent has made.
    DiskFull {
        free: u64,
    },
    Commit {
        reason: String,
    },
    PushRefused {
        reason: String,
    },
    /// The remote, which the commit is to be pushed to, did not answer.
    RemoteUnreachable {
        reason: String,
    },
    /// Somebody else's commits on the branch do not go together with ours.
    PushConflict {
        files: Vec<String>,
    },
    /// Overtaken again after every retry.
    PushOvertaken {
        retries: u32,
    },
}

impl Failure {
    pub fn stage(&self) -> Stage {
        match self {
            Self::RepositoryGone { during, .. } => during.unwrap_or(Stage::Workspace),
            Self::Worktree { .. } | Self::SetUp { .. } | Self::DoesNotMerge { .. } => Stage::Workspace,
            Self::AgentMissing { .. }
            | Self::Agent { .. }
            | Self::Check { .. }
            | Self::TimedOut { .. }
            | Self::OverBudget { .. }
            | Self::DandoriGone { .. }
            | Self::ProcessesLeft { .. }
            | Self::SupervisorLost => Stage::Agent,
            Self::Tampered { .. }
            | Self::ConflictLeft { .. }
            | Self::Unstageable { .. }
            | Self::DiskFull { .. }
            | Self::Staging { .. } => Stage::Staging,
            Self::Commit { .. } => Stage::Commit,
            Self::PushRefused { .. }
            | Self::RemoteUnreachable { .. }
            | Self::PushConflict { .. }
            | Self::PushOvertaken { .. } => Stage::Push,
        }
    }
}
