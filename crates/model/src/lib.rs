//! A scripted model on loopback: what Anthropic's Messages API, OpenAI's Responses API and Google's API
//! answer, as far as the agents ask. `dandori doctor --guards` tries the hooks with it, and so do the tests.
//!
//! The turn that is played is the number of model turns already in the request, so the server keeps no
//! conversation: a resumed or repeated request gets the same answer. Faults are turns too. It answers on
//! 127.0.0.1 alone, one connection for one request, and keeps every request for whoever wants to know what the model
//! was told.

#![expect(clippy::indexing_slicing, reason = "a JSON value that lacks a key answers null")]

mod anthropic;
mod google;
mod http;
mod openai;
mod script;
mod server;

pub use script::{Call, Fault, Script, Turn};
pub use server::{Kind, ModelServer};
