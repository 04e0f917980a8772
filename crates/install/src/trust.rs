//! What Codex' `config.toml` says about hooks: whether they are on, and which the user has agreed to.
//!
//! Codex reads a project's hooks only in a project that is trusted, and runs a hook, a project's or the user's own, only
//! when its hash stands beside its place: `[hooks.state."<file>:<event>:<group>:<handler>"]`. The hash is of the
//! hook's own words, and does not tell where it stands.

use sha2::{Digest, Sha256};
use toml::{Table, Value};

use crate::Client;
use crate::ours;
use crate::tree::{self, BOM, Kind};

pub struct CodexConfig(Table);

/// How it is with our entries of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CodexTrust {
    pub trusted: usize,
    /// Agreed to as they were before a change.
    pub changed: usize,
    pub unknown: usize,
    /// Switched off one by one.
    pub off: usize,
}

/// Codex' own, where a hook says nothing.
const TIMEOUT: u64 = 600;
const SESSION_END: u64 = 1;
const SESSION_END_MOST: u64 = 3;

impl CodexConfig {
    /// `Err` says what is wrong with it: Codex does not start then.
    pub fn read(text: &str) -> Result<Self, String> {
        text.parse().map(Self).map_err(|e: toml::de::Error| e.message().to_owned())
    }

    pub fn hooks_are_off(&self) -> bool {
        let switch = self.0.get("features").and_then(|f| f.get("hooks"));
        switch.and_then(Value::as_bool) == Some(false)
    }

    pub fn trusts_project(&self, root: &str) -> bool {
        let project = self.0.get("projects").and_then(|p| p.get(root));
        project.and_then(|p| p.get("trust_level")).and_then(Value::as_str) == Some("trusted")
    }

    /// Of our entries in the hooks file at this path.
    pub fn trust(&self, path: &str, text: &str) -> CodexTrust {
        let mut trust = CodexTrust::default();
        let root = tree::parse(text.strip_prefix(BOM).unwrap_or(text)).ok().and_then(|t| t.root);
        let Some(hooks) = root.as_ref().and_then(|r| r.property("hooks")).map(|p| &p.value) else { return trust };
        let states = self.0.get("hooks").and_then(|h| h.get("state"));
        for entry in ours::entries(hooks, Client::Codex, None) {
            let event = snake(&entry.event);
            let state = states.and_then(|s| s.get(format!("{path}:{event}:{}:{}", entry.group, entry.handler)));
            let agreed = state.and_then(|s| s.get("trusted_hash")).and_then(Value::as_str);
            let group = hooks.property(&entry.event).and_then(|p| p.value.elements().get(entry.group));
            let now = group.and_then(|group| hash(&event, group, entry.handler));
            if state.and_then(|s| s.get("enabled")).and_then(Value::as_bool) == Some(false) {
                trust.off += 1;
            } else if agreed.is_none() {
                trust.unknown += 1;
            } else if agreed == now.as_deref() {
                trust.trusted += 1;
            } else {
                trust.changed += 1;
            }
        }
        trust
    }

    /// Only what concerns hooks, for a copy in which the hooks files and the project stand elsewhere: each pair is a
    /// path here and there. A hook of ours that the user trusts is trusted there as well, with its other places.
    pub fn moved(&self, files: &[MovedFile], projects: &[(String, String)]) -> String {
        let mut kept = Table::new();
        if let Some(switch) = self.0.get("features").and_then(|f| f.get("hooks")) {
            kept.insert("features".to_owned(), Value::Table(Table::from_iter([("hooks".to_owned(), switch.clone())])));
        }
        let states = self.0.get("hooks").and_then(|h| h.get("state")).and_then(Value::as_table);
        let mut moved = Table::new();
        for (key, state) in states.into_iter().flatten() {
            for file in files {
                if let Some(place) = key.strip_prefix(file.from.as_str()).filter(|place| place.starts_with(':')) {
                    moved.insert(format!("{}{place}", file.to), file.agreed(place, state));
                }
            }
        }
        kept.insert("hooks".to_owned(), Value::Table(Table::from_iter([("state".to_owned(), Value::Table(moved))])));
        let mut trusted = Table::new();
        for (from, to) in projects {
            if let Some(project) = self.0.get("projects").and_then(|p| p.get(from.as_str())) {
                trusted.insert(to.clone(), project.clone());
            }
        }
        kept.insert("projects".to_owned(), Value::Table(trusted));
        toml::to_string(&kept).unwrap_or_default()
    }
}

