//! A worktree as the store knows it. Its directory is the disk's truth; this is whose it is and why.

use camino::Utf8PathBuf;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::{Oid, RepoId, RunId, WorktreeKey};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Worktree {
    pub key: WorktreeKey,
    pub repo: RepoId,
    pub path: Utf8PathBuf,
    pub branch: String,
    /// Made for this worktree: it may go with it. A branch that was there before is its user's.
    #[serde(default = "yes")]
    pub branch_is_ours: bool,
    pub base: String,
    pub base_oid: Oid,
    pub owner: Owner,
    pub created_at: Timestamp,
    /// A tombstone: kept so that nothing is "unknown" that once was ours.
    pub removed_at: Option<Timestamp>,
}

/// Worktrees of runs were the only ones once, and a run makes its branch.
fn yes() -> bool {
    true
}

/// Who holds a worktree. Another owner's is not removed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "owner", rename_all = "snake_case")]
pub enum Owner {
    /// A run that is still at work.
    Run { run: RunId },
    /// Somebody's session: an agent's, or a person's own name for it.
    Session { session: String },
    /// Nobody: free to be removed.
    Nobody,
}

/// Work that was kept when its worktree went.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Keepsake {
    pub key: WorktreeKey,
    pub reference: String,
    pub oid: Oid,
    pub branch: String,
    pub path: Utf8PathBuf,
    pub at: Timestamp,
}
