//! What the guards go by, made from what was written down.
//!
//! `compile` lays the user's table and the repository's over the guards' defaults: a repository may tighten what the
//! user has set, never loosen it, and may loosen a default or have something executed only when it is trusted. `load`
//! keeps the result beside its sources' fingerprints, so that a hook reads one JSON file and looks at a few others'
//! metadata: no TOML, no daemon.
//!
//! Configuration that cannot be read never means no guards.

mod compile;
mod merge;
mod policy_paths;
mod protected_files;
mod run;
mod snapshot;

pub use compile::{Compiled, Origin, Sources, compile};
pub use dandori_domain::guard::RulesNote;
pub use policy_paths::{AgentHomes, PolicyPaths};
pub use protected_files::read as read_protected_files;
pub use run::{Run, RunRules};
pub use snapshot::{load, read};
