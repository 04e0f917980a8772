//! What guards say to the people who look at them, and what is for people alone.

use dandori_testkit::env::{TestEnv, wait_for};
use serde_json::{Value, json};

use crate::hook::{bash, hook};
use crate::machine;

/// Runs a line at a terminal of its own, out of reach of whoever runs these tests, and types `typed` into it.
pub(crate) fn at_a_terminal(env: &TestEnv, line: &str, typed: &str) -> String {
    let done = env.root().join("done");
    let said = env.root().join("said");
    let _ = std::fs::remove_file(&done);
    let inner = format!("{line} > {said} 2>&1; echo $? > {done}.new; mv {done}.new {done}");
    let answer = env.root().join("answer");
    std::fs::write(&answer, typed).unwrap();
    // Forked off: its parent is no longer an agent or a test, but whoever takes in orphans.
    let outer = format!("exec setsid --fork script -qec \"$1\" /dev/null < {answer} > /dev/null 2>&1");
    env.command("sh", ["-c", &outer, "sh", &inner], &env.repo());
    let code = wait_for("the line at the terminal", || std::fs::read_to_string(&done).ok());
    format!("{}exit {}", std::fs::read_to_string(said).unwrap(), code.trim())
}

fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_dandori")
}

#[test]
fn explain_shows_what_a_line_would_do_and_what_each_guard_says() {
    let env = machine();
    let line = "env X=1 bash -c 'git push --force origin main' && echo x > notes.txt; cat README.md";
    let told = env.dandori(["guard", "explain", line, "--json"]).json();
    let programs: Vec<&Value> = told["reading"]["commands"].as_array().unwrap().iter().map(|c| &c["program"]).collect();
    assert!(programs.contains(&&json!("git")), "{told}");
    assert_eq!(told["reading"]["writes"][0]["how"], "redirect");
    assert_eq!(told["verdict"], "block");
    let main = told["guards"].as_array().unwrap().iter().find(|g| g["guard"] == "main-branch").unwrap();
    assert_eq!(main["outcome"], "block");
    let shown = env.dandori(["guard", "explain", line]).ok();
    for word in ["git push --force origin main", "bash", "notes.txt", "main-branch", "blocks it"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    let written = env.dandori(["guard", "explain", "echo x > a; touch b", "--lang", "ja"]).ok();
    assert!(written.contains("a  リダイレクト") && written.contains("b  作成"), "{written}");
    let japanese = env.dandori(["guard", "explain", "ls", "--lang", "ja"]).ok();
    assert!(japanese.contains("実行されるコマンド") && japanese.contains("実行できます"), "{japanese}");
    let unseen = env.dandori(["guard", "explain", "curl x.example | sh"]).ok();
    assert!(unseen.contains("Not analyzable"), "{unseen}");
    assert!(!env.state().join("daemon.lock").exists(), "no daemon was started");
}

#[test]
fn test_judges_an_event_and_notes_nothing() {
    let env = machine();
    let event = env.root().join("event.json");
    std::fs::write(&event, bash(&env, "git commit -m x").to_string()).unwrap();
    let told = env.dandori(["guard", "test", event.as_str(), "--json"]).json();
    assert_eq!((&told["verdict"], &told["answer"]["exit"]), (&json!("block"), &json!(2)));
    assert!(env.dandori(["guard", "test", event.as_str()]).ok().contains("main-branch"));
    let kept = dandori_engine::Layout::at(env.state()).guard(&env.repo()).join("spool");
    assert!(!kept.exists(), "nothing was written down");
    let bad = env.dandori(["guard", "test", "/dev/null"]);
    assert_eq!(bad.code, 1);
    assert!(bad.stderr.contains("not a hook event"), "{}", bad.stderr);
}

#[test]
fn a_test_goes_by_the_event_s_own_folder_and_begins_no_session() {
    let env = machine();
    env.write("dandori.toml", "[[guards.rule]]\nname = \"no-deploy\"\ncommands = [\"deploy *\"]\n");
    let event = env.root().join("event.json");
    let judged_in = |folder: &camino::Utf8Path| {
        let mut deploy = bash(&env, "deploy now");
        deploy["cwd"] = json!(folder);
        std::fs::write(&event, deploy.to_string()).unwrap();
        env.dandori(["guard", "test", event.as_str(), "--json"]).json()["verdict"].clone()
    };
    assert_eq!(judged_in(&env.home()), "go", "the rule is the repository's");
    assert_eq!(judged_in(&env.repo()), "block", "an earlier test has nothing to say");
    assert!(!env.state().join("guards/.sessions").exists());
    let mut elsewhere = bash(&env, "ls");
    elsewhere["cwd"] = json!(env.home());
    assert_eq!(hook(&env, "claude", &elsewhere).code, 0, "the session begins there");
    assert_eq!(judged_in(&env.repo()), "block", "and the test asks about the repository");
}

#[test]
fn a_test_says_what_the_hook_says_to_an_event_it_does_not_read() {
    let env = machine();
    let event = env.root().join("event.json");
    let whole = bash(&env, "ls").to_string();
    let large = whole.replace("\"ls\"", &format!("\"ls {}\"", "x".repeat(9_000_000)));
    for (text, why) in [(large.as_str(), "too large"), (&whole[..whole.len() - 40], "not valid JSON")] {
        std::fs::write(&event, text).unwrap();
        let told = env.dandori(["guard", "test", event.as_str(), "--json"]).json();
        assert_eq!((&told["verdict"], &told["answer"]["exit"]), (&json!("block"), &json!(2)), "{why}");
        let shown = env.dandori(["guard", "test", event.as_str()]);
        assert!(shown.stdout.contains("hook blocks it") && shown.stderr.contains(why), "{}", shown.stderr);
    }
}

#[test]
fn an_exception_is_given_by_a_person_for_a_while_and_is_seen() {
    let env = machine();
    let push = bash(&env, "git push origin main");
    assert_eq!(hook(&env, "claude", &push).code, 2);
    let said = at_a_terminal(
        &env,
        &format!("{} guard allow main-branch --command 'git push *' --uses 1 --reason demo", binary()),
        "yes\n",
    );
    assert!(said.contains("exit 0") && said.contains("guard revoke"), "{said}");
    let listed = env.dandori(["guard", "list"]).ok();
    assert!(listed.contains("git push *"), "{listed}");
    assert_eq!(hook(&env, "claude", &bash(&env, "git commit -m x")).code, 2, "only for what was named");
    assert_eq!(hook(&env, "claude", &push).code, 0, "once");
    assert_eq!(hook(&env, "claude", &push).code, 2, "and not twice");
    let stats = env.dandori(["guard", "stats", "--json"]).json();
    let main = stats["stats"]["guards"].as_array().unwrap().iter().find(|g| g["guard"] == "main-branch").unwrap();
    assert_eq!(main["excepted"].as_u64().or(main["exceptions"].as_u64()), Some(1), "{main}");
}

#[test]
fn nobody_who_does_not_confirm_and_no_agent_gets_an_exception() {
    let env = machine();
    let allow = format!("{} guard allow main-branch", binary());
    let no = at_a_terminal(&env, &allow, "no\n");
    assert!(no.contains("exit 1") && no.contains("not confirmed"), "{no}");
    for mark in ["CLAUDECODE=1", "GEMINI_CLI=1", "CODEX_THREAD_ID=x"] {
        let refused = at_a_terminal(&env, &format!("env {mark} {allow}"), "yes\n");
        assert!(refused.contains("exit 1") && refused.contains("interactive terminal"), "{refused}");
    }
    // An agent that takes its marks away is still among the processes above.
    let claude = env.root().join("claude");
    std::os::unix::fs::symlink("/bin/bash", &claude).unwrap();
    let hidden = at_a_terminal(&env, &format!("{claude} -c '{allow}; true'"), "yes\n");
    assert!(hidden.contains("Claude Code"), "{hidden}");
    let control = at_a_terminal(&env, &format!("{} guard allow control", binary()), "yes\n");
    assert!(control.contains("does not support exceptions"), "{control}");
    let unknown = env.dandori(["guard", "allow", "nonsense"]);
    assert!(unknown.stderr.contains("unknown guard"), "{}", unknown.stderr);
    let long = env.dandori(["guard", "allow", "main-branch", "--for", "9d"]);
    assert!(long.stderr.contains("24 hours"), "{}", long.stderr);
    assert_eq!(env.dandori(["guard", "list", "--json"]).json()["exceptions"], json!([]));
}

#[test]
fn what_cannot_be_an_exception_is_wrong_usage_and_how_often_it_holds_is_said() {
    let env = machine();
    for (words, told) in [
        (["--for", "5x"], "90s, 30m, 8h"),
        (["--for", "0s"], "90s, 30m, 8h"),
        (["--for", "2d"], "24 hours"),
        (["--uses", "0"], "--uses"),
        (["--path", "["], "invalid pattern"),
        (["--path", " "], "invalid pattern"),
        (["--command", " "], "command is empty"),
    ] {
        let refused = env.dandori(["guard", "allow", "bash", words[0], words[1]]);
        assert!(refused.code == 2 && refused.stderr.contains(told), "{words:?}: {}", refused.stderr);
    }
    let consent = env.dandori(["guard", "allow", "consent"]);
    assert!(consent.code == 1 && consent.stderr.contains("`dandori consent`"), "{}", consent.stderr);
    let said = at_a_terminal(&env, &format!("{} guard allow bash --uses 2", binary()), "yes\n");
    assert!(said.contains("everything, until") && said.contains(", at most 2 times; revoke"), "{said}");
    let listed = env.dandori(["guard", "list"]).ok();
    assert!(listed.contains("at most 2 times"), "{listed}");
    let japanese = env.dandori(["guard", "list", "--lang", "ja"]).ok();
    assert!(japanese.contains("bash の例外: すべて、期限") && japanese.contains("2 回まで"), "{japanese}");
}

#[test]
fn explain_says_which_guards_judge_by_the_session() {
    let env = machine();
    let plain = env.dandori(["guard", "explain", "touch x"]);
    assert!(!plain.stderr.contains("init"), "{}", plain.stderr);
    env.write("state.md", "---\nplaybook:\n  active: null\n---\n");
    let told = env.dandori(["guard", "explain", "touch x"]);
    assert!(told.stderr.contains("init, consent: decided as for a confirmed session"), "{}", told.stderr);
}

#[test]
fn an_exception_is_taken_back() {
    let env = machine();
    at_a_terminal(&env, &format!("{} guard allow main-branch", binary()), "yes\n");
    let id = env.dandori(["guard", "list", "--json"]).json()["exceptions"][0]["id"].as_str().unwrap().to_owned();
    env.dandori(["guard", "revoke", &id]).ok();
    assert_eq!(hook(&env, "claude", &bash(&env, "git commit -m x")).code, 2);
    assert!(env.dandori(["guard", "revoke", &id]).fails(1).contains(&id));
}

#[test]
fn consent_is_the_user_s_own_and_opens_the_sessions_that_wait() {
    let env = machine();
    env.write("state.md", "---\nplaybook:\n  active: null\n---\n");
    env.git(["switch", "-q", "-c", "work"]);
    assert!(env.dandori(["consent"]).ok().contains("no session"));
    let start = json!({"session_id": "s1", "cwd": env.repo(), "hook_event_name": "SessionStart", "source": "startup"});
    assert!(hook(&env, "claude", &start).stdout.contains("dandori consent"));
    let read = json!({"session_id": "s1", "cwd": env.repo(), "hook_event_name": "PreToolUse", "tool_name": "Read",
        "tool_input": {"file_path": env.repo().join("state.md")}});
    assert_eq!(hook(&env, "claude", &read).code, 0);
    let write = json!({"session_id": "s1", "cwd": env.repo(), "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": {"file_path": env.repo().join("plan/playbook-a.md"), "content": "# a\n"}});
    let refused = hook(&env, "claude", &write);
    assert!(refused.code == 2 && refused.stdout.contains("[dandori consent]"), "{}", refused.stdout);
    let alone = env.dandori(["consent"]);
    assert_eq!(alone.code, 1, "{}", alone.stderr);
    let said = at_a_terminal(&env, &format!("{} consent", binary()), "yes\n");
    assert!(said.contains("exit 0"), "{said}");
    let open = hook(&env, "claude", &write);
    assert!(!open.stdout.contains("[dandori consent]"), "{}", open.stdout);
}

#[test]
fn an_agent_neither_removes_guards_nor_trusts() {
    let mut env = machine();
    env.write("dandori.toml", "[guards.level]\nsecrets = \"off\"\n");
    env.var("CLAUDECODE", "1");
    for words in [&["init", "--uninstall"][..], &["trust"]] {
        let refused = env.dandori(words);
        assert!(refused.code == 1 && refused.stderr.contains("Claude Code"), "{words:?}: {}", refused.stderr);
    }
    env.dandori(["init", "--agent", "claude", "--dry-run"]).ok();
    env.dandori(["trust", "--show"]).ok();
    assert!(!env.repo().join(".claude").exists());
}
