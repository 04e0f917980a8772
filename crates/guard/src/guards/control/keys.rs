//! Settings of the clients, judged by what would change in them: keys that are known to be harmless pass, keys that decide
//! about hooks or have the client run something by itself are refused, and any other is asked about. What a client learns
//! next year is thereby not harmless until somebody has looked.

use camino::Utf8Path;
use dandori_domain::client::Keys;
use dandori_text::guard::control as text;
use serde_json::Value;

use crate::context::Context;
use crate::voice::Voice;

/// What of a change is not harmless, and whether it was refused.
pub(super) fn judge(
    context: &Context,
    keys: &Keys,
    path: &Utf8Path,
    change: (&Value, &Value),
    voice: &mut Voice,
) -> bool {
    say(context, keys, path, changed(change.0, change.1), voice)
}

/// The same for the head of a Markdown file.
pub(super) fn judge_head(
    context: &Context,
    keys: &Keys,
    path: &Utf8Path,
    before: &str,
    after: &str,
    voice: &mut Voice,
) -> bool {
    let (before, after) = (head(before), head(after));
    let names = before.iter().chain(&after).map(|(name, _)| name);
    let of = |head: &[(String, String)], name: &str| -> Vec<String> {
        head.iter().filter(|(n, _)| n == name).map(|(_, text)| text.clone()).collect()
    };
    let mut changed: Vec<String> = names.filter(|name| of(&before, name) != of(&after, name)).cloned().collect();
    changed.dedup();
    say(context, keys, path, changed, voice)
}

fn say(context: &Context, keys: &Keys, path: &Utf8Path, changed: Vec<String>, voice: &mut Voice) -> bool {
    let is_in = |list: &[&str], key: &str| {
        list.iter().any(|known| key == *known || key.strip_prefix(known).is_some_and(|rest| rest.starts_with('.')))
    };
    for key in changed {
        if is_in(keys.refused, &key) {
            voice.block(text::settings_key(context.lang, path.as_str(), &key));
            return true;
        }
        if !is_in(keys.harmless, &key) {
            voice.ask(text::unknown_key(context.lang, path.as_str(), &key));
        }
    }
    false
}

/// The keys that differ, one level down where both sides have a group of that name.
fn changed(before: &Value, after: &Value) -> Vec<String> {
    let empty = serde_json::Map::new();
    let fields = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let (before, after) = (fields(before), fields(after));
    let mut found = Vec::new();
    for name in before.keys().chain(after.keys().filter(|name| !before.contains_key(*name))) {
        let (old, new) = (before.get(name), after.get(name));
        if old == new {
            continue;
        }
        let group = |value: Option<&Value>| match value {
            Some(Value::Object(fields)) => Some(fields.clone()),
            None => Some(empty.clone()),
            Some(_) => None,
        };
        match (group(old), group(new)) {
            (Some(old), Some(new)) if !(old.is_empty() && new.is_empty()) => {
                let inner = old.keys().chain(new.keys().filter(|name| !old.contains_key(*name)));
                let inner = inner.filter(|key| old.get(*key) != new.get(*key));
                found.extend(inner.map(|key| format!("{name}.{key}")));
            }
            _ => found.push(name.clone()),
        }
    }
    found
}

/// The keys between the dashes at the beginning, each with its lines. What is no plain key counts as one nobody knows.
fn head(text: &str) -> Vec<(String, String)> {
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    if lines.next().map(str::trim_end) != Some("---") {
        return Vec::new();
    }
    let mut found: Vec<(String, String)> = Vec::new();
    for line in lines.take_while(|line| !matches!(line.trim_end(), "---" | "...")) {
        let is_deeper = line.starts_with([' ', '\t', '-', '#']) || line.trim().is_empty();
        match found.last_mut() {
            Some((_, text)) if is_deeper => *text = format!("{text}\n{line}"),
            _ if line.trim().is_empty() || line.starts_with('#') => {}
            _ => {
                let (key, value) = line.split_once(':').unwrap_or((line, ""));
                found.push((key.trim().trim_matches(['"', '\'']).to_owned(), value.to_owned()));
            }
        }
    }
    found
}
