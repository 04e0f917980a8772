//! What in a settings text is ours, and what keeps it from being heard.

use crate::Client;
use crate::call::Call;
use crate::run::switches_of_all;
use crate::tree::{self, BOM, Comments, Looseness, Value};

/// A handler of ours, by its place: event, group, handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) event: String,
    pub(crate) group: usize,
    pub(crate) handler: usize,
}

/// Every handler of ours below `hooks`.
pub(crate) fn entries(hooks: &Value, client: Client, program: Option<&str>) -> Vec<Entry> {
    let mut found = Vec::new();
    for property in hooks.properties() {
        // An earlier one of the same name counts for nobody.
        if hooks.property(&property.name).is_none_or(|p| p.range != property.range) {
            continue;
        }
        for (group, value) in property.value.elements().iter().enumerate() {
            for (handler, value) in handlers(value).iter().enumerate() {
                if is_ours(value, client, program) {
                    found.push(Entry { event: property.name.clone(), group, handler });
                }
            }
        }
    }
    found
}

pub(crate) fn handlers(group: &Value) -> &[Value] {
    group.property("hooks").map_or(&[], |p| p.value.elements())
}

/// Known by its command, whichever path, timeout or shell form it has. `program`: also under another name, when it is
/// the one to be installed.
pub(crate) fn is_ours(handler: &Value, client: Client, program: Option<&str>) -> bool {
    let is_program = |path: &str| Some(path) == program || path.rsplit('/').next() == Some("dandori");
    Call::of(handler, client).is_some_and(|call| is_program(&call.program))
}

/// Whether an entry of ours stands in this text. A text that cannot be read has none.
pub fn has_ours(client: Client, text: &str) -> bool {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    let root = tree::parse(text).ok().and_then(|t| t.root);
    let hooks = root.as_ref().and_then(|r| r.property("hooks"));
    hooks.is_some_and(|hooks| !entries(&hooks.value, client, None).is_empty())
}

/// Whether hooks in this file, or beside it, are heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    Heard,
    /// A switch for all hooks is off.
    Disabled,
    /// Its client does not read the file for this.
    Unread {
        what: Looseness,
        line: usize,
        column: usize,
    },
}

/// Whether what this text says is heard by its client.
pub fn reach(client: Client, text: &str) -> Reach {
    let body = text.strip_prefix(BOM).unwrap_or(text);
    let root = tree::parse(body).ok().and_then(|t| t.root);
    let is_true = |key: &str| {
        let switch = root.as_ref().and_then(|root| root.property(key));
        switch.is_some_and(|p| matches!(&p.value.kind, tree::Kind::Plain(word) if word == "true"))
    };
    if switches_of_all(client).any(is_true) {
        return Reach::Disabled;
    }
    if body.len() < text.len() && !client.hooks().is_some_and(|hooks| hooks.reads_byte_order_mark) {
        return Reach::Unread { what: Looseness::ByteOrderMark, line: 1, column: 1 };
    }
    let reads_comments = client.hooks().is_some_and(|hooks| hooks.reads_comments);
    let comments = if reads_comments { Comments::Read } else { Comments::Refuse };
    match tree::first_looseness(body, comments) {
        Some((what, line, column)) => Reach::Unread { what, line, column },
        None => Reach::Heard,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours(handler: &str, client: Client) -> bool {
        is_ours(&tree::parse(handler).unwrap().root.unwrap(), client, None)
    }

    #[test]
    fn an_entry_is_known_by_its_command_in_every_form() {
        for handler in [
            r#"{"command": "/a/dandori", "args": ["hook", "claude"], "timeout": 1}"#,
            r#"{"command": "dandori", "args": ["hook", "claude"]}"#,
            r#"{"type": "command", "command": "/a/dandori hook claude"}"#,
            r#"{"command": "'/my tools/dandori' hook  claude "}"#,
            r#"{"command": "'/it'\\''s/dandori' hook claude"}"#,
            r#"{"command": "\"/my tools/dandori\" hook claude"}"#,
            r#"{"command": "/a/dandori", "args": ["hook", "claude", "--state", "/s", "--config", "/c"]}"#,
            r#"{"command": "/a/dandori hook claude --state '/s t'"}"#,
        ] {
            assert!(ours(handler, Client::Claude), "{handler}");
            assert!(!ours(handler, Client::Codex), "{handler}");
        }
    }

    #[test]
    fn what_only_looks_like_ours_is_not() {
        for handler in [
            r#"{"command": "/a/dandori", "args": ["hook", "claude", "x"]}"#,
            r#"{"command": "/a/dandori", "args": ["guard", "claude"]}"#,
            r#"{"command": "/a/not-dandori", "args": ["hook", "claude"]}"#,
            r#"{"command": "log; /a/dandori hook claude"}"#,
            r#"{"command": "env X=1 dandori hook claude"}"#,
            r#"{"command": "echo dandori hook claude"}"#,
            r#"{"command": "dandori xhook claude"}"#,
            r#"{"command": "dandorihook claude"}"#,
            r#"{"command": 5}"#,
            r#""dandori hook claude""#,
        ] {
            assert!(!ours(handler, Client::Claude), "{handler}");
        }
    }

    #[test]
    fn what_keeps_a_file_from_being_heard_is_found() {
        assert_eq!(reach(Client::Claude, r#"{"disableAllHooks": true}"#), Reach::Disabled);
        assert_eq!(reach(Client::Claude, r#"{"disableAllHooks": false}"#), Reach::Heard);
        let unread = |what, line, column| Reach::Unread { what, line, column };
        assert_eq!(reach(Client::Codex, "{\n  // mine\n}"), unread(Looseness::Comment, 2, 3));
        assert_eq!(reach(Client::Claude, r#"{"a": [1,]}"#), unread(Looseness::TrailingComma, 1, 9));
        for (client, hooks) in Client::with_hooks() {
            let expect = |is_read, what, line, column| if is_read { Reach::Heard } else { unread(what, line, column) };
            let comment = expect(hooks.reads_comments, Looseness::Comment, 2, 3);
            assert_eq!(reach(client, "{\n  // mine\n}"), comment, "{client}");
            let mark = expect(hooks.reads_byte_order_mark, Looseness::ByteOrderMark, 1, 1);
            assert_eq!(reach(client, "\u{feff}{}"), mark, "{client}");
            assert_eq!(reach(client, "{\n  \"a\": 1,\n}"), unread(Looseness::TrailingComma, 2, 9), "{client}");
        }
    }
}
