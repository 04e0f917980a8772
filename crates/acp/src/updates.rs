//! What the agent says while it works (`session/update`), as events.
//!
//! A message comes in pieces as small as a word. They are put together until something else happens or a person would
//! have waited long enough; a line is not broken unless it is very long in coming.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use dandori_domain::{AgentEvent, Usd};
use serde_json::Value;

use crate::teller::Teller;

/// How long pieces are held for the end of their line, and at the longest.
const HOLD: Duration = Duration::from_secs(1);
const HOLD_LONGEST: Duration = Duration::from_secs(5);
const MOST_HELD: usize = 16 * 1024;
/// Of the last message, which is the summary of the turn, and of a tool's output.
const MOST_KEPT: usize = 32 * 1024;
/// Calls that are known at once; an agent with more is told about without their names.
const MOST_CALLS: usize = 10_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Piece {
    Message,
    Thought,
}

pub(crate) struct Updates {
    teller: Teller,
    held: String,
    piece: Piece,
    /// When the first of what is held came.
    since: Option<Instant>,
    /// Calls that were told of and not answered, with what they have said so far.
    open: BTreeMap<String, String>,
    summary: String,
    cost: Option<f64>,
}

impl Updates {
    pub(crate) fn new(teller: Teller) -> Self {
        Self {
            teller,
            held: String::new(),
            piece: Piece::Message,
            since: None,
            open: BTreeMap::new(),
            summary: String::new(),
            cost: None,
        }
    }

    pub(crate) fn take(&mut self, update: &Value) {
        match update.get("sessionUpdate").and_then(Value::as_str).unwrap_or_default() {
            "agent_message_chunk" => self.piece(Piece::Message, update),
            "agent_thought_chunk" => self.piece(Piece::Thought, update),
            "tool_call" => {
                self.mention(update);
                self.answer(update);
            }
            "tool_call_update" => self.answer(update),
            "plan" => self.plan(update),
            "usage_update" => self.cost = cost_in(update).or(self.cost),
            // What it was told, and what it could be told: nothing that happens.
            "user_message_chunk"
            | "available_commands_update"
            | "current_mode_update"
            | "config_option_update"
            | "session_info_update" => {}
            kind => self.tell(&AgentEvent::Unknown { kind: kind.chars().take(100).collect() }),
        }
    }

    /// A call the agent speaks of, here or where it asks for leave. Told once.
    pub(crate) fn mention(&mut self, call: &Value) {
        let Some(id) = call.get("toolCallId").and_then(Value::as_str) else { return };
        if self.open.contains_key(id) || self.open.len() >= MOST_CALLS {
            return;
        }
        self.open.insert(id.to_owned(), String::new());
        // What is said after a tool is another message.
        self.flush();
        self.summary.clear();
        let name = call.get("kind").and_then(Value::as_str).unwrap_or("tool").to_owned();
        let input = match call.get("rawInput").filter(|input| input.as_object().is_some_and(|o| !o.is_empty())) {
            Some(input) => input.to_string(),
            None => call.get("title").and_then(Value::as_str).unwrap_or_default().to_owned(),
        };
        self.tell(&AgentEvent::ToolCall { id: id.to_owned(), name, input });
    }

    /// A tool is at work, as the agent tells it.
    pub(crate) fn has_open_call(&self) -> bool {
        !self.open.is_empty()
    }

    /// The last message, which is the summary.
    pub(crate) fn summary(&self) -> String {
        self.summary.trim().to_owned()
    }

    /// What the conversation has cost, where the agent says so in dollars.
    pub(crate) fn cost(&self) -> Option<Usd> {
        self.cost.map(Usd::from_dollars)
    }

    /// When what is held should be told at the latest.
    pub(crate) fn due(&self) -> Option<Instant> {
        let hold = if self.held.contains('\n') { HOLD } else { HOLD_LONGEST };
        self.since.map(|since| since + hold)
    }

