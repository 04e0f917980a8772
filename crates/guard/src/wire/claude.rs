//! Claude Code. Hooks of one event run side by side, `systemMessage` is for the user alone, and a context at `Stop` makes
//! the turn go on.

use camino::Utf8Path;

use crate::event::{Event, Kind, Outcome, Tool};

use super::fields::Fields;
use super::tools::{Input, claude_names};
use super::{Forms, Notes, Refuse};

/// Known events that have no rule: they pass, and need no line in the log.
pub(super) const OBSERVED: &[&str] = &[
    "CwdChanged",
    "DirectoryAdded",
    "Elicitation",
    "ElicitationResult",
    "FileChanged",
    "InstructionsLoaded",
    "MessageDisplay",
    "PermissionDenied",
    "PermissionRequest",
    "PostCompact",
    "PostModelSwitch",
    "PostToolBatch",
    "PreModelSwitch",
    "Setup",
    "StopFailure",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "UserPromptExpansion",
    "WorktreeCreate",
    "WorktreeRemove",
];

/// Whether no other client has an event of this name.
pub(super) fn is_own_event(name: &str) -> bool {
    matches!(name, "PostToolUseFailure" | "ConfigChange")
        || (OBSERVED.contains(&name) && !super::codex::OBSERVED.contains(&name))
}

pub(super) fn kind(name: &str, fields: &mut Fields<'_>) -> Kind {
    match name {
        "PostToolUse" => Kind::PostTool { outcome: Outcome::Succeeded, response: fields.response() },
        "PostToolUseFailure" => {
            Kind::PostTool { outcome: Outcome::Failed, response: fields.raw("error").map(str::to_owned) }
        }
        "Notification" => {
            Kind::Notification { about: fields.string("notification_type"), message: fields.string("message") }
        }
        "ConfigChange" => {
            Kind::ConfigChange { source: fields.string("source"), path: fields.string("file_path").map(Into::into) }
        }
        _ => shared_kind(name, fields),
    }
}

/// The events that Codex has taken over with their fields.
pub(super) fn shared_kind(name: &str, fields: &mut Fields<'_>) -> Kind {
    match name {
        "SessionStart" => Kind::SessionStart { source: fields.source() },
        "UserPromptSubmit" => Kind::PromptSubmit { prompt: fields.string("prompt").unwrap_or_default() },
        "PreToolUse" => Kind::PreTool,
        "Stop" => Kind::Stop { active: fields.stop_is_active(), last_message: fields.string("last_assistant_message") },
        "SubagentStart" => Kind::SubagentStart,
        "SubagentStop" => Kind::SubagentStop {
            active: fields.stop_is_active(),
            last_message: fields.string("last_assistant_message"),
        },
        "PreCompact" => Kind::PreCompact { trigger: fields.string("trigger") },
        "SessionEnd" => Kind::SessionEnd { reason: fields.string("reason") },
        _ => Kind::Other,
    }
}

pub(super) fn tool(name: &str, cwd: Option<&Utf8Path>, fields: &mut Fields<'_>) -> Tool {
    claude_names(Input::new(name, cwd, fields), fields)
}

pub(super) fn forms(event: &Event) -> Forms {
    match event.kind {
        Kind::PreTool => Forms { ask: true, ..Forms::refusing(Refuse::Tool, Notes::Both) },
        Kind::PromptSubmit { .. } => Forms::refusing(Refuse::By("block"), Notes::Both),
        Kind::SessionStart { .. } | Kind::PostTool { .. } | Kind::SubagentStart => Forms::telling(Notes::Both),
        Kind::Stop { active: false, .. } | Kind::SubagentStop { active: false, .. } => {
            Forms::refusing(Refuse::By("block"), Notes::AllToUser)
        }
        Kind::Stop { active: true, .. } | Kind::SubagentStop { active: true, .. } => Forms::telling(Notes::AllToUser),
        // Its plain output becomes part of the instructions for the summary.
        Kind::PreCompact { .. } => Forms::refusing(Refuse::By("block"), Notes::PlainToModel),
        Kind::ConfigChange { .. } => Forms::refusing(Refuse::Exit, Notes::None),
        Kind::SessionEnd { .. } => Forms::telling(Notes::UserByFailing),
        Kind::Notification { .. } | Kind::Other => Forms::telling(Notes::None),
    }
}
