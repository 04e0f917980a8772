//! One value changed in place.

use crate::lines::{Value, entries, value_of, without_comment};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("there is no `{path}` in it, and no `{section}` to add it to")]
    NoPlace { path: String, section: String },
    #[error("`{path}` has further keys or a list below it: change those")]
    NotAValue { path: String },
    #[error("a value is one line")]
    SeveralLines,
}

/// The text with `path` set to `value` (`None` is null). A key that is missing is added below its section; the rest
/// stays as it is, byte for byte.
pub(crate) fn set(text: &str, path: &str, value: Option<&str>) -> Result<String, EditError> {
    let value = value.map_or_else(|| "null".to_owned(), written);
    let edited = with_value(text, path, &value)?;
    // A file may be indented in ways that give the line another meaning: what is not read again was not set.
    let is_read = entries(&edited).iter().rev().find(|e| e.path == path).is_some_and(|e| e.value == value_of(&value));
    let section = path.rsplit_once('.').map_or("", |(section, _)| section).to_owned();
    if is_read { Ok(edited) } else { Err(EditError::NoPlace { path: path.to_owned(), section }) }
}

fn with_value(text: &str, path: &str, value: &str) -> Result<String, EditError> {
    if value.contains(['\n', '\r']) {
        return Err(EditError::SeveralLines);
    }
    let found = entries(text);
    if let Some(entry) = found.iter().rev().find(|e| e.path == path) {
        let is_inline_list = line(text, entry.line).is_some_and(is_inline_list);
        return match entry.value {
            Value::Map => Err(EditError::NotAValue { path: path.to_owned() }),
            Value::List(_) if !is_inline_list => Err(EditError::NotAValue { path: path.to_owned() }),
            _ => Ok(with_line(text, entry.line, |line| replaced(line, value))),
        };
    }
    let no_place = |section: &str| EditError::NoPlace { path: path.to_owned(), section: section.to_owned() };
    let (section, key) = path.rsplit_once('.').ok_or_else(|| no_place(""))?;
    // Below the section's last key; an empty section has only its own line.
    let inside = |e: &&crate::lines::Entry| e.path.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'));
    let own = found.iter().find(|e| e.path == section);
    let direct = found.iter().filter(inside).find(|e| e.path.matches('.').count() == path.matches('.').count());
    let (after, indent) = match (direct, own) {
        (Some(sibling), _) => (last_line_of(text, found.iter().filter(inside)), sibling.indent),
        (None, Some(own)) => (own.line, own.indent + 2),
        (None, None) => return Err(no_place(section)),
    };
    let added = format!("{}{key}: {value}", " ".repeat(indent));
    Ok(with_line(text, after, |line| format!("{line}\n{added}")))
}

fn last_line_of<'e>(text: &str, entries: impl Iterator<Item = &'e crate::lines::Entry>) -> usize {
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

/// Quoted where it would be read as something else.
fn written(value: &str) -> String {
    let plain = !value.is_empty()
        && value.trim() == value
        && !value.split_whitespace().any(|word| word.starts_with('#'))
        && !value.contains(['"', '\'', '`'])
        && !value.starts_with(['[', '{', '-', '&', '*', '!', '|', '>', '%', '@'])
        && !matches!(value, "null" | "~" | "Null" | "NULL")
        && !value.contains(": ")
        && !value.ends_with(':');
    if plain { value.to_owned() } else { format!("\"{}\"", value.replace('"', "'")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;

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
        assert!(matches!(set(FILE, "goal.done_criteria", Some("x")), Err(EditError::NotAValue { .. })));
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
        for odd in ["null", "", "a # b", "- x", "[a]", "a: b", " x "] {
            let edited = set(FILE, "playbook.branch", Some(odd)).unwrap();
            assert_eq!(State::read(&edited).branch.as_deref(), Some(odd), "{edited}");
        }
    }
}
