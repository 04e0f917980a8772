//! Keys and values in a Markdown file, each with the line it stands in.
//!
//! Understood is the plain part of YAML: `key: value`, nested by indentation, lists of `- item` or `[a, b]`, quotes and
//! comments; in front matter, in fenced `yaml` blocks (a block below the heading `## goal` belongs to `goal`), and, for
//! playbooks, as bullets of a list. Whatever else a file has is somebody's prose, and is left alone.

/// One `key: value`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    /// `playbook.active`
    pub(crate) path: String,
    pub(crate) value: Value,
    /// Where it stands, from 0.
    pub(crate) line: usize,
    pub(crate) indent: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    /// Nothing, `null` or `~`.
    Null,
    Text(String),
    List(Vec<String>),
    /// Further keys below it.
    Map,
}

impl Value {
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> Vec<String> {
        match self {
            Self::List(items) => items.clone(),
            Self::Text(text) => vec![text.clone()],
            Self::Null | Self::Map => Vec::new(),
        }
    }

    pub(crate) fn flag(&self) -> Option<bool> {
        match self.text()?.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" => Some(true),
            "false" | "no" | "off" => Some(false),
            _ => None,
        }
    }
}

/// What a line of the file is to us.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Prose,
    /// Between `---` and `---` at the top, or inside a fence that says yaml.
    Data,
    /// Inside a fence that says something else.
    Code,
}

/// Every key of the file's front matter and yaml blocks.
pub(crate) fn entries(text: &str) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut block: Vec<(usize, &str)> = Vec::new();
    let mut heading = String::new();
    let mut end_block = |block: &mut Vec<(usize, &str)>, heading: &str| {
        found.extend(entries_of(block, heading));
        block.clear();
    };
    for (number, line, part) in parts(text) {
        match part {
            Part::Data => block.push((number, line)),
            Part::Prose | Part::Code => {
                end_block(&mut block, &heading);
                if part == Part::Prose
                    && let Some(words) = heading_of(line)
                {
                    heading = words.to_ascii_lowercase();
                }
            }
        }
    }
    end_block(&mut block, &heading);
    found
}

/// The lines of the file that are prose: where headings and check lists are.
pub(crate) fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    parts(text).into_iter().filter(|(_, _, part)| *part == Part::Prose).map(|(number, line, _)| (number, line))
}

/// Prose and data, without code: where a phase's own keys may stand. The last of the three tells whether it is prose.
pub(crate) fn readable(text: &str) -> impl Iterator<Item = (usize, &str, bool)> {
    let readable = parts(text).into_iter().filter(|(_, _, part)| *part != Part::Code);
    readable.map(|(number, line, part)| (number, line, part == Part::Prose))
}

fn parts(text: &str) -> Vec<(usize, &str, Part)> {
    let mut parts = Vec::new();
    let mut now = Part::Prose;
    let mut fence = "";
    let has_front_matter = text.lines().next().is_some_and(|l| l.trim_end() == "---")
        && text.lines().skip(1).any(|l| l.trim_end() == "---");
    let mut in_front = false;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_end();
        if has_front_matter && number == 0 {
            in_front = true;
            continue;
        }
        if in_front {
            if line == "---" {
                in_front = false;
            } else {
                parts.push((number, line, Part::Data));
            }
            continue;
        }
        let trimmed = line.trim_start();
        let marks = ["```", "~~~"].into_iter().find(|marks| trimmed.starts_with(marks));
        match (now, marks) {
            (Part::Prose, Some(marks)) => {
                let language = trimmed.trim_start_matches(['`', '~']).trim().to_ascii_lowercase();
                now = if language.starts_with("yaml") || language.starts_with("yml") { Part::Data } else { Part::Code };
                fence = marks;
            }
            (Part::Data | Part::Code, Some(marks)) if marks == fence => {
                // Two blocks with nothing between them are still two.
                parts.push((number, "", Part::Code));
                now = Part::Prose;
            }
            (now, _) => parts.push((number, line, now)),
        }
    }
    parts
}

/// `## Goal` → `Goal`
pub(crate) fn heading_of(line: &str) -> Option<&str> {
    let words = line.trim_start_matches('#');
    let level = line.len() - words.len();
    (1..=6).contains(&level).then(|| words.trim()).filter(|words| !words.is_empty())
}

fn entries_of(block: &[(usize, &str)], heading: &str) -> Vec<Entry> {
    let mut found: Vec<Entry> = Vec::new();
    // The keys we are below, each with its indentation.
    let mut above: Vec<(usize, String)> = Vec::new();
    for (number, line) in block {
        let words = without_comment(line);
        let trimmed = words.trim_start();
        let indent = words.len() - trimmed.len();
        if trimmed.is_empty() {
            continue;
        }
        if let Some(item) = trimmed.strip_prefix("- ").or_else(|| (trimmed == "-").then_some("")) {
            // An item belongs to the last key that stands at its indentation or left of it.
            if let Some(last) = found.last_mut().filter(|last| last.indent <= indent) {
                match &mut last.value {
                    Value::List(items) => items.push(unquoted(item.trim()).to_owned()),
                    value => *value = Value::List(vec![unquoted(item.trim()).to_owned()]),
                }
            }
            continue;
        }
        let Some((key, value)) = key_and_value(trimmed) else { continue };
        while above.last().is_some_and(|(at, _)| *at >= indent) {
            above.pop();
        }
        if let Some(parent) = above.last()
            && let Some(entry) = found.iter_mut().rev().find(|e| e.path == joined(&above) && e.indent == parent.0)
            && entry.value == Value::Null
        {
            entry.value = Value::Map;
        }
        let mut path = joined(&above);
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(key);
        above.push((indent, key.to_owned()));
        found.push(Entry { path, value: value_of(value), line: *number, indent });
    }
    below_heading(found, heading)
}

