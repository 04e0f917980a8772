//! Whatever stands on stdin: no panic, no error while it is JSON, and a file that would be written is never overlooked.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test")]

use dandori_guard::{
    Change, Client, Decision, EditTool, ErrorPolicy, Event, GuardName, Kind, Oddity, Reason, Ruling, Tool, decode,
    encode,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn event(value: &Value) -> Event {
    decode(value.to_string().as_bytes(), None).unwrap()
}

fn pre(agent: Client, tool: &str, input: &Value) -> Event {
    let name = if agent == Client::Gemini { "BeforeTool" } else { "PreToolUse" };
    let value = json!({"hook_event_name": name, "cwd": "/repo", "tool_name": tool, "tool_input": input});
    decode(value.to_string().as_bytes(), Some(agent)).unwrap()
}

#[test]
fn tools_that_were_not_recorded_are_understood_too() {
    let edit = |old: &str, new: &str| Change::edit("/repo/a".into(), Some(old.into()), Some(new.into()));
    for (agent, tool, input, want) in [
        (
            Client::Claude,
            "MultiEdit",
            json!({"file_path": "/repo/a", "edits": [{"old_string": "x", "new_string": "y"}, {"old_string": "p", "new_string": "q"}]}),
            Tool::Edit { with: EditTool::MultiEdit, changes: vec![edit("x", "y"), edit("p", "q")], complete: true },
        ),
        (
            Client::Claude,
            "NotebookEdit",
            json!({"notebook_path": "/repo/n.ipynb", "new_source": "1"}),
            Tool::Edit {
                with: EditTool::NotebookEdit,
                changes: vec![Change::edit("/repo/n.ipynb".into(), None, Some("1".into()))],
                complete: true,
            },
        ),
        (
            Client::Claude,
            "Grep",
            json!({"pattern": "x", "path": "src"}),
            Tool::Search { path: Some("/repo/src".into()), pattern: Some("x".into()), files: None },
        ),
        (
            Client::Claude,
            "Task",
            json!({"subagent_type": "pm", "prompt": "p"}),
            Tool::Agent { role: Some("pm".into()), prompt: "p".into() },
        ),
        (
            Client::Codex,
            "Bash",
            json!({"command": ["bash", "-lc", "echo 'a b'"]}),
            Tool::shell(r"bash -lc 'echo '\''a b'\'''", Some("/repo".into())),
        ),
        (
            Client::Codex,
            "mcp__git__push_all",
            json!({"x": 1}),
            Tool::Mcp { server: "git".into(), tool: "push_all".into(), input: json!({"x": 1}) },
        ),
        (
            Client::Claude,
            "mcp__shell__execute_command",
            json!({"command": "git", "args": ["push", "-f", "a b"], "cwd": "sub"}),
            Tool::shell("git push -f 'a b'", Some("/repo/sub".into())),
        ),
        (
            Client::Gemini,
            "run_shell_command",
            json!({"command": "ls", "dir_path": "../sub"}),
            Tool::shell("ls", Some("/sub".into())),
        ),
        (
            Client::Gemini,
            "mcp_git_push",
            json!({}),
            Tool::Mcp { server: "git".into(), tool: "push".into(), input: json!({}) },
        ),
        (Client::Gemini, "activate_skill", json!({"name": "pm"}), Tool::Skill { name: "pm".into() }),
        (
            Client::Gemini,
            "list_directory",
            json!({"dir_path": "x"}),
            Tool::Search { path: Some("/repo/x".into()), pattern: None, files: None },
        ),
    ] {
        assert_eq!(pre(agent, tool, &input).tool, Some(want), "{agent} {tool}");
    }
}

#[test]
fn any_tool_that_carries_a_command_line_is_a_shell() {
    let is_shell = |agent, tool: &str, input: &Value, line: &str, folder: &str| {
        let tool = pre(agent, tool, input).tool;
        let Some(Tool::Bash { command, cwd, .. }) = &tool else { panic!("{input}: {tool:?}") };
        assert_eq!((command.as_str(), cwd.as_ref().map(|cwd| cwd.as_str())), (line, Some(folder)), "{input}");
    };
    let monitor = json!({"description": "watch", "timeout_ms": 1000, "command": "git push; cat ~/.netrc"});
    is_shell(Client::Claude, "Monitor", &monitor, "git push; cat ~/.netrc", "/repo");
    is_shell(Client::Claude, "PowerShell", &json!({"command": "git push"}), "git push", "/repo");
    is_shell(Client::Claude, "NextYearsTool", &json!({"cmd": ["git", "push"]}), "git push", "/repo");
    is_shell(Client::Codex, "exec_command", &json!({"cmd": "ls", "workdir": "sub"}), "ls", "/repo/sub");
    is_shell(Client::Gemini, "shell_next", &json!({"commands": ["ls", "git push"]}), "ls\ngit push", "/repo");
    is_shell(Client::Claude, "Steps", &json!({"steps": [{"command": "a"}, {"commandLine": "b c"}]}), "a\nb c", "/repo");
    is_shell(Client::Claude, "mcp__files__do", &json!({"command": "git push"}), "git push", "/repo");
    is_shell(Client::Gemini, "mcp_box_run", &json!({"command": "reboot"}), "reboot", "/repo");

    let editor = json!({"command": "create", "path": "/repo/a", "file_text": "x"});
    let tool = pre(Client::Claude, "mcp__editor__edit_file", &editor).tool;
    assert!(matches!(tool, Some(Tool::Mcp { .. })), "a word that says what to do is no line: {tool:?}");
    let both = json!({"command": "make all", "path": "/repo/.env", "timeout": 5, "cwd": "sub"});
    let tool = pre(Client::Claude, "Both", &both).tool;
    let want =
        Tool::Bash { command: "make all".into(), cwd: Some("/repo/sub".into()), beside: json!({"path": "/repo/.env"}) };
    assert_eq!(tool, Some(want), "what else it names is not overlooked");
    assert_eq!(
        pre(Client::Claude, "Monitor", &monitor).tool.and_then(|t| t.unread_input().cloned()),
        Some(json!({"description": "watch"}))
    );
}

#[test]
fn wrong_types_become_oddities_and_the_rest_is_still_read() {
    let event = event(&json!({
        "hook_event_name": "PreToolUse", "session_id": 5, "cwd": ["/x"], "permission_mode": {}, "agent_id": false,
        "tool_name": "Bash", "tool_input": {"command": {"a": 1}}, "transcript_path": null, "new_field": [1, 2],
    }));
    assert_eq!(event.kind, Kind::PreTool);
    assert_eq!(event.tool, Some(Tool::Other { name: "Bash".into(), input: json!({"command": {"a": 1}}) }));
    assert_eq!(event.oddities.len(), 5, "{:?}", event.oddities);
    assert!(event.raw.contains("new_field"));
}

#[test]
fn a_write_without_readable_text_still_names_its_file() {
    for (tool, input) in [
        ("Write", json!({"file_path": "/repo/.env", "content": 5})),
        ("Edit", json!({"file_path": "/repo/.env"})),
        ("MultiEdit", json!({"file_path": "/repo/.env", "edits": "x"})),
    ] {
        let event = pre(Client::Claude, tool, &input);
        let [change] = event.changes() else { panic!("{tool}") };
        assert_eq!(change.path, "/repo/.env");
        assert!(matches!(event.tool, Some(Tool::Edit { complete: false, .. })), "{tool}");
        assert!(!event.oddities.is_empty());
    }
}

#[test]
fn unknown_events_pass_and_are_named() {
    let event = event(&json!({"hook_event_name": "MoonPhase", "phase": "full"}));
    assert_eq!(event.kind, Kind::Other);
    assert_eq!(event.oddities, [Oddity::UnknownEvent { name: "MoonPhase".into(), agent: Client::Claude.into() }]);
    let block = Decision::Block { guard: GuardName::known("g"), reason: Reason::new("no") };
    assert_eq!(encode(&event, &block.into()), dandori_guard::Answer::default());
    assert_eq!(decode(b"[1]", None).unwrap().kind, Kind::Other);
}

#[test]
fn what_is_no_json_is_an_error_and_the_user_is_told() {
    for text in ["", "{", "nonsense", "{\"a\":1} {}", "\\ud800"] {
        let error = decode(text.as_bytes(), None).unwrap_err();
        let answer = dandori_guard::answer_unreadable(&Reason::new(&error.to_string()));
        assert_eq!(answer.stdout, b"{\"systemMessage\":\"the event on stdin is not JSON\"}\n");
        assert_eq!(answer.exit, 0);
    }
}

#[test]
fn half_a_surrogate_pair_or_a_broken_byte_does_not_hide_a_write() {
    let text = br#"{"hook_event_name":"PreToolUse","cwd":"/repo","tool_name":"Write","tool_input":{"file_path":"/repo/.env","content":"\ud83d BYTE"}}"#;
    for broken in [text.to_vec(), text.iter().map(|b| if *b == b'Y' { 0xFF } else { *b }).collect()] {
        let event = decode(&broken, Some(Client::Claude)).unwrap();
        assert_eq!(event.changes()[0].path, "/repo/.env");
        assert_eq!(event.oddities, [Oddity::BrokenText]);
    }
}

#[test]
fn an_input_nested_beyond_reason_is_kept_as_text() {
    let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
    let text = format!(r#"{{"hook_event_name":"PreToolUse","tool_name":"mcp__a__b","tool_input":{deep}}}"#);
    let event = decode(text.as_bytes(), None).unwrap();
    assert_eq!(event.tool, Some(Tool::Mcp { server: "a".into(), tool: "b".into(), input: Value::String(deep) }));
    assert!(matches!(event.oddities[..], [Oddity::Unreadable { .. }]));
}

#[test]
fn a_stop_whose_state_cannot_be_read_counts_as_refused_before() {
    for (said, active) in [(json!(true), true), (json!(false), false), (json!("yes"), true), (json!(null), false)] {
        let event = event(&json!({"hook_event_name": "Stop", "stop_hook_active": said}));
        assert!(matches!(event.kind, Kind::Stop { active: a, .. } if a == active), "{said}");
    }
}

fn answer_everything(event: &Event) {
    let guard = GuardName::known("g");
    let reason = Reason::new("r");
    for decision in [
        Decision::Block { guard: guard.clone(), reason: reason.clone() },
        Decision::Ask { guard: guard.clone(), reason: reason.clone() },
        Decision::Warn { guard: guard.clone(), reason: reason.clone() },
        Decision::Error { guard, detail: reason, policy: ErrorPolicy::Closed },
    ] {
        let answer = encode(event, &Ruling::from(decision));
        assert!(answer.exit == 0 || !answer.stderr.is_empty());
    }
}

fn agents() -> impl Strategy<Value = Option<Client>> {
    prop_oneof![Just(None), Just(Some(Client::Claude)), Just(Some(Client::Codex)), Just(Some(Client::Gemini))]
}

fn fixtures() -> Vec<Vec<u8>> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/events");
    std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), agent in agents()) {
        if let Ok(event) = decode(&bytes, agent) {
            answer_everything(&event);
        }
    }

    #[test]
    fn mutated_events_never_panic(
        which in any::<prop::sample::Index>(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..4), 1..12),
        agent in agents(),
    ) {
        let mut bytes = which.get(&fixtures()).clone();
        for (at, byte, how) in edits {
            let at = at.index(bytes.len().max(1)).min(bytes.len());
            match how {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, byte),
                2 => drop((at < bytes.len()).then(|| bytes.remove(at))),
                _ => bytes.iter_mut().skip(at).take(1).for_each(|b| *b = byte),
            }
        }
        if let Ok(event) = decode(&bytes, agent) {
            answer_everything(&event);
        }
    }

    /// Any value in any field: still an event, never an error.
    #[test]
    fn a_field_of_any_type_is_no_error(
        which in any::<prop::sample::Index>(),
        field in any::<prop::sample::Index>(),
        value in prop_oneof![
            Just(json!(null)), Just(json!(7)), Just(json!("\u{0}\u{1b}")), Just(json!([[]])), Just(json!({"command": [1]})), Just(json!(true))
        ],
        agent in agents(),
    ) {
        let mut event: Value = serde_json::from_slice(which.get::<Vec<u8>>(&fixtures())).unwrap();
        let fields = event.as_object_mut().unwrap();
        let name = field.get(&fields.keys().cloned().collect::<Vec<_>>()).clone();
        fields.insert(name, value);
        let event = decode(event.to_string().as_bytes(), agent).unwrap();
        answer_everything(&event);
    }

    #[test]
    fn any_text_may_stand_for_a_patch(text in "(\\*\\*\\* (Begin Patch|End Patch|Add File: |Update File: |Move to: |Delete File: )|[+\\- @]|[a-z./~]{0,5}|\n|é){0,40}") {
        let _ = dandori_guard::patch::Patch::read(&text, None);
        let command = format!("apply_patch <<E\n{text}");
        let _ = dandori_guard::patch::patches_in_command(&command);
    }
}

