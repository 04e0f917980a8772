//! Runs one can watch: at a terminal what the agent says and does, live; in a pipe a line per state.

use dandori_testkit::env::{TestEnv, wait_until};
use dandori_testkit::tmux::Tmux;
use unicode_width::UnicodeWidthStr;

use crate::{machine, worktree_of};

/// Says something, works until `go` is in its worktree, changes two files, and says what it did.
const AGENT: &str = "exec:echo Looking around in 日本語のリポジトリ; echo second line; \
    while [ ! -e go ]; do sleep 0.05; done; rm go; echo more >> README.md; echo new > new.txt; echo All files greet now.";

/// Works until `go` is in its worktree.
const UNTIL_TOLD: &str = "while [ ! -e go ]; do sleep 0.05; done; rm go";

fn let_go(env: &TestEnv, task: &str, run: usize) {
    std::fs::write(worktree_of(env, task, run).join("go"), "").unwrap();
}

/// A screen without what is different each time.
fn plain(env: &TestEnv, screen: &str) -> String {
    let shown = env.dandori(["task", "show", "T-1", "--json"]).json();
    let mut text = screen.to_owned();
    for (i, run) in shown["runs"].as_array().unwrap().iter().enumerate() {
        for (field, name) in [("worktree", "WORKTREE"), ("run", "KEY"), ("commit", "COMMIT")] {
            if let Some(value) = run[field].as_str() {
                let value = if field == "commit" { &value[..7] } else { value };
                text = text.replace(value, &format!("<{name}{}>", i + 1));
            }
        }
    }
    text
}

/// What is below a line that begins with this.
fn below<'s>(screen: &'s str, start: &str) -> &'s str {
    let at = screen.find(start).unwrap_or_else(|| panic!("{start:?} is not in:\n{screen}"));
    &screen[at..]
}

fn spinning(screen: &str) -> usize {
    screen.chars().filter(|c| ('\u{2800}'..='\u{28ff}').contains(c)).count()
}

#[test]
fn what_the_agent_says_is_there_while_it_works_and_how_it_ended_afterwards() {
    for columns in [40, 80, 140] {
        let env = machine();
        let terminal = Tmux::start(&env, columns, 40, &[]);
        terminal.begin(&format!("dandori run 'Greet' --agent '{AGENT}'"));
        let working = terminal.wait_for("second line");
        terminal.wait_for("RUNNING  second line");
        assert_eq!(spinning(&terminal.all()), 1, "one line moves at {columns}:\n{working}");
        let_go(&env, "T-1", 0);
        let ended = terminal.wait_for("`dandori pr create T-1`\n❯");
        assert_eq!(spinning(&ended), 0, "nothing moves any more at {columns}:\n{ended}");
        for line in ended.lines() {
            assert!(line.width() <= usize::from(columns), "{line:?} at {columns}");
        }
        let told = plain(&env, below(&ended, "T-1 Greet"));
        for words in [
            "  Looking around in 日本語の",
            "  second line\n",
            "  All files greet now.\n<KEY1>  SUCCEEDED   exec:echo",
            "\n  +1 −0  README.md\n  +1 −0  new.txt\n  2 files, +2 −0 · ",
            "\n  pushed <COMMIT1> to dandori/<KEY1>\n",
            "next: `dandori task diff T-1`\n      `dandori pr create T-1`\n❯",
        ] {
            assert!(told.contains(words), "{words:?} at {columns}:\n{told}");
        }
        assert_eq!(told.matches("All files greet now.").count(), 1, "its last words stand once:\n{told}");
    }
}

