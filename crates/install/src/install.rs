//! Our groups put into a settings text, or brought up to date in it.

use crate::call::Call;
use crate::edit::Document;
use crate::memory::{Before, FileBefore, Memory};
use crate::ours::{self, Entry};
use crate::tree::{self, BOM, Kind, Trouble, Value};
use crate::uninstall::take_out;
use crate::wanted::{Wanted, property};
use crate::{Client, groups};

/// The text as it is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    pub text: String,
    /// To be given to `uninstall`. As it was given when there was nothing to do.
    pub memory: Option<Memory>,
}

/// `call` has the absolute path to be called; `text` is the file's, when there is one; `memory` what an earlier
/// installation remembers. What is up to date already stays as it is, byte for byte.
pub fn install(client: Client, call: &Call, text: Option<&str>, memory: Option<&Memory>) -> Result<Installed, Trouble> {
    let program = call.program.as_str();
    let wanted = groups::wanted(client, program, &call.places.words());
    let whole = text.unwrap_or_default();
    let (bom, body) = whole.strip_prefix(BOM).map_or(("", whole), |body| (BOM, body));
    let Some(root) = tree::parse(body)?.root else {
        // Nothing but white space, or comments: an object is put behind them.
        return from_nothing(client, &wanted, text, bom, body);
    };
    require_shape(body, &root, &wanted)?;
    let found = root.property("hooks").map(|p| ours::entries(&p.value, client, Some(program))).unwrap_or_default();
    if is_current(&root, &wanted, &found) && missing(client, &root).is_empty() {
        return Ok(Installed { text: whole.to_owned(), memory: memory.cloned() });
    }
    let mut memory = remember(body, &wanted, &found, memory)?;
    let mut body = body.to_owned();
    while let Some(entry) = stale(&body, client, program, &wanted)? {
        body = take_out(&body, client, Some(program), &entry, &memory)?;
    }
    for (event, group) in &wanted {
        body = put(&body, client, program, event, group)?;
    }
    body = put_settings(&body, client, &mut memory)?;
    Ok(Installed { text: format!("{bom}{body}"), memory: Some(memory) })
}

/// The settings beside the hooks that nobody has set. What somebody has set is theirs.
fn missing(client: Client, root: &Value) -> Vec<(&'static str, &'static str)> {
    groups::settings(client).filter(|(name, _)| root.property(name).is_none()).collect()
}

fn put_settings(text: &str, client: Client, memory: &mut Memory) -> Result<String, Trouble> {
    let mut text = text.to_owned();
    for (name, value) in tree::parse(&text)?.root.map(|root| missing(client, &root)).unwrap_or_default() {
        let tree = tree::parse(&text)?;
        let Some(root) = &tree.root else { break };
        let place = Document { text: &text, tree: &tree };
        text = place.with(root, None, |style| property(name, &Wanted::text(value), style));
        memory.settings.push(name.to_owned());
    }
    Ok(text)
}

