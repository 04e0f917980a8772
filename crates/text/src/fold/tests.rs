use super::*;
use dandori_domain::Verdict;

fn call(id: &str, name: &str, input: &str) -> AgentEvent {
    AgentEvent::ToolCall { id: id.into(), name: name.into(), input: input.into() }
}

fn answer(id: &str, ok: bool, output: &str) -> AgentEvent {
    AgentEvent::ToolResult { id: id.into(), ok, output: output.into() }
}

fn said(text: &str) -> AgentEvent {
    AgentEvent::Message { text: text.into() }
}

fn read(id: &str, path: &str) -> [AgentEvent; 2] {
    [call(id, "Read", &format!("{{\"file_path\":\"/w/run_1/{path}\"}}")), answer(id, true, "text")]
}

fn done() -> AgentEvent {
    AgentEvent::Finished { verdict: Verdict::Done { summary: String::new() } }
}

/// Everything that stays, at this width.
fn folded(lang: Lang, events: &[AgentEvent], cells: usize) -> Vec<String> {
    let mut fold = Fold::new(lang, Some("/w/run_1"));
    let mut pieces: Vec<Piece> = events.iter().flat_map(|event| fold.of(event)).collect();
    pieces.extend(fold.end());
    let rows: Vec<String> = pieces.iter().flat_map(|piece| piece.rows(cells)).collect();
    for row in &rows {
        assert!(width(row) <= cells, "{row:?} is wider than {cells}");
    }
    rows
}