/// A hooks file and its copy.
#[derive(Debug, Clone)]
pub struct MovedFile {
    pub from: String,
    pub to: String,
    pub text: String,
    pub copy: String,
}

impl MovedFile {
    /// What was agreed to at a place, for what stands there in the copy.
    fn agreed(&self, place: &str, state: &Value) -> Value {
        let mut state = state.clone();
        let before = own_hash(&self.text, place);
        let agreed = state.get("trusted_hash").and_then(Value::as_str);
        if let (Some(agreed), Some(before), Some(now)) = (agreed, before, own_hash(&self.copy, place))
            && agreed == before
            && let Some(table) = state.as_table_mut()
        {
            table.insert("trusted_hash".to_owned(), Value::String(now));
        }
        state
    }
}

/// The hash of our entry at `:<event>:<group>:<handler>`, when there is one.
fn own_hash(text: &str, place: &str) -> Option<String> {
    let root = tree::parse(text.strip_prefix(BOM).unwrap_or(text)).ok()?.root?;
    let hooks = &root.property("hooks")?.value;
    let is_there = |entry: &ours::Entry| {
        place.strip_prefix(':') == Some(&format!("{}:{}:{}", snake(&entry.event), entry.group, entry.handler))
    };
    let entry = ours::entries(hooks, Client::Codex, None).into_iter().find(is_there)?;
    let group = hooks.property(&entry.event)?.value.elements().get(entry.group)?;
    hash(&snake(&entry.event), group, entry.handler)
}

