//! One value changed in place.

use crate::lines::{Entry, Value, entries, value_of, without_comment};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("neither `{path}` nor `{section}` exists")]
    NoPlace { path: String, section: String },
    #[error("`{path}` contains other keys or a list")]
    NotAValue { path: String },
    #[error("a value must be a single line")]
    SeveralLines,
    #[error("its quotes cannot be written on one line")]
    Unwritable,
}

/// What is done about a key whose section is not there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoSection {
    Refuse,
    /// It is begun: in the nearest section there is, else in the front matter, which a file without one gets.
    Begin,
}

/// The text with `path` set to `value`, which is as [`written`] or [`written_list`] gives it. A key that is missing is
/// added below its section; the rest stays as it is, byte for byte.
pub(crate) fn set(text: &str, path: &str, value: &str, no_section: NoSection) -> Result<String, EditError> {
    let edited = with_value(text, path, value, no_section)?;
    // A file may be indented in ways that give the line another meaning: what is not read again was not set.
    let is_read = entries(&edited).iter().rev().find(|e| e.path == path).is_some_and(|e| e.value == value_of(value));
    if is_read { Ok(edited) } else { Err(no_place(path)) }
}

fn no_place(path: &str) -> EditError {
    let section = path.rsplit_once('.').map_or("", |(section, _)| section).to_owned();
    EditError::NoPlace { path: path.to_owned(), section }
}

fn with_value(text: &str, path: &str, value: &str, no_section: NoSection) -> Result<String, EditError> {
    let found = entries(text);
    if let Some(entry) = found.iter().rev().find(|e| e.path == path) {
        let is_inline_list = line(text, entry.line).is_some_and(is_inline_list);
        return match (&entry.value, value_of(value)) {
            (Value::Map, _) => Err(EditError::NotAValue { path: path.to_owned() }),
            (Value::List(old), Value::List(new)) if !is_inline_list => {
                Ok(with_items(text, entry.line, old.len(), &new))
            }
            (Value::List(_), _) if !is_inline_list => Err(EditError::NotAValue { path: path.to_owned() }),
            _ => Ok(with_line(text, entry.line, |line| replaced(line, value))),
        };
    }
    let mut section = path;
    while let Some((shorter, _)) = section.rsplit_once('.') {
        section = shorter;
        if let Some((after, indent)) = end_of_section(text, &found, section) {
            let keys = path.get(section.len() + 1..).unwrap_or_default();
            let added = nested(keys, value, indent);
            return Ok(with_line(text, after, |line| format!("{line}\n{added}")));
        }
        if no_section == NoSection::Refuse {
            break;
        }
    }
    match no_section {
        NoSection::Refuse => Err(no_place(path)),
        NoSection::Begin => Ok(with_front_matter(text, &nested(path, value, 0))),
    }
}

/// The line a further key of this section is put behind, and its indentation.
fn end_of_section(text: &str, found: &[Entry], section: &str) -> Option<(usize, usize)> {
    let inside = |e: &&Entry| e.path.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'));
    let depth = section.matches('.').count() + 1;
    if let Some(sibling) = found.iter().filter(inside).find(|e| e.path.matches('.').count() == depth) {
        return Some((last_line_of(text, found.iter().filter(inside)), sibling.indent));
    }
    // An empty section has only its own line.
    let own = found.iter().find(|e| e.path == section && matches!(e.value, Value::Null | Value::Map))?;
    Some((own.line, own.indent + 2))
}

/// `a.b` → `a:` and below it `b: value`.
fn nested(keys: &str, value: &str, indent: usize) -> String {
    let keys = keys.split('.').enumerate();
    let lines: Vec<String> = keys.map(|(depth, key)| format!("{}{key}:", " ".repeat(indent + 2 * depth))).collect();
    format!("{} {value}", lines.join("\n"))
}

