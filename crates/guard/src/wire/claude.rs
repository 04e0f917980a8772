//! Claude Code. Hooks of one event run side by side, `systemMessage` is for the user alone, and a context at `Stop` makes
//! the turn go on.

use camino::Utf8Path;

use crate::event::{Event, Kind, Outcome, Tool};

use super::fields::Fields;
use super::tools::{Input, claude_names};
use super::{Forms, Refuse, ToModel};

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
    "PostToolBatch",
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
        Kind::PreTool => Forms { refuse: Refuse::Tool, ask: true, ..Forms::NOTES },
        Kind::PromptSubmit { .. } => Forms { refuse: Refuse::By("block"), ..Forms::NOTES },
        Kind::SessionStart { .. } | Kind::PostTool { .. } => Forms::NOTES,
        Kind::Stop { active: false, .. } => Forms { refuse: Refuse::By("block"), ..Forms::USER_ONLY },
        Kind::Stop { active: true, .. } => Forms::USER_ONLY,
        Kind::SubagentStop { active: false, .. } => Forms { refuse: Refuse::By("block"), ..Forms::SILENT },
        Kind::SubagentStart => Forms { model: ToModel::Context, ..Forms::SILENT },
        // Its plain output becomes part of the instructions for the summary.
        Kind::PreCompact { .. } => Forms { refuse: Refuse::By("block"), model: ToModel::Plain, ..Forms::SILENT },
        Kind::ConfigChange { .. } => Forms { refuse: Refuse::Exit, ..Forms::SILENT },
        Kind::SubagentStop { active: true, .. } | Kind::SessionEnd { .. } | Kind::Notification { .. } | Kind::Other => {
            Forms::SILENT
        }
    }
}
