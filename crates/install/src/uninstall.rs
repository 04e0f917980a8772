//! What is ours taken out of a settings text, with what only we had made.

use crate::edit::Document;
use crate::memory::{Before, FileBefore, Memory};
use crate::ours::{self, Entry};
use crate::tree::{self, BOM, Trouble};
use crate::{Client, groups};

/// The text without us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uninstalled {
    /// `None`: there was no such file before us, and there is nothing else in it.
    pub text: Option<String>,
}

/// `program`: the path that is ours under whatever name; `memory` is what the installation remembered.
pub fn uninstall(
    client: Client,
    program: Option<&str>,
    text: &str,
    memory: Option<&Memory>,
) -> Result<Uninstalled, Trouble> {
    let (bom, body) = text.strip_prefix(BOM).map_or(("", text), |body| (BOM, body));
    let known = memory.cloned().unwrap_or_else(Memory::none);
    // Without a memory they are taken for ours where our hooks stand.
    let has_put = |name: &str| match memory {
        Some(memory) => memory.settings.iter().any(|put| put == name),
        None => matches!(first(body, client, program), Ok(Some(_))),
    };
    let mut left = without_settings(body, client, &known, has_put)?;
    while let Some(entry) = first(&left, client, program)? {
        left = take_out(&left, client, program, &entry, &known)?;
    }
    if left == body {
        return Ok(Uninstalled { text: Some(text.to_owned()) });
    }
    Ok(Uninstalled {
        text: match known.file {
            FileBefore::Absent if left.trim() == "{}" => None,
            FileBefore::Blank(blank) if is_as_blank(&left, &blank) => Some(blank),
            _ => Some(format!("{bom}{left}")),
        },
    })
}

/// Without the settings that we put in, as long as they are what we made them.
fn without_settings(
    text: &str,
    client: Client,
    memory: &Memory,
    has_put: impl Fn(&str) -> bool,
) -> Result<String, Trouble> {
    let mut text = text.to_owned();
    for (name, value) in groups::settings(client).rev().filter(|(name, _)| has_put(name)) {
        let tree = tree::parse(&text)?;
        let Some(root) = &tree.root else { break };
        let place = Document { text: &text, tree: &tree };
        let before = if let FileBefore::Object(before) = &memory.file { before } else { &Before::Filled };
        let is_ours = root.property(name).is_some_and(|p| p.value.text() == Some(value));
        let index = root.properties().iter().rposition(|p| p.name == name).filter(|_| is_ours);
        if let Some(index) = index {
            text = place.without(root, index, before);
        }
    }
    Ok(text)
}

/// Nothing but the comments that were there, and the object put behind them.
fn is_as_blank(left: &str, blank: &str) -> bool {
    let blank = blank.strip_prefix(BOM).unwrap_or(blank).trim_end();
    left.trim_end().strip_suffix("{}").is_some_and(|comments| comments.trim_end() == blank)
}

fn first(text: &str, client: Client, program: Option<&str>) -> Result<Option<Entry>, Trouble> {
    let tree = tree::parse(text)?;
    let hooks = tree.root.as_ref().and_then(|r| r.property("hooks"));
    Ok(hooks.and_then(|hooks| ours::entries(&hooks.value, client, program).into_iter().next()))
}

/// Without this entry: its group when that is ours alone, and what became empty by it and was not there before us.
pub(crate) fn take_out(
    text: &str,
    client: Client,
    program: Option<&str>,
    entry: &Entry,
    memory: &Memory,
) -> Result<String, Trouble> {
    let event = entry.event.as_str();
    let text = without_entry(text, client, program, entry, &memory.of_event(event))?;
    let text = without_list(&text, event, memory)?;
    without_hooks(&text, memory)
}

fn without_entry(
    text: &str,
    client: Client,
    program: Option<&str>,
    entry: &Entry,
    before: &Before,
) -> Result<String, Trouble> {
    let tree = tree::parse(text)?;
    let place = Document { text, tree: &tree };
    let hooks = tree.root.as_ref().and_then(|r| r.property("hooks")).map(|p| &p.value);
    let list = hooks.and_then(|h| h.property(&entry.event)).map(|p| &p.value);
    let (Some(hooks), Some(list)) = (hooks, list) else { return Ok(text.to_owned()) };
    let group = list.elements().get(entry.group);
    let Some((group, handlers)) = group.and_then(|g| Some((g, &g.property("hooks")?.value))) else {
        return Ok(text.to_owned());
    };
    let found = ours::entries(hooks, client, program);
    let in_group = found.iter().filter(|e| e.event == entry.event && e.group == entry.group).count();
    Ok(if in_group == ours::handlers(group).len() {
        place.without(list, entry.group, before)
    } else {
        place.without(handlers, entry.handler, &Before::Filled)
    })
}

fn without_list(text: &str, event: &str, memory: &Memory) -> Result<String, Trouble> {
    let tree = tree::parse(text)?;
    let place = Document { text, tree: &tree };
    let hooks = tree.root.as_ref().and_then(|r| r.property("hooks")).map(|p| &p.value);
    let Some((hooks, list)) = hooks.and_then(|h| Some((h, h.property(event)?))) else { return Ok(text.to_owned()) };
    if !place.is_bare(&list.value) || memory.of_event(event) != Before::Absent {
        return Ok(text.to_owned());
    }
    let index = hooks.properties().iter().rposition(|p| p.name == event).unwrap_or_default();
    Ok(place.without(hooks, index, &memory.hooks))
}

fn without_hooks(text: &str, memory: &Memory) -> Result<String, Trouble> {
    let tree = tree::parse(text)?;
    let place = Document { text, tree: &tree };
    let Some((root, hooks)) = tree.root.as_ref().and_then(|r| Some((r, r.property("hooks")?))) else {
        return Ok(text.to_owned());
    };
    if !place.is_bare(&hooks.value) || memory.hooks != Before::Absent {
        return Ok(text.to_owned());
    }
    let before = if let FileBefore::Object(before) = &memory.file { before } else { &Before::Filled };
    let index = root.properties().iter().rposition(|p| p.name == "hooks").unwrap_or_default();
    Ok(place.without(root, index, before))
}
