//! What the agent asks for, put to the run's guards.
//!
//! Each request becomes an event before a tool, in the form that hooks and guards of the user's own know: Claude Code's
//! names for tools. Rules, records and refusals are those of a hook in the same run.

use std::sync::{Arc, OnceLock};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_guard::{Audience, Tool, decode_acp};
use dandori_hook::Said;
use dandori_host::Env;
use serde_json::{Value, json};

use crate::teller::Teller;

/// A tool as the guards see it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Asked {
    pub(crate) tool: String,
    pub(crate) input: Value,
}

impl Asked {
    pub(crate) fn new(tool: &str, input: Value) -> Self {
        Self { tool: tool.to_owned(), input }
    }

    /// The file it would edit.
    pub(crate) fn edits(&self) -> Option<&str> {
        let is_edit = self.tool == "Edit" || self.tool == "Write";
        self.input.get("file_path").and_then(Value::as_str).filter(|_| is_edit)
    }

    pub(crate) fn shell(command: &str, cwd: Option<&str>) -> Self {
        Self::new("Bash", json!({ "command": command, "cwd": cwd }))
    }
}

pub(crate) struct Refusal {
    pub(crate) guard: String,
    pub(crate) reason: String,
}

impl Refusal {
    /// As the user reads it. Guards name themselves in their reasons.
    pub(crate) fn in_words(&self) -> String {
        let Self { guard, reason } = self;
        if reason.starts_with("[dandori") { reason.clone() } else { format!("[dandori {guard}] {reason}") }
    }
}

pub(crate) struct Judge {
    run: Utf8PathBuf,
    worktree: Utf8PathBuf,
    env: Arc<Env>,
    teller: Teller,
    session: OnceLock<String>,
}

impl Judge {
    pub(crate) fn new(run: &Utf8Path, worktree: &Utf8Path, env: Arc<Env>, teller: Teller) -> Self {
        Self { run: run.to_owned(), worktree: worktree.to_owned(), env, teller, session: OnceLock::new() }
    }

    /// What the guards remember is remembered by conversation.
    pub(crate) fn in_session(&self, session: &str) {
        let _ = self.session.set(session.to_owned());
    }

    /// `call` is the agent's own name of it, where it has one.
    pub(crate) fn ask(&self, asked: &Asked, call: Option<&str>) -> Result<(), Refusal> {
        let refused = |guard: String, reason: String| Err(Refusal { guard, reason });
        let bytes = self.event(asked, call).to_string();
        let event = match decode_acp(bytes.as_bytes()) {
            Ok(event) => event,
            // Our own JSON: it cannot be, and if it is, nothing goes on.
            Err(error) => return refused("hook".to_owned(), error.to_string()),
        };
        match dandori_hook::decide(event, &self.run, &self.env) {
            Said::Go { notes } => {
                for note in notes.iter().filter(|note| note.to != Audience::Model) {
                    self.teller.warn(note.text.as_str());
                }
                Ok(())
            }
            Said::Refused { guard, reason } => refused(guard.to_string(), reason),
        }
    }

    /// Whether there is a command line in it.
    pub(crate) fn is_shell(&self, asked: &Asked) -> bool {
        let event = decode_acp(self.event(asked, None).to_string().as_bytes());
        event.is_ok_and(|event| matches!(event.tool, Some(Tool::Bash { .. })))
    }

    fn event(&self, asked: &Asked, call: Option<&str>) -> Value {
        json!({
            "hook_event_name": "PreToolUse",
            "session_id": self.session.get(),
            "cwd": self.worktree,
            "tool_name": asked.tool,
            "tool_use_id": call,
            "tool_input": asked.input,
        })
    }
}
