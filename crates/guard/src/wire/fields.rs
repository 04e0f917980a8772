//! The fields of an event, read one by one: a wrong one costs itself and nothing else.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::event::{Oddity, Outcome, PermissionMode, Source, Subagent};

/// The event's fields, each still as text: a tool's output of a megabyte is not parsed when nobody looks at it.
pub(super) struct Fields<'a> {
    map: BTreeMap<String, &'a RawValue>,
    oddities: Vec<Oddity>,
}

impl<'a> Fields<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self, serde_json::Error> {
        let mut oddities = Vec::new();
        let text = text.trim_start_matches('\u{feff}');
        let map = match serde_json::from_str(text) {
            Ok(map) => map,
            Err(error) => {
                // JSON, but no object: nothing can be said about it, and it is no reason to fail.
                serde_json::from_str::<&RawValue>(text).map_err(|_| error)?;
                oddities.push(Oddity::NotAnObject);
                BTreeMap::new()
            }
        };
        Ok(Self { map, oddities })
    }

    pub(super) fn into_oddities(self) -> Vec<Oddity> {
        self.oddities
    }

    pub(super) fn odd(&mut self, oddity: Oddity) {
        self.oddities.push(oddity);
    }

    pub(super) fn has(&self, field: &str) -> bool {
        self.map.contains_key(field)
    }

    /// The field as JSON text; `null` is no value.
    pub(super) fn raw(&self, field: &str) -> Option<&'a str> {
        self.map.get(field).map(|raw| raw.get()).filter(|text| *text != "null")
    }

    pub(super) fn string(&mut self, field: &str) -> Option<String> {
        self.parsed(field, "a text")
    }

    /// Whether a stop was refused before. When that cannot be read it may have been, and refusing again might never end.
    pub(super) fn stop_is_active(&mut self) -> bool {
        let said = self.raw("stop_hook_active").is_some();
        said && self.parsed("stop_hook_active", "true or false").unwrap_or(true)
    }

    fn parsed<T: DeserializeOwned>(&mut self, field: &str, expected: &'static str) -> Option<T> {
        let parsed = serde_json::from_str(self.raw(field)?);
        if parsed.is_err() {
            self.odd(Oddity::WrongType { field: field.to_owned(), expected });
        }
        parsed.ok()
    }

    /// The tool's input; what cannot be read (nested beyond reason, a number beyond all) is kept as its text.
    pub(super) fn tool_input(&mut self) -> Value {
        let Some(raw) = self.raw("tool_input") else {
            self.odd(Oddity::Missing { field: "tool_input".to_owned() });
            return Value::Null;
        };
        match serde_json::from_str(raw) {
            Ok(value) => value,
            Err(error) => {
                self.odd(Oddity::Unreadable { field: "tool_input".to_owned(), why: error.to_string() });
                // What is wrong with one field must not hide the others.
                serde_json::from_str::<BTreeMap<String, &RawValue>>(raw).map_or_else(
                    |_| as_text(raw),
                    |fields| {
                        let read = |value: &RawValue| {
                            serde_json::from_str(value.get()).unwrap_or_else(|_| as_text(value.get()))
                        };
                        fields.into_iter().map(|(name, value)| (name, read(value))).collect()
                    },
                )
            }
        }
    }

    pub(super) fn subagent(&mut self) -> Option<Subagent> {
        let id = self.string("agent_id");
        let role = self.string("agent_type");
        (id.is_some() || role.is_some()).then_some(Subagent { id, role })
    }

    pub(super) fn source(&mut self) -> Source {
        match self.string("source").unwrap_or_default().as_str() {
            "startup" => Source::Startup,
            "resume" => Source::Resume,
            "fork" => Source::Fork,
            "clear" => Source::Clear,
            "compact" => Source::Compact,
            other => Source::Other(other.to_owned()),
        }
    }

    pub(super) fn response(&self) -> Option<String> {
        self.raw("tool_response").map(str::to_owned)
    }

    /// Codex's tool answers are plain text; only the patch tool's begins with its exit code.
    pub(super) fn outcome_by_exit_line(&mut self) -> Outcome {
        match self.raw("tool_response").and_then(|text| text.strip_prefix("\"Exit code: ")) {
            Some(rest) if rest.starts_with("0\\n") => Outcome::Succeeded,
            Some(_) => Outcome::Failed,
            None => Outcome::Unknown,
        }
    }
}

fn as_text(raw: &str) -> Value {
    Value::String(raw.to_owned())
}

pub(super) fn permission_mode(text: String) -> PermissionMode {
    match text.as_str() {
        "default" | "manual" => PermissionMode::Default,
        "plan" => PermissionMode::Plan,
        "auto" => PermissionMode::Auto,
        "acceptEdits" => PermissionMode::AcceptEdits,
        "bypassPermissions" => PermissionMode::Bypass,
        "dontAsk" => PermissionMode::DontAsk,
        _ => PermissionMode::Other(text),
    }
}

/// The text without halves of surrogate pairs, which a strict JSON reader refuses; `None` when there are none. Clients
/// written in JavaScript hand them on as escapes when a model writes one, and that must not hide the rest of the event.
pub(super) fn without_half_pairs(text: &str) -> Option<String> {
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return None;
    }
    let mut mended = String::with_capacity(text.len());
    let mut changed = false;
    let mut rest = text;
    while let Some((before, escape)) = rest.find('\\').and_then(|at| rest.split_at_checked(at)) {
        mended.push_str(before);
        let taken = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                mended.push_str("\\ufffd");
                changed = true;
                rest = escape.get(6..).unwrap_or_default();
                continue;
            }
            // The character behind the backslash is passed over with it: `\\ud800` is a backslash and letters.
            _ => 1 + escape.chars().nth(1).map_or(0, char::len_utf8),
        };
        let (kept, further) = escape.split_at_checked(taken).unwrap_or((escape, ""));
        mended.push_str(kept);
        rest = further;
    }
    mended.push_str(rest);
    changed.then_some(mended)
}

/// The UTF-16 unit of an escape at the beginning of `text`.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_pair_is_mended_and_whole_ones_are_left_alone() {
        for (text, want) in [
            (r#""\ud83d\ude00""#, None),
            (r#""\\ud83d""#, None),
            (r#""a""#, None),
            (r#""\ud83d""#, Some(r#""\ufffd""#)),
            (r#""\udE00\ud83dx\n""#, Some(r#""\ufffd\ufffdx\n""#)),
            (r#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#)),
            (r#""\ud8""#, None),
        ] {
            assert_eq!(without_half_pairs(text).as_deref(), want, "{text}");
        }
    }
}