fn from_nothing(
    client: Client,
    wanted: &[(&'static str, Wanted)],
    text: Option<&str>,
    bom: &str,
    body: &str,
) -> Result<Installed, Trouble> {
    let comments = body.trim_end();
    let gap = if comments.is_empty() { "" } else { "\n" };
    let mut body = format!("{comments}{gap}{{}}\n");
    for (event, group) in wanted {
        body = put_new(&body, event, group)?;
    }
    let file = text.map_or(FileBefore::Absent, |text| FileBefore::Blank(text.to_owned()));
    let mut memory = Memory { file, hooks: Before::Absent, events: [].into(), settings: Vec::new() };
    body = put_settings(&body, client, &mut memory)?;
    Ok(Installed { text: format!("{bom}{body}"), memory: Some(memory) })
}

pub(crate) fn require_shape(text: &str, root: &Value, wanted: &[(&'static str, Wanted)]) -> Result<(), Trouble> {
    let not_an_object = |value: &Value, key: Option<&str>| {
        let (line, column) = tree::place(text, value.range.start);
        Trouble::NotAnObject { line, column, key: key.map(str::to_owned) }
    };
    if !matches!(root.kind, Kind::Object(_)) {
        return Err(not_an_object(root, None));
    }
    let Some(hooks) = root.property("hooks").map(|p| &p.value) else { return Ok(()) };
    if !matches!(hooks.kind, Kind::Object(_)) {
        return Err(not_an_object(hooks, Some("hooks")));
    }
    for (event, _) in wanted {
        let list = hooks.property(event).map(|p| &p.value);
        if let Some(value) = list.filter(|v| !matches!(v.kind, Kind::List(_))) {
            let (line, column) = tree::place(text, value.range.start);
            return Err(Trouble::NotAList { line, column, key: format!("hooks.{event}") });
        }
    }
    Ok(())
}

fn is_current(root: &Value, wanted: &[(&'static str, Wanted)], found: &[Entry]) -> bool {
    found.len() == wanted.len()
        && wanted.iter().all(|(event, group)| {
            let entry = found.iter().find(|e| e.event == *event);
            let list = root.property("hooks").and_then(|p| p.value.property(event));
            let there = entry.and_then(|e| list.and_then(|l| l.value.elements().get(e.group)));
            there.is_some_and(|there| group.is(there))
        })
}

/// What is there now, but where we are already what was there before that.
fn remember(
    text: &str,
    wanted: &[(&'static str, Wanted)],
    found: &[Entry],
    earlier: Option<&Memory>,
) -> Result<Memory, Trouble> {
    let tree = tree::parse(text)?;
    let place = Document { text, tree: &tree };
    let root = tree.root.as_ref();
    let hooks = root.and_then(|r| r.property("hooks")).map(|p| &p.value);
    let state = |value: Option<&Value>| value.map_or(Before::Absent, |v| place.state(v));
    let mut memory = match earlier {
        Some(earlier) if !found.is_empty() => earlier.clone(),
        _ if !found.is_empty() => Memory::none(),
        _ => Memory {
            file: FileBefore::Object(state(root)),
            hooks: state(hooks),
            events: [].into(),
            settings: Vec::new(),
        },
    };
    for (event, _) in wanted {
        if !found.iter().any(|e| e.event == *event) {
            let list = hooks.and_then(|h| h.property(event)).map(|p| &p.value);
            memory.events.insert((*event).to_owned(), state(list));
        }
    }
    Ok(memory)
}

/// An entry of ours that has no place: for an event we do not hear, a second one, or one among other people's in a
/// group.
fn stale(
    text: &str,
    client: Client,
    program: &str,
    wanted: &[(&'static str, Wanted)],
) -> Result<Option<Entry>, Trouble> {
    let tree = tree::parse(text)?;
    let Some(hooks) = tree.root.as_ref().and_then(|r| r.property("hooks")) else { return Ok(None) };
    let found = ours::entries(&hooks.value, client, Some(program));
    let kept = |entry: &Entry| {
        wanted.iter().any(|(event, _)| *event == entry.event)
            && keeper(&hooks.value, &found, &entry.event) == Some(entry.group)
    };
    Ok(found.iter().find(|entry| !kept(entry)).cloned())
}

/// The first group of this event that is ours alone.
fn keeper(hooks: &Value, found: &[Entry], event: &str) -> Option<usize> {
    let list = hooks.property(event)?.value.elements();
    let ours_in = |group: usize| found.iter().filter(|e| e.event == event && e.group == group).count();
    list.iter().enumerate().find_map(|(i, group)| {
        let count = ours_in(i);
        (count > 0 && count == ours::handlers(group).len()).then_some(i)
    })
}

/// One group of ours in the list of this event, as wanted.
pub(crate) fn put(text: &str, client: Client, program: &str, event: &str, wanted: &Wanted) -> Result<String, Trouble> {
    let tree = tree::parse(text)?;
    let place = Document { text, tree: &tree };
    let hooks = tree.root.as_ref().and_then(|r| r.property("hooks")).map(|p| &p.value);
    let list = hooks.and_then(|h| h.property(event)).map(|p| &p.value);
    let (Some(hooks), Some(list)) = (hooks, list) else { return put_new(text, event, wanted) };
    let found = ours::entries(hooks, client, Some(program));
    let there = keeper(hooks, &found, event).and_then(|i| list.elements().get(i));
    Ok(match there {
        Some(there) if wanted.is(there) => text.to_owned(),
        Some(there) => place.replaced(there.range.clone(), &wanted.written(&place.style_of(there))),
        None => place.with(list, Some(hooks), |style| wanted.written(style)),
    })
}

/// The same where the event has no list yet.
pub(crate) fn put_new(text: &str, event: &str, wanted: &Wanted) -> Result<String, Trouble> {
    let tree = tree::parse(text)?;
    let place = Document { text, tree: &tree };
    let Some(root) = &tree.root else { return Ok(text.to_owned()) };
    let list = Wanted::List(vec![wanted.clone()]);
    Ok(match root.property("hooks") {
        Some(hooks) => place.with(&hooks.value, Some(root), |style| property(event, &list, style)),
        None => {
            let hooks = Wanted::object([(event, list)]);
            place.with(root, None, |style| property("hooks", &hooks, style))
        }
    })
}
