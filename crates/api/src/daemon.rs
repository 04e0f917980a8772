//! The daemon: how it is, and what it knows of this machine.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::ErrorView;

/// `GET /v1/health`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Health {
    pub version: String,
    pub pid: u32,
    pub started_at: String,
    /// The loopback address it listens on beside its socket, when it was asked to.
    #[serde(default)]
    pub listen: Option<String>,
    pub store: StoreHealth,
    pub live_runs: u32,
    pub waiting_runs: u64,
    pub max_parallel: u32,
    /// What the daemon has to say about its own start: a database restored from a backup, for one.
    pub notices: Vec<ErrorView>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct StoreHealth {
    pub backend: String,
    pub schema: i64,
    pub bytes: u64,
    /// What is wrong with it; nothing when it is sound.
    pub damage: Option<String>,
    pub newest_backup: Option<String>,
}

/// `GET /v1/doctor`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DoctorReport {
    pub store: StoreHealth,
    pub sandbox: String,
    pub live: u32,
    pub waiting: u64,
    pub repositories: Vec<RepositoryUse>,
    /// How the last notice went on each way.
    #[serde(default)]
    pub notices: Vec<crate::NoticeState>,
}

/// What a repository's worktrees, slots and logs take up.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RepositoryUse {
    #[serde(rename = "repository")]
    pub root: String,
    /// `null` when it could not be measured.
    pub bytes: Option<u64>,
    /// Those that are there.
    pub worktrees: u32,
    /// Runs whose worktrees or branches are there and that the database, restored from a backup, does not know.
    #[serde(default)]
    pub unrecorded_runs: u32,
}

/// `dandori daemon status` and `daemon start`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DaemonStatus {
    pub running: bool,
    /// `null` when it does not run.
    pub health: Option<Health>,
}

/// `dandori daemon stop`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DaemonStopped {
    /// It ran until now.
    pub stopped: bool,
    pub running: bool,
}

/// `dandori daemon logs`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DaemonLog {
    pub path: String,
    pub lines: Vec<String>,
}
