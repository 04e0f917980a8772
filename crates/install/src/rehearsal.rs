//! A copy of somebody's settings to try our hooks with.

use std::ops::Range;

use crate::call::{Call, Places};
use crate::edit::Document;
use crate::ours;
use crate::tree::{self, BOM, Kind, Value};
use crate::wanted::{Style, Wanted, property};
use crate::{Client, groups};

/// Nobody listens there.
const NOWHERE: &str = "http://127.0.0.1:9/";

/// The same text, but that no hook of anybody else's does anything: a command is `true`, an address leads nowhere. Ours
/// that have places get these instead, so that what they write down is not the user's. Everything else keeps its place and kind, so that a client that drops the original drops the copy as well. What
/// cannot be read is left as it is.
pub fn only_ours(client: Client, text: &str, places: &Places) -> String {
    let body = text.strip_prefix(BOM).unwrap_or(text);
    let Some(root) = tree::parse(body).ok().and_then(|t| t.root) else { return text.to_owned() };
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    // Every list of that name, also those that do not count: what counts is for the client to say.
    for hooks in root.properties().iter().filter(|p| p.name == "hooks") {
        let groups = hooks.value.properties().iter().flat_map(|event| event.value.elements());
        for handler in groups.flat_map(ours::handlers) {
            if ours::is_ours(handler, client, None) {
                changes.extend(moved(handler, client, places));
                continue;
            }
            for property in handler.properties().iter().filter(|p| p.value.text().is_some()) {
                match property.name.as_str() {
                    "command" | "commandWindows" => changes.push((property.value.range.clone(), "\"true\"".to_owned())),
                    "url" => changes.push((property.value.range.clone(), format!("\"{NOWHERE}\""))),
                    _ => {}
                }
            }
        }
    }
    changes.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    let mut copy = body.to_owned();
    for (range, by) in changes {
        copy.replace_range(range, &by);
    }
    let bom = text.strip_suffix(body).unwrap_or_default();
    format!("{bom}{copy}")
}

/// Our call with other places, in the form it has.
fn moved(handler: &Value, client: Client, places: &Places) -> Option<(Range<usize>, String)> {
    let call = Call::of(handler, client).filter(|call| call.places != Places::default())?;
    let (what, words) = match handler.property("args") {
        Some(args) => (args, groups::call_words(client, &places.words()).map(Wanted::text).collect()),
        None => (handler.property("command")?, Vec::new()),
    };
    let wanted = match what.name.as_str() {
        "args" => Wanted::List(words),
        _ => Wanted::text(groups::call_line(client, &call.program, &places.words())),
    };
    Some((what.value.range.clone(), wanted.written(&Style::Inline { gap: " " })))
}

/// What a setting is set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting<'s> {
    Text(&'s str),
    Flag(bool),
}

/// The same text with one setting as it is to be, wherever it stands among the others. A text that cannot be read, or
/// has something else in its place, is left as it is: so it is for its client.
pub fn with_setting(text: &str, place: &[&str], to: Setting<'_>) -> String {
    let body = text.strip_prefix(BOM).unwrap_or(text);
    let bom = text.strip_suffix(body).unwrap_or_default();
    let Ok(tree) = tree::parse(body) else { return text.to_owned() };
    let Some(root) = &tree.root else { return text.to_owned() };
    let page = Document { text: body, tree: &tree };
    let mut wanted = match to {
        Setting::Text(text) => Wanted::text(text),
        Setting::Flag(flag) => Wanted::Flag(flag),
    };
    let (mut here, mut parent, mut rest) = (root, None, place);
    while let Some((name, deeper)) = rest.split_first()
        && let Some(found) = here.property(name)
    {
        (parent, here, rest) = (Some(here), &found.value, deeper);
    }
    let changed = match rest.split_first() {
        None => page.replaced(here.range.clone(), &wanted.written(&page.style_of(here))),
        Some(_) if !matches!(here.kind, Kind::Object(_)) => return text.to_owned(),
        Some((name, deeper)) => {
            for name in deeper.iter().rev() {
                wanted = Wanted::object([(*name, wanted)]);
            }
            page.with(here, parent, |style| property(name, &wanted, style))
        }
    };
    format!("{bom}{changed}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_put_where_it_belongs() {
        let set = |text: &str| with_setting(text, &["a", "b", "c"], Setting::Text("x"));
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        for text in ["{}", r#"{"a": {}}"#, r#"{"a": {"b": {"d": 1}}, "z": 2}"#, r#"{"a": {"b": {"c": {"was": 3}}}}"#] {
            let mut expected = read(text);
            expected["a"]["b"]["c"] = "x".into();
            assert_eq!(read(&set(text)), expected, "{text}");
        }
        let flag = with_setting("{ // mine\n  \"a\": {\"b\": true},\n}", &["a", "b"], Setting::Flag(false));
        assert_eq!(flag, "{ // mine\n  \"a\": {\"b\": false},\n}");
        for text in ["", "{", "[]", r#"{"a": 3}"#, r#"{"a": {"b": []}}"#] {
            assert_eq!(set(text), text);
        }
    }

    #[test]
    fn others_do_nothing_and_everything_keeps_its_place() {
        let text = "\u{feff}{\n  // mine\n  \"hooks\": {\"Stop\": [{\"hooks\": [\n\
            {\"type\": \"command\", \"command\": \"rm -rf /\", \"timeout\": \"5\"},\n\
            {\"type\": \"http\", \"url\": \"https://example.com\"},\n\
            {\"type\": \"command\"}, 7,\n\
            {\"type\": \"command\", \"command\": \"/a/dandori\", \"args\": [\"hook\", \"claude\"]}]}]},\n  \"model\": \"x\",\n}";
        let copy = only_ours(Client::Claude, text, &Places::default());
        let expected = text.replace("rm -rf /", "true").replace("https://example.com", "http://127.0.0.1:9/");
        assert_eq!(copy, expected);
    }

    #[test]
    fn ours_write_down_what_they_do_elsewhere() {
        let places = |at: &str| Places {
            state: Some(format!("/{at}/state")),
            config: Some(format!("/{at}/config")),
            home: Some(format!("/{at}")),
        };
        for client in Client::ALL {
            let call = |at| Call { program: "/a/dandori".to_owned(), places: places(at) };
            let text = crate::install(client, &call("users"), None, None).unwrap().text;
            let copy = only_ours(client, &text, &places("try it"));
            assert!(!copy.contains("/users"), "{copy}");
            let entries = crate::inspect(client, &copy).unwrap().entries;
            assert!(!entries.is_empty() && entries.iter().all(|own| own.call == call("try it")), "{entries:?}");
            let old = crate::install(client, &Call::bare("/a/dandori"), None, None).unwrap().text;
            assert_eq!(only_ours(client, &old, &places("x")), old, "an earlier version's goes by the environment");
        }
    }

    #[test]
    fn what_cannot_be_read_stays_as_it_is() {
        for text in ["", "{", "[]", "{\"hooks\": 3}", "{\"hooks\": {\"Stop\": [4, {\"hooks\": 5}]}}"] {
            for client in Client::ALL {
                assert_eq!(only_ours(client, text, &Places::default()), text);
            }
        }
    }
}
