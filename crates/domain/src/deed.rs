//! What a tool call does, in a person's words: reads a file, edits one, runs a command.
//!
//! Agents name their tools in many ways and agree on what they hand them. What decides is therefore the name where it is
//! a known word, and the form of the input else. Nothing is judged by it: the guards have their own, careful reading
//! (`guard::wire`); this one is for people who watch.

use serde_json::{Map, Value};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Deed {
    Read {
        path: String,
    },
    Search {
        what: String,
    },
    /// Lines of one file replaced by others.
    Edit {
        path: String,
        added: usize,
        deleted: usize,
    },
    /// A whole file; how many lines it has now, as far as the call tells.
    Write {
        path: String,
        lines: Option<usize>,
    },
    /// Files, and what is done to each: `add`, `update`, `delete`.
    Change {
        files: Vec<(String, String)>,
    },
    Command {
        line: String,
        /// Its answer tells a command that failed from one that did not.
        is_judged: bool,
    },
    Fetch {
        what: String,
    },
    /// Work handed to an agent of its own.
    Delegate {
        what: String,
    },
    /// Its own list of steps: how many are done, how many there are, and the one at hand.
    Plan {
        done: usize,
        all: usize,
        now: Option<String>,
    },
    Other {
        name: String,
        about: String,
    },
}

/// Which field of a tool's input says what the call is about, the most telling first.
const ABOUT: &[&str] = &[
    "command",
    "cmd",
    "file_path",
    "absolute_path",
    "notebook_path",
    "path",
    "pattern",
    "query",
    "url",
    "description",
    "prompt",
];
const PATHS: &[&str] = &["file_path", "absolute_path", "notebook_path", "path"];

const READS: &[&str] = &["read", "readfile", "readmanyfiles", "notebookread", "view"];
const SEARCHES: &[&str] =
    &["grep", "glob", "ls", "search", "searchfilecontent", "grepsearch", "listdirectory", "listdir", "findfiles"];
const WRITES: &[&str] = &["write", "writefile", "createfile"];
const EDITS: &[&str] = &["edit", "multiedit", "replace", "notebookedit", "strreplace"];
const FETCHES: &[&str] = &["webfetch", "fetch", "websearch", "googlewebsearch"];
const DELEGATES: &[&str] = &["task", "agent"];
/// Shells whose answer is a success whatever the command's exit code was.
const UNJUDGED_SHELLS: &[&str] = &["runshellcommand"];
const PLANS: &[&str] = &["todowrite", "writetodos", "updateplan"];

impl Deed {
    /// Of a tool's name and its input as an event has it: JSON, or the bare command or words.
    pub fn of(name: &str, input: &str) -> Self {
        let word: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        let is = |words: &[&str]| words.contains(&word.as_str());
        let other = || Self::Other { name: name.to_owned(), about: about(input) };
        let fields = match serde_json::from_str::<Value>(input) {
            Ok(Value::Object(fields)) => fields,
            Ok(Value::Array(changes)) => return changed(&changes).unwrap_or_else(other),
            _ if matches!(word.as_str(), "commandexecution" | "execute" | "bash") => {
                return Self::Command { line: without_shell(input).to_owned(), is_judged: true };
            }
            _ => Map::new(),
        };
        let field = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
        let path = || PATHS.iter().find_map(|name| field(name));
        let found = if let Some(line) = field("command").or_else(|| field("cmd")) {
            Some(Self::Command { line: without_shell(&line).to_owned(), is_judged: !is(UNJUDGED_SHELLS) })
        } else if is(READS) {
            path().map(|path| Self::Read { path })
        } else if is(SEARCHES) {
            let what = ["pattern", "query"].iter().find_map(|name| field(name)).or_else(path);
            what.map(|what| Self::Search { what })
        } else if is(WRITES) || (is(EDITS) && fields.contains_key("content")) {
            path().map(|path| Self::Write { path, lines: field("content").and_then(|text| lines_of(&text)) })
        } else if is(EDITS) {
            path().and_then(|path| edited(path, &fields))
        } else if is(FETCHES) {
            ["url", "query", "prompt"].iter().find_map(|name| field(name)).map(|what| Self::Fetch { what })
        } else if is(DELEGATES) {
            ["description", "prompt"].iter().find_map(|name| field(name)).map(|what| Self::Delegate { what })
        } else if is(PLANS) {
            planned(&fields)
        } else {
            None
        };
        found.unwrap_or_else(other)
    }
}

