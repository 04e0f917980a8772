//! What an agent has told so far, whichever agent it is.

use std::collections::BTreeSet;

use dandori_domain::{AgentEvent, AgentFailure, SessionId, Usage, Verdict};
use serde_json::Value;

use crate::trouble;

/// A text in an event: enough to read, little enough to keep thousands of.
const MAX_TEXT: usize = 32 * 1024;
const MAX_TAIL: usize = 8 * 1024;

#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) asked: Option<SessionId>,
    pub(crate) before: Usage,
    pub(crate) session: Option<SessionId>,
    pub(crate) usage: Usage,
    pub(crate) open_tools: BTreeSet<String>,
    pub(crate) retries: u32,
    pub(crate) has_spoken: bool,
    /// The agent's own first event was there.
    pub(crate) has_started: bool,
    pub(crate) is_over_budget: bool,
    pub(crate) verdict: Option<Verdict>,
    /// The last thing it said to the user; grows where it comes in pieces.
    pub(crate) message: String,
    pub(crate) last_error: Option<String>,
    pub(crate) last_line: String,
    /// The end of what is no event.
    pub(crate) tail: String,
}

impl Told {
    pub(crate) fn new(asked: Option<SessionId>, before: Usage) -> Self {
        Self {
            asked,
            before,
            session: None,
            usage: Usage::default(),
            open_tools: BTreeSet::new(),
            retries: 0,
            has_spoken: false,
            has_started: false,
            is_over_budget: false,
            verdict: None,
            message: String::new(),
            last_error: None,
            last_line: String::new(),
            tail: String::new(),
        }
    }

    pub(crate) fn started(&mut self, session: Option<&str>, model: Option<&str>, events: &mut Vec<AgentEvent>) {
        self.has_started = true;
        if let Some(session) = session {
            self.session = Some(SessionId::new(session));
        }
        events.push(AgentEvent::Started { session: self.session.clone(), model: model.map(str::to_owned) });
    }

    /// A whole message, which takes the place of the last.
    pub(crate) fn said(&mut self, text: &str, events: &mut Vec<AgentEvent>) {
        self.message = cut(text);
        self.got_on();
        events.push(AgentEvent::Message { text: cut(text) });
    }

    pub(crate) fn thought(&mut self, text: &str, events: &mut Vec<AgentEvent>) {
        self.got_on();
        events.push(AgentEvent::Thought { text: cut(text) });
    }

    pub(crate) fn called(&mut self, id: &str, name: &str, input: &str, events: &mut Vec<AgentEvent>) {
        self.got_on();
        self.open_tools.insert(id.to_owned());
        events.push(AgentEvent::ToolCall { id: id.to_owned(), name: name.to_owned(), input: cut(input) });
    }

    pub(crate) fn answered(&mut self, id: &str, ok: bool, output: &str, events: &mut Vec<AgentEvent>) {
        self.got_on();
        self.open_tools.remove(id);
        events.push(AgentEvent::ToolResult { id: id.to_owned(), ok, output: cut(output) });
    }

    pub(crate) fn tries_again(&mut self, reason: &str, events: &mut Vec<AgentEvent>) {
        self.retries = self.retries.saturating_add(1);
        self.last_error = Some(cut(reason));
        events.push(AgentEvent::Retrying { attempt: self.retries, reason: trouble::sentence(reason) });
    }

    pub(crate) fn failed_with(&mut self, text: &str, events: &mut Vec<AgentEvent>) {
        self.last_error = Some(cut(text));
        events.push(AgentEvent::Error { text: cut(text) });
    }

    pub(crate) fn used(&mut self, usage: Usage, events: &mut Vec<AgentEvent>) {
        self.usage = usage;
        events.push(AgentEvent::Usage { usage });
    }

    pub(crate) fn finished(&mut self, verdict: Verdict, events: &mut Vec<AgentEvent>) {
        self.open_tools.clear();
        self.verdict = Some(verdict.clone());
        events.push(AgentEvent::Finished { verdict });
    }

    pub(crate) fn done(&mut self, summary: &str, events: &mut Vec<AgentEvent>) {
        self.finished(Verdict::Done { summary: cut(summary.trim()) }, events);
    }

    /// Another turn begins: what the last one said no longer stands.
    pub(crate) fn goes_on(&mut self) {
        self.verdict = None;
        self.last_error = None;
    }

    pub(crate) fn note_line(&mut self, line: &str) {
        if !line.trim().is_empty() {
            self.last_line = cut(line.trim());
        }
        self.tail.push_str(&cut(line));
        self.tail.push('\n');
        if self.tail.len() > 2 * MAX_TAIL {
            let mut at = self.tail.len() - MAX_TAIL;
            while !self.tail.is_char_boundary(at) {
                at += 1;
            }
            self.tail.drain(..at);
        }
    }

    /// The conversation asked for is not the one it went on with.
    pub(crate) fn wrong_session(&self) -> Option<AgentFailure> {
        let (asked, got) = (self.asked.as_ref()?, self.session.as_ref()?);
        (asked != got).then(|| AgentFailure::WrongSession { asked: asked.clone(), got: Some(got.clone()) })
    }

    fn got_on(&mut self) {
        self.retries = 0;
        self.last_error = None;
    }
}

pub(crate) fn cut(text: &str) -> String {
    trouble::shortened(text, MAX_TEXT)
}

/// A field that is text.
pub(crate) fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str)
}

pub(crate) fn number(value: &Value, field: &str) -> u64 {
    value.get(field).and_then(Value::as_u64).unwrap_or(0)
}

/// A tool's input. Where it is too long, each of its texts is cut rather than the whole: what it is about stays readable.
pub(crate) fn input(value: Option<&Value>) -> String {
    let whole = shown(value);
    match value {
        Some(Value::Object(fields)) if whole.len() > MAX_TEXT => {
            let most = MAX_TEXT / (fields.len().max(1) + 1);
            let short = |value: &Value| match value {
                Value::String(text) => Value::String(trouble::shortened(text, most)),
                other => other.clone(),
            };
            Value::Object(fields.iter().map(|(name, value)| (name.clone(), short(value))).collect()).to_string()
        }
        _ => whole,
    }
}

/// A value as a person reads it: text as text, the rest as JSON.
pub(crate) fn shown(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