#[test]
fn an_entry_that_was_copied_from_gemini_still_guards() {
    for (fields, found) in [(json!({}), Client::Claude), (json!({"turn_id": "t"}), Client::Codex)] {
        let mut value = json!({
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "git push"}, "timestamp": 1,
        });
        value.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        if found == Client::Codex {
            value.as_object_mut().unwrap().remove("timestamp");
        }
        let event = decode(value.to_string().as_bytes(), Some(Client::Gemini)).unwrap();
        assert_eq!((event.agent, &event.kind), (found.into(), &Kind::PreTool));
        assert!(matches!(event.tool, Some(Tool::Bash { .. })), "{event:?}");
        assert!(event.oddities.contains(&Oddity::OtherAgent { registered: Client::Gemini, found }));
    }
}

#[test]
fn one_field_that_cannot_be_read_does_not_hide_the_command() {
    let deep = "[".repeat(500) + &"]".repeat(500);
    for odd in ["1e999", &deep] {
        for fields in [format!(r#""x":{odd},"command":"git push""#), format!(r#""command":"git push","x":{odd}"#)] {
            let text = format!(r#"{{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{{fields}}}}}"#);
            let event = decode(text.as_bytes(), Some(Client::Claude)).unwrap();
            let is_there = matches!(&event.tool, Some(Tool::Bash { command, .. }) if command == "git push");
            assert!(is_there, "{:?}", event.tool);
            assert!(event.oddities.iter().any(|odd| matches!(odd, Oddity::Unreadable { .. })));
        }
    }
}
