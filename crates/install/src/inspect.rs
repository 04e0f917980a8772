//! What stands in a settings text about hooks, and what keeps ours from being heard: for `dandori doctor`.
//!
//! One field of the wrong kind anywhere in a file makes Claude Code and Codex drop every hook in it, without a word
//! where nobody watches. Only what was seen to do that is looked for: the live self-test finds the rest.

use dandori_domain::client::{Hooks, Off, OnFailure, Switch};

use crate::call::Call;
use crate::ours::{self, Entry};
use crate::tree::{self, BOM, Kind, Trouble, Value};
use crate::{Client, groups};

#[derive(Debug, Clone, Default)]
pub struct Inspection {
    pub entries: Vec<Own>,
    /// What makes the client drop the file.
    pub faults: Vec<Fault>,
    /// Events we want to hear and are not registered for here.
    pub missing: Vec<&'static str>,
    /// The setting that switches hooks off.
    pub off: Option<&'static Switch>,
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
    let wanted = groups::wanted(client, "", &[]).into_iter().map(|(event, _)| event);
    let missing = wanted.filter(|event| !entries.iter().any(|e| e.event == *event)).collect();
    let mut faults = Faults { text: body, found: Vec::new() };
    let own = client.hooks();
    if let Some(own) = own.filter(|own| own.fault_drops_file) {
        faults.of_root(own, &root);
    }
    let off = own.and_then(|own| switch(own, &root, &entries));
    Ok(Inspection { off, entries, faults: faults.found, missing })
}

fn own(client: Client, hooks: &Value, entry: Entry) -> Option<Own> {
    let group = hooks.property(&entry.event)?.value.elements().get(entry.group)?;
    let handler = ours::handlers(group).get(entry.handler)?;
    let call = Call::of(handler, client)?;
    let weakness = client.hooks().and_then(|own| weakness(own, group, handler));
    let is_open = groups::failure_key(client, &entry.event).is_some_and(|key| handler.property(key).is_none());
    let is_outdated = is_open || !call.places.are_whole();
    Some(Own { event: entry.event, group: entry.group, handler: entry.handler, call, weakness, is_outdated })
}

fn weakness(own: &Hooks, group: &Value, handler: &Value) -> Option<Weakness> {
    let text = |of: &Value, key: &str| of.property(key).and_then(|p| p.value.text()).map(str::to_owned);
    if let Some(matcher) = text(group, "matcher").filter(|m| !["", "*", ".*"].contains(&m.as_str())) {
        return Some(Weakness::Matcher(matcher));
    }
    if own.has_conditions
        && let Some(condition) = text(handler, "if")
    {
        return Some(Weakness::If(condition));
    }
    if own.has_async && is_plain(handler.property("async").map(|p| &p.value), "true") {
        return Some(Weakness::Async);
    }
    let goes_on = |known: &OnFailure| text(handler, known.key).is_some_and(|word| word == known.goes_on);
    if own.on_failure.as_ref().is_some_and(goes_on) {
        return Some(Weakness::FailsOpen);
    }
    let timeout = handler.property("timeout").and_then(|p| number(&p.value)).map(|n| n * own.time.millis())?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between nothing and half a thousand")]
    (timeout < SHORTEST).then(|| Weakness::Timeout(timeout.max(0.0) as u64))
}

/// Whether the whole file's hooks, or ours, are switched off by it. Claude Code's switch counts for all of its files.
fn switch(own: &'static Hooks, root: &Value, entries: &[Own]) -> Option<&'static Switch> {
    let is_ours = |name: &str| own.label == Some(name) || entries.iter().any(|e| name.starts_with(&e.call.program));
    own.switches.iter().find(|switch| {
        let said = switch.keys.iter().try_fold(root, |value, key| value.property(key).map(|p| &p.value));
        match switch.off {
            Off::Word(off) => is_plain(said, off),
            Off::Listed => said.is_some_and(|said| said.elements().iter().filter_map(Value::text).any(is_ours)),
        }
    })
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
    fn of_root(&mut self, own: &Hooks, root: &Value) {
        if !self.is(root, "", Shape::Object) {
            return;
        }
        if let Some(lists) = &own.lists_beside
            && let Some(group) = root.property(lists.group).map(|p| &p.value)
            && self.is(group, lists.group, Shape::Object)
        {
            for key in lists.keys {
                let Some(list) = group.property(key).map(|p| &p.value) else { continue };
                let key = format!("{}.{key}", lists.group);
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
                    self.of_group(own, group, &format!("{key}[{i}]"));
                }
            }
        }
    }

    fn of_group(&mut self, own: &Hooks, group: &Value, key: &str) {
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
                self.of_handler(own, handler, &format!("{key}[{i}]"));
            }
        }
    }

    fn of_handler(&mut self, own: &Hooks, handler: &Value, key: &str) {
        if !self.is(handler, key, Shape::Object) {
            return;
        }
        let kind = handler.property("type").map(|p| &p.value);
        match kind.map(|kind| (kind, kind.text())) {
            Some((_, Some(name))) if own.kinds.contains(&name) => {}
            Some((kind, _)) => self.note(kind, format!("{key}.type"), Shape::KnownType),
            None => self.note(handler, format!("{key}.type"), Shape::Present),
        }
        if kind.and_then(Value::text) == Some("command") {
            match handler.property("command").map(|p| &p.value) {
                Some(command) => drop(self.is(command, &format!("{key}.command"), Shape::Text)),
                None => self.note(handler, format!("{key}.command"), Shape::Present),
            }
        }
        if let Some(known) = &own.on_failure
            && let Some(word) = handler.property(known.key).map(|p| &p.value)
            && !word.text().is_some_and(|word| word == known.refuses || word == known.goes_on)
        {
            self.note(word, format!("{key}.{}", known.key), Shape::FailureWord);
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
mod tests;