/// `PreToolUse` is `pre_tool_use`.
pub(crate) fn snake(event: &str) -> String {
    let mut name = String::new();
    for c in event.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

/// What Codex would write down for it now: over its words as JSON with sorted keys and no blanks.
pub(crate) fn hash(event: &str, group: &tree::Value, handler: usize) -> Option<String> {
    let matcher = group.property("matcher").and_then(|p| p.value.text());
    let handler = ours::handlers(group).get(handler)?;
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let command = quoted(handler.property("command")?.value.text()?);
    let timeout = handler.property("timeout").and_then(|p| match &p.value.kind {
        Kind::Plain(number) => number.parse::<u64>().ok(),
        _ => None,
    });
    let timeout = match (event, timeout) {
        ("session_end", timeout) => timeout.unwrap_or(SESSION_END).clamp(1, SESSION_END_MOST),
        (_, timeout) => timeout.unwrap_or(TIMEOUT).max(1),
    };
    let is_async = handler.property("async").is_some_and(|p| matches!(&p.value.kind, Kind::Plain(w) if w == "true"));
    // Where there is nothing to choose, a matcher is not kept.
    let matcher = matcher.filter(|_| !["user_prompt_submit", "stop"].contains(&event));
    let matcher = matcher.map(|m| format!(",\"matcher\":{}", quoted(m))).unwrap_or_default();
    let words = format!(
        "{{\"event_name\":{},\"hooks\":[{{\"async\":{is_async},\"command\":{command},\"timeout\":{timeout},\
         \"type\":\"command\"}}]{matcher}}}",
        quoted(event)
    );
    let digest = Sha256::digest(words.as_bytes());
    Some(digest.iter().fold("sha256:".to_owned(), |hex, byte| format!("{hex}{byte:02x}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "/repo/.codex/hooks.json";
    const TEXT: &str = r#"{"hooks": {
        "PreToolUse": [{"matcher": "*", "hooks": [
            {"type": "command", "command": "/usr/bin/dandori hook codex", "timeout": 15}]}],
        "PostToolUse": [{"matcher": "*", "hooks": [
            {"type": "command", "command": "'/my \"tools\"/dandori' hook codex"}]}],
        "SessionEnd": [{"hooks": [{"type": "command", "command": "/usr/bin/dandori hook codex", "timeout": 9}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "/usr/bin/dandori hook codex", "timeout": 5}]},
                 {"matcher": "", "hooks": [
            {"type": "command", "command": "/usr/bin/dandori hook codex", "async": true, "timeout": 0}]}]}}"#;
    /// As Codex 0.166.0 lists them for these very hooks.
    const HASHES: [(&str, &str); 5] = [
        ("pre_tool_use:0:0", "e0bb97f24a4228bd6c8f7d734e603fa168cbcd88923ec42bb0ee6c568f92968e"),
        ("post_tool_use:0:0", "70b07685a68859588df2b259f925b03c7d04383316b50eed81996bf0f342a980"),
        ("session_end:0:0", "b6ae021909c25c29a99f0e8d561a5e9f4d430c6b81f518cbabf7b19891189751"),
        ("stop:0:0", "d788118c922fb1b6ac48317d19d6cd82e9d5caf56b43885cbdf5d4dd8a325023"),
        ("stop:1:0", "10c530331bf95427ed207c7e6beff5bf16a29a731adc0f9a309ea71a88292c07"),
    ];

    fn states(of: &str) -> String {
        let state = |(place, hash): &(&str, &str)| {
            format!("[hooks.state.\"{of}:{place}\"]\ntrusted_hash = \"sha256:{hash}\"\n")
        };
        HASHES.iter().map(state).collect()
    }

    fn config(text: &str) -> CodexConfig {
        CodexConfig::read(text).unwrap()
    }

    #[test]
    fn the_hash_is_the_one_codex_writes() {
        let trust = config(&states(FILE)).trust(FILE, TEXT);
        assert_eq!(trust, CodexTrust { trusted: 5, ..CodexTrust::default() });
        assert_eq!(config("").trust(FILE, TEXT), CodexTrust { unknown: 5, ..CodexTrust::default() });
        let elsewhere = config(&states("/other/.codex/hooks.json")).trust(FILE, TEXT);
        assert_eq!(elsewhere.unknown, 5, "trust is for a place");
    }

    #[test]
    fn a_hook_that_was_changed_or_switched_off_is_not_trusted() {
        let changed = TEXT.replace("\"timeout\": 15", "\"timeout\": 16");
        let trust = config(&states(FILE)).trust(FILE, &changed);
        assert_eq!((trust.trusted, trust.changed), (4, 1));
        let off = states(FILE).replacen("trusted_hash", "enabled = false\ntrusted_hash", 1);
        assert_eq!(config(&off).trust(FILE, TEXT), CodexTrust { trusted: 4, off: 1, ..CodexTrust::default() });
    }

    #[test]
    fn what_concerns_hooks_is_moved_and_nothing_else_goes_along() {
        let text = format!(
            "model_provider = \"mine\"\n[features]\nhooks = false\nother = true\n{}{}\
             [projects.\"/repo\"]\ntrust_level = \"trusted\"\n[projects.\"/elsewhere\"]\ntrust_level = \"trusted\"\n\
             [model_providers.mine]\nkey = \"secret\"\n",
            states(FILE),
            states("/else/hooks.json"),
        );
        let pair = |from: &str, to: &str| vec![(from.to_owned(), to.to_owned())];
        let copy = TEXT.replace("hook codex\", \"timeout\": 15", "hook codex --state /new\", \"timeout\": 15");
        let file = MovedFile {
            from: FILE.to_owned(),
            to: "/new/hooks.json".to_owned(),
            text: TEXT.to_owned(),
            copy: copy.clone(),
        };
        let moved = config(&text).moved(&[file], &pair("/repo", "/new"));
        for gone in ["mine", "secret", "other", "else", "/repo"] {
            assert!(!moved.contains(gone), "{gone} in {moved}");
        }
        let moved = config(&moved);
        assert!(moved.hooks_are_off() && moved.trusts_project("/new") && !moved.trusts_project("/repo"));
        assert_eq!(moved.trust("/new/hooks.json", &copy).trusted, 5, "also what has other places there");
        assert_eq!(moved.trust("/new/hooks.json", TEXT).trusted, 4);
    }

    #[test]
    fn a_file_that_is_no_toml_says_so() {
        assert!(CodexConfig::read("a = ").is_err());
        assert!(!config("").hooks_are_off() && !config("").trusts_project("/repo"));
    }
}
