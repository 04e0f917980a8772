//! Where turns, conversations, playbooks and sessions end, as a client tells it to `dandori hook`.

use dandori_testkit::env::{Ran, TestEnv};
use serde_json::{Value, json};

use crate::hook::hook;
use crate::machine;

const PLAN: &str = "plan/playbook-a.md";

fn playbook(second: &str) -> String {
    format!(
        "---\nname: a\nbranch: work\nreviewed: true\n---\n# a\n\n## p1: One\n\n- status: done\n- done_criteria:\n  - x\n\n\
         ## p2: Two\n\n- status: {second}\n- done_criteria:\n  - y\n"
    )
}

fn disciplined() -> TestEnv {
    let env = machine();
    env.git(["switch", "-q", "-c", "work"]);
    env.write("state.md", "---\nplaybook:\n  active: plan/playbook-a.md\n  last_archived: null\n---\n");
    env.write(PLAN, &playbook("in_progress"));
    let _ = told(&env, "claude", "UserPromptSubmit", &json!({"prompt": "ok"}));
    env
}

fn told(env: &TestEnv, agent: &str, event: &str, fields: &Value) -> Ran {
    let mut all = json!({"session_id": "s1", "cwd": env.repo(), "hook_event_name": event});
    for (key, value) in fields.as_object().unwrap() {
        all[key] = value.clone();
    }
    hook(env, agent, &all)
}

fn tool(env: &TestEnv, event: &str, name: &str, input: &Value) -> Ran {
    told(
        env,
        "claude",
        event,
        &json!({"tool_name": name, "tool_input": input, "tool_use_id": "t", "tool_response": {}}),
    )
}

#[test]
fn the_end_of_a_turn_shows_the_user_where_the_playbook_stands_and_never_holds_it_up() {
    let env = disciplined();
    for (agent, event) in [("claude", "Stop"), ("codex", "Stop"), ("gemini", "AfterAgent")] {
        let ran = told(&env, agent, event, &json!({"stop_hook_active": false}));
        let answer = ran.json();
        let shown = answer["systemMessage"].as_str().unwrap();
        assert!(shown.contains("self_complete") && shown.contains("plan/playbook-a.md  1     1 (p2)"), "{shown}");
        assert_eq!((ran.code, answer.as_object().unwrap().len()), (0, 1), "{agent}: nothing else: it would go on");
        let again = told(&env, agent, event, &json!({"stop_hook_active": true}));
        assert_eq!((again.code, again.stdout.as_str()), (0, ""), "{agent}: once a turn");
    }
    let plain = machine();
    assert_eq!(told(&plain, "claude", "Stop", &json!({"stop_hook_active": false})).stdout, "");
}

#[test]
fn the_pointers_are_carried_over_a_compaction() {
    let env = disciplined();
    let kept = told(&env, "claude", "PreCompact", &json!({"trigger": "auto"}));
    let after = told(&env, "claude", "SessionStart", &json!({"source": "compact"})).json();
    let after = after["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
    assert_eq!(kept.code, 0);
    for said in [&kept.stdout, &after] {
        for pointer in [PLAN, "p2 Two", "branch: work", "read again: state.md, plan/playbook-a.md"] {
            assert!(said.contains(pointer), "{pointer}: {said}");
        }
    }
    assert!(!kept.stdout.starts_with('{'), "Claude takes plain text for the summary's instructions");
    let plain = machine();
    assert_eq!(told(&plain, "claude", "PreCompact", &json!({"trigger": "auto"})).stdout, "");
}

#[test]
fn commits_that_were_not_pushed_are_named_at_the_end_of_a_session() {
    let env = disciplined();
    let end = |agent: &str| told(&env, agent, "SessionEnd", &json!({"reason": "other"}));
    env.git(["push", "-q", "origin", "work"]);
    assert_eq!((end("claude").code, end("claude").stderr), (0, String::new()), "all is pushed");
    for name in ["one", "two"] {
        env.git(["commit", "-q", "--allow-empty", "-m", name]);
    }
    let ran = end("claude");
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "what Claude shows the user at its end");
    assert!(ran.stderr.contains("2 commits on work") && ran.stderr.contains("git push"), "{}", ran.stderr);
    assert!(end("gemini").json()["systemMessage"].as_str().unwrap().contains("2 commits on work"));
    assert_eq!((end("codex").code, end("codex").stdout.as_str()), (0, ""));
    env.git(["remote", "remove", "origin"]);
    assert_eq!(end("claude").code, 0, "there is nowhere to push to");
}

