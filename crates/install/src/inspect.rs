//! What stands in a settings text about hooks, and what keeps ours from being heard: for `dandori doctor`.
//!
//! One field of the wrong kind anywhere in a file makes Claude Code and Codex drop every hook in it, without a word
//! where nobody watches. Only what was seen to do that is looked for: the live self-test finds the rest.

use crate::Client;
use crate::call::Call;
use crate::ours::{self, Entry};
use crate::tree::{self, BOM, Kind, Trouble, Value};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inspection {
    pub entries: Vec<Own>,
    /// What makes the client drop the file.
    pub faults: Vec<Fault>,
    /// Events we want to hear and are not registered for here.
    pub missing: Vec<&'static str>,
    /// The key that switches hooks off.
    pub off: Option<&'static str>,
}

/// An entry of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Own {
    pub event: String,
    pub group: usize,
    pub handler: usize,
    pub call: Call,
    pub weakness: Option<Weakness>,
    /// It lacks what this version writes: places, or that its failure is a refusal.
    pub is_outdated: bool,
}

/// Why an entry of ours is not asked, or not waited for, in every case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Weakness {
    /// Asked only about what this matches.
    Matcher(String),
    /// Asked only if this holds.
    If(String),
    /// The answer is not waited for.
    Async,
    /// So few milliseconds are waited that no program has answered by then.
    Timeout(u64),
    /// When it is killed, what it was asked about goes on.
    FailsOpen,
}

/// A value of the wrong kind. Line and column count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub line: usize,
    pub column: usize,
    /// `hooks.PreToolUse[0].hooks[1].timeout`
    pub key: String,
    pub wanted: Shape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Object,
    List,
    Text,
    Number,
    /// It has to be there, and a text.
    Present,
    /// A kind of hook the client knows.
    KnownType,
    /// `block` or `continue`: anything else drops the hooks.
    FailureWord,
}

/// In milliseconds; a program needs as long to start on a busy machine.
const SHORTEST: f64 = 500.0;

/// What stands in this text; `Err` when it cannot be read at all.
pub fn inspect(client: Client, text: &str) -> Result<Inspection, Trouble> {
    let body = text.strip_prefix(BOM).unwrap_or(text);
    let Some(root) = tree::parse(body)?.root else { return Ok(Inspection::default()) };
    let hooks = root.property("hooks").map(|p| &p.value);
    let found = hooks.map(|hooks| ours::entries(hooks, client, None)).unwrap_or_default();
    let entries: Vec<Own> = found.into_iter().filter_map(|entry| own(client, hooks?, entry)).collect();
    let wanted = client.wanted("", &[]).into_iter().map(|(event, _)| event);
    let missing = wanted.filter(|event| !entries.iter().any(|e| e.event == *event)).collect();
    let mut faults = Faults { text: body, found: Vec::new() };
    // Gemini leaves out the one entry that is wrong.
    if client != Client::Gemini {
        faults.of_root(client, &root);
    }
    Ok(Inspection { off: switch(client, &root, &entries), entries, faults: faults.found, missing })
}

fn own(client: Client, hooks: &Value, entry: Entry) -> Option<Own> {
    let group = hooks.property(&entry.event)?.value.elements().get(entry.group)?;
    let handler = ours::handlers(group).get(entry.handler)?;
    let call = Call::of(handler, client)?;
    let weakness = weakness(client, group, handler);
    let is_open = client.fails_closed(&entry.event) && handler.property("onFailure").is_none();
    let is_outdated = is_open || !call.places.are_whole();
    Some(Own { event: entry.event, group: entry.group, handler: entry.handler, call, weakness, is_outdated })
}

