//! `session/request_permission`: what is asked, and which of the offered answers is given.
//!
//! The protocol says what a tool call is about in several places, and agents use different ones: the command stands in
//! `rawInput` or is the title; an edit is a diff in `content`, a path in `rawInput`, or a location alone. Everything that can be read from it is judged, and one refusal refuses all.

use serde_json::{Value, json};

use crate::judge::Asked;

/// What the guards are to see of a tool call. `is_shell` tells whether there is a command in what was asked.
pub(crate) fn asked(call: &Value, is_shell: impl Fn(&Asked) -> bool) -> Vec<Asked> {
    let input = call.get("rawInput").unwrap_or(&Value::Null);
    let title = call.get("title").and_then(Value::as_str).unwrap_or_default();
    let kind = call.get("kind").and_then(Value::as_str).unwrap_or("other");
    let mut all = edits(call);
    match kind {
        "execute" => {
            let given = Asked::new("execute", input.clone());
            if is_shell(&given) {
                all.push(given);
            } else {
                all.push(Asked::shell(title.trim().trim_matches('`'), text(input, FOLDERS)));
            }
        }
        "edit" | "delete" | "move" => {
            let is_diff = |path: &str| all.iter().any(|asked| asked.edits() == Some(path));
            let rest: Vec<_> = paths(call).into_iter().filter(|path| !is_diff(path)).collect();
            let content = text(input, TEXTS);
            all.extend(rest.iter().map(|path| match content {
                Some(content) => Asked::new("Write", json!({ "file_path": path, "content": content })),
                None => Asked::new("Edit", json!({ "file_path": path })),
            }));
        }
        "read" => {
            all.extend(paths(call).iter().map(|path| Asked::new("Read", json!({ "file_path": path }))));
        }
        "search" => {
            let pattern = text(input, &["pattern", "query"]);
            let search = |path: Option<&String>| Asked::new("Grep", json!({ "path": path, "pattern": pattern }));
            let paths = paths(call);
            all.extend(paths.iter().map(|path| search(Some(path))));
            if paths.is_empty() {
                all.push(search(None));
            }
        }
        other => all.push(Asked::new(&format!("acp_{other}"), input.clone())),
    }
    // Whatever else is in there: a command in an edit, a path in a field nobody has thought of.
    let rest = match kind {
        "edit" | "delete" | "move" | "read" | "search" => beside(input),
        _ => None,
    };
    if all.is_empty() || rest.is_some() {
        all.push(Asked::new(&format!("acp_{kind}"), rest.unwrap_or_else(|| input.clone())));
    }
    all
}

/// The fields that have not been judged for what they are.
fn beside(input: &Value) -> Option<Value> {
    let is_seen = |name: &String| PATHS.contains(&name.as_str()) || TEXTS.contains(&name.as_str());
    let fields = input.as_object()?.iter().filter(|(name, value)| !is_seen(name) && !value.is_number());
    let rest: serde_json::Map<_, _> = fields.map(|(name, value)| (name.clone(), value.clone())).collect();
    (!rest.is_empty()).then_some(Value::Object(rest))
}

const FOLDERS: &[&str] = &["cwd", "workdir", "working_directory", "workingDirectory", "directory", "dir_path"];
/// What would come into a file, the most of it first, and what would go.
const TEXTS: &[&str] =
    &["content", "file_text", "newText", "new_text", "new_string", "newString", "oldText", "old_string", "oldString"];
const PATHS: &[&str] = &[
    "path",
    "file_path",
    "filePath",
    "filepath",
    "abs_path",
    "absolute_path",
    "notebook_path",
    "old_path",
    "new_path",
    "from",
    "to",
];

fn edits(call: &Value) -> Vec<Asked> {
    let content = call.get("content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let diff = |part: &Value| {
        let path = part.get("path")?.as_str()?;
        let (old, new) = (part.get("oldText").and_then(Value::as_str), part.get("newText").and_then(Value::as_str));
        Some(match old {
            Some(old) => Asked::new("Edit", json!({ "file_path": path, "old_string": old, "new_string": new })),
            None => Asked::new("Write", json!({ "file_path": path, "content": new })),
        })
    };
    content.iter().filter(|part| part.get("type").and_then(Value::as_str) == Some("diff")).filter_map(diff).collect()
}

/// Every path the call names, each once.
fn paths(call: &Value) -> Vec<String> {
    let locations = call.get("locations").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let located = locations.iter().filter_map(|location| location.get("path")?.as_str());
    let input = call.get("rawInput").unwrap_or(&Value::Null);
    let given = PATHS.iter().filter_map(|field| input.get(field)?.as_str());
    let mut paths: Vec<String> = Vec::new();
    for path in located.chain(given).filter(|path| !path.is_empty()) {
        if !paths.iter().any(|known| known == path) {
            paths.push(path.to_owned());
        }
    }
    paths
}

fn text<'a>(input: &'a Value, fields: &[&str]) -> Option<&'a str> {
    fields.iter().find_map(|field| input.get(field)?.as_str())
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Leave {
    Given,
    Refused,
    /// The turn is being ended.
    Cancelled,
}

