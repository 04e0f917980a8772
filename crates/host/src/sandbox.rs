//! The fence around an agent: Landlock, applied by the process to itself before it becomes the agent.
//!
//! Behind it everything can be read and executed except what is hidden, only the named paths can be written, no
//! process outside can be signalled or looked into, and no abstract socket outside reached. It holds for everything
//! the agent starts and cannot be taken off. The network is not fenced: agents talk to their model.
//!
//! Three things follow from how Landlock works, and callers should know them:
//! - It only ever allows, by inode. To hide a folder, its siblings are allowed one by one along the path to it; a
//!   sibling that is made or replaced *after* the start cannot be read by that run. Names inside a hidden folder
//!   can be listed, contents cannot be read.
//! - Inside a writable path that holds a hidden or protected one, no new entries can be made in the folders on the
//!   way to it, because that right would reach into it.
//! - Before ABI 3 truncating, and before ABI 6 signals, are not fenced. [`Sandbox::Landlock`] says which it is.

use std::fs;
use std::path::{Path, PathBuf};

use camino::Utf8PathBuf;
use dandori_domain::run::{Sandbox, SandboxMode};
use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd, RestrictionStatus,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope, make_bitflags,
};
use serde::{Deserialize, Serialize};

mod caches;
mod grant;
mod powers;

pub use caches::default_caches;

use grant::{Grant, Right, grants};

/// The newest rules we know; an older kernel enforces what it can of them.
const NEWEST: ABI = ABI::V9;

/// What an agent may touch. Paths that do not exist are passed over; links are followed once, at the start.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SandboxPolicy {
    pub mode: SandboxMode,
    /// Folders and files that may be written, also below a hidden folder: the nearest path decides.
    pub write: Vec<Utf8PathBuf>,
    /// Folders and files below a hidden folder that may be read all the same.
    pub read: Vec<Utf8PathBuf>,
    /// Folders and files that may not be read. Everything else may.
    pub hide: Vec<Utf8PathBuf>,
    /// Folders and files below a writable path that may be read but not written.
    pub protect: Vec<Utf8PathBuf>,
}

impl SandboxPolicy {
    /// No fence at all.
    pub fn off() -> Self {
        Self { mode: SandboxMode::Off, write: vec![], read: vec![], hide: vec![], protect: vec![] }
    }

    /// A fence where there is one, with nothing writable and nothing hidden yet.
    pub fn new(mode: SandboxMode) -> Self {
        Self { mode, ..Self::off() }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("a sandbox is required and there is none: {reason}")]
    Missing { reason: String },
    /// The kernel has Landlock and refused our rules: never run without a fence then.
    #[error("the sandbox could not be set up")]
    Refused {
        #[source]
        source: landlock::RulesetError,
    },
}

/// Fences the calling thread, and everything it starts, for good.
pub(crate) fn apply(policy: &SandboxPolicy) -> Result<Sandbox, SandboxError> {
    if policy.mode == SandboxMode::Off {
        return Ok(Sandbox::None { reason: "switched off by configuration".into() });
    }
    let status = restrict(&grants(policy)).map_err(|source| SandboxError::Refused { source })?;
    match (enforced(&status), policy.mode) {
        (Sandbox::None { reason }, SandboxMode::Require) => Err(SandboxError::Missing { reason }),
        (Sandbox::None { reason }, _) => Ok(Sandbox::None { reason }),
        (fence, _) => {
            powers::give_up();
            Ok(fence)
        }
    }
}

/// What this machine can do. The trial restricts one short-lived thread and nothing else.
pub fn probe() -> Sandbox {
    let everything = [Grant { path: PathBuf::from("/"), right: Right::Write }];
    let trial = std::thread::Builder::new().name("sandbox-probe".into()).spawn(move || restrict(&everything));
    match trial.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(status))) => enforced(&status),
        Ok(Ok(Err(error))) => Sandbox::None { reason: error.to_string() },
        Ok(Err(_)) => Sandbox::None { reason: "the trial failed".into() },
        Err(error) => Sandbox::None { reason: format!("the trial could not be started: {error}") },
    }
}

fn restrict(grants: &[Grant]) -> Result<RestrictionStatus, landlock::RulesetError> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    grants.iter().try_fold(ruleset, allow)?.restrict_self()
}

fn allow(ruleset: RulesetCreated, grant: &Grant) -> Result<RulesetCreated, landlock::RulesetError> {
    // Gone since it was listed: nothing to allow.
    let (Ok(held), Ok(meta)) = (PathFd::new(&grant.path), fs::metadata(&grant.path)) else { return Ok(ruleset) };
    let wanted = access(grant.right);
    let fitting = if meta.is_dir() { wanted } else { wanted & AccessFs::from_file(NEWEST) };
    if fitting.is_empty() { Ok(ruleset) } else { ruleset.add_rule(PathBeneath::new(held, fitting)) }
}

fn access(right: Right) -> BitFlags<AccessFs> {
    // Connecting to a socket goes with reading: a hidden socket cannot be reached where the kernel knows the right.
    let read = AccessFs::from_read(NEWEST) | AccessFs::ResolveUnix;
    match right {
        Right::List => AccessFs::ReadDir.into(),
        Right::Read => read,
        // Nobody who builds software makes device nodes.
        Right::Write => AccessFs::from_all(NEWEST) & !make_bitflags!(AccessFs::{MakeChar | MakeBlock | IoctlDev}),
        Right::Device => make_bitflags!(AccessFs::{ReadFile | ReadDir | WriteFile | Truncate | IoctlDev}),
    }
}

fn enforced(status: &RestrictionStatus) -> Sandbox {
    match (status.landlock, &status.ruleset) {
        (LandlockStatus::NotImplemented, _) => Sandbox::None { reason: "this kernel has no Landlock".into() },
        (LandlockStatus::NotEnabled, _) => Sandbox::None { reason: "Landlock is not enabled in this kernel".into() },
        (_, RulesetStatus::NotEnforced) => Sandbox::None { reason: "this kernel enforced nothing".into() },
        (LandlockStatus::Available { effective_abi, .. }, _) => Sandbox::Landlock { abi: abi_number(effective_abi) },
    }
}

fn abi_number(abi: ABI) -> u32 {
    // Its text is its number, or "unsupported".
    abi.to_string().parse().unwrap_or(0)
}

/// The path as the kernel sees it: links followed as far as it exists, the rest as it is written.
fn resolved(path: &Path) -> PathBuf {
    if let Ok(real) = fs::canonicalize(path) {
        return real;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => resolved(parent).join(name),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests;
