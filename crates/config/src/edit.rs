//! One key changed in a file's text; everything else stays as it was, comments and blank lines included.

use camino::Utf8Path;
use toml_edit::{DocumentMut, Item, Table, Value};

use crate::load::{Config, ConfigError, Source};

/// The text with this key set. `value` is TOML where it can be read as such and fits, else a word: `15m`, `main`.
///
/// The text is checked whole: what comes back can be written.
pub fn set_checked(path: &Utf8Path, text: &str, key: &str, value: &str, source: Source) -> Result<String, ConfigError> {
    let quoted = Value::from(value).to_string();
    let is_toml = value.parse::<Value>().is_ok();
    let mut refused: Vec<ConfigError> = Vec::new();
    for tried in is_toml.then_some(value).into_iter().chain([quoted.as_str()]) {
        let checked = set(text, key, tried).map_err(|reason| bad(path, &reason)).and_then(|text| {
            Config::default().merge(path, &text, source)?;
            Ok(text)
        });
        match checked {
            Ok(text) => return Ok(text),
            Err(error) => refused.push(error),
        }
    }
    // What is wrong with the value says more than that it is of another type.
    refused.sort_by_key(|error| error.to_string().contains("invalid type"));
    Err(refused.into_iter().next().unwrap_or_else(|| bad(path, "")))
}

/// The text without this key; `None` when it is not there.
pub fn unset(path: &Utf8Path, text: &str, key: &str) -> Result<Option<String>, ConfigError> {
    let mut document: DocumentMut = text.parse().map_err(|e: toml_edit::TomlError| bad(path, &e.to_string()))?;
    let parts: Vec<&str> = key.split('.').collect();
    let Some((last, above)) = parts.split_last() else { return Ok(None) };
    let mut table = document.as_table_mut();
    for part in above {
        let Some(inner) = table.get_mut(part).and_then(Item::as_table_mut) else { return Ok(None) };
        table = inner;
    }
    Ok(table.remove(last).map(|_| document.to_string()))
}

pub(crate) fn set(text: &str, key: &str, value: &str) -> Result<String, String> {
    let value: Value = value.parse().map_err(|e: toml_edit::TomlError| e.to_string())?;
    let mut document: DocumentMut = text.parse().map_err(|e: toml_edit::TomlError| e.to_string())?;
    let parts: Vec<&str> = key.split('.').collect();
    let Some((last, above)) = parts.split_last() else { return Err(String::new()) };
    let mut table = document.as_table_mut();
    for part in above {
        let inner = table.entry(part).or_insert_with(|| {
            let mut table = Table::new();
            // `[limits]` is written, `[guards]` above `[guards.main]` is not.
            table.set_implicit(true);
            Item::Table(table)
        });
        table = inner.as_table_mut().ok_or_else(|| format!("`{part}` is not a table"))?;
    }
    match table.get_mut(last).and_then(Item::as_value_mut) {
        // The comment behind it stays.
        Some(there) => {
            let decor = there.decor().clone();
            *there = value;
            *there.decor_mut() = decor;
        }
        None => {
            table.insert(last, Item::Value(value));
        }
    }
    Ok(document.to_string())
}

fn bad(path: &Utf8Path, reason: &str) -> ConfigError {
    ConfigError::Bad { path: path.to_owned(), reason: reason.trim().to_owned(), suggestion: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(text: &str, key: &str, value: &str) -> String {
        set_checked(Utf8Path::new("dandori.toml"), text, key, value, Source::Repository).unwrap()
    }

    #[test]
    fn the_rest_of_the_file_stays_as_it_was() {
        let text = "# ours\nagent = \"claude\"   # for now\n\n[limits]\n# long builds\nrun = \"2h\"\n";
        let text = put(text, "agent", "codex");
        assert_eq!(text, "# ours\nagent = \"codex\"   # for now\n\n[limits]\n# long builds\nrun = \"2h\"\n");
        let text = put(&text, "limits.silence", "20m");
        assert_eq!(
            text,
            "# ours\nagent = \"codex\"   # for now\n\n[limits]\n# long builds\nrun = \"2h\"\nsilence = \"20m\"\n"
        );
        let text = put(&text, "pr", "true");
        assert!(text.contains("\npr = true\n"), "{text}");
        assert_eq!(put("", "guards.main.branches", "[\"main\"]"), "[guards.main]\nbranches = [\"main\"]\n");
        let gone = unset(Utf8Path::new("x"), &text, "limits.silence").unwrap().unwrap();
        assert!(!gone.contains("silence") && gone.contains("# long builds"), "{gone}");
        assert_eq!(unset(Utf8Path::new("x"), &text, "limits.start").unwrap(), None);
    }

    #[test]
    fn what_does_not_fit_is_refused_before_it_is_written() {
        let refused = |key: &str, value: &str| {
            set_checked(Utf8Path::new("dandori.toml"), "", key, value, Source::Repository).unwrap_err().to_string()
        };
        assert!(refused("limits.run", "soon").contains("duration"), "{}", refused("limits.run", "soon"));
        assert!(refused("agnt", "codex").contains("agnt"));
        assert!(refused("store", "x").contains("store"));
        assert!(refused("runs.max_parallel", "0").contains("max_parallel"));
        // A word that looks like a number is a word where words are meant.
        assert_eq!(put("", "base", "1.0"), "base = \"1.0\"\n");
    }
}
