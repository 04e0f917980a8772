//! The event log.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One line of the event log, as SSE sends it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct EventView {
    pub seq: i64,
    pub at: String,
    #[serde(rename = "repository_id")]
    pub repo: Option<String>,
    #[serde(rename = "task_id")]
    pub task: Option<String>,
    #[serde(rename = "run_id")]
    pub run: Option<String>,
    /// Whose fact it is: `run` or `pull`, and which of them.
    #[serde(default)]
    pub machine: Option<String>,
    #[serde(default)]
    pub subject: Option<String>,
    /// The subject's status after it.
    #[serde(default)]
    pub status: Option<String>,
    pub kind: String,
    /// The fact itself, or what else was written down.
    pub body: serde_json::Value,
}
