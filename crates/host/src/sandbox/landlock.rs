//! Landlock: what may be read, written and executed, by path; no process outside signalled, no abstract socket reached.

use std::fs;

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd, RestrictionStatus,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, make_bitflags,
};

use super::grant::{Grant, Right};

/// The newest rules we know; an older kernel enforces what it can of them.
const NEWEST: ABI = ABI::V9;

/// For the calling thread and everything it starts, for good. The ABI that holds, or why none does.
pub(super) fn restrict(grants: &[Grant]) -> Result<Result<u32, String>, RulesetError> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    let status = grants.iter().try_fold(ruleset, allow)?.restrict_self()?;
    Ok(enforced(&status))
}

fn allow(ruleset: RulesetCreated, grant: &Grant) -> Result<RulesetCreated, RulesetError> {
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

fn enforced(status: &RestrictionStatus) -> Result<u32, String> {
    match (status.landlock, &status.ruleset) {
        (LandlockStatus::NotImplemented, _) => Err("this kernel has no Landlock".into()),
        (LandlockStatus::NotEnabled, _) => Err("Landlock is not enabled in this kernel".into()),
        (_, RulesetStatus::NotEnforced) => Err("this kernel did not enforce Landlock".into()),
        (LandlockStatus::Available { effective_abi, .. }, _) => Ok(abi_number(effective_abi)),
    }
}

fn abi_number(abi: ABI) -> u32 {
    // Its text is its number, or "unsupported".
    abi.to_string().parse().unwrap_or(0)
}
