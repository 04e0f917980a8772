//! The settings of a client that works in a run: the run's own hooks, and none of ours besides.
//!
//! An installation of the user's would judge the same event a second time, by rules that are not the run's.

use dandori_domain::client::Off;
use serde_json::Value;

use crate::install::{put, require_shape};
use crate::rehearsal::{Setting, with_setting};
use crate::tree::{self, BOM, Trouble};
use crate::trust;
use crate::uninstall::uninstall;
use crate::{Client, groups};

/// The text with what is ours taken out, and hooks put in that judge by the rules in `folder`.
pub fn for_run(client: Client, program: &str, folder: &str, text: Option<&str>) -> Result<String, Trouble> {
    let left = without_ours(client, program, text.unwrap_or("{}"))?;
    let body = left.strip_prefix(BOM).unwrap_or(&left);
    let Some(root) = tree::parse(body)?.root else { return for_run(client, program, folder, None) };
    let wanted = groups::wanted(client, program, &["--run", folder]);
    require_shape(body, &root, &wanted)?;
    let made =
        wanted.iter().try_fold(body.to_owned(), |body, (event, group)| put(&body, client, program, event, group))?;
    let set = |text: String, (name, value): (&str, &str)| with_setting(&text, &[name], Setting::Text(value));
    Ok(groups::settings(client).fold(made, set))
}

/// The text with what is ours taken out. A switch that turns off every hook goes too, with the hooks it turned off: it
/// would turn off the run's.
pub(crate) fn without_ours(client: Client, program: &str, text: &str) -> Result<String, Trouble> {
    let left = uninstall(client, Some(program), text, None)?.text.unwrap_or_else(|| "{}".to_owned());
    let Ok(Value::Object(mut settings)) = serde_json::from_str::<Value>(&left) else { return Ok(left) };
    let mut is_off = false;
    for key in switches_of_all(client) {
        is_off |= settings.get(key).is_some_and(|off| *off != Value::Bool(false));
        if is_off {
            settings.remove(key);
        }
    }
    if !is_off {
        return Ok(left);
    }
    settings.remove("hooks");
    Ok(Value::Object(settings).to_string())
}

/// The keys at the top of a settings file that turn every hook off, wherever it stands.
pub fn switches_of_all(client: Client) -> impl Iterator<Item = &'static str> {
    let switches = client.hooks().map_or(&[][..], |hooks| hooks.switches);
    let own = switches.iter().filter(|switch| !switch.is_machines);
    own.filter_map(|switch| match (switch.keys, &switch.off) {
        ([key], Off::Word("true")) => Some(*key),
        _ => None,
    })
}

/// A hook that Codex runs because its hash stands in the user's configuration, under this key of `hooks.state`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedHook {
    pub key: String,
    pub hash: String,
}

