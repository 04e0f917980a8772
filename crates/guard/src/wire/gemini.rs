//! Gemini CLI: its own names for events and tools, paths as the model wrote them, and no way to reach the model before a
//! tool runs.

use camino::Utf8Path;

use crate::event::{Event, Kind, Outcome, Tool};

use super::fields::Fields;
use super::tools::Input;
use super::{Forms, Notes, Refuse};

pub(super) const OBSERVED: &[&str] = &["BeforeModel", "AfterModel", "BeforeToolSelection"];

pub(super) fn is_own_event(name: &str) -> bool {
    OBSERVED.contains(&name)
        || matches!(name, "BeforeTool" | "AfterTool" | "BeforeAgent" | "AfterAgent" | "PreCompress")
}

pub(super) fn is_event(name: &str) -> bool {
    is_own_event(name) || matches!(name, "SessionStart" | "SessionEnd" | "Notification")
}

pub(super) fn kind(name: &str, fields: &mut Fields<'_>) -> Kind {
    match name {
        "SessionStart" => Kind::SessionStart { source: fields.source() },
        "BeforeAgent" => Kind::PromptSubmit { prompt: typed(fields.string("prompt").unwrap_or_default()) },
        "BeforeTool" => Kind::PreTool,
        "AfterTool" => Kind::PostTool { outcome: outcome(fields), response: fields.response() },
        "AfterAgent" => Kind::Stop { active: fields.stop_is_active(), last_message: fields.string("prompt_response") },
        "PreCompress" => Kind::PreCompact { trigger: fields.string("trigger") },
        "SessionEnd" => Kind::SessionEnd { reason: fields.string("reason") },
        "Notification" => {
            Kind::Notification { about: fields.string("notification_type"), message: fields.string("message") }
        }
        _ => Kind::Other,
    }
}

fn outcome(fields: &Fields<'_>) -> Outcome {
    #[derive(serde::Deserialize)]
    struct Response {
        error: Option<serde::de::IgnoredAny>,
    }
    match fields.raw("tool_response").map(serde_json::from_str) {
        Some(Ok(Response { error: None })) => Outcome::Succeeded,
        Some(Ok(Response { error: Some(_) })) => Outcome::Failed,
        Some(Err(_)) | None => Outcome::Unknown,
    }
}

/// The prompt as the user typed it. Headless, the client puts what hooks said at the session's start before it: a rule
/// about prompts would judge our own words.
fn typed(prompt: String) -> String {
    let behind = prompt.strip_prefix("<hook_context>").and_then(|rest| rest.split_once("</hook_context>"));
    behind.map(|(_, typed)| typed.trim_start().to_owned()).unwrap_or(prompt)
}

pub(super) fn tool(name: &str, cwd: Option<&Utf8Path>, fields: &mut Fields<'_>) -> Tool {
    let input = Input::new(name, cwd, fields);
    match name {
        "run_shell_command" => input.bash(Some("dir_path"), fields),
        "write_file" => input.write(fields),
        "replace" => input.edit(fields),
        "read_file" => input.read(fields),
        "glob" | "grep_search" | "search_file_content" | "list_directory" => input.search(),
        "activate_skill" => input.skill("name", fields),
        "invoke_agent" => input.agent("agent_name", "prompt"),
        _ => match mcp_names(name, fields) {
            Some((server, tool)) => input.mcp(&server, &tool),
            None => input.other(),
        },
    }
}

/// Server and tool of an MCP call. The name alone is ambiguous (both parts may hold `_`), so the context counts first.
fn mcp_names(name: &str, fields: &Fields<'_>) -> Option<(String, String)> {
    #[derive(serde::Deserialize)]
    struct Context {
        server_name: String,
        tool_name: String,
    }
    let context = fields.raw("mcp_context").and_then(|raw| serde_json::from_str::<Context>(raw).ok());
    if let Some(context) = context {
        return Some((context.server_name, context.tool_name));
    }
    let (server, tool) = name.strip_prefix("mcp_")?.split_once('_')?;
    Some((server.to_owned(), tool.to_owned()))
}

pub(super) fn forms(event: &Event) -> Forms {
    match event.kind {
        Kind::PreTool => Forms::refusing(Refuse::Shown, Notes::User),
        Kind::PromptSubmit { .. } => Forms::refusing(Refuse::By("deny"), Notes::Both),
        Kind::SessionStart { .. } | Kind::PostTool { .. } => Forms::telling(Notes::Both),
        Kind::Stop { active: false, .. } => Forms::refusing(Refuse::By("deny"), Notes::AllToUser),
        Kind::Stop { active: true, .. } | Kind::SessionEnd { .. } => Forms::telling(Notes::AllToUser),
        // `PreCompress` comes before every call of the model and is advisory.
        Kind::PreCompact { .. }
        | Kind::SubagentStart
        | Kind::SubagentStop { .. }
        | Kind::Notification { .. }
        | Kind::ConfigChange { .. }
        | Kind::Other => Forms::telling(Notes::None),
    }
}
