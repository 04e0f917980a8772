//! How each client is tried: started in its stage, with a model that speaks to it in its vendor's way. A file per client;
//! the one match is here.

#![deny(clippy::wildcard_enum_match_arm)]

mod claude;
mod codex;
mod gemini;

use dandori_install::Client;

use super::super::hooks::Look;
use super::stage::Stage;
use crate::cli::Context;

pub(super) struct Actor {
    /// Puts what it needs beside its settings, and says how it is started. The last is the model's address.
    pub(super) start: fn(&Stage, &Context, &Look, &str) -> Result<Agent, String>,
    /// The tools of the steps (a shell, a file, a shell), as it calls them.
    pub(super) tools: [&'static str; 3],
}

impl Actor {
    pub(super) fn of(client: Client) -> &'static Self {
        match client {
            Client::Claude => &claude::ACTOR,
            Client::Codex => &codex::ACTOR,
            Client::Gemini => &gemini::ACTOR,
        }
    }
}

const KEY: &str = "self-test";

/// How an agent is started.
pub(super) struct Agent {
    pub(super) words: Vec<String>,
    pub(super) variables: Vec<(&'static str, String)>,
}

impl Agent {
    fn new<'w>(words: impl Iterator<Item = &'w &'w str>) -> Self {
        Self { words: words.map(|w| (*w).to_owned()).collect(), variables: Vec::new() }
    }

    fn set(&mut self, name: &'static str, value: &str) -> &mut Self {
        self.variables.push((name, value.to_owned()));
        self
    }
}
