//! `kill -9` of the daemon, the shim and the agent, at every intent and in every state.
//!
//! After each death the run must reach the end it would have reached without it: one commit, one push, one pull
//! request, one launch, no process left, nothing uncommitted lost. The daemon's crash points are enumerated by the
//! engine itself ([`dandori_engine::crash_points`]); `points` fails when one of them has no scenario, or when a
//! daemon that should have died at one did not.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests: a panic is how they report"
)]

mod alone;
mod anybody;
mod kills;
mod orphans;
mod points;
mod schedule;
mod sound;
mod stage;
mod story;

/// Release builds have no crash points: nothing would die, and nothing would be shown.
#[cfg(not(debug_assertions))]
#[test]
fn crash_points_are_compiled_in() {
    panic!("the crash tests need a debug build: `cargo test -p dandori --test crash`, without --release");
}
