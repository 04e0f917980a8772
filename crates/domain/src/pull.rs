//! A pull request, wherever it lives.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::{Oid, RepoId, RunId};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
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