#[test]
fn every_command_that_is_shown_as_next_works_in_that_state() {
    let env = machine();
    let next = |said: &str| -> Vec<String> {
        let quoted = below(said, "next:").split('`').skip(1).step_by(2);
        quoted.map(|command| command.strip_prefix("dandori ").unwrap().to_owned()).collect()
    };
    let typed = |command: &str| {
        let ran = env.dandori_in(&env.repo(), command.split(' ').map(|word| word.trim_matches('"')));
        assert_ne!(ran.code, 2, "{command}: {ran:?}");
        ran
    };
    let said = env.dandori(["run", "a", "--agent", "exec:echo x > x.txt"]);
    assert_eq!(next(&said.stderr), ["task diff T-1", "pr create T-1"]);
    for command in next(&said.stderr) {
        let _ = typed(&command).ok();
    }
    let said = env.dandori(["run", "b", "--agent", "exec:true"]);
    assert_eq!(next(&said.stderr), ["task follow-up T-2 \"…\""]);
    let _ = typed(&next(&said.stderr)[0]).ok();
    let said = env.dandori(["run", "c", "--agent", "exec:echo broken; exit 3"]);
    let commands = next(&said.stderr);
    assert!(
        matches!(commands.as_slice(), [log, retry] if log.starts_with("task log ") && retry.starts_with("task retry "))
    );
    assert!(typed(&commands[0]).ok().contains("broken"));
    assert_eq!(typed(&commands[1]).code, 1, "it fails again, and says so");
    env.run_json(["d", "--agent", "exec:echo kept > kept.txt; sleep 1000", "--detach"]);
    wait_until("it works", || worktree_of(&env, "T-4", 0).join("kept.txt").exists());
    let said = env.dandori(["task", "cancel", "T-4"]);
    let commands = next(&said.stderr);
    assert!(typed(&commands[0]).ok().contains("+kept"), "{commands:?}");
    let _ = typed(&commands[1]).ok();
    let said = env.dandori(["run", "e", "--agents", "exec:echo 1 > a,exec:echo 2 > a"]);
    assert_eq!(next(&said.stderr), ["task compare T-5"]);
    let _ = typed("task compare T-5").ok();
}

#[test]
fn several_runs_have_a_line_each_that_stops_when_they_do() {
    let env = machine();
    env.write_user_config("[runs]\nmax_parallel = 3\nmin_free_memory = \"16MiB\"\n");
    for columns in [40, 100] {
        let terminal = Tmux::start(&env, columns, 40, &[]);
        let waiting = "exec:echo wait\"\"ing; while [ ! -e go ]; do sleep 0.05; done";
        terminal.begin(&format!("dandori run Both --agents 'exec:echo x > x.txt,exec:exit 3,{waiting}'"));
        let screen = terminal.wait_for("waiting");
        let task = screen.lines().find(|line| line.ends_with(" Both")).unwrap().split(' ').next().unwrap().to_owned();
        wait_until("two have ended", || {
            let screen = terminal.all();
            screen.contains("✓ ") && screen.contains("✗ ") && spinning(&screen) == 1
        });
        let rows = terminal.all();
        let rows = below(&rows, " Both\n");
        let ended: Vec<&str> = rows.lines().filter(|line| line.contains("SUCCEEDED")).collect();
        assert!(matches!(ended.as_slice(), [row] if row.ends_with("+1 −0")), "{columns}: {rows}");
        assert_eq!(rows.lines().filter(|line| line.contains("  ")).count(), 3, "{columns}: {rows}");
        let_go(&env, &task, 2);
        let ended = terminal.wait_for("next:");
        assert_eq!(spinning(&ended), 0, "{ended}");
        assert!(below(&ended, "next:").starts_with(&format!("next: `dandori task compare {task}`\n")), "{ended}");
    }
}

#[test]
fn quiet_leaves_the_agents_words_out() {
    let env = machine();
    let terminal = Tmux::start(&env, 80, 30, &[]);
    terminal.begin(&format!("dandori run Greet -q --agent '{AGENT}'"));
    terminal.wait_for("RUNNING");
    let_go(&env, "T-1", 0);
    let ended = terminal.wait_for("next:");
    let told = below(&ended, "T-1 Greet");
    assert!(!told.contains("second line"), "{told}");
    assert!(told.contains("All files greet now."), "how it ended is told all the same: {told}");
}

#[test]
fn in_a_pipe_nothing_moves_and_states_have_a_line_each() {
    let env = machine();
    let ran = env.dandori(["run", "Greet", "--agent", "exec:echo lo''ud; echo x > x.txt"]);
    assert!(!ran.stderr.contains('\u{1b}') && !ran.stderr.contains('\r'), "{ran:?}");
    assert!(!ran.stderr.contains("loud"), "{ran:?}");
    let states: Vec<&str> = ran.stderr.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    for state in ["PENDING", "RUNNING", "STAGING", "COMMITTING", "PUSHING"] {
        assert!(states.contains(&state), "{state}: {ran:?}");
    }
    // The last is told with what came of it, and only there.
    assert!(!states.contains(&"SUCCEEDED") && ran.stdout.matches("SUCCEEDED").count() == 1, "{ran:?}");
}

