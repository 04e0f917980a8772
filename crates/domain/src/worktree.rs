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

/// Why clearing up took something, or left it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LeftoverReason {
    /// Everything in it is on its base.
    Merged,
    /// Nobody has used it for long.
    Stale,
    /// No run and no session knows it.
    Orphaned,
    /// Its folder is gone.
    Missing,
    /// git does not know it any more: what is in it could not be kept.
    Unknown,
    /// A run made it that a restored backup does not know: nobody else may say what becomes of it but the user.
    Unrecorded,
    /// Somebody's: a run or a session.
    Held { owner: String },
    /// Locked by hand; the reason may be empty.
    Locked { reason: String },
}

impl LeftoverReason {
    /// The stable name scripts may rely on.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Merged => "merged",
            Self::Stale => "stale",
            Self::Orphaned => "orphaned",
            Self::Missing => "missing",
            Self::Unknown => "unknown",
            Self::Unrecorded => "unrecorded",
            Self::Held { .. } => "held",
            Self::Locked { .. } => "locked",
        }
    }

    /// Who holds it, or what its lock says.
    pub fn detail(&self) -> Option<&str> {
        match self {
            Self::Held { owner: text } | Self::Locked { reason: text } => Some(text),
            Self::Merged | Self::Stale | Self::Orphaned | Self::Missing | Self::Unknown | Self::Unrecorded => None,
        }
    }

    /// The other way round; `None` for a code that is not one of ours.
    pub fn from_parts(code: &str, detail: Option<&str>) -> Option<Self> {
        let text = detail.unwrap_or_default().to_owned();
        Some(match code {
            "merged" => Self::Merged,
            "stale" => Self::Stale,
            "orphaned" => Self::Orphaned,
            "missing" => Self::Missing,
            "unknown" => Self::Unknown,
            "unrecorded" => Self::Unrecorded,
            "held" => Self::Held { owner: text },
            "locked" => Self::Locked { reason: text },
            _ => return None,
        })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_comes_back_from_its_code_and_detail() {
        let reasons = [
            LeftoverReason::Merged,
            LeftoverReason::Stale,
            LeftoverReason::Orphaned,
            LeftoverReason::Missing,
            LeftoverReason::Unknown,
            LeftoverReason::Unrecorded,
            LeftoverReason::Held { owner: "alice".to_owned() },
            LeftoverReason::Locked { reason: String::new() },
        ];
        for reason in reasons {
            assert_eq!(LeftoverReason::from_parts(reason.code(), reason.detail()), Some(reason));
        }
        assert_eq!(LeftoverReason::from_parts("of a later version", None), None);
    }
}
