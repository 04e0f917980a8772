//! What `dandori uninstall` asks the daemon for, and prints with `--json`.

use dandori_domain::Problem;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `POST /v1/leave`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Leave {
    /// Only say what would go.
    pub dry_run: bool,
}

/// What it answers.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LeftView {
    pub repositories: Vec<LeftRepositoryView>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LeftRepositoryView {
    pub repository: String,
    pub worktrees: Vec<LeftWorktreeView>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LeftWorktreeView {
    pub key: String,
    pub path: String,
    pub branch: String,
    /// Uncommitted files, and commits that no remote has; `null` when it could not be looked at.
    pub dirty: Option<u32>,
    pub unpushed: Option<u32>,
    /// Where its uncommitted and unpushed work was kept.
    pub preserved: Option<String>,
    /// Why it is still there.
    #[schema(value_type = Option<Object>)]
    pub problem: Option<Problem>,
}

/// `dandori uninstall`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct UninstallView {
    pub dry_run: bool,
    /// Settings files that dandori's hooks were taken out of.
    pub hooks: Vec<String>,
    pub repositories: Vec<LeftRepositoryView>,
    /// The state folder, and what it takes up; `null` when it stays.
    pub state: Option<String>,
    pub bytes: Option<u64>,
    /// What is still there for the user to remove.
    pub remaining: Vec<String>,
}
