//! Where a run or a worktree starts.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct StartView {
    /// As people call it, with its remote: `origin/main`, `main`, `v1.2`.
    pub base: String,
    pub commit: String,
    /// What was checked out where it was asked for; `null` when HEAD was detached, or that is not known.
    pub branch: Option<String>,
    /// Commits of that checkout that are not in it; `null` when they could not be counted.
    pub commits: Option<u32>,
    /// Those of them that are on no remote branch; `null` where there is no remote.
    pub unpushed: Option<u32>,
    /// Files with uncommitted changes, which are not in it either; `null` when they could not be counted.
    pub changed: Option<u32>,
    /// The remote could not be reached.
    pub offline: Option<OfflineView>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct OfflineView {
    pub reason: String,
    /// When the remote last answered.
    pub fetched_at: Option<String>,
}