/// What makes Codex trust the hooks of a run in a `hooks.json` at `path`, and no others in it.
pub fn trusted_hooks(program: &str, folder: &str, path: &str, text: &str) -> Vec<TrustedHook> {
    let root = tree::parse(text.strip_prefix(BOM).unwrap_or(text)).ok().and_then(|t| t.root);
    let Some(hooks) = root.as_ref().and_then(|r| r.property("hooks")).map(|p| &p.value) else { return Vec::new() };
    let mut found = Vec::new();
    for (event, wanted) in groups::wanted(Client::Codex, program, &["--run", folder]) {
        let groups = hooks.property(event).map(|p| p.value.elements()).unwrap_or_default();
        for (at, group) in groups.iter().enumerate().filter(|(_, group)| wanted.is(group)) {
            let label = trust::snake(event);
            if let Some(hash) = trust::hash(&label, group, 0) {
                found.push(TrustedHook { key: format!("{path}:{label}:{at}:0"), hash });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use dandori_domain::client::CallForm;
    use serde_json::json;
    use sha2::{Digest, Sha256};

    use super::*;

    fn hooks(text: &str) -> Value {
        serde_json::from_str::<Value>(text).unwrap()["hooks"].clone()
    }

    #[test]
    fn a_run_has_its_own_hooks_for_every_event_and_other_people_s_stay() {
        for client in Client::ALL {
            let ours = crate::install(client, &crate::Call::bare("/old/dandori"), Some("{}"), None).unwrap().text;
            let first = groups::wanted(client, "/d", &[])[0].0;
            let mut settings: Value = serde_json::from_str(&ours).unwrap();
            let theirs = json!({ "hooks": [{ "type": "command", "command": "log" }] });
            settings["hooks"][first].as_array_mut().unwrap().push(theirs.clone());
            let text = for_run(client, "/bin/dandori", "/s/runs/x y", Some(&settings.to_string())).unwrap();
            assert!(!text.contains("/old/dandori"), "{text}");
            let hooks = hooks(&text);
            for (event, _) in groups::wanted(client, "/d", &[]) {
                let groups = hooks[event].as_array().unwrap();
                assert_eq!(groups.len(), if event == first { 2 } else { 1 }, "{event}: {text}");
                let handler = &groups.last().unwrap()["hooks"][0];
                match client.hooks().unwrap().call {
                    CallForm::Words => {
                        assert_eq!(handler["command"], "/bin/dandori");
                        assert_eq!(handler["args"], json!(["hook", client.name(), "--run", "/s/runs/x y"]));
                    }
                    CallForm::Line => {
                        let line = format!("/bin/dandori hook {client} --run '/s/runs/x y'");
                        assert_eq!(handler["command"], json!(line));
                    }
                }
            }
            assert_eq!(hooks[first][0], theirs);
            let settings: Value = serde_json::from_str(&text).unwrap();
            for required in client.hooks().unwrap().requires {
                assert_eq!(settings[required.key], required.written());
            }
        }
    }

    #[test]
    fn hooks_that_are_switched_off_stay_off_and_the_run_s_are_heard() {
        let text = r#"{"model":"m","disableAllHooks":true,"hooks":{"Stop":[{"hooks":[{"command":"log"}]}]}}"#;
        let made = for_run(Client::Claude, "/d", "/r", Some(text)).unwrap();
        assert!(!made.contains("disableAllHooks") && !made.contains("\"log\"") && made.contains("\"m\""), "{made}");
        assert_eq!(crate::reach(Client::Claude, &made), crate::Reach::Heard);
        let kept = r#"{"disableAllHooks":false,"hooks":{"Stop":[{"hooks":[{"command":"log"}]}]}}"#;
        assert_eq!(without_ours(Client::Claude, "/d", kept).unwrap(), kept);
        let open = for_run(Client::Claude, "/d", "/r", Some(r#"{"crossSessionInbound":"accept"}"#)).unwrap();
        assert!(open.contains(r#""crossSessionInbound":"refuse""#), "{open}");
    }

    #[test]
    fn nothing_and_blank_settings_are_a_beginning_and_broken_ones_are_told() {
        for text in [None, Some(""), Some(" \n"), Some("\u{feff}{}")] {
            assert!(for_run(Client::Codex, "/d", "/r", text).unwrap().contains("PreToolUse"), "{text:?}");
        }
        for text in ["{", "[]", r#"{"hooks":[]}"#, r#"{"hooks":{"PreToolUse":{}}}"#] {
            assert!(for_run(Client::Codex, "/d", "/r", Some(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn codex_trusts_the_run_s_hooks_by_place_and_content_and_nobody_else_s() {
        let theirs = r#"{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"log"}]}]}}"#;
        let text = for_run(Client::Codex, "/d", "/r", Some(theirs)).unwrap();
        let trust = trusted_hooks("/d", "/r", "/c/hooks.json", &text);
        let keys: Vec<&str> = trust.iter().map(|t| t.key.as_str()).collect();
        assert_eq!(keys.len(), groups::wanted(Client::Codex, "/d", &[]).len());
        assert!(
            keys.contains(&"/c/hooks.json:pre_tool_use:1:0") && keys.contains(&"/c/hooks.json:stop:0:0"),
            "{keys:?}"
        );
        let of = |event: &str| trust.iter().find(|t| t.key.contains(event)).unwrap().hash.clone();
        let expected = r#"{"event_name":"pre_tool_use","hooks":[{"async":false,"command":"/d hook codex --run /r","timeout":120,"type":"command"}],"matcher":"*"}"#;
        assert_eq!(of(":pre_tool_use:"), format!("sha256:{:x}", Sha256::digest(expected)));
        let expected = r#"{"event_name":"stop","hooks":[{"async":false,"command":"/d hook codex --run /r","timeout":10,"type":"command"}]}"#;
        assert_eq!(of(":stop:"), format!("sha256:{:x}", Sha256::digest(expected)));
    }
}