/// Further lines at the end of the front matter.
fn with_front_matter(text: &str, lines: &str) -> String {
    let is_fence = |line: &str| line.trim_end() == "---";
    let close =
        text.lines().next().filter(|first| is_fence(first)).and_then(|_| text.lines().skip(1).position(is_fence));
    if let Some(last) = close {
        return with_line(text, last, |line| format!("{line}\n{lines}"));
    }
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = if text.trim().is_empty() { "" } else { end };
    let front = format!("---\n{lines}\n---\n").replace('\n', end);
    format!("{front}{gap}{text}")
}

/// The items below a key in place of those that are there.
fn with_items(text: &str, key: usize, old: usize, new: &[String]) -> String {
    if new.is_empty() {
        let emptied = with_line(text, key, |line| replaced(line, "[]"));
        return without_lines(&emptied, key + 1, old);
    }
    let first = line(text, key + 1).unwrap_or_default();
    let indent = " ".repeat(first.len() - first.trim_start().len());
    let items: Vec<String> = new.iter().map(|item| format!("{indent}- {}", in_list(item))).collect();
    let items = items.join("\n");
    without_lines(&with_line(text, key + 1, |_| items.clone()), key + 1 + new.len(), old.saturating_sub(1))
}

fn without_lines(text: &str, from: usize, count: usize) -> String {
    let lines = text.split_inclusive('\n').enumerate();
    lines.filter(|(number, _)| *number < from || *number >= from + count).map(|(_, line)| line).collect()
}

fn last_line_of<'e>(text: &str, entries: impl Iterator<Item = &'e Entry>) -> usize {
    let last = entries.max_by_key(|e| e.line);
    let Some(last) = last else { return 0 };
    // The items of a list stand below their key.
    let below = text.lines().enumerate().skip(last.line + 1);
    let items = below.take_while(|(_, line)| line.trim_start().starts_with("- "));
    items.last().map_or(last.line, |(number, _)| number)
}

/// `key: [a, b]`, and not a bracket somewhere in a text.
fn is_inline_list(line: &str) -> bool {
    let value = without_comment(line).split_once(':').map_or("", |(_, value)| value.trim());
    value.starts_with('[') && value.ends_with(']')
}

fn line(text: &str, number: usize) -> Option<&str> {
    text.lines().nth(number)
}

/// The text with one line made anew; every line keeps the end it has.
pub(crate) fn with_line(text: &str, number: usize, change: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    for (at, line) in text.split_inclusive('\n').enumerate() {
        if at != number {
            out.push_str(line);
            continue;
        }
        let end = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
        let bare = line.trim_end_matches(['\n', '\r']);
        let changed = change(bare).replace('\n', end);
        out.push_str(&changed);
        out.push_str(line.get(bare.len()..).unwrap_or_default());
    }
    out
}

/// `  key: old  # comment` → `  key: new  # comment`
pub(crate) fn replaced(line: &str, value: &str) -> String {
    let words = without_comment(line);
    let comment = line.get(words.len()..).unwrap_or_default();
    let Some(colon) = words.find(':') else { return line.to_owned() };
    let marks: String = words.get(colon + 1..).unwrap_or_default().chars().take_while(|c| *c == '*').collect();
    let key = words.get(..=colon).unwrap_or_default();
    format!("{key}{marks} {value}{comment}")
}

/// A value as it stands in a line: quoted where it would be read as something else. `None` is null.
pub(crate) fn written(value: Option<&str>) -> Result<String, EditError> {
    let Some(value) = value else { return Ok("null".to_owned()) };
    if value.contains(['\n', '\r']) {
        return Err(EditError::SeveralLines);
    }
    let read_again = |form: &String| {
        let line = format!("key: {form} # comment");
        without_comment(&line).strip_prefix("key: ").map(value_of) == Some(Value::Text(value.to_owned()))
    };
    forms(value, is_plain(value)).into_iter().find(read_again).ok_or(EditError::Unwritable)
}

/// A list in one line.
pub(crate) fn written_list(items: &[String]) -> Result<String, EditError> {
    if items.iter().any(|item| item.contains(['\n', '\r'])) {
        return Err(EditError::SeveralLines);
    }
    let items_written: Vec<String> = items.iter().map(|item| in_list(item)).collect();
    let list = format!("[{}]", items_written.join(", "));
    if value_of(&list) == Value::List(items.to_vec()) { Ok(list) } else { Err(EditError::Unwritable) }
}

