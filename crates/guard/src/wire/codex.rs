//! Codex CLI: Claude's protocol, read strictly. Any key or value it does not know voids the whole answer, and the tool
//! runs. Edits come as the text of a patch.

use camino::Utf8Path;

use crate::event::{Event, Kind, Tool};

use super::claude::shared_kind;
use super::fields::Fields;
use super::tools::{Input, claude_names};
use super::{Forms, Notes, Refuse};

pub(super) const OBSERVED: &[&str] = &["PermissionRequest", "PostCompact"];

pub(super) fn is_event(name: &str) -> bool {
    OBSERVED.contains(&name)
        || matches!(
            name,
            "PreToolUse"
                | "PostToolUse"
                | "PreCompact"
                | "SessionStart"
                | "SessionEnd"
                | "UserPromptSubmit"
                | "SubagentStart"
                | "SubagentStop"
                | "Stop"
        )
}

pub(super) fn kind(name: &str, fields: &mut Fields<'_>) -> Kind {
    match name {
        "PostToolUse" => Kind::PostTool { outcome: fields.outcome_by_exit_line(), response: fields.response() },
        _ => shared_kind(name, fields),
    }
}

pub(super) fn tool(name: &str, cwd: Option<&Utf8Path>, fields: &mut Fields<'_>) -> Tool {
    let input = Input::new(name, cwd, fields);
    match name {
        "apply_patch" => input.patch(fields),
        "spawn_agent" => input.agent("agent_type", "message"),
        _ => claude_names(input, fields),
    }
}

pub(super) fn forms(event: &Event) -> Forms {
    match event.kind {
        Kind::PreTool => Forms::refusing(Refuse::Tool, Notes::Both),
        Kind::PromptSubmit { .. } => Forms::refusing(Refuse::By("block"), Notes::Both),
        Kind::SessionStart { .. } | Kind::PostTool { .. } => Forms::telling(Notes::Both),
        Kind::Stop { active: false, .. } => Forms::refusing(Refuse::By("block"), Notes::AllToUser),
        Kind::Stop { active: true, .. } => Forms::telling(Notes::AllToUser),
        // Nobody has seen yet what it does with an answer to these.
        Kind::SubagentStart
        | Kind::SubagentStop { .. }
        | Kind::PreCompact { .. }
        | Kind::SessionEnd { .. }
        | Kind::Notification { .. }
        | Kind::ConfigChange { .. }
        | Kind::Other => Forms::telling(Notes::None),
    }
}
