//! Several runs of one task, side by side.

use dandori_domain::run::Status;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::run::UsageView;

/// `GET /v1/tasks/{task}/compare`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Comparison {
    pub task: String,
    pub runs: Vec<ComparedRun>,
    /// Files more than one run touched.
    pub overlap: Vec<Overlap>,
}

/// A run and its follow-ups on one branch, against where the first of them began.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ComparedRun {
    /// The latest of them, by its key.
    #[serde(rename = "run")]
    pub key: String,
    pub id: String,
    pub agent: String,
    #[schema(value_type = String)]
    pub state: Status,
    pub files: Vec<ComparedFile>,
    pub insertions: u64,
    pub deletions: u64,
    /// Of all of them together.
    pub usage: Option<UsageView>,
    /// Their keys, the first run's first.
    #[serde(default)]
    pub chain: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ComparedFile {
    pub path: String,
    pub insertions: u64,
    pub deletions: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Overlap {
    pub path: String,
    /// By their keys.
    pub runs: Vec<String>,
    /// All of them made the very same change.
    pub same: bool,
}