    /// Tells what has been held for long enough: whole lines first.
    pub(crate) fn flush_due(&mut self, now: Instant) {
        let Some(since) = self.since else { return };
        match self.held.rfind('\n') {
            Some(end) if now >= since + HOLD && now < since + HOLD_LONGEST => {
                let rest = self.held.split_off(end + 1);
                let lines = std::mem::replace(&mut self.held, rest);
                self.since = (!self.held.is_empty()).then_some(now);
                self.tell_piece(lines);
            }
            _ if now >= since + HOLD_LONGEST => self.flush(),
            _ => {}
        }
    }

    /// Tells all that is held.
    pub(crate) fn flush(&mut self) {
        self.since = None;
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            self.tell_piece(held);
        }
    }

    fn piece(&mut self, piece: Piece, update: &Value) {
        let Some(text) = update.pointer("/content/text").and_then(Value::as_str) else { return };
        if self.piece != piece {
            self.flush();
            self.piece = piece;
        }
        self.held.push_str(text);
        self.since.get_or_insert_with(Instant::now);
        if piece == Piece::Message {
            push_last(&mut self.summary, text);
        }
        if self.held.len() >= MOST_HELD {
            self.flush();
        }
    }

    /// A call has come to its end, or has something to say on the way.
    fn answer(&mut self, update: &Value) {
        let Some(id) = update.get("toolCallId").and_then(Value::as_str) else { return };
        let output = output_of(update);
        let ok = match update.get("status").and_then(Value::as_str) {
            Some("completed") => true,
            Some("failed") => false,
            _ => {
                if let Some(said) = self.open.get_mut(id).filter(|_| !output.is_empty()) {
                    *said = output;
                }
                return;
            }
        };
        self.mention(update);
        let said = self.open.remove(id).unwrap_or_default();
        let output = if output.is_empty() { said } else { output };
        self.tell(&AgentEvent::ToolResult { id: id.to_owned(), ok, output });
    }

    fn plan(&mut self, update: &Value) {
        let entries = update.get("entries").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let line = |entry: &Value| {
            let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let sign = match text("status").as_str() {
                "completed" => "x",
                "in_progress" => ">",
                _ => " ",
            };
            format!("[{sign}] {}", text("content"))
        };
        let text = entries.iter().map(line).collect::<Vec<_>>().join("\n");
        self.tell(&AgentEvent::Thought { text: cut(text) });
    }

    fn tell_piece(&self, text: String) {
        self.teller.tell(&match self.piece {
            Piece::Message => AgentEvent::Message { text },
            Piece::Thought => AgentEvent::Thought { text },
        });
    }

    fn tell(&mut self, event: &AgentEvent) {
        self.flush();
        self.teller.tell(event);
    }
}

/// What a tool has to show.
fn output_of(update: &Value) -> String {
    let content = update.get("content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let shown = |part: &Value| match part.get("type").and_then(Value::as_str) {
        Some("content") => part.pointer("/content/text").and_then(Value::as_str).map(str::to_owned),
        Some("diff") => part.get("path").and_then(Value::as_str).map(str::to_owned),
        _ => None,
    };
    let text = content.iter().filter_map(shown).collect::<Vec<_>>().join("\n");
    if !text.is_empty() {
        return cut(text);
    }
    match update.get("rawOutput") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => cut(text.clone()),
        Some(other) => cut(other.to_string()),
    }
}

fn cost_in(update: &Value) -> Option<f64> {
    let is_dollars = update.pointer("/cost/currency").and_then(Value::as_str) == Some("USD");
    update.pointer("/cost/amount").and_then(Value::as_f64).filter(|amount| is_dollars && *amount >= 0.0)
}

fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MOST_KEPT));
    text
}

