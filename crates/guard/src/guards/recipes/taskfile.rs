//! Commands of a Taskfile: of the tasks that are named and what they need. Its YAML is read by its indentation alone.

use std::collections::{BTreeMap, BTreeSet};

use super::{filled, from_braces, reachable};

/// One task: the lines below its name, the name's own value first.
struct Task<'t> {
    name: &'t str,
    lines: Vec<&'t str>,
}

/// The lines that `task` with these words would run; `None` when they are more than can be read.
pub(super) fn lines(text: &str, words: &[String]) -> Option<String> {
    let content: Vec<&str> =
        text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#')).collect();
    let (tasks, outside) = split(&content);
    let mut variables = BTreeMap::new();
    for line in &content {
        if let Some((name, value)) = pair(line.trim()) {
            variables.entry(name.to_owned()).or_insert_with(|| from_braces(&unquoted(value)));
        }
    }
    let by_name: BTreeMap<&str, &Task> = tasks.iter().rev().map(|task| (task.name, task)).collect();
    let is_task = |name: &String| by_name.contains_key(name.as_str());
    let mut asked: Vec<String> = words.iter().filter(|word| is_task(word)).cloned().collect();
    if asked.is_empty() {
        asked.push("default".to_owned());
    }
    let needs = |name: &str| -> Vec<String> {
        let of = by_name.get(name).into_iter().flat_map(|task| task.lines.iter());
        let words = of.flat_map(|line| line.split(|c: char| c.is_whitespace() || ",[]{}'\"".contains(c)));
        words.map(str::to_owned).filter(|word| is_task(word)).collect()
    };
    let run: BTreeSet<String> = reachable(asked, needs).into_iter().collect();
    let meant = tasks.iter().filter(|task| run.contains(task.name));
    let code = meant.flat_map(|task| commands(&task.lines)).chain(evaluated(&outside));
    filled(code.map(|line| from_braces(&line)), &variables)
}

/// The tasks, and the lines that belong to none.
fn split<'t>(content: &[&'t str]) -> (Vec<Task<'t>>, Vec<&'t str>) {
    let (mut tasks, mut outside): (Vec<Task>, Vec<&str>) = (Vec::new(), Vec::new());
    let mut depth = None;
    let mut is_inside = false;
    for line in content {
        let indent = indent(line);
        if indent == 0 {
            is_inside = line.starts_with("tasks:");
            continue;
        }
        if !is_inside {
            outside.push(*line);
            continue;
        }
        let names = *depth.get_or_insert(indent);
        if indent > names {
            tasks.iter_mut().last().into_iter().for_each(|task| task.lines.push(line));
        } else if let Some((name, value)) = line.trim().split_once(':') {
            // `test: go test`, `test: [a, b]`: the commands alone.
            tasks.push(Task { name: name.trim_matches(['\'', '"']), lines: vec![value.trim()] });
        }
    }
    (tasks, outside)
}

/// The command lines of a task: under `cmds`, `status` and `preconditions`, behind `cmd` and `sh`, or the task alone.
fn commands(lines: &[&str]) -> Vec<String> {
    let Some((own, lines)) = lines.split_first() else { return Vec::new() };
    let mut found = flow(own);
    let mut is_commands = lines.first().is_some_and(|line| line.trim().starts_with("- "));
    let depth = lines.first().map_or(0, |line| indent(line));
    // What is deeper than this belongs to a text of several lines.
    let mut text_below = None;
    for line in lines {
        let at = indent(line);
        if text_below.is_some_and(|depth| at > depth) {
            found.push(line.trim().to_owned());
            continue;
        }
        text_below = None;
        let trimmed = line.trim();
        let item = trimmed.strip_prefix("- ").map(str::trim);
        if let (None, true, Some((key, value))) = (item, at == depth, trimmed.split_once(':')) {
            is_commands = matches!(key, "cmds" | "cmd" | "status" | "preconditions");
            if is_commands {
                found.extend(flow(value.trim()));
                text_below = is_text(value).then_some(at);
            }
            continue;
        }
        let value = match pair(item.unwrap_or(trimmed)) {
            Some(("cmd" | "sh" | "defer", value)) => Some(value),
            Some(_) => None,
            None => item.filter(|_| is_commands),
        };
        if let Some(value) = value {
            text_below = is_text(value).then_some(at);
            found.extend(Some(unquoted(value)).filter(|_| text_below.is_none()));
        }
    }
    found
}

/// Variables whose value a command prints are filled in whatever runs.
fn evaluated(lines: &[&str]) -> Vec<String> {
    let pairs = lines.iter().filter_map(|line| pair(line.trim()));
    pairs.filter(|(name, _)| *name == "sh").map(|(_, value)| unquoted(value)).collect()
}

/// `name: value`, where the name is one word.
fn pair(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once(':')?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    (is_name && (value.is_empty() || value.starts_with(' '))).then_some((name, value.trim()))
}

/// `[a, "b"]`, or one value; a text of several lines and a mapping are none.
fn flow(value: &str) -> Vec<String> {
    match value.strip_prefix('[').and_then(|list| list.strip_suffix(']')) {
        Some(list) => list.split(',').map(|item| unquoted(item.trim())).collect(),
        None if value.is_empty() || is_text(value) || value.starts_with('{') => Vec::new(),
        None => vec![unquoted(value)],
    }
}

fn is_text(value: &str) -> bool {
    matches!(value.trim(), "|" | ">" | "|-" | ">-" | "|+" | ">+")
}

fn unquoted(value: &str) -> String {
    let within = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    match (within('\''), within('"')) {
        (Some(text), _) => text.replace("''", "'"),
        (_, Some(text)) => text.replace("\\\"", "\"").replace("\\\\", "\\"),
        _ => value.to_owned(),
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}
