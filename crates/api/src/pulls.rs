//! Pull requests: lists, pages, and what is decided about them.

use dandori_domain::pull::{MergeLook, MergeObstacle, MergeRule};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{ChangesView, PullLink, PullView, TaskView, Variables};

/// `GET /v1/pulls`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PullList {
    /// Newest first.
    pub prs: Vec<PullView>,
    /// How many there are in this state, listed or not.
    pub total: u64,
}

/// `GET /v1/pulls/{pull}`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PullPage {
    #[serde(flatten)]
    pub pull: PullView,
    /// Newest first, the first fifty; `null` where they are not in this clone.
    pub commits: Option<Vec<PullCommit>>,
    pub commit_count: Option<u32>,
    pub files: Option<Vec<PullFile>>,
    pub changes: Option<ChangesView>,
    /// `null`: not known here. The embedded forge has none.
    pub checks: Option<Vec<PullCheck>>,
    /// Of one that is open, and whose commits are in this clone.
    pub merge: Option<PullMerge>,
    /// When the remote last said where the base is; `null` without a remote, and of one that is over.
    pub base_fetched_at: Option<String>,
    /// It was opened for a task: it can be merged, closed and reopened from here.
    pub ours: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PullCommit {
    pub commit: String,
    pub subject: String,
    pub author: String,
    pub committed_at: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PullFile {
    pub path: String,
    /// `null` of a binary file.
    pub insertions: Option<u64>,
    pub deletions: Option<u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PullCheck {
    pub name: String,
    /// `passed`, `failed`, `running`
    pub state: String,
    pub url: Option<String>,
}

/// Whether it can be merged.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PullMerge {
    pub can: bool,
    /// What stands against it: `reason` is `conflict`, `base_dirty`, `head_moved`, …
    #[schema(value_type = Vec<Object>)]
    pub obstacles: Vec<MergeObstacle>,
    /// How it stands to its base: `behind`, `ahead`, `conflicts`, the base's `checkout`.
    #[schema(value_type = Object)]
    pub look: MergeLook,
}

/// What `POST /v1/pulls` answers.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PullPut {
    #[serde(flatten)]
    pub pull: PullView,
    /// `opened`, `updated`, or `unchanged` when it was open and nothing else was asked for.
    pub outcome: String,
}

/// `POST /v1/pulls/{pull}/merge`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct MergePull {
    /// A folder in the repository.
    pub path: String,
    /// The head commit that was shown: another one is refused.
    pub commit: String,
    /// `usual`, `fast_forward_only` or `merge_commit`
    #[serde(default)]
    #[schema(value_type = String)]
    pub rule: MergeRule,
    /// The caller's environment; git and the forge take identity and logins from it. Never stored.
    #[serde(default)]
    pub env: Option<Variables>,
}

/// `POST /v1/pulls/{pull}/close`, `/reopen` and `/update`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ChangePull {
    /// A folder in the repository.
    pub path: String,
    /// The caller's environment; the forge takes the login from it. Never stored.
    #[serde(default)]
    pub env: Option<Variables>,
}

/// A pull request after it was merged, closed or reopened.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PullDone {
    #[serde(flatten)]
    pub pull: PullView,
    /// Of a merge: where the base is now.
    pub base_commit: Option<String>,
    /// The base's branch in this clone after a merge: `current`, `behind` or `absent`.
    pub base_here: Option<String>,
    /// Where uncommitted work of its run's worktree was kept before that is removed; `dandori worktree restore` with the
    /// run's key restores it.
    pub preserved: Option<String>,
}

/// What `POST /v1/tasks/{task}/pick` answers.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Picked {
    #[serde(flatten)]
    pub task: TaskView,
    /// The pull request of another run that went along.
    pub moved: Option<PullMoved>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PullMoved {
    /// What shows the picked branch now.
    pub pr: PullLink,
    /// The number it had before: another one where a forge cannot change a head.
    pub before: u64,
    pub branch: String,
}

/// `dandori pr diff`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PullPatch {
    pub patch: String,
}

/// `dandori pr checkout`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PullCheckedOut {
    pub pr: PullLink,
    pub branch: String,
    /// Where it is checked out.
    pub worktree: String,
    /// `there` before, `switched` in the main checkout, or `made` as a worktree.
    pub outcome: String,
}
