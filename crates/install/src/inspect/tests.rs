use super::*;
use crate::{Places, install};

fn installed(client: Client) -> String {
    let path = |name: &str| Some(format!("/home/{name}"));
    let places = Places { state: path("state"), config: path("config"), home: path("") };
    let call = Call { program: "/a/dandori".to_owned(), places };
    install(client, &call, None, None).unwrap().text
}

#[test]
fn what_was_just_installed_is_whole() {
    for client in Client::ALL {
        let found = inspect(client, &installed(client)).unwrap();
        assert_eq!((&found.faults, &found.missing, found.off.is_some()), (&vec![], &vec![], false), "{client:?}");
        let is_plain = |e: &Own| {
            e.call.program == "/a/dandori" && e.weakness.is_none() && !e.is_outdated && (e.group, e.handler) == (0, 0)
        };
        assert!(!found.entries.is_empty() && found.entries.iter().all(is_plain), "{found:?}");
    }
}

#[test]
fn every_field_that_drops_a_file_is_named_with_its_place() {
    let fault = |client, text: &str| {
        let faults = inspect(client, text).unwrap().faults;
        faults.into_iter().map(|f| (f.key, f.wanted, f.line, f.column)).collect::<Vec<_>>()
    };
    let one = |key: &str, shape, line, column| vec![(key.to_owned(), shape, line, column)];
    let claude = |text: &str| fault(Client::Claude, text);
    assert_eq!(claude(r#"{"permissions": {"allow": "Bash"}}"#), one("permissions.allow", Shape::List, 1, 27));
    assert_eq!(claude(r#"{"permissions": {"deny": [1]}}"#), one("permissions.deny[0]", Shape::Text, 1, 27));
    assert_eq!(claude("{\n\"hooks\": []}"), one("hooks", Shape::Object, 2, 10));
    let hook = |handler: &str| format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{handler}]}}]}}}}"#);
    let key = |last: &str| format!("hooks.Stop[0].hooks[0]{last}");
    let timeout = hook(r#"{"type":"command","command":"x","timeout":"5"}"#);
    assert_eq!(claude(&timeout), one(&key(".timeout"), Shape::Number, 1, 71));
    assert_eq!(claude(&hook(r#"{"type":"command"}"#)), one(&key(".command"), Shape::Present, 1, 29));
    assert_eq!(claude(&hook(r#"{"command":"x"}"#)), one(&key(".type"), Shape::Present, 1, 29));
    assert_eq!(claude(&hook("7")), one(&key(""), Shape::Object, 1, 29));
    let word = hook(r#"{"type":"command","command":"x","onFailure":"bogus"}"#);
    assert_eq!(claude(&word), one(&key(".onFailure"), Shape::FailureWord, 1, 73));
    let http = hook(r#"{"type":"http","url":"http://x"}"#);
    assert_eq!(claude(&http), vec![]);
    assert_eq!(fault(Client::Codex, &http), one(&key(".type"), Shape::KnownType, 1, 37));
    assert_eq!(fault(Client::Gemini, &timeout), vec![], "it leaves that one out");
    assert!(inspect(Client::Claude, "{").is_err());
}

#[test]
fn an_entry_that_is_not_always_asked_is_weak() {
    let weak = |client: Client, from: &str, to: &str| {
        let text = installed(client).replacen(from, to, 1);
        let found = inspect(client, &text).unwrap().entries;
        found.into_iter().find_map(|e| e.weakness).unwrap()
    };
    let star = r#""matcher": "*""#;
    for client in Client::ALL {
        assert_eq!(weak(client, star, r#""matcher": "Bash""#), Weakness::Matcher("Bash".to_owned()));
    }
    let claude = |to| weak(Client::Claude, r#""timeout": 120"#, to);
    assert_eq!(claude(r#""timeout": 0.1"#), Weakness::Timeout(100));
    assert_eq!(claude(r#""timeout": 120, "if": "Bash(git *)""#), Weakness::If("Bash(git *)".to_owned()));
    assert_eq!(claude(r#""timeout": 120, "async": true"#), Weakness::Async);
    let open = weak(Client::Claude, r#""onFailure": "block""#, r#""onFailure": "continue""#);
    assert_eq!(open, Weakness::FailsOpen);
    assert_eq!(weak(Client::Gemini, r#""timeout": 120000"#, r#""timeout": 120"#), Weakness::Timeout(120));
}

#[test]
fn what_an_earlier_version_wrote_is_out_of_date() {
    for client in Client::ALL {
        let bare = install(client, &Call::bare("/a/dandori"), None, None).unwrap().text;
        assert!(inspect(client, &bare).unwrap().entries.iter().all(|e| e.is_outdated), "{client:?}");
    }
    let open = installed(Client::Claude).replacen("onFailure", "was", 1);
    let outdated: Vec<String> = inspect(Client::Claude, &open)
        .unwrap()
        .entries
        .into_iter()
        .filter(|e| e.is_outdated)
        .map(|e| e.event)
        .collect();
    assert_eq!(outdated, ["PreToolUse"]);
}

#[test]
fn switches_and_missing_events_are_found() {
    let off = |client, text: &str| inspect(client, text).unwrap().off.map(Switch::name);
    assert_eq!(off(Client::Claude, r#"{"disableAllHooks": true}"#), Some("disableAllHooks".to_owned()));
    assert_eq!(off(Client::Gemini, r#"{"hooksConfig": {"enabled": false}}"#), Some("hooksConfig.enabled".to_owned()));
    let named = r#"{"hooksConfig": {"disabled": ["other", "dandori"]}}"#;
    assert_eq!(off(Client::Gemini, named), Some("hooksConfig.disabled".to_owned()));
    assert_eq!(off(Client::Gemini, r#"{"hooksConfig": {"disabled": ["other"]}}"#), None);
    let text = installed(Client::Codex).replace("PreToolUse", "Elsewhere");
    assert_eq!(inspect(Client::Codex, &text).unwrap().missing, ["PreToolUse"]);
}
