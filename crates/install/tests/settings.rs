//! Settings files as they are met, and what becomes of them.

#![expect(clippy::unwrap_used, reason = "tests: a panic is how they report")]

use dandori_install::{Call, Client, FileBefore, Places, Trouble, has_ours, install, unified, uninstall};

const PROGRAM: &str = "/opt/dandori";

/// Only what was put into the text, and what went.
fn change(client: Client, text: &str) -> String {
    let installed = install(client, &Call::bare(PROGRAM), Some(text), None).unwrap();
    unified("s", Some(text), Some(&installed.text))
}

#[test]
fn a_new_file_holds_one_exec_form_entry_per_event() {
    let installed = install(Client::Claude, &Call::bare(PROGRAM), None, None).unwrap();
    let start: String = installed.text.lines().take(14).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(start, @r#"
    {
      "hooks": {
        "SessionStart": [
          {
            "matcher": "*",
            "hooks": [
              {
                "type": "command",
                "command": "/opt/dandori",
                "args": ["hook", "claude"],
                "timeout": 10
              }
            ]
          }
    "#);
    let json: serde_json::Value = serde_json::from_str(&installed.text).unwrap();
    let timeout = |event: &str| &json["hooks"][event][0]["hooks"][0]["timeout"];
    assert_eq!(
        (timeout("PreToolUse"), timeout("PostToolUse"), timeout("SessionEnd")),
        (&120.into(), &120.into(), &3.into())
    );
    let closed: Vec<&String> = json["hooks"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, groups)| groups[0]["hooks"][0]["onFailure"] == "block")
        .map(|(event, _)| event)
        .collect();
    assert_eq!(closed, ["ConfigChange", "PreToolUse"], "what they are asked about does not go on without an answer");
    assert_eq!(json["crossSessionInbound"], "refuse");
    assert_eq!(json["hooks"]["Stop"][0].get("matcher"), None, "this event takes none");
    assert_eq!(json["hooks"].as_object().unwrap().len(), 12);
    assert_eq!(installed.memory.as_ref().unwrap().file, FileBefore::Absent);
    let left = uninstall(Client::Claude, None, &installed.text, installed.memory.as_ref()).unwrap();
    assert_eq!(left.text, None);
}

#[test]
fn codex_and_gemini_get_a_command_line_and_gemini_milliseconds() {
    let text = install(Client::Codex, &Call::bare("/my tools/dandori"), None, None).unwrap().text;
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let handler = &json["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!(handler["command"], "'/my tools/dandori' hook codex");
    assert_eq!((&handler["timeout"], json["hooks"].as_object().unwrap().len()), (&120.into(), 9));
    let text = install(Client::Gemini, &Call::bare(PROGRAM), None, None).unwrap().text;
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let handler = &json["hooks"]["BeforeTool"][0]["hooks"][0];
    assert_eq!((&handler["command"], &handler["timeout"]), (&"/opt/dandori hook gemini".into(), &120_000.into()));
    assert_eq!(json["hooks"]["SessionStart"][0].get("matcher"), None, "Gemini compares it word for word");
    assert_eq!(json["hooks"].as_object().unwrap().len(), 8);
}

#[test]
fn ours_stands_behind_other_peoples_in_their_indentation() {
    let theirs = "{\n\t\"hooks\": { // mine\n\t\t\"BeforeTool\": [\n\t\t\t{ \"hooks\": [{ \"command\": \"lint\" }] } // keep\n\t\t]\n\t}\n}";
    let diff = change(Client::Gemini, theirs);
    let start = diff.lines().take(22).collect::<Vec<_>>().join("\n").replace('\t', "→");
    insta::assert_snapshot!(start, @r#"
    --- a/s
    +++ b/s
    @@ -1,7 +1,103 @@
     {
     →"hooks": { // mine
     →→"BeforeTool": [
    -→→→{ "hooks": [{ "command": "lint" }] } // keep
    +→→→{ "hooks": [{ "command": "lint" }] }, // keep
    +→→→{
    +→→→→"matcher": "*",
    +→→→→"hooks": [
    +→→→→→{
    +→→→→→→"type": "command",
    +→→→→→→"name": "dandori",
    +→→→→→→"command": "/opt/dandori hook gemini",
    +→→→→→→"timeout": 120000
    +→→→→→}
    +→→→→]
    +→→→}
    +→→],
    +→→"SessionStart": [
    +→→→{
    "#);
}

#[test]
fn what_stands_on_one_line_stays_on_it() {
    let tight =
        install(Client::Codex, &Call::bare(PROGRAM), Some(r#"{"a":1,"hooks":{"Stop":[]}}"#), None).unwrap().text;
    let start =
        r#"{"a":1,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/opt/dandori hook codex","timeout":10}]}],"#;
    assert!(tight.starts_with(start) && !tight.replace(" hook codex", "").contains(char::is_whitespace), "{tight}");
}

#[test]
fn line_ends_are_the_files_own() {
    let text = install(Client::Claude, &Call::bare(PROGRAM), Some("{\r\n  \"a\": 1\r\n}\r\n"), None).unwrap().text;
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
}

#[test]
fn what_is_not_understood_is_refused_with_its_place() {
    let refused = |text: &str| install(Client::Claude, &Call::bare(PROGRAM), Some(text), None).unwrap_err();
    let place = |trouble| match trouble {
        Trouble::NotJson { line, column, .. } => (line, column),
        other => panic!("{other:?}"),
    };
    assert_eq!(place(refused("{\n  \"a\" 1\n}")), (2, 7));
    assert_eq!(place(refused("{\n  a: 1\n}")), (2, 3));
    assert_eq!(refused("[]"), Trouble::NotAnObject { line: 1, column: 1, key: None });
    let hooks = Trouble::NotAnObject { line: 2, column: 10, key: Some("hooks".to_owned()) };
    assert_eq!(refused("{\n\"hooks\": []}"), hooks);
    let list = Trouble::NotAList { line: 1, column: 20, key: "hooks.Stop".to_owned() };
    assert_eq!(refused(r#"{"hooks": {"Stop": {}}}"#), list);
    assert!(uninstall(Client::Claude, None, "{", None).is_err());
}

#[test]
fn an_older_installation_is_completed_and_what_it_had_too_much_goes() {
    let old = r#"{
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "/old/dandori hook claude" }] },
      { "hooks": [{ "command": "mine" }, { "command": "/old/dandori", "args": ["hook", "claude"] }] }
    ],
    "WorktreeCreate": [{ "hooks": [{ "command": "/old/dandori", "args": ["hook", "claude"] }] }],
    "Stop": [{ "hooks": [{ "command": "mine" }] }, { "hooks": [{ "command": "/old/dandori hook claude" }] }]
  }
}
"#;
    let new = install(Client::Claude, &Call::bare(PROGRAM), Some(old), None).unwrap();
    let head = new.text.lines().take(8).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(head, @r#"
    {
      "hooks": {
        "PreToolUse": [
          {"matcher": "*", "hooks": [{"type": "command", "command": "/opt/dandori", "args": ["hook", "claude"], "timeout": 120, "onFailure": "block"}]},
          { "hooks": [{ "command": "mine" }] }
        ],
        "Stop": [{ "hooks": [{ "command": "mine" }] }, {"hooks": [{"type": "command", "command": "/opt/dandori", "args": ["hook", "claude"], "timeout": 10}]}],
        "SessionStart": [
    "#);
    assert!(!new.text.contains("/old/") && !new.text.contains("WorktreeCreate"));
    let left = uninstall(Client::Claude, None, &new.text, new.memory.as_ref()).unwrap().text.unwrap();
    insta::assert_snapshot!(left, @r#"
    {
      "hooks": {
        "PreToolUse": [
          { "hooks": [{ "command": "mine" }] }
        ],
        "Stop": [{ "hooks": [{ "command": "mine" }] }]
      }
    }
    "#);
}

#[test]
fn an_entry_that_was_weakened_is_made_whole() {
    let whole = install(Client::Claude, &Call::bare(PROGRAM), None, None).unwrap();
    for (from, to) in [
        ("\"timeout\": 120", "\"timeout\": 120,\n            \"async\": true"),
        ("\"timeout\": 120", "\"timeout\": 0"),
        (
            "\"PreToolUse\": [\n      {\n        \"matcher\": \"*\"",
            "\"PreToolUse\": [\n      {\n        \"matcher\": \"None\"",
        ),
        ("\"type\": \"command\"", "\"type\": \"prompt\""),
    ] {
        let weak = whole.text.replacen(from, to, 1);
        assert_ne!(weak, whole.text, "{from}");
        let again = install(Client::Claude, &Call::bare(PROGRAM), Some(&weak), whole.memory.as_ref()).unwrap();
        assert_eq!(again.text, whole.text, "{to}");
    }
}

#[test]
fn what_others_wrote_meanwhile_stays() {
    let installed = install(Client::Claude, &Call::bare(PROGRAM), None, None).unwrap();
    let edited = installed
        .text
        .replacen("{\n", "{\n  \"model\": \"x\", // mine\n", 1)
        .replacen("\"PreToolUse\": [", "\"PreToolUse\": [ { \"hooks\": [] },", 1)
        .replacen("\"Stop\": [", "\"Stop\": [ // note\n", 1);
    let left = uninstall(Client::Claude, None, &edited, installed.memory.as_ref()).unwrap().text.unwrap();
    insta::assert_snapshot!(left, @r#"
    {
      "model": "x", // mine
      "hooks": {
        "PreToolUse": [ { "hooks": [] }
        ],
        "Stop": [ // note
        ]
      }
    }
    "#);
}

#[test]
fn what_was_empty_before_stays_empty_as_it_was_written() {
    for text in [
        "{}",
        "{ }",
        "{\n}",
        "{}\n\n",
        "{\"hooks\": {}}",
        "{\"hooks\":{ },\n}",
        "{\n  \"hooks\": {\n  }\n}",
        "{ // none\n}",
        "{\"hooks\": {\"Stop\": [ ], \"PreToolUse\": [\n\n]}}",
        "\u{feff}{}",
        "",
        "\n",
        "\u{feff}",
        "// nothing yet\n",
        "/* x */",
    ] {
        let installed = install(Client::Claude, &Call::bare(PROGRAM), Some(text), None).unwrap();
        assert!(has_ours(Client::Claude, &installed.text), "{text:?}");
        let left = uninstall(Client::Claude, None, &installed.text, installed.memory.as_ref()).unwrap();
        assert_eq!(left.text.as_deref(), Some(text), "{}", installed.text);
    }
}

#[test]
fn what_somebody_has_set_about_other_sessions_is_theirs() {
    let text = "{\"crossSessionInbound\": \"hold\"}\n";
    let installed = install(Client::Claude, &Call::bare(PROGRAM), Some(text), None).unwrap();
    assert!(installed.text.contains("\"hold\"") && !installed.text.contains("\"refuse\""));
    let left = uninstall(Client::Claude, None, &installed.text, installed.memory.as_ref()).unwrap();
    assert_eq!(left.text.as_deref(), Some(text));

    let installed = install(Client::Claude, &Call::bare(PROGRAM), None, None).unwrap();
    let changed = installed.text.replace("\"refuse\"", "\"accept\"");
    let left = uninstall(Client::Claude, None, &changed, installed.memory.as_ref()).unwrap().text.unwrap();
    assert_eq!(left, "{\n  \"crossSessionInbound\": \"accept\"\n}\n", "it has been changed since");
}

#[test]
fn places_stand_in_the_call_and_an_older_one_gets_them() {
    let path = |name: &str| Some(format!("/home/me/{name}"));
    let places = Places { state: path("state"), config: path("config.toml"), home: path("") };
    let call = Call { program: PROGRAM.to_owned(), places };
    for client in Client::ALL {
        let old = install(client, &Call::bare(PROGRAM), None, None).unwrap();
        let new = install(client, &call, Some(&old.text), old.memory.as_ref()).unwrap();
        assert_eq!(new.text, install(client, &call, None, None).unwrap().text);
        assert_eq!(uninstall(client, None, &new.text, new.memory.as_ref()).unwrap().text, None);
    }
    let text = install(Client::Gemini, &call, None, None).unwrap().text;
    let line = "/opt/dandori hook gemini --state /home/me/state --config /home/me/config.toml --home /home/me/";
    assert!(text.contains(line), "{text}");
}

#[test]
fn another_name_of_the_program_is_known_when_it_is_the_one_installed() {
    let once = install(Client::Codex, &Call::bare("/x/dandori-next"), None, None).unwrap();
    assert_eq!(
        install(Client::Codex, &Call::bare("/x/dandori-next"), Some(&once.text), once.memory.as_ref()).unwrap(),
        once
    );
    let left = uninstall(Client::Codex, Some("/x/dandori-next"), &once.text, once.memory.as_ref()).unwrap();
    assert_eq!(left.text, None);
}