fn changed(changes: &[Value]) -> Option<Deed> {
    let field = |change: &Value, name: &str| change.get(name).and_then(Value::as_str).map(str::to_owned);
    let file = |change| Some((field(change, "kind")?, field(change, "path")?));
    let files: Option<Vec<_>> = changes.iter().map(file).collect();
    files.filter(|files| !files.is_empty()).map(|files| Deed::Change { files })
}

fn edited(path: String, fields: &Map<String, Value>) -> Option<Deed> {
    let pair = |edit: &Map<String, Value>| {
        let text = |name: &str| edit.get(name).and_then(Value::as_str);
        Some(counts(text("old_string").or_else(|| text("old_str"))?, text("new_string").or_else(|| text("new_str"))?))
    };
    let pairs: Vec<(usize, usize)> = match fields.get("edits").and_then(Value::as_array) {
        Some(edits) => edits.iter().filter_map(|edit| pair(edit.as_object()?)).collect(),
        None => pair(fields).into_iter().collect(),
    };
    if pairs.is_empty() {
        return None;
    }
    let (added, deleted) = pairs.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    Some(Deed::Edit { path, added, deleted })
}

/// Lines added and deleted, those that stay at either end not counted.
fn counts(old: &str, new: &str) -> (usize, usize) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let least = old.len().min(new.len());
    let before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let after = old.iter().rev().zip(new.iter().rev()).take(least - before).take_while(|(a, b)| a == b).count();
    (new.len() - before - after, old.len() - before - after)
}

/// `None` of a text that was cut.
fn lines_of(text: &str) -> Option<usize> {
    (!text.ends_with('…')).then(|| text.lines().count())
}

fn planned(fields: &Map<String, Value>) -> Option<Deed> {
    let steps = ["todos", "plan", "items"].iter().find_map(|name| fields.get(*name)?.as_array())?;
    let text = |step: &Value, name: &str| step.get(name).and_then(Value::as_str).map(str::to_owned);
    let is = |step: &&Value, state: &str| text(step, "status").as_deref() == Some(state);
    let now = steps.iter().find(|step| is(step, "in_progress"));
    let now = now.and_then(|step| ["content", "description", "step"].iter().find_map(|name| text(step, name)));
    Some(Deed::Plan { done: steps.iter().filter(|step| is(step, "completed")).count(), all: steps.len(), now })
}

/// What a tool call is about, in one text.
pub fn about(input: &str) -> String {
    match serde_json::from_str::<Value>(input) {
        Ok(Value::Object(fields)) => {
            let telling = ABOUT.iter().find_map(|name| fields.get(*name)?.as_str());
            telling.map_or_else(|| input.to_owned(), str::to_owned)
        }
        // A list of what was changed.
        Ok(Value::Array(changes)) => match changed(&changes) {
            Some(Deed::Change { files }) => {
                files.iter().map(|(kind, path)| format!("{kind} {path}")).collect::<Vec<_>>().join(", ")
            }
            _ => input.to_owned(),
        },
        _ => without_shell(input).to_owned(),
    }
}

