//! The real Claude Code, Codex and Gemini CLIs, run by the real dandori against a scripted model on loopback.
//!
//! Everything between the user's command and the model is the shipped thing: CLI, daemon, shim, sandbox, the agent's
//! own program in its pinned version. Only the model is played.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a helper of a test may fail as a test does"
)]

mod acp;
mod attempts;
mod doctor;
mod edits;
mod failures;
mod finished;
mod guards;
mod stage;
mod watch;