/// Keeps the end of a long text.
fn push_last(text: &mut String, more: &str) {
    text.push_str(more);
    if text.len() > 2 * MOST_KEPT {
        text.drain(..text.floor_char_boundary(text.len() - MOST_KEPT));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::Told;
    use serde_json::json;

    fn chunk(text: &str) -> Value {
        json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } })
    }

    #[test]
    fn pieces_of_a_message_become_one_and_the_last_message_is_the_summary() {
        let told = Told::default();
        let mut updates = Updates::new(told.teller());
        for piece in ["I ", "will ", "write."] {
            updates.take(&chunk(piece));
        }
        updates.take(&json!({ "sessionUpdate": "agent_thought_chunk", "content": { "type": "text", "text": "hm" } }));
        updates.take(&json!({ "sessionUpdate": "tool_call", "toolCallId": "1", "title": "Write a", "kind": "edit" }));
        let content = json!([{ "type": "content", "content": { "type": "text", "text": "fine" } }]);
        updates.take(&json!({ "sessionUpdate": "tool_call_update", "toolCallId": "1", "content": content }));
        updates.take(&json!({ "sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "completed" }));
        updates.take(&chunk("Do"));
        updates.take(&chunk("ne."));
        updates.flush();
        assert_eq!(
            told.events(),
            [
                AgentEvent::Message { text: "I will write.".into() },
                AgentEvent::Thought { text: "hm".into() },
                AgentEvent::ToolCall { id: "1".into(), name: "edit".into(), input: "Write a".into() },
                AgentEvent::ToolResult { id: "1".into(), ok: true, output: "fine".into() },
                AgentEvent::Message { text: "Done.".into() },
            ]
        );
        assert_eq!(updates.summary(), "Done.");
    }

    #[test]
    fn what_is_held_is_told_by_the_line_and_after_a_while_as_it_is() {
        let told = Told::default();
        let mut updates = Updates::new(told.teller());
        updates.take(&chunk("one\ntw"));
        let came = updates.since.unwrap();
        updates.flush_due(came);
        assert_eq!(told.events(), []);
        updates.flush_due(came + HOLD);
        assert_eq!(told.events(), [AgentEvent::Message { text: "one\n".into() }]);
        updates.flush_due(came + HOLD + HOLD_LONGEST);
        assert_eq!(told.events().len(), 2);
        assert_eq!(updates.due(), None);
    }

    #[test]
    fn a_call_is_told_once_also_when_it_is_first_heard_of_at_its_end() {
        let told = Told::default();
        let mut updates = Updates::new(told.teller());
        let call = json!({ "toolCallId": "a", "title": "ls", "kind": "execute", "rawInput": { "command": "ls" } });
        updates.mention(&call);
        updates.mention(&call);
        updates.take(
            &json!({ "sessionUpdate": "tool_call_update", "toolCallId": "a", "status": "failed", "rawOutput": "no" }),
        );
        updates.take(
            &json!({ "sessionUpdate": "tool_call_update", "toolCallId": "b", "status": "completed", "title": "x" }),
        );
        assert_eq!(
            told.events(),
            [
                AgentEvent::ToolCall { id: "a".into(), name: "execute".into(), input: "{\"command\":\"ls\"}".into() },
                AgentEvent::ToolResult { id: "a".into(), ok: false, output: "no".into() },
                AgentEvent::ToolCall { id: "b".into(), name: "tool".into(), input: "x".into() },
                AgentEvent::ToolResult { id: "b".into(), ok: true, output: String::new() },
            ]
        );
    }

    #[test]
    fn only_dollars_are_told_as_costs() {
        let told = Told::default();
        let mut updates = Updates::new(told.teller());
        updates.take(&json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": { "amount": 3, "currency": "EUR" } }));
        assert_eq!(updates.cost(), None);
        updates.take(&json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": { "amount": 0.5, "currency": "USD" } }));
        assert_eq!(updates.cost(), Some(Usd::from_dollars(0.5)));
        updates.take(&json!({ "sessionUpdate": "dance" }));
        assert_eq!(told.events(), [AgentEvent::Unknown { kind: "dance".into() }]);
    }
}