#[test]
fn a_finished_playbook_is_put_away_and_wound_up_before_anything_new_begins() {
    let env = disciplined();
    let write = |path: &str| {
        let ran = tool(&env, "PreToolUse", "Write", &json!({"file_path": env.repo().join(path), "content": "x"}));
        format!("{}{}", ran.stdout, ran.stderr)
    };
    let edited = |path: &str| {
        let input = json!({"file_path": env.repo().join(path), "old_string": "a", "new_string": "b"});
        tool(&env, "PostToolUse", "Edit", &input).stdout
    };
    assert_eq!(edited(PLAN), "", "a phase is left");
    env.write(PLAN, &playbook("done"));
    let proposed = edited(PLAN);
    assert!(proposed.contains("plan/archive/playbook-a.md") && proposed.contains("post-loop"), "{proposed}");
    assert!(!write("src/a.rs").contains("[dandori pending]"), "until it is put away the work can still be mended");

    env.write("plan/playbook-b.md", &playbook("pending").replace("branch: work", "branch: feat/b"));
    let _ = env.dandori(["state", "set", "playbook.active", "null"]).ok();
    let waits = tool(&env, "PostToolUse", "Bash", &json!({"command": "dandori state set playbook.active null"})).stdout;
    assert!(waits.contains("`dandori post-loop`"), "{waits}");
    assert!(write("src/a.rs").contains("[dandori pending]") && write("src/a.rs").contains(PLAN));

    let next = env.dandori(["post-loop", "--json"]).json();
    assert_eq!(
        next,
        json!({"next": {"kind": "playbook", "path": "plan/playbook-b.md", "title": "a", "phase": null, "branch": "feat/b"}})
    );
    assert!(!write("src/a.rs").contains("[dandori pending]"));
    let _ = env.dandori(["state", "set", "playbook.active", "plan/playbook-b.md"]).ok();
    assert!(env.dandori(["post-loop"]).ok().contains("Next: p2 Two (plan/playbook-b.md)"), "what remains comes first");
    env.write("plan/playbook-b.md", &playbook("done"));
    assert_eq!(env.dandori(["post-loop", "--lang", "ja"]).ok().trim(), "全タスク完了。次の指示を待ちます。");
    assert_eq!(env.dandori(["post-loop", "--json"]).json(), json!({"next": null}));
}

#[test]
fn the_skill_post_loop_opens_changes_like_the_verb() {
    let env = disciplined();
    env.write(PLAN, &playbook("done"));
    let input = json!({"file_path": env.repo().join(PLAN), "old_string": "a", "new_string": "b"});
    let _ = tool(&env, "PostToolUse", "Edit", &input);
    let _ = env.dandori(["state", "set", "playbook.active", "null"]).ok();
    let _ = tool(&env, "PostToolUse", "Bash", &json!({"command": "true"}));
    let write = || tool(&env, "PreToolUse", "Write", &json!({"file_path": env.repo().join("a"), "content": "x"}));
    assert!(write().stderr.contains("[dandori pending]"));
    let called = tool(&env, "PreToolUse", "Skill", &json!({"skill": "post-loop"}));
    assert_eq!(called.code, 0);
    assert!(!write().stderr.contains("[dandori pending]"), "{}", write().stderr);
}
