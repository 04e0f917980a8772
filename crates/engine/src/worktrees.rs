//! Worktrees as a user handles them: add, list, remove, gc, adopt, restore.
//!
//! Removal needs positive proof: what cannot be read is not an orphan. Another owner's worktree is never removed, and
//! nothing goes before its work is kept. Whatever is made is recorded first, and the disk is read before the store: so
//! nothing on the disk is unknown only because its record came later.

mod add;
mod adopt;
mod claim;
mod find;
mod gc;
mod leave;
mod list;
mod lost;
mod remove;
mod restore;

use camino::Utf8PathBuf;
use dandori_domain::WorktreeKey;
use dandori_domain::worktree::{LeftoverReason, Owner, Worktree};
use dandori_host::{now, random};
use dandori_store::MadeFor;
use tokio::sync::mpsc;

pub use add::NewWorktreeRequest;
pub(crate) use claim::Making;
pub use leave::{LeftRepository, LeftWorktree};

/// What is known of a worktree, from the store and the disk together.
#[derive(Clone, Debug)]
pub struct WorktreeReport {
    pub worktree: Worktree,
    pub state: WorktreeState,
    pub made_for: Option<MadeFor>,
    /// Uncommitted files; `None` when it could not be looked at.
    pub dirty: Option<u32>,
    /// Commits no remote has; `None` when it could not be looked at.
    pub unpushed: Option<u32>,
    /// `None` when it was not measured.
    pub bytes: Option<u64>,
}

/// What a worktree is called, known before it is looked at.
#[derive(Clone, Debug)]
pub struct WorktreeName {
    pub branch: String,
    pub path: Utf8PathBuf,
    pub owner: Owner,
    pub made_for: Option<MadeFor>,
}

/// The names, and the reports in the same order as they come.
#[derive(Debug)]
pub struct Listing {
    pub names: Vec<WorktreeName>,
    /// How many there are, listed or not.
    pub total: usize,
    pub reports: mpsc::UnboundedReceiver<WorktreeReport>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorktreeState {
    /// A run is at work in it, or means to be.
    Live,
    /// Nobody is, and it may be wanted again.
    Idle,
    /// Everything in it is on its base.
    Merged,
    /// Nobody has used it for long, and nothing would be lost.
    Stale,
    /// It carries our name, and the store does not know it.
    Orphaned,
    /// A run of ours made it, and the store, restored from an older backup, does not know that run.
    Unrecorded,
    /// The store knows it, and the disk does not.
    Missing,
    /// Its folder is there, and git does not know it: what is in it cannot be kept.
    Unknown,
}

impl WorktreeState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Idle => "idle",
            Self::Merged => "merged",
            Self::Stale => "stale",
            Self::Orphaned => "orphaned",
            Self::Unrecorded => "unrecorded",
            Self::Missing => "missing",
            Self::Unknown => "unknown",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Removal {
    pub worktree: Worktree,
    pub preserved: Option<String>,
    pub branch_deleted: bool,
    pub dirty: u32,
    pub unpushed: u32,
}

#[derive(Clone, Debug, Default)]
pub struct Collected {
    pub found: Vec<CollectedThing>,
    pub removed: u32,
    /// What looks left over and was not touched.
    pub left: Vec<CollectedThing>,
}

#[derive(Clone, Debug)]
pub struct CollectedThing {
    pub kind: &'static str,
    pub name: String,
    pub why: LeftoverReason,
    pub preserved: Option<String>,
}

fn fresh_key() -> WorktreeKey {
    WorktreeKey::from(dandori_domain::RunId::mint(now(), random()).key())
}

fn owned_by(session: Option<String>) -> Owner {
    session.map_or(Owner::Nobody, |session| Owner::Session { session })
}