/// A block whose own keys do not name the section it stands in takes it from the heading above it: both
/// `## goal` + `phase: p1` and `goal:` + `  phase: p1` are written.
fn below_heading(entries: Vec<Entry>, heading: &str) -> Vec<Entry> {
    let section: String = heading.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).collect();
    let names_itself = entries.iter().any(|e| e.value == Value::Map || e.path == section);
    if section.is_empty() || names_itself {
        return entries;
    }
    entries.into_iter().map(|e| Entry { path: format!("{section}.{}", e.path), ..e }).collect()
}

fn joined(above: &[(usize, String)]) -> String {
    above.iter().map(|(_, key)| key.as_str()).collect::<Vec<_>>().join(".")
}

/// `key: value`; a key is one word, so that a sentence with a colon in it is none.
pub(crate) fn key_and_value(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once(':')?;
    let key = unquoted(key.trim().trim_matches('*').trim());
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    let is_apart = value.is_empty() || value.starts_with([' ', '\t', '*']);
    (is_key && is_apart).then(|| (key, value.trim_start_matches('*').trim()))
}

pub(crate) fn value_of(text: &str) -> Value {
    let text = text.trim();
    match text {
        "" | "null" | "~" | "Null" | "NULL" => return Value::Null,
        "{}" => return Value::Map,
        _ => {}
    }
    if let Some(inside) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        let items = split_items(inside).into_iter().map(str::trim).filter(|item| !item.is_empty());
        return Value::List(items.map(|item| unquoted(item).to_owned()).collect());
    }
    Value::Text(unquoted(text).to_owned())
}

/// At the commas that stand outside of quotes. A quote that begins no item, or is never closed, is a letter like others.
fn split_items(text: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let mut rest = text;
    loop {
        let item = rest.trim_start();
        let quote = item.chars().next().filter(|c| matches!(c, '"' | '\''));
        let closed = quote.and_then(|quote| {
            let inside = item.get(1..)?;
            let end = inside.match_indices(quote).map(|(at, _)| at + 2).find(|end| {
                let after = item.get(*end..).unwrap_or_default().trim_start();
                after.is_empty() || after.starts_with(',')
            })?;
            Some(rest.len() - item.len() + end)
        });
        let from = closed.unwrap_or(0);
        let comma = rest.get(from..).and_then(|tail| tail.find(',')).map(|at| from + at);
        let Some(comma) = comma else {
            items.push(rest);
            return items;
        };
        items.push(rest.get(..comma).unwrap_or_default());
        rest = rest.get(comma + 1..).unwrap_or_default();
    }
}

pub(crate) fn unquoted(text: &str) -> &str {
    ['"', '\'', '`'].into_iter().find_map(|q| text.strip_prefix(q).and_then(|t| t.strip_suffix(q))).unwrap_or(text)
}

/// A comment begins at a `#` with space before it, outside quotes.
pub(crate) fn without_comment(line: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if (c == '"' || c == '\'') && (before.is_whitespace() || before == '[' || before == ',') => {
                quote = Some(c);
            }
            None if c == '#' && before.is_whitespace() => return line.get(..at).unwrap_or(line).trim_end(),
            None => {}
        }
        before = c;
    }
    line.trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<(String, Value)> {
        entries(text).into_iter().map(|e| (e.path, e.value)).collect()
    }

    fn text(path: &str, value: &str) -> (String, Value) {
        (path.to_owned(), Value::Text(value.to_owned()))
    }

    #[test]
    fn front_matter_is_read_with_lists_quotes_and_comments() {
        let file = "---\nplaybook:\n  active: plan/playbook-a.md  # now\n  branch: \"feat/#1\"\n  last_archived: ~\n\
                    goal:\n  done_criteria:\n    - one\n    - 'two'\n  other: [a, \"b\"]\n---\n# prose\nactive: not this\n";
        assert_eq!(
            values(file),
            [
                ("playbook".to_owned(), Value::Map),
                text("playbook.active", "plan/playbook-a.md"),
                text("playbook.branch", "feat/#1"),
                ("playbook.last_archived".to_owned(), Value::Null),
                ("goal".to_owned(), Value::Map),
                ("goal.done_criteria".to_owned(), Value::List(vec!["one".into(), "two".into()])),
                ("goal.other".to_owned(), Value::List(vec!["a".into(), "b".into()])),
            ]
        );
    }

    #[test]
    fn a_block_below_a_heading_belongs_to_it_unless_it_names_itself() {
        let file = "# State\n\n## playbook\n\n```yaml\nactive: a.md\n```\n\n## goal (now)\n```yml\ngoal:\n  phase: p1\n```\n\
                    ## config\n```bash\nsecurity: admin\n```\n";
        assert_eq!(
            values(file),
            [text("playbook.active", "a.md"), ("goal".to_owned(), Value::Map), text("goal.phase", "p1")]
        );
    }

    #[test]
    fn what_is_no_key_is_prose() {
        for line in ["a sentence: with a colon", "https://example.com", "10:30", "- item", "", "key:value"] {
            assert_eq!(key_and_value(line), None, "{line:?}");
        }
        assert_eq!(key_and_value("**status**: done"), Some(("status", "done")));
        assert_eq!(key_and_value("状態: 完了"), Some(("状態", "完了")));
    }

    #[test]
    fn an_open_end_is_an_end() {
        assert_eq!(values("---\na: 1\n"), [], "front matter that is never closed is none");
        assert_eq!(values("```yaml\na: 1"), [text("a", "1")]);
    }
}