fn weakness(client: Client, group: &Value, handler: &Value) -> Option<Weakness> {
    let text = |of: &Value, key: &str| of.property(key).and_then(|p| p.value.text()).map(str::to_owned);
    if let Some(matcher) = text(group, "matcher").filter(|m| !["", "*", ".*"].contains(&m.as_str())) {
        return Some(Weakness::Matcher(matcher));
    }
    if client == Client::Claude
        && let Some(condition) = text(handler, "if")
    {
        return Some(Weakness::If(condition));
    }
    if client != Client::Gemini && is_plain(handler.property("async").map(|p| &p.value), "true") {
        return Some(Weakness::Async);
    }
    if client == Client::Claude && text(handler, "onFailure").is_some_and(|word| word == "continue") {
        return Some(Weakness::FailsOpen);
    }
    let unit = if client == Client::Gemini { 1.0 } else { 1000.0 };
    let timeout = handler.property("timeout").and_then(|p| number(&p.value)).map(|n| n * unit)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between nothing and half a thousand")]
    (timeout < SHORTEST).then(|| Weakness::Timeout(timeout.max(0.0) as u64))
}

/// Whether the whole file's hooks, or ours, are switched off by it. Claude Code's switch counts for all of its files.
fn switch(client: Client, root: &Value, entries: &[Own]) -> Option<&'static str> {
    match client {
        Client::Claude => {
            let is_on = |key: &str| is_plain(root.property(key).map(|p| &p.value), "true");
            // The second counts in the machine's own file alone.
            ["disableAllHooks", "allowManagedHooksOnly"].into_iter().find(|key| is_on(key))
        }
        Client::Codex => None,
        Client::Gemini => {
            let config = &root.property("hooksConfig")?.value;
            if is_plain(config.property("enabled").map(|p| &p.value), "false") {
                return Some("hooksConfig.enabled");
            }
            let is_ours = |name: &str| name == "dandori" || entries.iter().any(|e| name.starts_with(&e.call.program));
            let named = config.property("disabled")?.value.elements();
            named.iter().filter_map(Value::text).any(is_ours).then_some("hooksConfig.disabled")
        }
    }
}

fn is_plain(value: Option<&Value>, word: &str) -> bool {
    value.is_some_and(|value| matches!(&value.kind, Kind::Plain(found) if found == word))
}

fn number(value: &Value) -> Option<f64> {
    if let Kind::Plain(text) = &value.kind { text.parse().ok() } else { None }
}

struct Faults<'t> {
    text: &'t str,
    found: Vec<Fault>,
}

