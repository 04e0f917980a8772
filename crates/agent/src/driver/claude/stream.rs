//! Claude Code's `stream-json`.

use dandori_domain::{AgentEvent, AgentFailure, Usage, Usd, Verdict};
use serde_json::Value;

use crate::reader::told::{Told, input, number, shown, text};
use crate::trouble;

pub(super) fn take_in(event: &Value, told: &mut Told, events: &mut Vec<AgentEvent>) {
    match (text(event, "type").unwrap_or_default(), text(event, "subtype").unwrap_or_default()) {
        ("system", "init") => {
            told.goes_on();
            told.started(text(event, "session_id"), text(event, "model"), events);
        }
        ("system", "api_retry") => {
            let status = event.get("error_status").and_then(Value::as_u64);
            let error = text(event, "error").unwrap_or("unknown");
            // Without a status nothing answered at all.
            let reason = status.map_or_else(|| format!("network error: {error}"), |s| format!("status {s}: {error}"));
            told.tries_again(&reason, events);
        }
        ("system", "model_fallback" | "notification") => {
            events.push(AgentEvent::Warning { text: shown(event.get("text").or_else(|| event.get("message"))) });
        }
        // Signs of life without news.
        ("system", "status" | "thinking_tokens" | "hook_started" | "hook_response" | "background_tasks_changed")
        | ("stream_event" | "control_request" | "control_response" | "keep_alive", _) => {}
        ("system", sub) if sub.starts_with("task_") => {}
        ("assistant", _) => assistant(event, told, events),
        ("user", _) => tool_results(event, told, events),
        ("result", subtype) => result(event, subtype, told, events),
        (kind, "") => events.push(AgentEvent::Unknown { kind: kind.to_owned() }),
        (kind, subtype) => events.push(AgentEvent::Unknown { kind: format!("{kind}/{subtype}") }),
    }
}

fn blocks(event: &Value) -> impl Iterator<Item = &Value> {
    event.pointer("/message/content").and_then(Value::as_array).into_iter().flatten()
}

fn assistant(event: &Value, told: &mut Told, events: &mut Vec<AgentEvent>) {
    // A failure of the API comes as a message nobody wrote, and again in the result.
    let is_error = event.get("error").is_some_and(|e| !e.is_null());
    let is_own = event.get("parent_tool_use_id").is_none_or(Value::is_null);
    for block in blocks(event) {
        match text(block, "type").unwrap_or_default() {
            "text" if is_error => told.failed_with(text(block, "text").unwrap_or_default(), events),
            "text" => {
                let last = told.message.clone();
                told.said(text(block, "text").unwrap_or_default(), events);
                // What a subagent says is not said to the user.
                if !is_own {
                    told.message = last;
                }
            }
            "thinking" => told.thought(text(block, "thinking").unwrap_or_default(), events),
            "tool_use" => told.called(
                text(block, "id").unwrap_or_default(),
                text(block, "name").unwrap_or_default(),
                &input(block.get("input")),
                events,
            ),
            other => events.push(AgentEvent::Unknown { kind: format!("assistant/{other}") }),
        }
    }
}

fn tool_results(event: &Value, told: &mut Told, events: &mut Vec<AgentEvent>) {
    for block in blocks(event).filter(|b| text(b, "type") == Some("tool_result")) {
        let ok = !block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
        told.answered(text(block, "tool_use_id").unwrap_or_default(), ok, &content(block.get("content")), events);
    }
}

/// A tool's answer: text, or blocks of which the text is what is read.
fn content(value: Option<&Value>) -> String {
    match value {
        Some(Value::Array(blocks)) => blocks
            .iter()
            .map(|b| text(b, "text").map_or_else(|| b.to_string(), str::to_owned))
            .collect::<Vec<_>>()
            .join("\n"),
        other => shown(other),
    }
}

fn result(event: &Value, subtype: &str, told: &mut Told, events: &mut Vec<AgentEvent>) {
    // Without an init it names the conversation that was asked for and not found.
    if told.session.is_some()
        && let Some(session) = text(event, "session_id")
    {
        told.session = Some(dandori_domain::SessionId::new(session));
    }
    told.used(usage(event, told.usage), events);
    let is_error = event.get("is_error").and_then(Value::as_bool).unwrap_or(true);
    if subtype == "success" && !is_error {
        let summary = text(event, "result").filter(|t| !t.trim().is_empty()).unwrap_or(&told.message).to_owned();
        return told.done(&summary, events);
    }
    let failure = failure(event, subtype, told);
    // It only waited for what it had left in the background: ending that does not undo what is done.
    if failure == AgentFailure::Interrupted && matches!(told.verdict, Some(Verdict::Done { .. })) {
        return;
    }
    told.finished(Verdict::Failed { failure }, events);
}

fn failure(event: &Value, subtype: &str, told: &mut Told) -> AgentFailure {
    let errors = event.get("errors").and_then(Value::as_array).into_iter().flatten();
    let errors = errors.filter_map(Value::as_str).collect::<Vec<_>>().join("; ");
    let words = text(event, "result").unwrap_or(&errors);
    match subtype {
        "error_max_turns" => AgentFailure::MaxTurns,
        "error_max_budget_usd" => {
            told.is_over_budget = true;
            AgentFailure::Other { detail: trouble::sentence(words) }
        }
        _ if words.contains("No conversation found") && told.asked.is_some() => AgentFailure::WrongSession {
            asked: told.asked.clone().unwrap_or_else(|| dandori_domain::SessionId::new("")),
            got: None,
        },
        "error_during_execution"
            if text(event, "terminal_reason").is_some_and(|r| r.starts_with("aborted")) || words.is_empty() =>
        {
            AgentFailure::Interrupted
        }
        _ => {
            let status = event.get("api_error_status").and_then(Value::as_u64).and_then(|s| u16::try_from(s).ok());
            trouble::of_api(status, words)
        }
    }
}

/// What this process has used, `before` this result and with it. A resumed process of a newer version reports the totals
/// of its conversation (`total_cost_usd`, `modelUsage`) and its own share of them beside, from one result to the next. An
/// older one has totals of the process alone, and `usage` is of the turn.
fn usage(event: &Value, before: Usage) -> Usage {
    if let Some(models) = event.get("model_usage_since_last_result").and_then(Value::as_object) {
        let share = of_models(models);
        let cost = models.values().filter_map(|model| model.get("costUSD")?.as_f64()).sum();
        return Usage {
            input_tokens: before.input_tokens + share.input_tokens,
            output_tokens: before.output_tokens + share.output_tokens,
            cached_tokens: before.cached_tokens + share.cached_tokens,
            cost: Some(Usd(before.cost.map_or(0, |cost| cost.0) + Usd::from_dollars(cost).0)),
        };
    }
    let cost = event.get("total_cost_usd").and_then(Value::as_f64).map(Usd::from_dollars);
    let total = event.get("modelUsage").and_then(Value::as_object).map(of_models).unwrap_or_default();
    Usage { cost, ..total }
}

fn of_models(models: &serde_json::Map<String, Value>) -> Usage {
    let mut usage = Usage::default();
    for model in models.values() {
        let cached = number(model, "cacheReadInputTokens");
        usage.input_tokens += number(model, "inputTokens") + number(model, "cacheCreationInputTokens") + cached;
        usage.output_tokens += number(model, "outputTokens");
        usage.cached_tokens += cached;
    }
    usage
}
