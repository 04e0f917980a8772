//! The same deed by the hands of every client, for what has to hold whoever asks.

#![deny(clippy::wildcard_enum_match_arm)]

use dandori_domain::client::Moment;
use serde_json::{Value, json};

use super::Stage;
use crate::{Client, Judgement};

/// Paths are from the folder it stands in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Deed<'d> {
    Write(&'d str),
    Edit {
        path: &'d str,
        old: &'d str,
        new: &'d str,
    },
    /// A search of the files with such names.
    Search(&'d str),
    Skill(&'d str),
    Agent(&'d str),
}

impl Stage {
    /// By another client.
    pub(crate) fn by(mut self, client: Client) -> Self {
        self.agent = client;
        self
    }

    /// The client's own event of this moment.
    pub(crate) fn at(&self, moment: Moment, fields: &Value) -> Judgement {
        self.at_in("/repo", moment, fields)
    }

    fn at_in(&self, cwd: &str, moment: Moment, fields: &Value) -> Judgement {
        let event = self.agent.hooks().and_then(|hooks| hooks.event(moment)).unwrap();
        self.event_in(cwd, event, fields)
    }

    /// What is said before the deed; `None` when the client has no such tool.
    pub(crate) fn does(&self, deed: Deed<'_>) -> Option<Judgement> {
        self.does_in("/repo", deed)
    }

    pub(crate) fn does_in(&self, cwd: &str, deed: Deed<'_>) -> Option<Judgement> {
        Some(self.at_in(cwd, Moment::BeforeTool, &call(self.agent, deed)?))
    }

    /// What is said after it.
    pub(crate) fn has_done(&self, deed: Deed<'_>) -> Option<Judgement> {
        let mut fields = call(self.agent, deed)?;
        fields["tool_response"] = json!("ok");
        Some(self.at(Moment::AfterTool, &fields))
    }
}

/// The tool that a client has for it.
fn call(client: Client, deed: Deed<'_>) -> Option<Value> {
    let (tool, input) = match client {
        Client::Claude => match deed {
            Deed::Write(path) => ("Write", json!({"file_path": path, "content": "x"})),
            Deed::Edit { path, old, new } => ("Edit", json!({"file_path": path, "old_string": old, "new_string": new})),
            Deed::Search(files) => ("Grep", json!({"pattern": ".", "glob": files})),
            Deed::Skill(name) => ("Skill", json!({"skill": name})),
            Deed::Agent(role) => ("Agent", json!({"subagent_type": role, "prompt": "x"})),
        },
        Client::Codex => match deed {
            Deed::Write(path) => ("apply_patch", patch(&format!("*** Add File: {path}\n+x"))),
            Deed::Edit { path, old, new } => {
                ("apply_patch", patch(&format!("*** Update File: {path}\n@@\n-{old}\n+{new}")))
            }
            Deed::Agent(role) => ("spawn_agent", json!({"agent_type": role, "message": "x"})),
            Deed::Search(_) | Deed::Skill(_) => return None,
        },
        Client::Gemini => match deed {
            Deed::Write(path) => ("write_file", json!({"file_path": path, "content": "x"})),
            Deed::Edit { path, old, new } => {
                ("replace", json!({"file_path": path, "old_string": old, "new_string": new}))
            }
            Deed::Search(files) => ("grep_search", json!({"pattern": ".", "include": files})),
            Deed::Skill(name) => ("activate_skill", json!({"name": name})),
            Deed::Agent(role) => ("invoke_agent", json!({"agent_name": role, "prompt": "x"})),
        },
    };
    Some(json!({"tool_name": tool, "tool_input": input}))
}

fn patch(body: &str) -> Value {
    json!({"command": format!("*** Begin Patch\n{body}\n*** End Patch")})
}