fn in_list(item: &str) -> String {
    let is_plain = is_plain(item) && !item.contains([',', '[', ']', '{', '}']);
    let read_again = |form: &String| {
        let line = format!("key: [{form}, x] # comment");
        let read = without_comment(&line).strip_prefix("key: ").map(value_of);
        read == Some(Value::List(vec![item.to_owned(), "x".to_owned()]))
    };
    forms(item, is_plain).into_iter().find(read_again).unwrap_or_else(|| item.to_owned())
}

/// The ways to write it, the plainest first. Other readers of YAML take a backslash between double quotes for more than
/// it is.
fn forms(value: &str, is_plain: bool) -> Vec<String> {
    let mut quotes = ['"', '\''];
    if value.contains('\\') {
        quotes.reverse();
    }
    let quoted =
        quotes.into_iter().filter(|quote| !value.contains(*quote)).map(|quote| format!("{quote}{value}{quote}"));
    let bare = std::iter::once(value.to_owned());
    if is_plain { bare.chain(quoted).collect() } else { quoted.chain(bare).collect() }
}

fn is_plain(value: &str) -> bool {
    !value.is_empty()
        && value.trim() == value
        && !value.split_whitespace().any(|word| word.starts_with('#'))
        && !value.starts_with(['"', '\'', '`', '[', '{', '-', '&', '*', '!', '|', '>', '%', '@'])
        && !matches!(value, "null" | "~" | "Null" | "NULL")
        && !value.contains(": ")
        && !value.ends_with(':')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;

    fn set(text: &str, path: &str, value: Option<&str>) -> Result<String, EditError> {
        State::set(text, path, value)
    }

    const FILE: &str = "---\r\n# mine\r\nplaybook:\r\n    active: null   # now\r\n    branch: x\r\ngoal:\r\n    done_criteria:\r\n      - a\r\n\
                        empty:\r\n---\r\n\r\nProse: stays.\r\n";

    #[test]
    fn one_line_changes_and_nothing_else() {
        let edited = set(FILE, "playbook.active", Some("plan/playbook-a.md")).unwrap();
        assert_eq!(edited, FILE.replace("active: null   # now", "active: plan/playbook-a.md   # now"));
        assert_eq!(State::read(&edited).active.as_deref(), Some("plan/playbook-a.md"));
        assert_eq!(set(&edited, "playbook.active", None).unwrap(), FILE);
    }

    #[test]
    fn a_missing_key_is_added_to_its_section() {
        let edited = set(FILE, "playbook.last_archived", Some("b.md")).unwrap();
        assert_eq!(edited, FILE.replace("    branch: x\r\n", "    branch: x\r\n    last_archived: b.md\r\n"));
        let edited = set(FILE, "goal.phase", Some("p1")).unwrap();
        assert_eq!(edited, FILE.replace("      - a\r\n", "      - a\r\n    phase: p1\r\n"));
        let edited = set(FILE, "empty.key", Some("v")).unwrap();
        assert_eq!(edited, FILE.replace("empty:\r\n", "empty:\r\n  key: v\r\n"));
        assert!(matches!(set(FILE, "session.last_end", Some("x")), Err(EditError::NoPlace { .. })));
    }

    #[test]
    fn what_is_no_single_value_is_left_alone() {
        assert!(matches!(set(FILE, "playbook", Some("x")), Err(EditError::NotAValue { .. })));
        let list = "---\nreviewed:\n  - a\n---\n";
        assert!(matches!(set(list, "reviewed", Some("x")), Err(EditError::NotAValue { .. })));
        assert_eq!(set(FILE, "playbook.active", Some("a\nb")), Err(EditError::SeveralLines));
        let bracket = "---\nreviewed: no]\n- a\n---\n";
        assert!(matches!(set(bracket, "reviewed", Some("true")), Err(EditError::NotAValue { .. })));
    }

    #[test]
    fn a_line_that_would_not_be_read_where_it_belongs_is_not_written() {
        for text in ["---\ngoal:\n  r: \n g:\n---", "---\ngoal:\n  -\n---"] {
            assert!(matches!(set(text, "goal.phase", Some("p1")), Err(EditError::NoPlace { .. })), "{text}");
        }
    }

    #[test]
    fn a_value_that_would_be_read_as_something_else_is_quoted() {
        let quotes = ["say \"hi\"", "\"", "'", "it's \"so\"", "\"a\" # 'b", "C:\\dir: \\x", "`a`", "\"all\""];
        for odd in ["null", "", "a # b", "- x", "[a]", "a: b", " x "].into_iter().chain(quotes) {
            let edited = set(FILE, "playbook.active", Some(odd));
            let Ok(edited) = edited else {
                assert_eq!((odd, edited), ("\"a\" # 'b", Err(EditError::Unwritable)));
                continue;
            };
            assert_eq!(State::read(&edited).active.as_deref(), Some(odd), "{edited}");
            assert!(edited.contains("# now"), "the comment stays: {edited}");
        }
        assert!(set(FILE, "playbook.branch", Some("say \"hi\"")).unwrap().contains("branch: say \"hi\"\r\n"));
        let inside = set(FILE, "playbook.branch", Some("a: \"x\" y")).unwrap();
        assert!(inside.contains("branch: 'a: \"x\" y'\r\n"), "any reader of YAML ends it where we do: {inside}");
    }

    #[test]
    fn a_list_is_set_as_a_list_wherever_it_stands() {
        let want = ["a", "it: works, twice", "[x]"].map(str::to_owned);
        let list = "[a, \"it: works, twice\", '[x]']";
        let more = FILE.replace("      - a\r\n", "      - a\r\n      - b\r\n");
        for text in [FILE, &more, "---\ngoal:\n  done_criteria: []  # c\n---\n", "---\ngoal:\n---\n"] {
            let edited = set(text, "goal.done_criteria", Some(list)).unwrap();
            assert_eq!(State::read(&edited).done_criteria, want, "{edited}");
            let one = set(&edited, "goal.done_criteria", Some("just this, no more")).unwrap();
            assert_eq!(State::read(&one).done_criteria, ["just this, no more"], "{one}");
            let none = set(&one, "goal.done_criteria", Some("[]")).unwrap();
            assert_eq!(State::read(&none).done_criteria, Vec::<String>::new(), "{none}");
            assert_eq!(none.contains("\r\n"), text.contains("\r\n"));
        }
        let edited = set(FILE, "goal.done_criteria", Some("[b, c]")).unwrap();
        assert_eq!(edited, FILE.replace("      - a\r\n", "      - b\r\n      - c\r\n"), "the rest stays");
    }

    #[test]
    fn a_key_that_is_known_gets_a_place() {
        let of = |text: &str, key: &str| State::set_or_add(text, key, Some("v")).unwrap();
        assert_eq!(of("", "focus"), "---\nfocus: v\n---\n");
        assert_eq!(of("# State\r\n", "goal.phase"), "---\r\ngoal:\r\n  phase: v\r\n---\r\n\r\n# State\r\n");
        assert_eq!(of("---\n---\nx\n", "active_playbooks.web"), "---\nactive_playbooks:\n  web: v\n---\nx\n");
        let config = "---\nconfig:\n  security: normal\nfocus: a\n---\n";
        let want = config.replace("normal\n", "normal\n  roles:\n    worker: v\n");
        assert_eq!(of(config, "config.roles.worker"), want);
        let edited = of(FILE, "focus");
        assert_eq!(edited, FILE.replace("empty:\r\n", "empty:\r\nfocus: v\r\n"));
        assert!(matches!(State::set_or_add(FILE, "nothing.here", Some("x")), Err(EditError::NoPlace { .. })));
        assert!(matches!(State::set(FILE, "focus", Some("x")), Err(EditError::NoPlace { .. })), "hooks add nothing");
    }
}