#[test]
fn a_tool_is_one_line_with_its_outcome() {
    let bash = |command: &str| format!("{{\"command\":\"{command}\"}}");
    let edit = r#"{"file_path":"/w/run_1/README.md","old_string":"a\nb","new_string":"a\nc\nd"}"#;
    let table: &[(&str, &str, bool, &str, &[&str])] = &[
        (
            "Bash",
            &bash("cargo test"),
            true,
            "running\ntest result: ok. 3 passed\n",
            &["  $ cargo test", "    ✓ test result: ok. 3 passed"],
        ),
        ("Bash", &bash("make"), true, "", &["  $ make ✓"]),
        ("Bash", &bash("make"), false, "Exit code 2\nmake: no rule", &["  $ make", "    ✗ exit 2: make: no rule"]),
        // What a file or a command says itself is no exit code.
        ("Bash", &bash("x"), true, "Exit code 2 is for usage\nfine", &["  $ x", "    ✓ fine"]),
        ("run_shell_command", &bash("x"), true, "no such thing", &["  $ x", "    · no such thing"]),
        // One client calls a command that failed a success.
        ("run_shell_command", &bash("x"), true, "Command exited with code: 3", &["  $ x", "    ✗ exit 3"]),
        ("command_execution", "/bin/bash -lc 'ls /w/run_1/src'", false, "", &["  $ ls src", "    ✗"]),
        ("Edit", edit, true, "ok", &["  Edit README.md +2 −1"]),
        ("Edit", edit, false, "not read yet\nmore", &["  Edit README.md +2 −1", "    ✗ not read yet"]),
        ("Write", r#"{"file_path":"a.txt","content":"1\n"}"#, true, "", &["  Write a.txt (1 line)"]),
        (
            "file_change",
            r#"[{"kind":"add","path":"/w/run_1/a"},{"kind":"update","path":"b"}]"#,
            true,
            "completed",
            &["  Add a, Edit b"],
        ),
        ("TodoWrite", r#"{"todos":[{"content":"x","status":"in_progress"}]}"#, true, "", &["  Plan 0/1: x"]),
        ("mcp__a__b", r#"{"query":"q"}"#, true, "long\nanswer", &["  mcp__a__b q"]),
    ];
    for (name, input, ok, output, rows) in table {
        let events = [call("1", name, input), answer("1", *ok, output)];
        assert_eq!(folded(Lang::En, &events, 60), *rows, "{name} {input}");
    }
}

#[test]
fn files_read_one_after_the_other_are_one_line() {
    let mut events: Vec<AgentEvent> = Vec::new();
    for (id, path) in [("1", "a"), ("2", "b"), ("3", "a")] {
        events.extend(read(id, path));
    }
    events.extend([call("4", "Grep", r#"{"pattern":"fn"}"#), answer("4", true, "")]);
    events.push(said("Found it."));
    events.extend(read("5", "src/main.rs"));
    events.extend([call("6", "Bash", r#"{"command":"make"}"#), answer("6", true, "")]);
    assert_eq!(
        folded(Lang::En, &events, 60),
        ["  Read 2 files, 1 search", "● Found it.", "  Read src/main.rs", "  $ make ✓",]
    );
    assert_eq!(
        folded(Lang::Ja, &events, 60),
        ["  読み取り 2 ファイル、検索 1 回", "● Found it.", "  読み取り src/main.rs", "  $ make ✓",]
    );
}

#[test]
fn calls_made_together_are_told_as_their_answers_come() {
    let events = [
        call("1", "Bash", r#"{"command":"one"}"#),
        call("2", "Bash", r#"{"command":"two"}"#),
        answer("2", true, ""),
        answer("1", true, ""),
        call("3", "Bash", r#"{"command":"three"}"#),
    ];
    assert_eq!(folded(Lang::En, &events, 40), ["  $ two ✓", "  $ one ✓", "  $ three …"]);
}

#[test]
fn a_message_is_two_rows_at_most_and_breaks_between_words() {
    let long =
        said("I have looked at the greeting and I will change it now, then run the tests to see that all is well.");
    assert_eq!(
        folded(Lang::En, std::slice::from_ref(&long), 40),
        ["● I have looked at the greeting and I", "  will change it now, then run the …",]
    );
    assert_eq!(folded(Lang::En, &[long], 140).len(), 1);
    let japanese = said("挨拶の文を確認しました。これから変更して、テストを実行します。最後に結果を報告します。");
    assert_eq!(
        folded(Lang::Ja, &[japanese], 40),
        ["● 挨拶の文を確認しました。これから変更し", "  て、テストを実行します。最後に結果を …",]
    );
    // One word without an end is cut.
    assert_eq!(folded(Lang::En, &[said(&"x".repeat(100))], 20), [format!("● {}…", "x".repeat(17))]);
}

#[test]
fn pieces_of_a_message_are_put_together_and_messages_stay_apart() {
    let pieces = [said("I wi"), said("ll write"), said(" it."), said("Then test."), done()];
    assert_eq!(folded(Lang::En, &pieces, 60), ["● I will write it. Then test."]);
    let lines = [said("one\n"), said("two"), call("1", "Bash", r#"{"command":"x"}"#), said("three")];
    assert_eq!(folded(Lang::En, &lines, 60), ["● one two", "● three", "  $ x …"]);
}

#[test]
fn numbers_and_outcomes_are_never_cut() {
    let edit = r#"{"file_path":"/w/run_1/a/very/long/path/to/some/file.rs","old_string":"1","new_string":"2"}"#;
    assert_eq!(
        folded(Lang::En, &[call("1", "Edit", edit), answer("1", true, "")], 30),
        ["  Edit a/very/long/path… +1 −1",]
    );
}

#[test]
fn of_a_flood_the_beginning_and_the_end_are_shown() {
    let mut fold = Fold::new(Lang::En, None);
    let line = |n: usize| AgentEvent::Line { text: format!("line {n}") };
    assert!((1..=100).all(|n| fold.of(&line(n)).is_empty()));
    assert_eq!(fold.now(), "line 100");
    let rows: Vec<String> = fold.settle().iter().flat_map(|piece| piece.rows(40)).collect();
    assert_eq!(rows.len(), FIRST_LINES + 1 + LAST_LINES);
    assert_eq!(rows[1..4], ["  line 2", "  … 93 more lines", "  line 96"]);
    fold.of(&line(101));
    assert_eq!(fold.settle().len(), 1);
    assert!(fold.settle().is_empty());
}

#[test]
fn what_is_done_this_moment_is_known() {
    let mut fold = Fold::new(Lang::En, Some("/w/run_1"));
    let mut now = |event: &AgentEvent| {
        fold.of(event);
        fold.now().to_owned()
    };
    assert_eq!(now(&AgentEvent::SetUpBegan { command: "npm ci".into() }), "setup: npm ci");
    assert_eq!(now(&AgentEvent::SetUpLine { text: "added 3".into() }), "setup: npm ci · added 3");
    assert_eq!(now(&AgentEvent::SetUpLine { text: "audited".into() }), "setup: npm ci · audited");
    assert_eq!(now(&AgentEvent::SetUpEnded { command: "npm ci".into(), ok: true, seconds: Some(70) }), "");
    assert_eq!(now(&AgentEvent::Thought { text: "hm\nwell".into() }), "hm well");
    assert_eq!(now(&said("first\nsecond")), "second");
    assert_eq!(now(&call("1", "Bash", r#"{"command":"make\n  test"}"#)), "$ make test");
    assert_eq!(now(&call("2", "Read", r#"{"file_path":"/w/run_1/a"}"#)), "Read a");
    assert_eq!(now(&answer("2", true, "")), "$ make test");
    assert_eq!(now(&answer("1", true, "")), "thinking");
    assert_eq!(now(&done()), "");
}

#[test]
fn set_up_is_told_by_its_end() {
    let events = |ok| {
        [
            AgentEvent::SetUpBegan { command: "npm ci".into() },
            AgentEvent::SetUpLine { text: "added".into() },
            AgentEvent::SetUpEnded { command: "npm ci".into(), ok, seconds: Some(70) },
        ]
    };
    assert_eq!(folded(Lang::En, &events(true), 40), ["  setup: npm ci ✓ 1m 10s"]);
    assert_eq!(folded(Lang::Ja, &events(false), 40), ["  セットアップ: npm ci ✗ 1分10秒"]);
}

#[test]
fn an_error_is_left_to_the_verdict_unless_work_goes_on() {
    let error = AgentEvent::Error { text: "API Error: 401".into() };
    let mut fold = Fold::new(Lang::En, None);
    assert!(fold.of(&error).is_empty());
    assert!(fold.of(&done()).is_empty());
    assert_eq!(folded(Lang::En, &[error, said("on")], 40), ["  ✗ API Error: 401", "● on"]);
}

#[test]
fn an_agent_cannot_command_the_terminal_of_who_watches() {
    let evil = "a\u{1b}[2J\u{1b}]0;t\u{7}b\u{9b}31m\rc\u{202e}d";
    let input = format!("{{\"command\":{}}}", serde_json::Value::from(evil));
    let events = [
        said(evil),
        AgentEvent::Thought { text: evil.into() },
        AgentEvent::Warning { text: evil.into() },
        AgentEvent::SetUpEnded { command: evil.into(), ok: false, seconds: None },
        call("1", "Bash", &input),
        answer("1", true, evil),
        call("2", evil, "{}"),
        answer("2", false, evil),
        AgentEvent::Line { text: evil.into() },
        AgentEvent::Error { text: evil.into() },
    ];
    for row in folded(Lang::En, &events, 80) {
        assert!(!row.chars().any(dandori_domain::plain::commands), "{row:?}");
    }
}
