//! What the shim and the daemon tell each other, as files in the run's folder.
//!
//! `launch.json` (the order, daemon → shim), `started.json`, `exit.json` (shim → daemon, durable) and `stop.json`
//! (daemon → shim). Each is replaced whole. `started.json` exists before the agent's first instruction;
//! `exit.json` exists only when no process of the run is left. Formats carry a version; fields are only added.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::run::{ProcessRef, Sandbox};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::fenced::Streams;
use crate::sandbox::{SandboxPolicy, Stores};

pub(crate) const LAUNCH: &str = "launch.json";
pub(crate) const STARTED: &str = "started.json";
pub(crate) const EXIT: &str = "exit.json";
pub(crate) const STOP: &str = "stop.json";
pub(crate) const LOCK: &str = "shim.lock";
/// The agent's standard output, as it came.
pub const OUTPUT: &str = "output";
/// The agent's standard error, as it came.
pub const STDERR: &str = "stderr";
/// What the shim itself had to say: empty unless it had a fault.
pub(crate) const SHIM_LOG: &str = "shim.log";

/// Carried by every process of a run in its environment; what is left over is found by it.
pub const RUN_MARKER: &str = "DANDORI_RUN";

pub const VERSION: u32 = 1;

/// What the shim is to start, and its limits.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LaunchOrder {
    pub version: u32,
    /// The run's id, also the value of [`RUN_MARKER`].
    pub run: String,
    pub argv: Vec<String>,
    /// The agent's environment, whole. It may carry secrets: the shim takes it out of the file once it has it.
    pub env: Vec<(String, String)>,
    pub cwd: Utf8PathBuf,
    /// The file the agent reads as its standard input; `/dev/null` when there is none.
    pub stdin: Option<Utf8PathBuf>,
    /// The shim's own terminal instead of input and output files, for a client that people look at ([`super::in_pane`]).
    #[serde(default)]
    pub streams: Streams,
    pub sandbox: SandboxPolicy,
    /// Stores of tools; the shim takes a layer for them that no other run has.
    #[serde(default)]
    pub stores: Option<Stores>,
    /// The whole run's limit. The shim keeps it, so that it holds while no daemon lives.
    pub deadline_seconds: u64,
    /// How long the agent has after SIGINT before harder signals come.
    pub grace_seconds: u64,
    /// Of both outputs together. Beyond it nothing more is kept and the agent is stopped.
    pub max_output_bytes: u64,
}

/// An agent that was started: by whom, as what, behind which fence.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Started {
    pub version: u32,
    pub shim: ProcessRef,
    pub agent: ProcessRef,
    pub sandbox: Sandbox,
    pub at: Timestamp,
}

/// How it ended. When this is there, no process of the run is, unless it says so ([`Why::Survivors`]).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ExitRecord {
    pub version: u32,
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub why: Why,
    pub at: Timestamp,
    /// Bytes kept of both outputs.
    pub output_bytes: u64,
    /// Bytes that were not kept: over the limit, or the disk did not take them.
    pub dropped_bytes: u64,
    /// Processes besides the agent that had to be ended.
    pub ended_descendants: u32,
}

impl ExitRecord {
    pub(crate) fn not_started(why: Why) -> Self {
        Self {
            version: VERSION,
            code: None,
            signal: None,
            why,
            at: crate::now(),
            output_bytes: 0,
            dropped_bytes: 0,
            ended_descendants: 0,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Why {
    /// The agent ended by itself, or somebody else's signal ended it.
    Ended,
    Stopped {
        reason: String,
    },
    DeadlinePassed,
    OutputLimit,
    /// Processes of the run could not be ended: what is in its worktree may still change.
    Survivors {
        pids: Vec<u32>,
    },
    /// Not one instruction of the agent ran.
    NotStarted {
        detail: String,
    },
    /// The run demands a sandbox and this machine has none; nothing ran.
    NoSandbox {
        reason: String,
    },
}

/// Why the shim is asked to stop, and how patiently.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct StopOrder {
    pub(crate) reason: String,
    pub(crate) grace_seconds: u64,
}

/// The one line the shim says to the daemon that started it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub(crate) enum Answer {
    Started {
        started: Box<Started>,
    },
    /// This folder has had its one launch.
    AlreadyStarted,
    /// Another shim holds the lock of this folder.
    AnotherLives,
    NotStarted {
        detail: String,
    },
    NoSandbox {
        reason: String,
    },
}

/// This folder has had its one launch, or will have none.
pub(crate) fn had_launch(run_dir: &Utf8Path) -> bool {
    [STARTED, EXIT].iter().any(|name| run_dir.join(name).symlink_metadata().is_ok())
}

/// A record, or `None` when there is none.
pub(crate) fn load<T: DeserializeOwned>(run_dir: &Utf8Path, name: &str) -> io::Result<Option<T>> {
    match std::fs::read(run_dir.join(name)) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|e| io::Error::new(io::ErrorKind::InvalidData, format!("{name} is not readable: {e}"))),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Written so that it survives a power cut.
pub(crate) fn keep<T: Serialize>(run_dir: &Utf8Path, name: &str, record: &T) -> io::Result<()> {
    crate::replace_file(&run_dir.join(name), &serde_json::to_vec(record)?, 0o600)
}

/// Written whole or not at all, but not synced: for what can be made again, or need not be kept.
pub(crate) fn put<T: Serialize>(run_dir: &Utf8Path, name: &str, record: &T) -> io::Result<()> {
    crate::put_file(&run_dir.join(name), &serde_json::to_vec(record)?, 0o600)
}
