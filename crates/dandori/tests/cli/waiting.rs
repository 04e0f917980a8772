//! Runs that wait say what for.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use dandori_testkit::env::{TestEnv, kill, wait_until};

use crate::{machine, worktree_of};

/// More than any machine has.
const TOO_MUCH: &str = "90000GiB";

/// A run at work until `go` is in its worktree, which it sees behind every fence.
fn hold(env: &TestEnv) {
    env.run_json(["hold", "--agent", "exec:echo up; while [ ! -e go ]; do sleep 0.05; done", "--detach"]);
    wait_until("it runs", || env.dandori(["task", "log", "1", "--raw"]).stdout.contains("up"));
}

fn state(env: &TestEnv, task: &str) -> String {
    env.dandori(["task", "show", task, "--json"]).json()["runs"][0]["state"].as_str().unwrap().to_owned()
}

#[test]
fn for_free_memory_in_the_list_and_while_run_waits() {
    let env = machine();
    env.write_user_config(&format!("[runs]\nmax_parallel = 4\nmin_free_memory = \"{TOO_MUCH}\"\n"));
    hold(&env);
    let mut waiting = env
        .prepared(&env.repo(), ["run", "later", "--agent", "exec:true"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(waiting.stderr.take().unwrap()).lines().map_while(Result::ok);
    let told = lines.find(|l| l.contains("of free memory (runs.min_free_memory); queued: 1st"));
    assert!(told.is_some(), "the waiting `run` says what for");
    let shown = env.dandori(["task", "show", "T-2", "--json"]).json();
    assert_eq!((&shown["runs"][0]["waits_for"]["for"], &shown["runs"][0]["place"]), (&"memory".into(), &1.into()));
    let listed = env.dandori(["task", "list"]);
    assert!(listed.stdout.contains("PENDING #1 memory"), "{}", listed.stdout);
    assert!(listed.stderr.contains("runs.min_free_memory"), "{}", listed.stderr);
    let shown = env.dandori(["task", "show", "T-2", "--lang", "ja"]).ok();
    assert!(shown.contains("空きメモリ"), "{shown}");
    // Alone it may go: a small machine works too.
    std::fs::write(worktree_of(&env, "T-1", 0).join("go"), "").unwrap();
    wait_until("the waiting one has its turn", || state(&env, "T-2") == "SUCCEEDED");
    kill(waiting.id(), "-KILL");
    let _ = waiting.wait();
    let shown = env.dandori(["task", "show", "T-2", "--json"]).json();
    assert_eq!(shown["runs"][0]["waits_for"], serde_json::Value::Null);
}

#[test]
fn for_free_disk_until_there_is_room() {
    let env = machine();
    env.write_user_config("[runs]\nmax_parallel = 1\n");
    hold(&env);
    env.run_json(["later", "--agent", "exec:true", "--detach"]);
    let shown = env.dandori(["task", "show", "T-2"]).ok();
    assert!(shown.contains("queued: 1st"), "{shown}");
    // The disk has become full meanwhile.
    let _ = env.dandori(["daemon", "stop"]).ok();
    env.write_user_config(&format!("[runs]\nmax_parallel = 1\nmin_free_disk = \"{TOO_MUCH}\"\n"));
    std::fs::write(worktree_of(&env, "T-1", 0).join("go"), "").unwrap();
    wait_until("the first is over", || state(&env, "T-1") == "SUCCEEDED");
    let shown = env.dandori(["task", "show", "T-2"]).ok();
    assert!(
        shown.contains("PENDING") && shown.contains("of free space at") && shown.contains("worktree gc"),
        "{shown}"
    );
    assert!(env.dandori(["task", "list"]).ok().contains("PENDING #1 disk"));
    let _ = env.dandori(["daemon", "stop"]).ok();
    env.write_user_config("");
    wait_until("there is room again", || state(&env, "T-2") == "SUCCEEDED");
}
