//! Worktrees.

use dandori_domain::run::Note;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::begin::StartView;
use crate::variables::Variables;

/// A line of `GET /v1/worktrees`, behind the first.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct WorktreeView {
    pub key: String,
    /// Where it is.
    #[serde(rename = "worktree")]
    pub path: String,
    /// `null` when none is checked out.
    pub branch: Option<String>,
    pub base: Option<String>,
    /// The task and the run it was made for, `T-12` and the run's key.
    pub task: Option<String>,
    pub run: Option<String>,
    /// Who holds it: a run's key, or a session.
    pub owner: Option<String>,
    /// `live`, `idle`, `merged`, `stale`, `orphaned`, `unrecorded`, `missing`, `unknown`
    pub state: String,
    /// Uncommitted files; `null` when it could not be looked at.
    pub dirty: Option<u32>,
    /// Commits that no remote has; `null` when it could not be looked at.
    pub unpushed: Option<u32>,
    /// What it takes up on the disk; `null` when that was not asked for.
    pub bytes: Option<u64>,
    /// The command that does something about it.
    pub suggestion: Option<String>,
    pub created_at: Option<String>,
}

/// The first line of `GET /v1/worktrees`: what the others will be called.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct WorktreeNames {
    pub names: Vec<NamedWorktree>,
    /// How many there are, listed or not.
    pub total: u64,
}

/// What is known of a worktree before it is looked at.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct NamedWorktree {
    pub branch: Option<String>,
    #[serde(rename = "worktree")]
    pub path: String,
    pub task: Option<String>,
    pub owner: Option<String>,
}

/// `dandori worktree list`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct WorktreeList {
    pub worktrees: Vec<WorktreeView>,
    /// How many there are, listed or not.
    pub total: u64,
}

/// `POST /v1/worktrees`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct AddWorktree {
    pub path: String,
    pub branch: Option<String>,
    pub base: Option<String>,
    pub session: Option<String>,
    /// Where; default below the state root.
    pub at: Option<String>,
    /// Leave the project's set-up commands out.
    #[serde(default)]
    pub no_set_up: bool,
    /// The caller's environment, for the set-up commands; never stored.
    #[serde(default)]
    pub env: Option<Variables>,
}

/// `POST /v1/worktrees/remove`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RemoveWorktree {
    pub path: String,
    pub worktree: String,
    pub session: Option<String>,
    /// Uncommitted or unpushed work is kept and the tree removed all the same.
    pub force: bool,
    pub keep_branch: bool,
}

/// What was done about a worktree.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct WorktreeDone {
    pub key: String,
    #[serde(rename = "worktree")]
    pub path: String,
    pub branch: Option<String>,
    /// Its branch went with it.
    #[serde(default)]
    pub branch_deleted: bool,
    /// The ref its work is kept under.
    pub preserved: Option<String>,
    /// What a new one starts from.
    #[serde(default)]
    pub start: Option<StartView>,
    #[schema(value_type = Vec<Object>)]
    pub warnings: Vec<Note>,
}

/// `POST /v1/worktrees/gc`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CollectWorktrees {
    pub path: String,
    /// Only say what would go.
    pub dry_run: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Collected {
    /// Nothing was removed: `found` is what would be.
    pub dry_run: bool,
    pub found: Vec<CollectedThing>,
    pub removed: u32,
    /// What looks left over and was not touched, with the reason.
    #[serde(default)]
    pub left: Vec<CollectedThing>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CollectedThing {
    /// `worktree`, `branch`, `record`
    pub kind: String,
    pub name: String,
    /// A state of `worktree list`: `merged`, `stale`, `orphaned`, `missing`, `unrecorded`, `unknown`; or `held`, `locked`
    pub why: String,
    /// Who holds it, or what its lock says.
    #[serde(default)]
    pub detail: Option<String>,
    pub preserved: Option<String>,
}

/// `POST /v1/worktrees/adopt`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct AdoptWorktree {
    pub path: String,
    pub worktree: String,
    pub session: Option<String>,
}

/// `POST /v1/worktrees/restore`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RestoreWorktree {
    pub path: String,
    /// A worktree's key, a run, or a ref under `refs/dandori/preserved/`.
    pub from: String,
    pub session: Option<String>,
}