/// `/bin/bash -lc 'make test'` → `make test`, where nothing inside was quoted anew.
fn without_shell(command: &str) -> &str {
    let inner = ["-lc ", "-c "].iter().find_map(|flag| {
        let (shell, rest) = command.split_once(flag)?;
        let is_shell = matches!(shell.trim_end().rsplit('/').next(), Some("bash" | "sh" | "zsh"));
        is_shell.then_some(rest.trim())
    });
    let Some(inner) = inner else { return command };
    let bare = ['\'', '"'].iter().find_map(|quote| {
        let text = inner.strip_prefix(*quote)?.strip_suffix(*quote)?;
        (!text.contains(*quote) && !text.contains('\\')).then_some(text)
    });
    bare.unwrap_or(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_every_client_are_told_by_what_they_do() {
        let command = |line: &str| Deed::Command { line: line.into(), is_judged: true };
        let unjudged = |line: &str| Deed::Command { line: line.into(), is_judged: false };
        let read = |path: &str| Deed::Read { path: path.into() };
        for (name, input, deed) in [
            ("Bash", r#"{"command":"make\ntest","description":"d"}"#, command("make\ntest")),
            ("command_execution", "/bin/bash -lc 'cargo test'", command("cargo test")),
            ("command_execution", "/bin/bash -lc ls", command("ls")),
            ("run_shell_command", r#"{"command":"ls"}"#, unjudged("ls")),
            ("execute", r#"{"command":"ls"}"#, command("ls")),
            ("Read", r#"{"file_path":"/w/a.rs","limit":10}"#, read("/w/a.rs")),
            ("read_file", r#"{"absolute_path":"/w/a.rs"}"#, read("/w/a.rs")),
            ("Grep", r#"{"pattern":"fn main","path":"src"}"#, Deed::Search { what: "fn main".into() }),
            ("list_directory", r#"{"path":"src"}"#, Deed::Search { what: "src".into() }),
            ("Write", r#"{"file_path":"a","content":"1\n2\n"}"#, Deed::Write { path: "a".into(), lines: Some(2) }),
            ("write_file", r#"{"file_path":"a","content":"1\n…"}"#, Deed::Write { path: "a".into(), lines: None }),
            (
                "Edit",
                r#"{"file_path":"a","old_string":"x\none\ny","new_string":"x\ntwo\nthree\ny"}"#,
                Deed::Edit { path: "a".into(), added: 2, deleted: 1 },
            ),
            (
                "MultiEdit",
                r#"{"file_path":"a","edits":[{"old_string":"1","new_string":"2"},{"old_string":"3\n4","new_string":"3"}]}"#,
                Deed::Edit { path: "a".into(), added: 1, deleted: 2 },
            ),
            ("file_change", r#"[{"kind":"add","path":"a"}]"#, Deed::Change { files: vec![("add".into(), "a".into())] }),
            ("WebFetch", r#"{"url":"http://x","prompt":"p"}"#, Deed::Fetch { what: "http://x".into() }),
            ("Agent", r#"{"description":"look","prompt":"long"}"#, Deed::Delegate { what: "look".into() }),
            (
                "TodoWrite",
                r#"{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"in_progress"}]}"#,
                Deed::Plan { done: 1, all: 2, now: Some("b".into()) },
            ),
            ("edit", "Write a", Deed::Other { name: "edit".into(), about: "Write a".into() }),
            ("Read", r#"{"odd":1}"#, Deed::Other { name: "Read".into(), about: r#"{"odd":1}"#.into() }),
            ("mcp__x__y", r#"{"query":"q"}"#, Deed::Other { name: "mcp__x__y".into(), about: "q".into() }),
        ] {
            assert_eq!(Deed::of(name, input), deed, "{name} {input}");
        }
    }

    #[test]
    fn lines_that_stay_are_neither_added_nor_deleted() {
        for (old, new, told) in [
            ("a\nb", "a\nb", (0, 0)),
            ("", "a\nb", (2, 0)),
            ("a\na", "a", (0, 1)),
            ("a", "a\na\na", (2, 0)),
            ("a\nb\nc", "x\nb\ny", (3, 3)),
        ] {
            assert_eq!(counts(old, new), told, "{old:?} {new:?}");
        }
    }
}
