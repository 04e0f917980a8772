//! A hook in a run, and one that only says it is.

use std::io::Write;
use std::process::Stdio;

use camino::Utf8Path;
use dandori_testkit::env::{Ran, TestEnv};
use serde_json::json;

use crate::machine;

const RUN: &str = "run_01m7ha5hpff70tr6mmkaccdcsp";

/// What `dandori hook claude` answers to the reading of `.env` in this project.
fn reads_secret(env: &TestEnv, project: &Utf8Path, run: Option<&str>, more: &[&str]) -> Ran {
    let event = json!({
        "session_id": "s", "cwd": project, "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": "cat .env" }, "permission_mode": "default",
    });
    let mut command = env.prepared(project, ["hook", "claude"].iter().chain(more));
    command.env("CLAUDE_PROJECT_DIR", project.as_str());
    if let Some(run) = run {
        command.env("DANDORI_RUN", run);
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
    Ran::of(&child.wait_with_output().unwrap())
}

#[test]
fn an_installation_of_the_user_s_is_silent_in_a_run_and_only_there() {
    let env = machine();
    let repo = env.state().join("repos/r");
    let tree = repo.join("worktrees/run_w");
    std::fs::create_dir_all(&tree).unwrap();
    let key = &RUN[RUN.len() - 8..];
    reads_secret(&env, &env.repo(), None, &[]).fails(2);
    reads_secret(&env, &env.repo(), Some(RUN), &[]).fails(2);
    reads_secret(&env, &tree, Some(RUN), &[]).fails(2);
    std::fs::create_dir_all(repo.join("runs").join(key)).unwrap();
    std::fs::write(repo.join("runs").join(key).join("rules.json"), "").unwrap();
    reads_secret(&env, &tree, None, &[]).fails(2);
    reads_secret(&env, &tree, Some("run_1"), &[]).fails(2);
    reads_secret(&env, &env.repo(), Some(RUN), &[]).fails(2);
    let silent = reads_secret(&env, &tree, Some(RUN), &[]);
    assert_eq!((silent.code, silent.stdout.as_str(), silent.stderr.as_str()), (0, "", ""));
}

#[test]
fn a_run_whose_rules_cannot_be_read_is_refused_every_tool() {
    let env = machine();
    for text in [None, Some(""), Some("{}")] {
        let folder = env.root().join("run");
        std::fs::create_dir_all(&folder).unwrap();
        if let Some(text) = text {
            std::fs::write(folder.join("rules.json"), text).unwrap();
        }
        let said = reads_secret(&env, &env.repo(), Some(RUN), &["--run", folder.as_str()]).fails(2);
        assert!(said.contains("not checked"), "{said}");
    }
}
