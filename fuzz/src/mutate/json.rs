//! JSON, changed by its structure and written by hand: what no serializer would write, too.

use std::fmt::Write;

use serde_json::Value;

use super::{ODD, long};
use crate::random::Random;

/// A value as it is to be written, with pieces that are no JSON.
pub(crate) enum Piece {
    Raw(String),
    List(Vec<Piece>),
    Object(Vec<(String, Piece)>),
}

impl Piece {
    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::Array(items) => Self::List(items.iter().map(Self::of).collect()),
            Value::Object(map) => Self::Object(map.iter().map(|(k, v)| (quoted(k), Self::of(v))).collect()),
            plain => Self::Raw(plain.to_string()),
        }
    }

    pub(crate) fn written(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Raw(text) => out.push_str(text),
            Self::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(pairs) => {
                out.push('{');
                for (at, (key, value)) in pairs.iter().enumerate() {
                    let _ = write!(out, "{}{key}:", if at > 0 { "," } else { "" });
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    /// Some changes somewhere in it.
    pub(crate) fn mutate(&mut self, random: &mut Random, words: &[String]) {
        for _ in 0..=random.below(3) {
            self.change(random, words, 0);
        }
    }

    fn change(&mut self, random: &mut Random, words: &[String], depth: usize) {
        let here = depth > 6 || random.one_in(3);
        match self {
            Self::List(items) if !here && !items.is_empty() => {
                let at = random.below(items.len());
                if let Some(item) = items.get_mut(at) {
                    item.change(random, words, depth + 1);
                }
            }
            Self::Object(pairs) if !pairs.is_empty() => {
                let at = random.below(pairs.len());
                match random.below(8) {
                    0 => drop(pairs.remove(at)),
                    1 => {
                        if let Some((key, value)) = pairs.get(at) {
                            let again = (key.clone(), Self::Raw(value.written()));
                            pairs.push(again);
                        }
                    }
                    2 => {
                        if let Some((key, _)) = pairs.get(at) {
                            let again = (key.clone(), Self::Raw(odd_value(random, words)));
                            pairs.insert(random.below(pairs.len() + 1), again);
                        }
                    }
                    3 => pairs.push((quoted(random.word(ODD)), Self::Raw(odd_value(random, words)))),
                    _ => {
                        if let Some((_, value)) = pairs.get_mut(at) {
                            value.change(random, words, depth + 1);
                        }
                    }
                }
            }
            plain => *plain = Self::Raw(odd_value(random, words)),
        }
    }
}

pub(crate) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A value of another type, too long, too deep, or broken.
pub(crate) fn odd_value(random: &mut Random, words: &[String]) -> String {
    match random.below(16) {
        0 => "null".to_owned(),
        1 => random.word(&["0", "-1", "1e999", "123456789012345678901234567890", "0.1", "-0", "1E-400"]).to_owned(),
        2 => random.word(&["true", "false"]).to_owned(),
        3 => "{}".to_owned(),
        4 => "[]".to_owned(),
        5 => "[\"a\",{\"command\":\"git push\"},null]".to_owned(),
        6 => format!(
            "\"{}\"",
            random.word(&["\\ud800", "\\udc00x", "\\ud83d\\ud83d", "\\ud83d\\ude00", "\\u0000", "\\x"])
        ),
        7 if random.one_in(4) => {
            quoted(&random.word(&["a", "日", "/", " ", "$(", "\\", "\"", "a/", "x;"]).repeat(long(random)))
        }
        8 if random.one_in(4) => {
            let depth = 1 + random.below(3_000);
            let open = random.word(&["[", "{\"a\":", "[[", "{\"a\":["]);
            let close: String = open
                .chars()
                .rev()
                .filter_map(|c| match c {
                    '[' => Some(']'),
                    '{' => Some('}'),
                    _ => None,
                })
                .collect();
            // Sometimes it does not close.
            let closing = if random.one_in(5) { 0 } else { depth };
            format!("{}0{}", open.repeat(depth), close.repeat(closing))
        }
        9 => quoted(random.word(ODD)),
        10 => quoted(random.word(&[
            "/repo/.env",
            "/repo/state.md",
            "~/.ssh/id_rsa",
            "../../etc",
            "/",
            "",
            ".git/config",
            "/repo/plan/playbook-a.md",
        ])),
        11 => random.word(&["", "nul", "'a'", "\"", "\u{1}", "//", "[1,]", "NaN"]).to_owned(),
        12 => quoted(random.word(&[
            "PreToolUse",
            "BeforeTool",
            "Stop",
            "Bash",
            "Write",
            "apply_patch",
            "SessionStart",
            "PreCompact",
            "mcp__a__write",
        ])),
        _ => random.pick(words).map_or_else(|| "\"\"".to_owned(), |word| quoted(word)),
    }
}
