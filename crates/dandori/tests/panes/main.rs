//! Prompts typed into clients in tmux: each is submitted once, as it is, or reported as not delivered and delivered again.
//!
//! 500 of them into a stand-in that loses, damages and delays keys; `DANDORI_PROMPTS=10000` for more, `DANDORI_SEED` for others.
//! Then some into the real clients.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a helper of a test may fail as a test does"
)]

mod claude;
mod others;
mod prompts;
mod session;
mod stand_in;