impl Faults<'_> {
    fn of_root(&mut self, client: Client, root: &Value) {
        if !self.is(root, "", Shape::Object) {
            return;
        }
        if client == Client::Claude
            && let Some(permissions) = root.property("permissions").map(|p| &p.value)
            && self.is(permissions, "permissions", Shape::Object)
        {
            for key in ["allow", "deny", "ask"] {
                let Some(list) = permissions.property(key).map(|p| &p.value) else { continue };
                let key = format!("permissions.{key}");
                if self.is(list, &key, Shape::List) {
                    for (i, rule) in list.elements().iter().enumerate() {
                        self.is(rule, &format!("{key}[{i}]"), Shape::Text);
                    }
                }
            }
        }
        let Some(hooks) = root.property("hooks").map(|p| &p.value) else { return };
        if !self.is(hooks, "hooks", Shape::Object) {
            return;
        }
        for event in hooks.properties() {
            let key = format!("hooks.{}", event.name);
            if self.is(&event.value, &key, Shape::List) {
                for (i, group) in event.value.elements().iter().enumerate() {
                    self.of_group(client, group, &format!("{key}[{i}]"));
                }
            }
        }
    }

    fn of_group(&mut self, client: Client, group: &Value, key: &str) {
        if !self.is(group, key, Shape::Object) {
            return;
        }
        if let Some(matcher) = group.property("matcher").filter(|p| !is_plain(Some(&p.value), "null")) {
            self.is(&matcher.value, &format!("{key}.matcher"), Shape::Text);
        }
        let Some(handlers) = group.property("hooks").map(|p| &p.value) else { return };
        let key = format!("{key}.hooks");
        if self.is(handlers, &key, Shape::List) {
            for (i, handler) in handlers.elements().iter().enumerate() {
                self.of_handler(client, handler, &format!("{key}[{i}]"));
            }
        }
    }

    fn of_handler(&mut self, client: Client, handler: &Value, key: &str) {
        if !self.is(handler, key, Shape::Object) {
            return;
        }
        let kind = handler.property("type").map(|p| &p.value);
        let known: &[&str] = match client {
            Client::Claude => &["command", "http", "mcp_tool", "prompt", "agent"],
            Client::Codex | Client::Gemini => &["command", "mcp_tool", "prompt", "agent"],
        };
        match kind.map(|kind| (kind, kind.text())) {
            Some((_, Some(name))) if known.contains(&name) => {}
            Some((kind, _)) => self.note(kind, format!("{key}.type"), Shape::KnownType),
            None => self.note(handler, format!("{key}.type"), Shape::Present),
        }
        if kind.and_then(Value::text) == Some("command") {
            match handler.property("command").map(|p| &p.value) {
                Some(command) => drop(self.is(command, &format!("{key}.command"), Shape::Text)),
                None => self.note(handler, format!("{key}.command"), Shape::Present),
            }
        }
        if let Some(word) = handler.property("onFailure").map(|p| &p.value).filter(|_| client == Client::Claude)
            && !word.text().is_some_and(|word| matches!(word, "block" | "continue"))
        {
            self.note(word, format!("{key}.onFailure"), Shape::FailureWord);
        }
        if let Some(timeout) = handler.property("timeout").map(|p| &p.value) {
            self.is(timeout, &format!("{key}.timeout"), Shape::Number);
        }
    }

    fn is(&mut self, value: &Value, key: &str, wanted: Shape) -> bool {
        let fits = match wanted {
            Shape::Object => matches!(value.kind, Kind::Object(_)),
            Shape::List => matches!(value.kind, Kind::List(_)),
            Shape::Text | Shape::Present | Shape::KnownType | Shape::FailureWord => value.text().is_some(),
            Shape::Number => number(value).is_some(),
        };
        if !fits {
            self.note(value, key.to_owned(), wanted);
        }
        fits
    }

    fn note(&mut self, at: &Value, key: String, wanted: Shape) {
        let (line, column) = tree::place(self.text, at.range.start);
        self.found.push(Fault { line, column, key, wanted });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Places, install};

    fn installed(client: Client) -> String {
        let path = |name: &str| Some(format!("/home/{name}"));
        let places = Places { state: path("state"), config: path("config"), home: path("") };
        let call = Call { program: "/a/dandori".to_owned(), places };
        install(client, &call, None, None).unwrap().text
    }

    #[test]
    fn what_was_just_installed_is_whole() {
        for client in Client::ALL {
            let found = inspect(client, &installed(client)).unwrap();
            assert_eq!((&found.faults, &found.missing, found.off), (&vec![], &vec![], None), "{client:?}");
            let is_plain = |e: &Own| {
                e.call.program == "/a/dandori"
                    && e.weakness.is_none()
                    && !e.is_outdated
                    && (e.group, e.handler) == (0, 0)
            };
            assert!(!found.entries.is_empty() && found.entries.iter().all(is_plain), "{found:?}");
        }
    }

    #[test]
    fn every_field_that_drops_a_file_is_named_with_its_place() {
        let fault = |client, text: &str| {
            let faults = inspect(client, text).unwrap().faults;
            faults.into_iter().map(|f| (f.key, f.wanted, f.line, f.column)).collect::<Vec<_>>()
        };
        let one = |key: &str, shape, line, column| vec![(key.to_owned(), shape, line, column)];
        let claude = |text: &str| fault(Client::Claude, text);
        assert_eq!(claude(r#"{"permissions": {"allow": "Bash"}}"#), one("permissions.allow", Shape::List, 1, 27));
        assert_eq!(claude(r#"{"permissions": {"deny": [1]}}"#), one("permissions.deny[0]", Shape::Text, 1, 27));
        assert_eq!(claude("{\n\"hooks\": []}"), one("hooks", Shape::Object, 2, 10));
        let hook = |handler: &str| format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{handler}]}}]}}}}"#);
        let key = |last: &str| format!("hooks.Stop[0].hooks[0]{last}");
        let timeout = hook(r#"{"type":"command","command":"x","timeout":"5"}"#);
        assert_eq!(claude(&timeout), one(&key(".timeout"), Shape::Number, 1, 71));
        assert_eq!(claude(&hook(r#"{"type":"command"}"#)), one(&key(".command"), Shape::Present, 1, 29));
        assert_eq!(claude(&hook(r#"{"command":"x"}"#)), one(&key(".type"), Shape::Present, 1, 29));
        assert_eq!(claude(&hook("7")), one(&key(""), Shape::Object, 1, 29));
        let word = hook(r#"{"type":"command","command":"x","onFailure":"bogus"}"#);
        assert_eq!(claude(&word), one(&key(".onFailure"), Shape::FailureWord, 1, 73));
        let http = hook(r#"{"type":"http","url":"http://x"}"#);
        assert_eq!(claude(&http), vec![]);
        assert_eq!(fault(Client::Codex, &http), one(&key(".type"), Shape::KnownType, 1, 37));
        assert_eq!(fault(Client::Gemini, &timeout), vec![], "it leaves that one out");
        assert!(inspect(Client::Claude, "{").is_err());
    }

    #[test]
    fn an_entry_that_is_not_always_asked_is_weak() {
        let weak = |client: Client, from: &str, to: &str| {
            let text = installed(client).replacen(from, to, 1);
            let found = inspect(client, &text).unwrap().entries;
            found.into_iter().find_map(|e| e.weakness).unwrap()
        };
        let star = r#""matcher": "*""#;
        for client in Client::ALL {
            assert_eq!(weak(client, star, r#""matcher": "Bash""#), Weakness::Matcher("Bash".to_owned()));
        }
        let claude = |to| weak(Client::Claude, r#""timeout": 120"#, to);
        assert_eq!(claude(r#""timeout": 0.1"#), Weakness::Timeout(100));
        assert_eq!(claude(r#""timeout": 120, "if": "Bash(git *)""#), Weakness::If("Bash(git *)".to_owned()));
        assert_eq!(claude(r#""timeout": 120, "async": true"#), Weakness::Async);
        let open = weak(Client::Claude, r#""onFailure": "block""#, r#""onFailure": "continue""#);
        assert_eq!(open, Weakness::FailsOpen);
        assert_eq!(weak(Client::Gemini, r#""timeout": 120000"#, r#""timeout": 120"#), Weakness::Timeout(120));
    }

    #[test]
    fn what_an_earlier_version_wrote_is_out_of_date() {
        for client in Client::ALL {
            let bare = install(client, &Call::bare("/a/dandori"), None, None).unwrap().text;
            assert!(inspect(client, &bare).unwrap().entries.iter().all(|e| e.is_outdated), "{client:?}");
        }
        let open = installed(Client::Claude).replacen("onFailure", "was", 1);
        let outdated: Vec<String> = inspect(Client::Claude, &open)
            .unwrap()
            .entries
            .into_iter()
            .filter(|e| e.is_outdated)
            .map(|e| e.event)
            .collect();
        assert_eq!(outdated, ["PreToolUse"]);
    }

    #[test]
    fn switches_and_missing_events_are_found() {
        let off = |client, text: &str| inspect(client, text).unwrap().off;
        assert_eq!(off(Client::Claude, r#"{"disableAllHooks": true}"#), Some("disableAllHooks"));
        assert_eq!(off(Client::Gemini, r#"{"hooksConfig": {"enabled": false}}"#), Some("hooksConfig.enabled"));
        let named = r#"{"hooksConfig": {"disabled": ["other", "dandori"]}}"#;
        assert_eq!(off(Client::Gemini, named), Some("hooksConfig.disabled"));
        assert_eq!(off(Client::Gemini, r#"{"hooksConfig": {"disabled": ["other"]}}"#), None);
        let text = installed(Client::Codex).replace("PreToolUse", "Elsewhere");
        assert_eq!(inspect(Client::Codex, &text).unwrap().missing, ["PreToolUse"]);
    }
}
