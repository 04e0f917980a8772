//! `dandori hook` as a client calls it: an event on stdin, an answer on stdout, no daemon.

use std::io::Write;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use dandori_testkit::env::{Ran, TestEnv, wait_until};
use serde_json::{Value, json};

use crate::machine;

/// A call of the shell tool, as Claude Code tells it.
pub(crate) fn bash(env: &TestEnv, command: &str) -> Value {
    json!({"session_id": "s1", "cwd": env.repo(), "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": "t1"})
}

fn write(env: &TestEnv, path: &str) -> Value {
    json!({"session_id": "s1", "cwd": env.repo(), "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": {"file_path": env.repo().join(path), "content": "x"}, "tool_use_id": "t1"})
}

pub(crate) fn hook(env: &TestEnv, agent: &str, event: &Value) -> Ran {
    let mut child = start(env, agent);
    child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
    Ran::of(&child.wait_with_output().unwrap())
}

fn start(env: &TestEnv, agent: &str) -> Child {
    let mut command = env.prepared(&env.repo(), ["hook", agent]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn folder(env: &TestEnv) -> Utf8PathBuf {
    dandori_engine::Layout::at(env.state()).guard(&env.repo())
}

fn records(env: &TestEnv) -> Vec<Value> {
    let mut found = Vec::new();
    for entry in folder(env).join("spool").read_dir_utf8().into_iter().flatten().flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        found.extend(text.lines().filter(|l| !l.is_empty()).filter_map(|l| serde_json::from_str(l).ok()));
    }
    found
}

#[test]
fn an_event_is_answered_logged_and_recorded_without_a_daemon() {
    let env = machine();
    let refused = hook(&env, "claude", &bash(&env, "git commit -m x"));
    assert_eq!(refused.code, 2);
    let answer = refused.json();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny");
    assert!(refused.stderr.contains("git switch -c"), "{}", refused.stderr);
    let passed = hook(&env, "claude", &write(&env, "a.txt"));
    assert_eq!(
        (passed.code, passed.stdout.as_str()),
        (0, ""),
        "the first edit of a plain repository passes in silence"
    );
    let logs = folder(&env).join("logs");
    let timing = std::fs::read_to_string(logs.join("hook-timing.log")).unwrap();
    assert!(timing.lines().count() == 2 && timing.contains("] pre-tool tool=Write elapsed="), "{timing}");
    let blocks = std::fs::read_to_string(logs.join("block-reasons.log")).unwrap();
    assert!(blocks.contains("] BLOCK by main-branch-guard (exit: 2) tool=Bash"), "{blocks}");
    let verdicts: Vec<Value> = records(&env).iter().map(|r| r["verdict"].clone()).collect();
    assert_eq!(verdicts, [json!("block"), json!("go")]);
    assert!(!env.state().join("daemon.lock").exists());
}

#[test]
fn a_session_that_works_by_a_playbook_goes_on_so_when_state_md_is_gone() {
    let env = machine();
    env.git(["switch", "-q", "-c", "work"]);
    env.write("state.md", &dandori_playbook::state_template(false));
    let prompt = |session: &str| json!({"session_id": session, "cwd": env.repo(), "hook_event_name": "UserPromptSubmit", "prompt": "ok"});
    assert_eq!(hook(&env, "claude", &prompt("s1")).code, 0);
    for line in ["rm state.md", "git mv state.md x.md"] {
        let refused = hook(&env, "claude", &bash(&env, line));
        assert!(refused.code == 2 && refused.stderr.contains("playbook.active: null"), "{line}: {}", refused.stderr);
    }
    std::fs::remove_file(env.repo().join("state.md")).unwrap();
    let refused = hook(&env, "claude", &write(&env, "a.txt"));
    assert!(refused.code == 2 && refused.stderr.contains("git restore state.md"), "{}", refused.stderr);
    let state = json!({"session_id": "s1", "cwd": env.repo(), "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": {"file_path": env.repo().join("state.md"), "content": dandori_playbook::state_template(false)}});
    for event in [state, bash(&env, "git stash pop"), bash(&env, "git checkout HEAD -- state.md")] {
        let passed = hook(&env, "claude", &event);
        assert_eq!(passed.code, 0, "{event}: {}", passed.stderr);
    }
    std::fs::create_dir(env.repo().join("state.md")).unwrap();
    let refused = hook(&env, "claude", &write(&env, "a.txt"));
    assert!(refused.code == 2 && refused.stderr.contains("it is a folder"), "{}", refused.stderr);
    assert_eq!(hook(&env, "claude", &bash(&env, "rmdir state.md")).code, 0);
    std::fs::remove_dir(env.repo().join("state.md")).unwrap();
    let mut other = write(&env, "a.txt");
    other["session_id"] = json!("s2");
    assert_eq!(hook(&env, "claude", &other).code, 0, "a session that begins without one is free");
}

#[test]
fn a_configuration_newer_than_its_snapshot_is_compiled_by_the_hook_itself() {
    let env = machine();
    let publish = bash(&env, "npm run deploy");
    assert_eq!(hook(&env, "codex", &publish).code, 0);
    assert!(folder(&env).join("rules.json").exists());
    for (decision, code) in [("block", 2), ("warn", 0), ("block", 2)] {
        let rule = format!(
            "[[guards.rule]]\nname = \"no-deploy\"\ncommands = [\"npm run deploy\"]\ndecision = \"{decision}\"\nmessage = \"ask the team\"\n"
        );
        env.write("dandori.toml", &rule);
        let ran = hook(&env, "codex", &publish);
        assert_eq!(ran.code, code, "{decision}: {}", ran.stdout);
        assert!(ran.stdout.contains("ask the team"), "{}", ran.stdout);
    }
    env.write("dandori.toml", "[guards\nnonsense");
    assert_eq!(hook(&env, "claude", &bash(&env, "git commit -m x")).code, 2, "a broken file takes no guard away");
    let start = json!({"session_id": "s2", "cwd": env.repo(), "hook_event_name": "SessionStart", "source": "startup"});
    assert!(hook(&env, "claude", &start).stdout.contains("dandori.toml"), "and the user is told");
}

#[test]
fn a_refusal_says_which_file_could_not_be_used_and_a_pass_does_not() {
    let env = machine();
    env.write_user_config("[guards]\nprofil = \"safety\"\n");
    env.write("dandori.toml", "[guards\n");
    let refused = hook(&env, "claude", &bash(&env, "git commit -m x"));
    assert_eq!(refused.code, 2);
    for part in ["config.toml: all guards use their defaults", "dandori.toml; the guards ignore it"] {
        assert!(refused.stderr.contains(part) && refused.stdout.contains(part), "{}", refused.stderr);
    }
    let passed = hook(&env, "claude", &bash(&env, "ls"));
    assert_eq!((passed.code, passed.stdout.as_str()), (0, ""), "not at every tool");
}

#[test]
fn what_was_denied_as_a_write_stays_denied_as_a_line() {
    let env = machine();
    let rule = "[[guards.rule]]\nname = \"frozen\"\ntools = [\"Write\"]\npaths = [\"api.txt\"]\ndecision = \"block\"\n";
    env.write("dandori.toml", rule);
    let line = bash(&env, "echo x > api.txt");
    assert_eq!(hook(&env, "claude", &line).code, 0, "the rule is about the editing tool alone");
    assert_eq!(hook(&env, "claude", &write(&env, "api.txt")).code, 2);
    let again = hook(&env, "claude", &line);
    assert!(again.code == 2 && again.stdout.contains("frozen"), "{}", again.stdout);
    let mut other = line;
    other["session_id"] = json!("another");
    assert_eq!(hook(&env, "claude", &other).code, 0, "another session was denied nothing");
}

#[test]
fn an_agent_that_goes_elsewhere_stays_under_the_rules_it_began_with() {
    let env = machine();
    env.write(
        "dandori.toml",
        "[[guards.rule]]\nname = \"no-deploy\"\ncommands = [\"deploy *\"]\ndecision = \"block\"\n",
    );
    let mut event = bash(&env, "deploy now");
    for agent in ["codex", "claude", "gemini"] {
        if agent == "gemini" {
            event["hook_event_name"] = json!("BeforeTool");
            event["tool_name"] = json!("run_shell_command");
        }
        // Gemini shows its user the reason only where the hook itself ends well.
        let code = if agent == "gemini" { 0 } else { 2 };
        for cwd in [env.repo(), "/tmp".into()] {
            event["cwd"] = json!(cwd);
            let ran = hook(&env, agent, &event);
            assert!(ran.code == code && ran.stdout.contains("\"decision\""), "{agent} in {cwd}: {}", ran.stdout);
        }
    }
}

#[test]
fn hooks_at_once_and_hooks_that_are_killed_leave_every_file_whole() {
    let env = machine();
    env.write("state.md", "---\nplaybook:\n  active: null\n---\n");
    env.write("CLAUDE.md", "be kind\n");
    let start_event =
        json!({"session_id": "s1", "cwd": env.repo(), "hook_event_name": "SessionStart", "source": "startup"});
    assert_eq!(hook(&env, "claude", &start_event).code, 0);
    let before = records(&env).len();
    std::thread::scope(|scope| {
        for n in 0..16 {
            let env = &env;
            scope.spawn(move || {
                for round in 0..6 {
                    let ran = hook(env, "claude", &write(env, &format!("src/f{n}-{round}.rs")));
                    assert_eq!(ran.code, 2, "{}", ran.stdout);
                }
            });
        }
    });
    assert_eq!(records(&env).len() - before, 16 * 6, "every event has its record");
    // Killed at any moment: some before they began, some after they were done.
    for round in 0..60_u64 {
        let mut child = start(&env, "claude");
        child.stdin.take().unwrap().write_all(write(&env, "src/k.rs").to_string().as_bytes()).unwrap();
        let until = Instant::now() + Duration::from_micros(round * 150);
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let ran = hook(&env, "claude", &write(&env, "src/after.rs"));
    assert!(ran.code == 2 && ran.stdout.contains("[dandori init]"), "the marks still stand: {}", ran.stdout);
    for entry in folder(&env).join("sessions/claude-s1").read_dir_utf8().unwrap() {
        let path = entry.unwrap().path().to_owned();
        let name = path.file_name().unwrap().to_owned();
        if name.starts_with('.') || name == "denied" || path.is_dir() {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(serde_json::from_str::<Value>(&text).is_ok(), "{path}: {text:?}");
    }
    let snapshot = std::fs::read_to_string(folder(&env).join("rules.json")).unwrap();
    assert!(serde_json::from_str::<Value>(&snapshot).is_ok());
}

#[test]
fn an_event_that_never_ends_is_answered_before_the_client_gives_up() {
    let env = machine();
    let mut child = start(&env, "claude");
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"hook_event_name\":\"PreToolUse\"").unwrap();
    let begun = Instant::now();
    let ran = Ran::of(&child.wait_with_output().unwrap());
    drop(stdin);
    assert!(begun.elapsed() < Duration::from_secs(14), "{:?}", begun.elapsed());
    assert!(ran.stdout.contains("timed out"), "{}", ran.stdout);
}

#[test]
fn a_program_of_the_user_s_own_decides_and_its_failure_follows_its_policy() {
    let env = machine();
    let script = |code: &str| format!("run = [\"sh\", \"-c\", \"{code}\"]\n");
    let rule = |code: &str, policy: &str| {
        format!(
            "[[guards.rule]]\nname = \"mine\"\ntools = [\"Bash\"]\ndecision = \"block\"\non_error = \"{policy}\"\ntimeout = \"1s\"\n{}",
            script(code)
        )
    };
    let line = bash(&env, "ls");
    for (code, policy, exit, said) in [
        ("echo too loud >&2; exit 2", "open", 2, "too loud"),
        ("exit 0", "closed", 0, ""),
        ("exit 7", "open", 0, "exit 7\""),
        ("exit 7", "closed", 2, "exit 7"),
        ("sleep 60", "closed", 2, "1 s"),
        ("grep -q tool_name", "open", 0, ""),
    ] {
        env.write_user_config(&rule(code, policy));
        let ran = hook(&env, "claude", &line);
        assert_eq!(ran.code, exit, "{code} {policy}: {} {}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains(said), "{code} {policy}: {}", ran.stdout);
    }
    env.write_user_config("[[guards.rule]]\nname = \"mine\"\ntools = [\"Bash\"]\nrun = [\"./tools/none\"]\n");
    let ran = hook(&env, "claude", &line);
    assert!(ran.stdout.contains("cannot start ./tools/none: No such file"), "{}", ran.stdout);
}

#[test]
fn an_event_that_is_cut_off_is_refused_when_it_is_about_a_tool_and_in_the_user_s_language() {
    let mut env = machine();
    let whole = bash(&env, "git commit -m x").to_string();
    let cut = |env: &TestEnv, text: &str| {
        let mut child = start(env, "claude");
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        Ran::of(&child.wait_with_output().unwrap())
    };
    let half = &whole[..whole.len() - 20];
    let refused = cut(&env, half);
    assert_eq!(refused.code, 2, "{}", refused.stdout);
    assert!(
        refused.stderr.starts_with("dandori hook: not checked: the event on stdin is not valid JSON"),
        "{}",
        refused.stderr
    );
    assert_eq!(cut(&env, &half.replace("\":", "\" : ")).code, 2, "however it is spaced");
    assert_eq!(cut(&env, &half.replace("PreToolUse", "PostToolUse")).code, 0);
    let quoted = json!({"hook_event_name": "PostToolUse", "x": "\"hook_event_name\":\"PreToolUse\""}).to_string();
    assert_eq!(cut(&env, &quoted[..quoted.len() - 1]).code, 0, "what a text says is no field");
    env.var("LC_ALL", "ja_JP.UTF-8");
    let japanese = cut(&env, half);
    assert!(japanese.code == 2 && japanese.stderr.contains("確認できませんでした"), "{}", japanese.stderr);
    assert!(!japanese.stderr.contains("not checked"), "one language: {}", japanese.stderr);
}

#[test]
fn what_is_no_event_passes_with_a_word_and_what_is_large_is_judged() {
    let env = machine();
    for garbage in ["", "garbage", "[]", "{\"hook_event_name\": 3}"] {
        let mut child = start(&env, "claude");
        child.stdin.take().unwrap().write_all(garbage.as_bytes()).unwrap();
        let ran = Ran::of(&child.wait_with_output().unwrap());
        assert_eq!(ran.code, 0, "{garbage}: {}", ran.stdout);
    }
    let mut large = write(&env, ".env");
    large["tool_input"]["content"] = json!("x".repeat(5_000_000));
    assert_eq!(hook(&env, "claude", &large).code, 2);
    let mut harmless = write(&env, "a.txt");
    harmless["tool_input"]["content"] = json!("x".repeat(9_000_000));
    let refused = hook(&env, "claude", &harmless);
    assert!(refused.code == 2 && refused.stdout.contains("too large"), "what cannot be read is not passed");
}

/// The call that `init` has written, with an environment of the client's own.
fn installed(env: &TestEnv, vars: &[(&str, String)], event: &Value) -> Ran {
    let settings = std::fs::read_to_string(env.repo().join(".claude/settings.local.json")).unwrap();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    let args = &settings["hooks"]["PreToolUse"][0]["hooks"][0]["args"];
    let args: Vec<&str> = args.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let mut command = env.prepared(&env.repo(), args);
    command.envs(vars.iter().map(|(name, value)| (name, value)));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
    Ran::of(&child.wait_with_output().unwrap())
}

#[test]
fn what_the_environment_of_a_client_says_neither_switches_guards_off_nor_moves_them() {
    let env = machine();
    env.git(["switch", "--quiet", "-c", "work"]);
    let _ = env.dandori(["init", "--agent", "claude"]).ok();
    let evil = env.root().join("evil.toml");
    std::fs::write(&evil, "[guards.level]\nsecrets = \"off\"\nbash = \"off\"\n").unwrap();
    let elsewhere = env.root().join("elsewhere");
    let xdg = elsewhere.join("xdg/dandori");
    std::fs::create_dir_all(&xdg).unwrap();
    std::fs::copy(&evil, xdg.join("config.toml")).unwrap();
    let secret = env.home().join(".aws/credentials");
    std::fs::create_dir_all(secret.parent().unwrap()).unwrap();
    std::fs::write(&secret, "key").unwrap();
    for vars in [
        vec![("DANDORI_CONFIG", evil.to_string())],
        vec![("DANDORI_STATE_DIR", elsewhere.to_string())],
        vec![("XDG_CONFIG_HOME", elsewhere.join("xdg").to_string())],
        vec![("XDG_STATE_HOME", elsewhere.to_string()), ("HOME", elsewhere.to_string())],
        vec![("DANDORI_RUN", "run_01j9zq8m3k5v7w2x4y6z8a0bcd".to_owned())],
    ] {
        for line in ["echo x > prod.key".to_owned(), format!("cat {secret}")] {
            let ran = installed(&env, &vars, &bash(&env, &line));
            assert!(ran.code == 2 && ran.stderr.contains("[dandori secrets]"), "{vars:?}: {} {}", ran.code, ran.stderr);
        }
    }
    let elsewhere: Vec<_> = elsewhere.read_dir_utf8().unwrap().flatten().map(|e| e.file_name().to_owned()).collect();
    assert_eq!(elsewhere, ["xdg"], "nothing is written down there");
    assert_eq!(records(&env).len(), 10, "but where it was to be");
}

#[test]
fn a_hook_that_was_told_no_places_goes_by_the_environment_as_before() {
    let mut env = machine();
    let config = env.root().join("mine.toml");
    std::fs::write(&config, "[guards.level]\nsecrets = \"off\"\n").unwrap();
    env.git(["switch", "--quiet", "-c", "work"]);
    env.var("DANDORI_CONFIG", config.to_string());
    let ran = hook(&env, "claude", &bash(&env, "echo x > prod.key"));
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
}

fn event(env: &TestEnv, name: &str, more: &Value) -> Value {
    let mut event = json!({"session_id": "s1", "cwd": env.repo(), "hook_event_name": name});
    for (key, value) in more.as_object().unwrap() {
        event[key] = value.clone();
    }
    event
}

#[test]
fn a_hook_that_is_killed_is_missed_by_the_next_event_and_by_the_end_of_the_turn() {
    let env = machine();
    env.git(["switch", "--quiet", "-c", "work"]);
    let call = |id: &str| json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": id});
    let done = |id: &str| {
        let mut done = call(id);
        done["tool_response"] = json!({"stdout": ""});
        done
    };
    let _ = hook(&env, "claude", &event(&env, "SessionStart", &json!({"source": "startup"}))).ok();
    for id in ["t1", "t2"] {
        assert_eq!(hook(&env, "claude", &event(&env, "PreToolUse", &call(id))).stdout, "");
        assert_eq!(hook(&env, "claude", &event(&env, "PostToolUse", &done(id))).stdout, "", "all is well");
    }

    // Killed while it waits for a check of the project's own.
    let check = env.root().join("check.sh");
    let mark = env.root().join("started");
    std::fs::write(&check, format!("#!/bin/sh\ntouch {mark}\nexec sleep 60\n")).unwrap();
    std::fs::set_permissions(&check, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let config = env.home().join(".config/dandori/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    let rule =
        format!("[[guards.rule]]\nname = \"slow\"\ntools = [\"Bash\"]\nrun = [\"{check}\"]\ntimeout = \"50s\"\n");
    std::fs::write(&config, rule).unwrap();
    let mut child = start(&env, "claude");
    child.stdin.take().unwrap().write_all(event(&env, "PreToolUse", &call("t3")).to_string().as_bytes()).unwrap();
    wait_until("the check is started", || mark.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::remove_file(&config).unwrap();

    let after = hook(&env, "claude", &event(&env, "PostToolUse", &done("t3"))).json();
    for said in [&after["systemMessage"], &after["hookSpecificOutput"]["additionalContext"]] {
        let said = said.as_str().unwrap();
        assert!(said.contains("pre-tool Bash") && said.contains("without being checked"), "{said}");
    }
    let refused = hook(&env, "claude", &event(&env, "PostToolUse", &done("t4")));
    assert!(refused.stdout.contains("without being checked"), "killed before it had begun: {}", refused.stdout);
    assert_eq!(hook(&env, "claude", &event(&env, "Stop", &json!({"stop_hook_active": false}))).stdout, "", "told once");

    let begun = folder(&env).join("sessions/claude-s1/begun");
    std::fs::write(begun.join("4194999~pre-tool~Write"), "").unwrap();
    let stop = hook(&env, "claude", &event(&env, "Stop", &json!({"stop_hook_active": false}))).json();
    assert!(stop["systemMessage"].as_str().unwrap().contains("pre-tool Write"), "{stop}");
    std::fs::write(begun.join("4194999~pre-tool~Edit"), "").unwrap();
    let refused = hook(&env, "claude", &event(&env, "PreToolUse", &bash(&env, "git push --force origin work")));
    assert!(refused.code == 2 && refused.stderr.contains("pre-tool Edit"), "with a refusal, too: {}", refused.stderr);
    let outcomes = records(&env).into_iter().flat_map(|r| r["steps"].as_array().cloned().unwrap_or_default());
    let told = outcomes.filter(|step| step[0] == "unjudged" && step[1] == "warn").count();
    assert_eq!(told, 4, "and each is in the records");
    let log = std::fs::read_to_string(folder(&env).join("logs/session.log")).unwrap();
    assert!(log.contains("unjudged killed pre-tool Bash") && log.contains("unjudged never-asked"), "{log}");
}
