//! The fence around an agent, and around everything else that runs in a tree an agent has written: three layers, one
//! inside the other, put up by the process itself before it becomes what it is to run.
//!
//! - **Namespaces** ([`namespaces`], [`view`]) where the kernel lets users make them: processes, mounts, IPC and users of
//!   its own. What is outside is not there, what is hidden is empty, the rest read-only; the end of the first process is
//!   the end of all.
//! - **Landlock** ([`landlock`]): only the named paths can be written, nobody outside signalled, no abstract socket reached.
//! - **Calls** ([`calls`]): what the other two do not mediate is refused.
//!
//! It holds for everything that is started behind it and cannot be taken off. The network is not fenced: agents talk to
//! their model. What a missing layer leaves open is [`Sandbox::gaps`].
//!
//! Where there are no namespaces three things follow from how Landlock works, and callers should know them:
//! - It only ever allows, by inode. To hide a folder, its siblings are allowed one by one along the path to it; a
//!   sibling that is made or replaced *after* the start cannot be read by that run. Names inside a hidden folder
//!   can be listed, contents cannot be read.
//! - Inside a writable path that holds a hidden or protected one, no new entries can be made in the folders on the
//!   way to it, because that right would reach into it.
//! - Before ABI 3 truncating, and before ABI 6 signals, are not fenced.

use std::fs;
use std::path::{Path, PathBuf};

use camino::Utf8PathBuf;
use dandori_domain::run::{Sandbox, SandboxMode};
use dandori_domain::sandbox::Layers;
use serde::{Deserialize, Serialize};

mod calls;
mod grant;
mod landlock;
mod limits;
mod mounts;
pub(crate) mod namespaces;
mod plan;
mod powers;
mod stores;
pub(crate) mod view;

pub use limits::RunLimits;
pub use stores::{Store, Stores, programs_in_stores, stores};

pub(crate) use plan::runtime_folder;
pub(crate) use stores::{claim, tell};

/// What an agent may touch. Paths that do not exist are passed over; links are followed once, at the start.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SandboxPolicy {
    pub mode: SandboxMode,
    /// Folders and files that may be written, also below a hidden folder: the nearest path decides.
    pub write: Vec<Utf8PathBuf>,
    /// Folders and files below a hidden folder that may be read all the same.
    pub read: Vec<Utf8PathBuf>,
    /// Folders that may be read, with sockets that may be connected to.
    #[serde(default)]
    pub reach: Vec<Utf8PathBuf>,
    /// Folders and files that may not be read. Everything else may.
    pub hide: Vec<Utf8PathBuf>,
    /// Folders and files below a writable path that may be read but not written.
    pub protect: Vec<Utf8PathBuf>,
    /// The folder that is `/tmp` in namespaces; without one, and without namespaces, everybody's is seen, read-only.
    #[serde(default)]
    pub tmp: Option<Utf8PathBuf>,
    /// Stores of tools: read through to the user's, written to a layer. Filled in by whoever starts it.
    #[serde(default)]
    pub stores: Vec<Layer>,
    /// Files that are seen as copies of theirs.
    #[serde(default)]
    pub replace: Vec<Replaced>,
    #[serde(default)]
    pub limits: RunLimits,
    /// This machine is known to have namespaces: without them nothing starts. Another run may have used them up.
    #[serde(default)]
    pub needs_namespaces: bool,
}

/// A store of a tool's with the run's own layer over it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Layer {
    pub at: Utf8PathBuf,
    /// What is written goes here.
    pub upper: Utf8PathBuf,
    /// The kernel's own, on the same file system.
    pub work: Utf8PathBuf,
    /// Names the store to its tool, where it cannot be layered.
    pub variable: Option<String>,
    /// The layer lies over the store; else it takes its place, by the variable.
    pub is_over: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Replaced {
    pub at: Utf8PathBuf,
    pub with: Utf8PathBuf,
    pub otherwise: Otherwise,
}

/// What becomes of a file where no copy can be put in its place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Otherwise {
    /// It cannot be read.
    Hidden,
    /// It cannot be read, and this variable names the copy.
    Named(String),
    /// It is seen as it is: nothing would work without it.
    Seen,
}

impl SandboxPolicy {
    /// No fence at all.
    pub fn off() -> Self {
        Self::new(SandboxMode::Off)
    }

    /// A fence where there is one, with nothing writable and nothing hidden yet.
    pub fn new(mode: SandboxMode) -> Self {
        Self {
            mode,
            write: vec![],
            read: vec![],
            reach: vec![],
            hide: vec![],
            protect: vec![],
            tmp: None,
            stores: vec![],
            replace: vec![],
            limits: RunLimits::default(),
            needs_namespaces: false,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum SandboxError {
    #[error("a complete sandbox is required: {reason}")]
    Missing { reason: String },
    /// The kernel has Landlock and refused our rules: never run without a fence then.
    #[error("cannot set up the sandbox")]
    Refused {
        #[source]
        source: ::landlock::RulesetError,
    },
}

/// Whether the process is in namespaces of its own with the view already built, and if not, why.
pub(crate) type Namespaces = Result<(), String>;

/// Fences the calling thread, and everything it starts, for good.
pub(crate) fn apply(policy: &SandboxPolicy, namespaces: &Namespaces) -> Result<Sandbox, SandboxError> {
    if policy.mode == SandboxMode::Off {
        return Ok(Sandbox::None { reason: "disabled in the configuration".into() });
    }
    limits::keep(&policy.limits, namespaces.is_ok());
    if let Err(reason) = namespaces
        && policy.needs_namespaces
    {
        return Err(SandboxError::Missing { reason: reason.clone() });
    }
    let mut layers = Layers { namespaces: namespaces.is_ok(), ..Layers::default() };
    layers.missing.extend(namespaces.as_ref().err().cloned());
    let grants = grant::grants(policy, layers.namespaces);
    match landlock::restrict(&grants).map_err(|source| SandboxError::Refused { source })? {
        Ok(abi) => layers.landlock = abi,
        Err(reason) => layers.missing.push(reason),
    }
    if layers.namespaces || layers.landlock > 0 {
        powers::give_up();
        namespaces::drop_powers();
    }
    match calls::refuse() {
        Ok(()) => layers.calls = true,
        Err(reason) => layers.missing.push(format!("calls cannot be filtered: {reason}")),
    }
    let reason = layers.missing.join("; ");
    let sandbox = Sandbox::Layers(layers);
    match policy.mode {
        SandboxMode::Require if !sandbox.is_whole() => Err(SandboxError::Missing { reason }),
        _ if !sandbox.holds_files() => Ok(Sandbox::None { reason }),
        _ => Ok(sandbox),
    }
}

/// The path as the kernel sees it: links followed as far as it exists, the rest as it is written.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    if let Ok(real) = fs::canonicalize(path) {
        return real;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => resolved(parent).join(name),
        _ => path.to_owned(),
    }
}