/// The answer, and whether the agent will ask again next time: where all it offers is to be asked no more, it is told
/// that it may, because it could do nothing else.
pub(crate) struct Chosen {
    pub(crate) outcome: Value,
    pub(crate) asks_no_more: bool,
}

pub(crate) fn choose(params: &Value, leave: Leave) -> Chosen {
    let options = params.get("options").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let of_kind = |kind: &str| {
        let is_kind = |option: &&Value| option.get("kind").and_then(Value::as_str) == Some(kind);
        options.iter().find(is_kind).and_then(|option| option.get("optionId")?.as_str())
    };
    let (once, always) = match leave {
        Leave::Given => (of_kind("allow_once"), of_kind("allow_always")),
        // Refusing for good would also refuse what the guards have nothing against.
        Leave::Refused => (of_kind("reject_once"), of_kind("reject_always")),
        Leave::Cancelled => (None, None),
    };
    let outcome = match once.or(always) {
        Some(id) => json!({ "outcome": "selected", "optionId": id }),
        None => json!({ "outcome": "cancelled" }),
    };
    Chosen { outcome, asks_no_more: leave == Leave::Given && once.is_none() && always.is_some() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(call: &Value) -> Vec<(String, Value)> {
        let is_shell = |asked: &Asked| asked.input.get("command").is_some();
        asked(call, is_shell).into_iter().map(|asked| (asked.tool, asked.input)).collect()
    }

    #[test]
    fn a_command_is_found_in_the_input_or_is_the_title() {
        let titled = json!({ "kind": "execute", "title": "git push", "content": [], "locations": [] });
        assert_eq!(tools(&titled)[0].1["command"], "git push");
        let quoted = json!({ "kind": "execute", "title": "`git push`", "rawInput": { "description": "x" } });
        assert_eq!(tools(&quoted)[0].1["command"], "git push");
        let words = json!({ "kind": "execute", "title": "x", "rawInput": { "command": ["bash", "-lc", "git push"] } });
        assert_eq!(tools(&words), [("execute".to_owned(), words["rawInput"].clone())]);
    }

    #[test]
    fn an_edit_is_found_as_a_diff_as_a_path_and_as_a_location() {
        let diff = json!({ "kind": "edit", "content": [
            { "type": "diff", "path": "/w/a", "oldText": "1", "newText": "2" },
            { "type": "diff", "path": "/w/b", "oldText": null, "newText": "3" },
        ], "locations": [{ "path": "/w/a" }, { "path": "/w/c" }] });
        let names: Vec<_> = tools(&diff).into_iter().map(|(tool, input)| (tool, input["file_path"].clone())).collect();
        let pair = |tool: &str, path: &str| (tool.to_owned(), json!(path));
        assert_eq!(names, [pair("Edit", "/w/a"), pair("Write", "/w/b"), pair("Edit", "/w/c")]);

        let raw = json!({ "kind": "edit", "rawInput": { "path": "/w/.env", "content": "x" } });
        assert_eq!(tools(&raw)[0], ("Write".to_owned(), json!({ "file_path": "/w/.env", "content": "x" })));
        let moved = json!({ "kind": "move", "rawInput": { "from": "/w/a", "to": "/w/.git/hooks/x" } });
        assert_eq!(tools(&moved).len(), 2, "both ends");
        let odd =
            json!({ "kind": "edit", "rawInput": { "path": "/w/a", "content": "x", "command": "git push", "line": 3 } });
        assert_eq!(tools(&odd)[1], ("acp_edit".to_owned(), json!({ "command": "git push" })));
    }

    #[test]
    fn nothing_is_passed_because_it_is_not_known() {
        for call in [json!({}), json!({ "kind": "dance", "rawInput": { "x": 1 } }), json!({ "kind": "edit" }), json!(7)]
        {
            assert!(!tools(&call).is_empty(), "{call}");
        }
        assert_eq!(tools(&json!({ "kind": "read", "locations": [{ "path": "/etc/x" }] }))[0].0, "Read");
    }

    #[test]
    fn leave_is_given_once_and_a_refusal_is_for_once_too() {
        let options = json!({ "options": [
            { "optionId": "always", "name": "", "kind": "allow_always" },
            { "optionId": "once", "name": "", "kind": "allow_once" },
            { "optionId": "never", "name": "", "kind": "reject_always" },
            { "optionId": "no", "name": "", "kind": "reject_once" },
        ] });
        let outcome = |leave| choose(&options, leave).outcome;
        assert_eq!(outcome(Leave::Given)["optionId"], "once");
        assert_eq!(outcome(Leave::Refused)["optionId"], "no");
        assert_eq!(outcome(Leave::Cancelled), json!({ "outcome": "cancelled" }));
        let always = json!({ "options": [{ "optionId": "always", "name": "", "kind": "allow_always" }] });
        assert!(choose(&always, Leave::Given).asks_no_more);
        assert_eq!(choose(&always, Leave::Refused).outcome, json!({ "outcome": "cancelled" }));
        assert_eq!(choose(&json!({}), Leave::Given).outcome, json!({ "outcome": "cancelled" }));
    }
}
