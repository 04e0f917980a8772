//! Which folders a client trusts that reads a project's settings, with the hooks in them, only in such.

use dandori_domain::client::FolderTrust;

use crate::tree::{self, BOM, Kind, Value};

/// What its rules say about a folder: the rule with the longest path counts. `None` when no rule is about
/// it. `real` follows links.
pub fn is_trusted(rules: &str, folder: &str, real: &dyn Fn(&str) -> String) -> Option<bool> {
    let root = parsed(rules)?;
    let folder = real(folder);
    let mut longest = None;
    for rule in root.properties() {
        let Some(level) = rule.value.text() else { continue };
        let parent =
            || rule.name.rsplit_once('/').map_or("/", |(parent, _)| if parent.is_empty() { "/" } else { parent });
        let (place, is_trusted) = match level {
            "TRUST_FOLDER" => (rule.name.as_str(), true),
            "TRUST_PARENT" => (parent(), true),
            "DO_NOT_TRUST" => (rule.name.as_str(), false),
            _ => continue,
        };
        let place = real(place);
        let is_below = folder
            .strip_prefix(place.trim_end_matches('/'))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if is_below && longest.is_none_or(|(length, _)| rule.name.len() > length) {
            longest = Some((rule.name.len(), is_trusted));
        }
    }
    longest.map(|(_, is_trusted)| is_trusted)
}

/// Whether the user's settings say that trust is not asked for.
pub fn asks_nobody(trust: &FolderTrust, settings: &str) -> bool {
    let Some(root) = parsed(settings) else { return false };
    let said = trust.asked_by.iter().try_fold(&root, |value, key| value.property(key).map(|p| &p.value));
    said.is_some_and(|value| matches!(&value.kind, Kind::Plain(word) if word == "false"))
}

fn parsed(text: &str) -> Option<Value> {
    tree::parse(text.strip_prefix(BOM).unwrap_or(text)).ok()?.root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_with_the_longest_path_counts() {
        let real = |path: &str| path.replace("/link", "/a");
        let rules = r#"{ // mine
            "/a": "TRUST_FOLDER", "/a/not": "DO_NOT_TRUST", "/b/c": "TRUST_PARENT", "/link/not/but": "TRUST_FOLDER", "/x": 3}"#;
        let trusts = |folder| is_trusted(rules, folder, &real);
        for (folder, expected) in [
            ("/a", Some(true)),
            ("/a/b", Some(true)),
            ("/ab", None),
            ("/a/not/here", Some(false)),
            ("/a/not/but", Some(true)),
            ("/link", Some(true)),
            ("/b/other", Some(true)),
            ("/x", None),
        ] {
            assert_eq!(trusts(folder), expected, "{folder}");
        }
        assert_eq!(is_trusted("{", "/a", &real), None);
        assert_eq!(is_trusted(r#"{"/top": "TRUST_PARENT"}"#, "/any", &real), Some(true));
    }

    #[test]
    fn trust_is_asked_for_unless_the_settings_say_otherwise() {
        let asked_by = &["security", "folderTrust", "enabled"];
        let trust = FolderTrust { file: "", moved_by: "", word: "", restricted: "", asked_by };
        assert!(asks_nobody(&trust, r#"{"security": {"folderTrust": {"enabled": false}}}"#));
        for text in ["", "{}", r#"{"security": {"folderTrust": {"enabled": true}}}"#, r#"{"security": 1}"#] {
            assert!(!asks_nobody(&trust, text), "{text}");
        }
    }
}
