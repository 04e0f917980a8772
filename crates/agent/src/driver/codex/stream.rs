//! Codex' `exec --json`.

use dandori_domain::{AgentEvent, Usage, Verdict};
use serde_json::Value;

use crate::reader::told::{Told, number, shown, text};
use crate::trouble;

pub(super) fn take_in(event: &Value, told: &mut Told, events: &mut Vec<AgentEvent>) {
    match text(event, "type").unwrap_or_default() {
        "thread.started" => told.started(text(event, "thread_id"), None, events),
        "turn.started" => told.goes_on(),
        "turn.completed" => {
            told.used(usage(event.get("usage").unwrap_or(&Value::Null), told.before), events);
            let summary = told.message.clone();
            told.done(&summary, events);
        }
        "turn.failed" => {
            let words = event.pointer("/error/message").and_then(Value::as_str).unwrap_or_default();
            let words = if words.is_empty() { told.last_error.clone().unwrap_or_default() } else { words.to_owned() };
            told.finished(Verdict::Failed { failure: trouble::of_api(None, &words) }, events);
        }
        "error" => {
            let words = text(event, "message").unwrap_or_default();
            match words.strip_prefix("Reconnecting...") {
                Some(rest) => told.tries_again(reason(rest), events),
                None => told.failed_with(words, events),
            }
        }
        kind @ ("item.started" | "item.updated" | "item.completed") => {
            let item = event.get("item").unwrap_or(&Value::Null);
            take_in_item(item, kind == "item.completed", told, events);
        }
        kind => events.push(AgentEvent::Unknown { kind: kind.to_owned() }),
    }
}

/// ` 2/5 (why)`: the why.
fn reason(rest: &str) -> &str {
    rest.split_once('(').map_or(rest, |(_, why)| why.trim_end().trim_end_matches(')')).trim()
}

fn take_in_item(item: &Value, is_completed: bool, told: &mut Told, events: &mut Vec<AgentEvent>) {
    let id = text(item, "id").unwrap_or_default();
    match text(item, "type").unwrap_or_default() {
        "agent_message" if is_completed => told.said(text(item, "text").unwrap_or_default(), events),
        "reasoning" if is_completed => told.thought(text(item, "text").unwrap_or_default(), events),
        "agent_message" | "reasoning" | "todo_list" => {}
        // A warning; what ends a turn comes as an event of its own.
        "error" => events.push(AgentEvent::Warning { text: text(item, "message").unwrap_or_default().to_owned() }),
        kind @ ("command_execution" | "file_change" | "mcp_tool_call" | "collab_tool_call" | "web_search") => {
            if !told.open_tools.contains(id) {
                told.called(id, kind, &input(kind, item), events);
            }
            if is_completed {
                let ok = !matches!(text(item, "status"), Some("failed" | "declined"));
                told.answered(id, ok, &output(kind, item), events);
            }
        }
        kind => events.push(AgentEvent::Unknown { kind: format!("item/{kind}") }),
    }
}

fn input(kind: &str, item: &Value) -> String {
    match kind {
        "command_execution" => shown(item.get("command")),
        "file_change" => shown(item.get("changes")),
        "web_search" => shown(item.get("query")),
        _ => format!("{} {}", shown(item.get("tool")), shown(item.get("arguments"))),
    }
}

fn output(kind: &str, item: &Value) -> String {
    match kind {
        "command_execution" => shown(item.get("aggregated_output")),
        "file_change" => shown(item.get("status")),
        _ => shown(item.get("result").filter(|r| !r.is_null()).or_else(|| item.get("error"))),
    }
}

/// Totals of the thread, less what the thread had before this process.
fn usage(total: &Value, before: Usage) -> Usage {
    Usage {
        input_tokens: number(total, "input_tokens").saturating_sub(before.input_tokens),
        output_tokens: number(total, "output_tokens").saturating_sub(before.output_tokens),
        cached_tokens: number(total, "cached_input_tokens").saturating_sub(before.cached_tokens),
        cost: None,
    }
}
