//! The guards in the real Claude Code, Codex and Gemini CLIs, installed by `dandori init` and started by hand against a
//! scripted model on loopback.
//!
//! What counts is what is seen from outside: what stands in the file system afterwards, and what the next request to the
//! model says. Nothing of the surrounding environment gets in.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a helper of a test may fail as a test does"
)]

mod confirm;
mod disarm;
mod discipline;
mod killed;
mod newest;
mod policy;
mod stage;
mod trust;
