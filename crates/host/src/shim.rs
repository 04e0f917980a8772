//! The shim: one small process per run that starts the agent, outlives the daemon and writes down how it ended.
//!
//! The daemon's side is here: [`launch`], [`probe`], [`stop`], [`end_leftovers`]. The shim's own side is
//! [`main`] (`dandori shim <run_dir>`); the way to the agent behind its fence is [`crate::fenced`].
//!
//! Promises: a folder sees at most one launch, however often it is asked for; the shim ends every descendant,
//! `setsid` ones too, before it writes `exit.json`; the run's limit holds while no daemon lives; nothing but the
//! order's environment reaches the agent. It knows nothing of agents' protocols: output is bytes.

mod daemon;
mod leftovers;
mod output;
mod record;
mod supervisor;

pub use daemon::{
    LaunchError, Probe, ShimError, Told, in_pane, launch, policy, probe, reap_children, started, stop, told,
};
pub use leftovers::end_leftovers;
pub use record::{ExitRecord, LaunchOrder, OUTPUT, RUN_MARKER, STDERR, Started, VERSION, Why};
pub use supervisor::main;

pub use crate::fenced::Streams;
