//! Its `stream-json`.

use dandori_domain::{AgentEvent, AgentFailure, Usage, Verdict};
use serde_json::Value;

use crate::reader::told::{Told, cut, input, number, shown, text};
use crate::reader::{is_unknown_session, last_line};
use crate::trouble;

pub(super) fn take_in(event: &Value, told: &mut Told, events: &mut Vec<AgentEvent>) {
    match text(event, "type").unwrap_or_default() {
        "init" => told.started(text(event, "session_id"), text(event, "model"), events),
        "message" if text(event, "role") == Some("assistant") => {
            // Pieces of one message, until a tool is called.
            let piece = text(event, "content").unwrap_or_default();
            let whole = cut(&format!("{}{piece}", told.message));
            told.said(piece, events);
            told.message = whole;
        }
        "message" => {}
        "tool_use" => {
            told.message.clear();
            told.called(
                text(event, "tool_id").unwrap_or_default(),
                text(event, "tool_name").unwrap_or_default(),
                &input(event.get("parameters")),
                events,
            );
        }
        "tool_result" => {
            let ok = text(event, "status") != Some("error");
            let output = event.get("output").or_else(|| event.pointer("/error/message"));
            told.answered(text(event, "tool_id").unwrap_or_default(), ok, &shown(output), events);
        }
        "error" if text(event, "severity") == Some("warning") => {
            events.push(AgentEvent::Warning { text: cut(text(event, "message").unwrap_or_default()) });
        }
        "error" => told.failed_with(text(event, "message").unwrap_or_default(), events),
        "result" => result(event, told, events),
        kind => events.push(AgentEvent::Unknown { kind: kind.to_owned() }),
    }
}

fn result(event: &Value, told: &mut Told, events: &mut Vec<AgentEvent>) {
    if let Some(stats) = event.get("stats") {
        told.used(usage(stats), events);
    }
    if text(event, "status") == Some("success") {
        let summary = told.message.clone();
        return told.done(&summary, events);
    }
    let kind = event.pointer("/error/type").and_then(Value::as_str).unwrap_or_default();
    let words = event.pointer("/error/message").and_then(Value::as_str).map(str::to_owned);
    let words = words.or_else(|| told.last_error.clone()).unwrap_or_default();
    let failure = match kind {
        "FatalTurnLimitedError" => AgentFailure::MaxTurns,
        "FatalCancellationError" => AgentFailure::Interrupted,
        "FatalAuthenticationError" => AgentFailure::NotAuthorised { detail: trouble::sentence(&words) },
        _ => trouble::of_api(None, &words),
    };
    told.finished(Verdict::Failed { failure }, events);
}

/// It exits with the API's status modulo 256: where its words do not tell the status, the exit does.
pub(super) fn with_exit(failure: AgentFailure, exit: Option<i32>) -> AgentFailure {
    let status = exit.and_then(|code| u16::try_from(code).ok()).filter(|c| (144..=255).contains(c)).map(|c| c + 256);
    match failure {
        AgentFailure::Api { status: None, detail } | AgentFailure::Unreachable { detail } if status.is_some() => {
            trouble::of_api(status, &detail)
        }
        other => other,
    }
}

/// Before its first event it speaks on stderr and by its exit code.
pub(super) fn of_exit(exit: Option<i32>, tail: &str, told: &Told) -> Option<AgentFailure> {
    let detail = || trouble::sentence(last_line(tail));
    match exit? {
        41 => Some(AgentFailure::NotAuthorised { detail: first_sentence_about(tail, "auth").unwrap_or_else(detail) }),
        42 if is_unknown_session(tail) => {
            told.asked.clone().map(|asked| AgentFailure::WrongSession { asked, got: None })
        }
        53 => Some(AgentFailure::MaxTurns),
        _ => None,
    }
}

/// Stack traces follow the sentence that matters.
fn first_sentence_about(text: &str, word: &str) -> Option<String> {
    text.lines().find(|line| line.to_lowercase().contains(word)).map(trouble::sentence)
}

/// Totals of this process.
fn usage(stats: &Value) -> Usage {
    Usage {
        input_tokens: number(stats, "input_tokens"),
        output_tokens: number(stats, "output_tokens"),
        cached_tokens: number(stats, "cached"),
        cost: None,
    }
}
