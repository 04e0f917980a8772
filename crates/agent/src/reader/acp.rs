//! What `dandori acp` says: each line is an event as it is.

use dandori_domain::{AgentEvent, AgentFailure, ProtocolTrouble};
use serde_json::Value;

use super::told::{Told, cut, text};
use crate::trouble;

pub(super) fn take_in(event: Value, told: &mut Told, events: &mut Vec<AgentEvent>) {
    let kind = text(&event, "type").unwrap_or_default().to_owned();
    let Ok(event) = serde_json::from_value(event) else {
        events.push(AgentEvent::Unknown { kind });
        return;
    };
    match event {
        AgentEvent::Started { session, model } => {
            told.started(session.as_ref().map(dandori_domain::SessionId::as_str), model.as_deref(), events);
        }
        AgentEvent::Message { text } => told.said(&text, events),
        AgentEvent::Thought { text } => told.thought(&text, events),
        AgentEvent::ToolCall { id, name, input } => told.called(&id, &name, &input, events),
        AgentEvent::ToolResult { id, ok, output } => told.answered(&id, ok, &output, events),
        AgentEvent::Usage { usage } => told.used(usage, events),
        AgentEvent::Error { text } => told.failed_with(&text, events),
        AgentEvent::Finished { verdict } => told.finished(verdict, events),
        AgentEvent::Line { text } => {
            told.note_line(&text);
            events.push(AgentEvent::Line { text: cut(&text) });
        }
        // Set-up is before the agent: nobody speaks of it here.
        AgentEvent::SetUpBegan { .. } | AgentEvent::SetUpLine { .. } | AgentEvent::SetUpEnded { .. } => {
            events.push(AgentEvent::Unknown { kind });
        }
        other @ (AgentEvent::Retrying { .. } | AgentEvent::Warning { .. } | AgentEvent::Unknown { .. }) => {
            events.push(other);
        }
    }
}

/// With what only this side knows: the end of what the agent said on stderr, and what APIs' errors mean.
pub(super) fn explained(failure: AgentFailure, tail: &str) -> AgentFailure {
    match failure {
        AgentFailure::NoVerdict { exit, signal, tail: said } if said.is_empty() => {
            AgentFailure::NoVerdict { exit, signal, tail: tail.to_owned() }
        }
        AgentFailure::Protocol { trouble: ProtocolTrouble::Refused { method, message } } => {
            match trouble::in_words(&message) {
                Some(failure) if method == "session/prompt" => failure,
                _ => AgentFailure::Protocol {
                    trouble: ProtocolTrouble::Refused { method, message: trouble::sentence(&message) },
                },
            }
        }
        other => other,
    }
}
