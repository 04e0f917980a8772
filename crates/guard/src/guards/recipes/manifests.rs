//! Scripts in manifests of JSON: `package.json`, `deno.json`, `composer.json`.

use serde_json::Value;

use super::reachable;

/// Scripts of `package.json` by name.
pub(super) fn scripts(text: &str, names: &[String]) -> String {
    let json: Value = serde_json::from_str(text).unwrap_or_default();
    let line = |name: &String| Some(json.get("scripts")?.get(name)?.as_str()?.to_owned());
    names.iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

/// Tasks of `deno.json`, and those they need.
pub(super) fn tasks(text: &str, names: &[String]) -> String {
    let json: Value = serde_json::from_str(&without_comments(text)).unwrap_or_default();
    let task = |name: &str| json.get("tasks").and_then(|tasks| tasks.get(name));
    let needs = |name: &str| strings(task(name).and_then(|task| task.get("dependencies")));
    let line = |name: &String| {
        let task = task(name)?;
        Some(task.as_str().or_else(|| task.get("command")?.as_str())?.to_owned())
    };
    reachable(names.to_vec(), needs).iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

/// Scripts of `composer.json`. `@php` and `@composer` run these, `@name` another script, `A::b` is code that is there.
pub(super) fn composer(text: &str, names: &[String]) -> String {
    let json: Value = serde_json::from_str(text).unwrap_or_default();
    let lines = |name: &str| strings(json.get("scripts").and_then(|scripts| scripts.get(name)));
    let needs = |name: &str| {
        let called = lines(name).into_iter().filter_map(|line| line.strip_prefix('@').map(str::to_owned));
        called.filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect()
    };
    let run = reachable(names.to_vec(), needs);
    let as_line = |line: String| match line.strip_prefix('@') {
        Some(own) if own.starts_with("php ") || own.starts_with("composer ") => Some(own.to_owned()),
        Some(_) => None,
        None => Some(line).filter(|line| !line.contains("::") || line.contains(' ')),
    };
    run.iter().flat_map(|name| lines(name)).filter_map(as_line).collect::<Vec<_>>().join("\n")
}

/// One text or a list of them.
fn strings(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(items)) => items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    }
}

/// JSON as it is without its comments and the commas before a closing bracket.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skip = match c {
            '"' => string_len(rest),
            '/' if rest.starts_with("//") => {
                rest = rest.get(rest.find('\n').unwrap_or(rest.len())..).unwrap_or_default();
                continue;
            }
            '/' if rest.starts_with("/*") => {
                rest = rest.find("*/").and_then(|end| rest.get(end + 2..)).unwrap_or_default();
                continue;
            }
            '}' | ']' => {
                let kept = out.trim_end().trim_end_matches(',').len();
                out.truncate(kept);
                1
            }
            c => c.len_utf8(),
        };
        let (now, behind) = rest.split_at_checked(skip).unwrap_or((rest, ""));
        out.push_str(now);
        rest = behind;
    }
    out
}

/// How long the text in quotes is that begins here.
fn string_len(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let closes = *c == '"' && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        closes
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}
