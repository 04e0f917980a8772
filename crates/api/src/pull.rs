//! Pull requests.

use dandori_domain::pull::PullState;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::variables::Variables;

/// `POST /v1/pulls`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CreatePull {
    pub path: String,
    /// A task or a run.
    pub of: String,
    pub title: Option<String>,
    pub body: Option<String>,
    /// The caller's environment, for the agent; git takes identity and logins from it. Never stored.
    #[serde(default)]
    pub env: Option<Variables>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PullView {
    pub number: u64,
    pub title: String,
    pub body: String,
    /// `open`, `merged` or `closed`
    #[schema(value_type = String)]
    pub state: PullState,
    #[serde(rename = "branch")]
    pub head: String,
    pub base: String,
    pub commit: Option<String>,
    pub url: String,
    /// `github` or `local`
    pub forge: String,
    /// The task and the run it is for, `T-12` and the run's key, and who worked on it; `null` when somebody else opened it.
    pub task: Option<String>,
    pub agent: Option<String>,
    pub run: Option<String>,
    pub created_at: String,
}
