//! A task: something to be done, in words, by one agent or by several side by side.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::{HostId, RepoId, RunId, TaskId, TaskNumber};

/// The longest instruction taken in.
pub const MAX_INSTRUCTION_BYTES: usize = 1024 * 1024;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Task {
    pub id: TaskId,
    pub number: TaskNumber,
    pub repo: RepoId,
    pub title: String,
    pub created_at: Timestamp,
    /// The run whose branch is to become the pull request, when several agents worked on it.
    pub picked: Option<RunId>,
}

/// A repository as this state root knows it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Repo {
    pub id: RepoId,
    /// Where its paths are paths.
    pub host: HostId,
    /// The main checkout.
    pub root: camino::Utf8PathBuf,
    /// The common git directory: two checkouts of one repository share it.
    pub git_dir: camino::Utf8PathBuf,
    pub created_at: Timestamp,
}