#[test]
fn set_up_is_watched_and_stays_in_the_log_also_when_it_fails() {
    let env = machine();
    let slow = "while [ ! -e go ]; do sleep 0.05; done; rm go; echo audited >&2";
    let config = |last: &str| {
        format!("[worktrees]\npool = 0\nset_up = [\"echo added 7 packages; {slow}\", \"echo twice; {last}\"]\n")
    };
    env.write_user_config(&config("true"));
    let terminal = Tmux::start(&env, 80, 30, &[]);
    terminal.begin("dandori run Greet --agent 'exec:echo hello from the agent'");
    let pending = terminal.wait_for(" · added 7 packages");
    assert!(pending.contains("PENDING  setup: echo added 7"), "{pending}");
    let live = env.prepared(&env.repo(), ["task", "log", "T-1"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let_go(&env, "T-1", 0);
    let ended = terminal.wait_for("next:");
    assert!(below(&ended, "T-1 Greet").contains("  setup: echo twice; true ✓ "), "{ended}");
    let told = |text: &str| -> Vec<String> {
        text.lines().map(|line| if line.starts_with("  ✓") { "  ✓".to_owned() } else { line.to_owned() }).collect()
    };
    let wanted = [
        &format!("▸ setup: echo added 7 packages; {slow}"),
        "    added 7 packages",
        "    audited",
        "  ✓",
        "▸ setup: echo twice; true",
        "    twice",
        "  ✓",
        "hello from the agent",
    ];
    let live = live.wait_with_output().unwrap();
    assert_eq!(told(&String::from_utf8_lossy(&live.stdout)), wanted, "another terminal sees it live");
    assert_eq!(told(&env.dandori(["task", "log", "T-1"]).ok()), wanted, "and afterwards");
    // A set-up command that fails ends the run before its agent.
    let _ = env.dandori(["daemon", "stop"]).ok();
    env.write_user_config(&config("echo no such package >&2; exit 4"));
    terminal.begin("dandori run Again --agent 'exec:echo never'");
    terminal.wait_for("PENDING  setup: echo added 7");
    let_go(&env, "T-2", 0);
    let ended = terminal.wait_for("next:");
    assert!(below(&ended, "T-2 Again").contains("exit 4 ✗"), "{ended}");
    let log = env.dandori(["task", "log", "T-2"]).ok();
    assert!(log.contains("\n    twice\n    no such package\n  ✗ "), "{log}");
    let events = env.dandori(["task", "log", "T-2", "--json"]).ok();
    let first: serde_json::Value = serde_json::from_str(events.lines().next().unwrap()).unwrap();
    assert_eq!(first["type"], "set_up_began", "{events}");
}

#[test]
fn waiting_for_its_turn_is_told_by_its_place() {
    let env = machine();
    env.write_user_config("[runs]\nmax_parallel = 1\n");
    env.run_json(["hold", "--agent", "exec:echo up; while [ ! -e go ]; do sleep 0.05; done", "--detach"]);
    wait_until("it runs", || env.dandori(["task", "log", "1", "--raw"]).stdout.contains("up"));
    env.run_json(["second", "--agent", "exec:true", "--detach"]);
    let terminal = Tmux::start(&env, 60, 30, &[]);
    terminal.begin("dandori run Third --agent exec:true");
    terminal.wait_for("PENDING  queued: 2nd");
    terminal.press("C-c");
    terminal.wait_for("Detached; T-3 is still running");
    terminal.begin("dandori task show T-3 --lang ja");
    terminal.wait_for("順番待ち: 2 番目");
}

#[test]
fn ctrl_c_leaves_the_run_at_work_and_the_screen_clean() {
    let env = machine();
    let terminal = Tmux::start(&env, 60, 30, &[]);
    terminal.begin(&format!("dandori run Greet --agent '{AGENT}'; echo code $?"));
    terminal.wait_for("RUNNING  second line");
    terminal.press("C-c");
    let left = terminal.wait_for("code 130");
    assert_eq!(spinning(&left), 0, "{left}");
    let told = below(&left, "Detached");
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(
        lines[..3],
        [
            "Detached; T-1 is still running",
            "  `dandori task show T-1` shows its state",
            "  `dandori task cancel T-1` cancels it",
        ]
    );
    assert!(env.dandori(["task", "show", "T-1"]).ok().contains("RUNNING"));
    let _ = env.dandori(["task", "cancel", "T-1"]).ok();
}

#[test]
fn a_screen_that_is_resized_is_not_garbled() {
    let env = machine();
    let terminal = Tmux::start(&env, 120, 30, &[]);
    // Long enough that each narrower screen has to break it.
    let long = "x-".repeat(45);
    terminal.begin(&format!("dandori run Greet --agent 'exec:echo {long}; {UNTIL_TOLD}'"));
    terminal.wait_for(&format!("RUNNING  {long}"));
    for columns in [44, 100, 61, 140, 40] {
        terminal.resize(columns);
        // Drawn at the new width: twice, so that what a first drawing left behind would be seen.
        let now = terminal.all();
        wait_until("it is drawn anew", || terminal.all() != now);
        wait_until("one line moves", || spinning(&terminal.all()) == 1);
        let screen = terminal.all();
        assert_eq!(screen.matches("RUNNING").count(), 1, "at {columns}:\n{screen}");
        let said = below(&screen, "T-1 Greet").matches("  x-x-").count();
        assert_eq!(said, 2, "at {columns}:\n{screen}");
    }
    let_go(&env, "T-1", 0);
    assert_eq!(terminal.wait_for("next:").matches("SUCCEEDED").count(), 1);
}

#[test]
fn a_daemon_that_goes_away_and_comes_back_is_survived() {
    let env = machine();
    let terminal = Tmux::start(&env, 80, 30, &[]);
    terminal.begin(&format!("dandori run Greet --agent '{AGENT}'"));
    terminal.wait_for("RUNNING  second line");
    env.kill_daemon();
    terminal.wait_for("the daemon stopped");
    let_go(&env, "T-1", 0);
    let ended = terminal.wait_for("next:");
    let told = below(&ended, "T-1 Greet");
    assert_eq!(told.matches("second line").count(), 1, "what was said before is not said again:\n{told}");
    assert!(told.contains("All files greet now."), "{told}");
}

/// A recorded stream of a real client, folded.
fn folded(client: dandori_domain::Client, stream: &str, cells: usize) -> String {
    let path = format!("{}/../agent/tests/streams/{stream}", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(path).unwrap();
    let name = dandori_domain::AgentName::Client(client);
    let mut reader = dandori_agent::Reader::new(&name, None, dandori_domain::Usage::default());
    let mut fold = dandori_text::Fold::new(dandori_text::Lang::En, Some("/repo"));
    let mut pieces: Vec<_> = reader.feed(&bytes).iter().flat_map(|event| fold.of(event)).collect();
    pieces.extend(fold.end());
    pieces.iter().flat_map(|piece| piece.rows(cells)).collect::<Vec<_>>().join("\n")
}

#[test]
fn streams_of_real_clients_fold_to_a_few_lines() {
    use dandori_domain::Client::{Claude, Codex, Gemini};
    insta::assert_snapshot!(folded(Claude, "claude-success.jsonl", 60), @r#"
    ● I will write a file.
      Write a.txt (1 line)
      $ git status --short && echo ok
        ✓ ok
    "#);
    insta::assert_snapshot!(folded(Codex, "codex-success.jsonl", 60), @r#"
    ● Looking.
      $ git status --short; echo hi > b.txt; cat b.txt
        ✓ hi
      Edit README.md, Add a.txt
      $ git add -A && git commit -qm work && git log --oneline…
        ✗ fatal: Unable to create '.git/index.lock': Read-only…
    "#);
    insta::assert_snapshot!(folded(Gemini, "gemini-success.jsonl", 60), @r#"
    ● I will write.
      Write a.txt (1 line)
      $ git status --short; echo hi
        · hi
      Read README.md
      no_such_tool {}
        ✗ Tool "no_such_tool" not found. Did you mean one of: "…
      $ exit 3
        ✗ exit 3
    "#);
    insta::assert_snapshot!(folded(Claude, "claude-subagent.jsonl", 60), @r#"
    $ echo in-sub
      ✓ in-sub
    Subagent: d
    "#);
}
