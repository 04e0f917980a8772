//! Many at once: nothing left over.

use std::collections::HashSet;
use std::thread;

use dandori_testkit::env::wait_until;

use crate::machine;

#[test]
fn thirty_two_worktrees_made_eight_at_a_time() {
    let env = machine();
    env.write_user_config("[runs]\nmin_free_disk = \"1MiB\"\n");
    let _ = env.dandori(["daemon", "start"]).ok();
    thread::scope(|scope| {
        for hand in 0..8 {
            let env = &env;
            scope.spawn(move || {
                for i in 0..4 {
                    let name = format!("topic/{hand}-{i}");
                    let _ = env.dandori(["worktree", "add", &name, "--json"]).ok();
                }
            });
        }
    });
    let listed = env.dandori(["worktree", "list", "--json"]).json()["worktrees"].clone();
    let paths: HashSet<String> =
        listed.as_array().unwrap().iter().map(|w| w["worktree"].as_str().unwrap().to_owned()).collect();
    assert_eq!(paths.len(), 32);
    assert!(paths.iter().all(|p| std::path::Path::new(p).join("README.md").exists()));
    assert_eq!(env.git(["for-each-ref", "--format=x", "refs/heads/topic"]).lines().count(), 32);
    let config = std::fs::read_to_string(env.repo().join(".git/config")).unwrap();
    assert!(!config.contains("[branch"), "shared configuration is never written: {config}");
}

#[test]
fn a_hundred_runs_with_a_limit_of_eight_leave_nothing_behind() {
    let env = machine();
    env.write_user_config("[runs]\nmax_parallel = 8\nmin_free_memory = \"64MiB\"\nmin_free_disk = \"64MiB\"\n");
    let _ = env.dandori(["daemon", "start"]).ok();
    thread::scope(|scope| {
        for _ in 0..4 {
            let env = &env;
            scope.spawn(move || {
                for _ in 0..25 {
                    env.run_json(["nothing", "--agent", "exec:true", "--detach"]);
                }
            });
        }
    });
    wait_until("all end", || {
        let tasks = env.dandori(["task", "list", "--limit", "200", "--json"]).json()["tasks"].clone();
        let tasks = tasks.as_array().unwrap();
        tasks.len() == 100 && tasks.iter().all(|t| t["runs"][0]["settled"] == true)
    });
    let tasks = env.dandori(["task", "list", "--limit", "200", "--json"]).json()["tasks"].clone();
    assert!(tasks.as_array().unwrap().iter().all(|t| t["runs"][0]["state"] == "SUCCEEDED"), "{tasks}");
    assert_eq!(env.git(["for-each-ref", "refs/heads/dandori"]), "");
    let collected = env.dandori(["worktree", "gc", "--json"]).json();
    assert_eq!(collected["found"], serde_json::json!([]), "{collected}");
    assert_eq!(env.dandori(["worktree", "list", "--json"]).json()["worktrees"], serde_json::json!([]));
    // The daemon's own git may just be tidying up.
    wait_until("no process is left but the daemon", || {
        env.processes().into_iter().all(|(_, line)| line.contains("daemon serve"))
    });
    let locks = env.command("find", [".git", "-name", "*.lock", "-not", "-name", "dandori.lock"], &env.repo());
    assert_eq!(locks, "");
}
