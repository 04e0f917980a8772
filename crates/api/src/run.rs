//! Runs, as every list, answer and event tells of them.

use dandori_domain::WaitReason;
use dandori_domain::pull::PullState;
use dandori_domain::run::{Note, Status};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::begin::StartView;
use crate::error::ErrorView;

/// One agent's attempt at a task: the same wherever a run is told of.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RunView {
    pub id: String,
    /// The eight characters people use.
    #[serde(rename = "run")]
    pub key: String,
    /// `T-12`
    pub task: String,
    pub agent: String,
    /// PENDING, RUNNING, STAGING, COMMITTING, PUSHING, SUCCEEDED, FAILED, CANCELED.
    #[schema(value_type = String)]
    pub state: Status,
    /// Nothing is left to do: nothing to clean up, and the forge has answered about its pull request.
    pub settled: bool,
    pub instruction: String,
    /// The run it goes on from, by its key.
    pub follows: Option<String>,
    /// `null` before there is one and once it is gone.
    pub branch: Option<String>,
    pub base: Option<String>,
    /// Where it starts; `null` before that is known.
    #[serde(default)]
    pub start: Option<StartView>,
    pub commit: Option<String>,
    /// Whether the commit is on the remote: `false` where there is no remote, `null` before that is known.
    #[serde(default)]
    pub pushed: Option<bool>,
    pub changes: Option<ChangesView>,
    pub pr: Option<PullLink>,
    pub session: Option<String>,
    /// Where it works or worked; `null` before there is one and once it is gone.
    pub worktree: Option<String>,
    pub sandbox: Option<String>,
    pub preserved: Option<String>,
    pub usage: Option<UsageView>,
    pub summary: Option<String>,
    /// Its place among those that wait, from 1.
    pub place: Option<u64>,
    /// What it waits for: `for` is `place`, `memory`, `disk` or `store`.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub waits_for: Option<WaitReason>,
    /// Why it failed.
    pub error: Option<ErrorView>,
    /// Why its pull request could not be opened.
    pub pr_error: Option<ErrorView>,
    #[schema(value_type = Vec<Object>)]
    pub notes: Vec<Note>,
    pub created_at: String,
    pub launched_at: Option<String>,
    pub ended_at: Option<String>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
pub struct ChangesView {
    pub files: u32,
    pub insertions: u64,
    pub deletions: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PullLink {
    pub number: u64,
    pub url: String,
    /// `open`, `merged` or `closed`; `null` when that is not known here.
    #[schema(value_type = Option<String>)]
    pub state: Option<PullState>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
pub struct UsageView {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cached_tokens: u64,
    /// US dollars, where the agent tells.
    pub cost: Option<f64>,
}
