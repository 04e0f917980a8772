//! What lists and pages say is so, also after somebody has changed the repository behind our back.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_testkit::env::{TestEnv, wait_for};
use serde_json::Value;

use crate::machine;

const EDITS: &str = "exec:echo hello > hello.txt";
const WAITS: &str = "exec:echo half > half.txt; sleep 600";

fn worktrees(env: &TestEnv, folder: &Utf8Path) -> Vec<Value> {
    env.dandori_in(folder, ["worktree", "list", "--json"]).json()["worktrees"].as_array().unwrap().clone()
}

fn states(env: &TestEnv) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut found: Vec<_> = worktrees(env, &env.repo()).iter().map(|w| (text(&w["task"]), text(&w["state"]))).collect();
    found.sort();
    found
}

fn repositories(env: &TestEnv, folder: &Utf8Path) -> String {
    let report = env.dandori_in(folder, ["doctor"]);
    report.stdout.lines().filter(|line| line.contains("  repository  ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_worktree_that_somebody_removed_is_missing_and_not_counted() {
    let env = machine();
    let paths: Vec<Utf8PathBuf> =
        (0..3).map(|_| env.run_json(["x", "--agent", EDITS])["runs"][0]["worktree"].as_str().unwrap().into()).collect();
    std::fs::remove_dir_all(&paths[0]).unwrap();
    env.git(["worktree", "unlock", paths[1].as_str()]);
    env.git(["worktree", "remove", "--force", paths[1].as_str()]);
    let expected = [("T-1", "missing"), ("T-2", "missing"), ("T-3", "idle")];
    assert_eq!(states(&env), expected.map(|(task, state)| (task.to_owned(), state.to_owned())));
    for (task, path) in ["T-1", "T-2", "T-3"].into_iter().zip(&paths) {
        let shown = env.dandori(["task", "show", task]).ok();
        assert_eq!(shown.contains(path.as_str()), task == "T-3", "{shown}");
        let run = env.dandori(["task", "show", task, "--json"]).json()["runs"][0].clone();
        assert_eq!(run["worktree"].is_null(), task != "T-3", "{run}");
    }
    assert!(repositories(&env, &env.repo()).contains("1 worktree"), "{}", repositories(&env, &env.repo()));
}

#[test]
fn worktrees_of_a_repository_that_was_moved_are_still_those_of_their_tasks() {
    let env = machine();
    let done = env.run_json(["Say hello", "--agent", EDITS]);
    let live = env.run_json(["Wait", "--agent", WAITS, "--detach"]);
    wait_for("it works", || {
        let half: Vec<Value> = worktrees(&env, &env.repo());
        half.iter().any(|w| w["state"] == "live" && w["dirty"] == 1).then_some(())
    });
    let moved = env.root().join("moved");
    std::fs::rename(env.repo(), &moved).unwrap();
    let listed = worktrees(&env, &moved);
    let of = |task: &Value| listed.iter().find(|w| w["task"] == *task).unwrap_or_else(|| panic!("{listed:?}"));
    assert_eq!((listed.len(), &of(&done["task"])["state"]), (2, &"idle".into()));
    assert_eq!(of(&live["task"])["state"], "live", "an agent is at work in it");
    assert_eq!(env.dandori_in(&moved, ["worktree", "gc", "--json"]).json()["found"], serde_json::json!([]));
    let said = repositories(&env, &moved);
    assert!(said.contains("moved") && said.contains("2 worktrees"), "{said}");
    assert!(!said.contains("restored"), "no database was restored: {said}");
    std::fs::rename(&moved, env.repo()).unwrap();
    let _ = env.dandori(["task", "cancel", "T-2"]).ok();
}

#[test]
fn a_base_that_is_gone_is_named_and_nothing_else_about_the_task_changes() {
    let env = machine();
    env.git(["push", "--quiet", "origin", "main:other"]);
    let _ = env.run_json(["Say hello", "--agent", EDITS, "--base", "other", "--pr"]);
    env.git(["push", "--quiet", "origin", "--delete", "other"]);
    let shown = env.dandori(["pr", "show", "1"]).ok();
    assert!(shown.contains("cannot be merged") && shown.contains("there is no branch other"), "{shown}");
    let run = env.dandori(["task", "show", "T-1", "--json"]).json()["runs"][0].clone();
    assert_eq!((&run["state"], &run["pr"]["state"]), (&"SUCCEEDED".into(), &"open".into()), "{run}");
    assert_eq!(states(&env), [("T-1".to_owned(), "idle".to_owned())]);
}

#[test]
fn what_is_shown_right_after_a_kill_is_what_is_so() {
    let env = machine();
    let _ = env.run_json(["Wait", "--agent", WAITS, "--detach"]);
    let running = || env.dandori(["task", "list", "--state", "running", "--json"]).json()["total"] == 1;
    wait_for("it runs", || running().then_some(()));
    env.kill_daemon();
    assert!(running(), "the agent has outlived the daemon");
    assert_eq!(states(&env), [("T-1".to_owned(), "live".to_owned())]);
    let door = env.dandori([""; 0]).ok();
    assert!(door.contains("Running (1)"), "{door}");
    env.kill_daemon();
    let _ = env.dandori(["task", "cancel", "T-1"]).ok();
    assert_eq!(states(&env), []);
    let shown = env.dandori(["task", "show", "T-1"]).ok();
    assert!(shown.contains("CANCELED") && shown.contains("refs/dandori/preserved/"), "{shown}");
}

#[test]
fn a_long_list_of_worktrees_begins_with_those_at_work_and_says_how_many_there_are() {
    let env = machine();
    let _ = env.run_json(["Wait", "--agent", WAITS, "--detach"]);
    wait_for("it works", || (states(&env) == [("T-1".to_owned(), "live".to_owned())]).then_some(()));
    for branch in ["one", "two", "three"] {
        let _ = env.dandori(["worktree", "add", branch]).ok();
    }
    let branches = |n: &str| -> Vec<String> {
        let listed = env.dandori(["worktree", "list", "-n", n, "--json"]).json();
        assert_eq!(listed["total"], 4, "{listed}");
        let found = listed["worktrees"].as_array().unwrap().iter();
        found.map(|w| w["branch"].as_str().unwrap().trim_start_matches("dandori/").to_owned()).collect()
    };
    let live = branches("1").remove(0);
    assert_eq!(branches("3"), [live.as_str(), "three", "two"]);
    assert_eq!(branches("9"), [live.as_str(), "three", "two", "one"]);
    let few = env.dandori(["worktree", "list", "-n", "2"]);
    assert!(few.stderr.contains("showing 2 of 4; `dandori worktree list -n 4` shows all"), "{few:?}");
    let _ = env.dandori(["task", "cancel", "T-1"]).ok();
}
