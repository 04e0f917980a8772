//! Canceling: nothing stays alive, nothing is lost.

use dandori_testkit::env::{TestEnv, wait_until};

use crate::machine;

fn state_of(env: &TestEnv, task: &str) -> String {
    env.dandori(["task", "show", task, "--json"]).json()["runs"][0]["state"].as_str().unwrap().to_owned()
}

#[test]
fn canceling_a_running_agent_ends_its_whole_tree_and_keeps_its_edits() {
    let env = machine();
    let agent = "exec:echo precious > edit.txt; mkdir sub; echo 日本 > sub/語.txt; rm README.md; \
                 setsid sh -c 'while true; do sleep 1; done' & echo started; trap '' INT TERM; while true; do sleep 1; done";
    env.write_user_config("[limits]\ngrace = \"1s\"\n");
    let started = env.run_json(["long work", "--agent", agent, "--detach"]);
    let key = started["runs"][0]["id"].as_str().unwrap();
    let key = key[key.len() - 8..].to_owned();
    wait_until("the agent has edited", || env.dandori(["task", "log", "1", "--raw"]).stdout.contains("started"));
    wait_until("that is written down", || state_of(&env, "1") == "RUNNING");

    let said = env.dandori(["task", "cancel", "T-1"]).ok();
    assert!(said.contains("CANCELED") && said.contains("refs/dandori/preserved/"), "{said}");
    let loops: Vec<_> = env.processes().into_iter().filter(|(_, line)| line.contains("sleep")).collect();
    assert!(loops.is_empty(), "{loops:?}");
    assert_eq!(env.git(["for-each-ref", "refs/heads/dandori"]), "", "the branch is gone");
    assert!(!env.git(["worktree", "list"]).contains("run_"), "the worktree is gone");

    let restored = env.dandori(["worktree", "restore", &key, "--json"]).json();
    let path = restored["worktree"].as_str().unwrap();
    assert_eq!(std::fs::read_to_string(format!("{path}/edit.txt")).unwrap(), "precious\n");
    assert_eq!(std::fs::read_to_string(format!("{path}/sub/語.txt")).unwrap(), "日本\n");
    assert!(!std::path::Path::new(&format!("{path}/README.md")).exists());
    assert_eq!(env.dandori(["task", "cancel", "T-1"]).ok(), "T-1 is already canceled\n");
}

#[test]
fn canceling_what_waits_is_over_at_once_and_the_rest_goes_on() {
    let env = machine();
    env.write_user_config("[runs]\nmax_parallel = 1\n");
    let agent = "exec:echo up; while [ ! -e go ]; do sleep 0.05; done; echo x > x.txt";
    env.run_json(["first", "--agent", agent, "--detach"]);
    wait_until("the first runs", || state_of(&env, "1") == "RUNNING");
    let second = env.run_json(["second", "--agent", "exec:echo y > y.txt", "--detach"]);
    assert_eq!(second["runs"][0]["state"], "PENDING");
    let shown = env.dandori(["task", "show", "T-2"]).ok();
    assert!(shown.contains("queued: 1st"), "{shown}");
    let _ = env.dandori(["task", "cancel", "T-2"]).ok();
    assert_eq!(state_of(&env, "2"), "CANCELED");
    let tree =
        env.dandori(["task", "show", "T-1", "--json"]).json()["runs"][0]["worktree"].as_str().unwrap().to_owned();
    std::fs::write(format!("{tree}/go"), "").unwrap();
    wait_until("the first ends", || state_of(&env, "1") == "SUCCEEDED");
}

#[test]
fn kept_work_is_restored_by_the_name_of_its_task_after_a_follow_up_as_well() {
    let env = machine();
    let agent = "exec:test -e go.txt && exit 0; echo precious > edit.txt; touch go.txt; echo started; sleep 60";
    env.run_json(["long work", "--agent", agent, "--detach"]);
    wait_until("the agent has edited", || env.dandori(["task", "log", "1", "--raw"]).stdout.contains("started"));
    let _ = env.dandori(["task", "cancel", "T-1"]).ok();
    let _ = env.dandori(["task", "follow-up", "T-1", "go on"]).ok();
    let ran = env.dandori(["worktree", "restore", "T-1"]);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    let hint = said.split("dandori worktree path ").nth(1).unwrap_or_else(|| panic!("{said}"));
    let name: String = hint.chars().take_while(|c| !matches!(c, ')' | '"' | ' ' | '\n')).collect();
    let path = env.dandori(["worktree", "path", &name]).ok();
    let shown = said.lines().find(|line| line.contains("wt_")).unwrap_or_else(|| panic!("{said}")).trim();
    assert!(path.trim().ends_with(shown.trim_start_matches('~')), "{path} is not {shown}");
}
