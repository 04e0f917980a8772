//! What the built-in model asks the agent for, and what it was told in the end.

use dandori_install::Client;
use dandori_model::{Call, Kind, ModelServer, Script, Turn};
use serde_json::Value;

/// Stops when it is dropped.
pub(super) struct Model {
    server: ModelServer,
    steps: usize,
}

impl Model {
    pub(super) fn start(client: Client, steps: Vec<Call>) -> std::io::Result<Self> {
        let count = steps.len();
        let script = Script::turns(steps.into_iter().map(Turn::call));
        Ok(Self { server: ModelServer::start(Kind::from(client), script)?, steps: count })
    }

    /// The base address as this agent wants it.
    pub(super) fn url(&self) -> String {
        self.server.url()
    }

    pub(super) fn was_asked(&self) -> bool {
        self.server.furthest(|_, _| ()).is_some()
    }

    /// The agent has told what came of every step.
    pub(super) fn is_done(&self) -> bool {
        self.server.furthest(|turn, _| turn > self.steps).unwrap_or_default()
    }

    /// Whether these words are in what the agent told last.
    pub(super) fn was_told(&self, words: &str) -> bool {
        self.server.furthest(|_, request| contains(request, words)).unwrap_or_default()
    }
}

fn contains(value: &Value, words: &str) -> bool {
    match value {
        Value::String(text) => text.contains(words),
        Value::Array(items) => items.iter().any(|item| contains(item, words)),
        Value::Object(fields) => fields.values().any(|field| contains(field, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests;
