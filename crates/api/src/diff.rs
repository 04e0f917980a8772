//! What a task has changed so far.

use dandori_domain::run::Status;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `GET /v1/tasks/{task}/diff`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DiffView {
    pub task: String,
    /// The newest run of it.
    pub run: String,
    /// All runs whose work it is, the first one first.
    pub runs: Vec<String>,
    pub agent: String,
    #[schema(value_type = String)]
    pub state: Status,
    pub branch: Option<String>,
    /// The name of what it started from.
    pub base: Option<String>,
    /// The commit it is compared with.
    pub from: Option<String>,
    /// What is compared: a commit, or the tree of what is not committed. `null` while there is nothing.
    pub to: Option<String>,
    /// The commit of the branch that holds all of it; `null` when something is not committed.
    pub commit: Option<String>,
    pub insertions: u64,
    pub deletions: u64,
    pub files: Vec<ChangedFile>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ChangedFile {
    pub path: String,
    /// `null` for a binary file.
    pub insertions: Option<u64>,
    pub deletions: Option<u64>,
}
