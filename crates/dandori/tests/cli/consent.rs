//! Whose word opens a session: the user's, typed into it, and nobody's else.

use dandori_testkit::env::TestEnv;
use serde_json::{Value, json};

use crate::hook::hook;
use crate::machine;

fn disciplined() -> TestEnv {
    let env = machine();
    env.git(["switch", "-q", "-c", "work"]);
    env.write("state.md", "---\nplaybook:\n  active: null\n---\n");
    env.write_user_config("[guards]\nrequired_reads = []\n");
    // What the kernel shows of a client is how it was called.
    std::os::unix::fs::symlink("/bin/bash", env.root().join("claude")).unwrap();
    env
}

fn event(env: &TestEnv, name: &str, fields: &Value) -> Value {
    let mut all = json!({"session_id": "s1", "cwd": env.repo(), "hook_event_name": name});
    for (key, value) in fields.as_object().unwrap() {
        all[key] = value.clone();
    }
    all
}

fn ok(env: &TestEnv) -> Value {
    event(env, "UserPromptSubmit", &json!({"prompt": "ok"}))
}

/// The event comes from a client that was started by `line`, in which `CLIENT` stands for it.
fn from_client(env: &TestEnv, line: &str, event: &Value) {
    let path = env.root().join("event.json");
    std::fs::write(&path, event.to_string()).unwrap();
    let hook = format!("{} hook claude < {path}; true", env!("CARGO_BIN_EXE_dandori"));
    let inner = env.root().join("inner.sh");
    std::fs::write(&inner, hook).unwrap();
    let line = line.replace("CLIENT", env.root().join("claude").as_str()).replace("HOOK", inner.as_str());
    env.command("bash", ["-c", &format!("{line}; true")], &env.repo());
}

fn is_open(env: &TestEnv) -> bool {
    let input = json!({"file_path": env.repo().join("plan/playbook-a.md"), "content": "# a\n"});
    let write = event(env, "PreToolUse", &json!({"tool_name": "Write", "tool_input": input}));
    !hook(env, "claude", &write).stdout.contains("[dandori consent]")
}

fn start(env: &TestEnv, source: &str) {
    let _ = hook(env, "claude", &event(env, "SessionStart", &json!({"source": source})));
}

#[test]
fn a_yes_is_the_user_s_only_when_the_user_has_typed_it() {
    let env = disciplined();
    start(&env, "startup");
    assert!(!is_open(&env));
    from_client(&env, "CLIENT -p HOOK", &ok(&env));
    assert!(!is_open(&env), "a prompt on the command line");
    from_client(&env, "CLAUDECODE=1 CLIENT HOOK", &ok(&env));
    assert!(!is_open(&env), "a client that an agent has started");
    from_client(&env, "CLIENT -c \"bash -c \\\"CLIENT HOOK; true\\\"; true\"", &ok(&env));
    assert!(!is_open(&env), "one that hides whose it is");
    from_client(&env, "CLIENT HOOK", &ok(&env));
    assert!(is_open(&env), "the user's own");
}

#[test]
fn what_was_not_confirmed_is_not_confirmed_after_a_resume_either() {
    let env = disciplined();
    start(&env, "startup");
    let end = event(&env, "SessionEnd", &json!({"reason": "other"}));
    let _ = hook(&env, "claude", &end);
    assert!(!is_open(&env), "with its marks gone");
    start(&env, "resume");
    assert!(!is_open(&env));
    let _ = hook(&env, "claude", &ok(&env));
    start(&env, "compact");
    assert!(is_open(&env), "a compaction asks nobody again");
    let _ = hook(&env, "claude", &end);
    start(&env, "resume");
    assert!(!is_open(&env), "what was confirmed belonged to the session that ended");
}

#[test]
fn the_end_of_an_agent_s_own_client_leaves_the_session_s_marks_alone() {
    let env = disciplined();
    start(&env, "startup");
    let _ = hook(&env, "claude", &ok(&env));
    from_client(&env, "CLAUDECODE=1 CLIENT HOOK", &event(&env, "SessionEnd", &json!({"reason": "other"})));
    assert!(is_open(&env));
    from_client(&env, "CLIENT HOOK", &event(&env, "SessionEnd", &json!({"reason": "other"})));
    assert!(!is_open(&env), "the session's own end takes them along");
}

#[test]
fn an_agent_does_not_go_on_with_a_session() {
    let env = disciplined();
    let _ = hook(&env, "claude", &ok(&env));
    for line in ["claude -c -p ok", "claude --resume s1 -p ok", "codex exec resume --last ok", "gemini -r latest -p ok"]
    {
        let ran = hook(&env, "claude", &crate::hook::bash(&env, line));
        assert!(ran.code == 2 && ran.stderr.contains("as its user"), "{line}: {}", ran.stderr);
    }
}
