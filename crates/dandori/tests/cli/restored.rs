//! After a backup was restored: no number names two things, and what the backup does not know is neither lost nor removed.

use camino::Utf8PathBuf;
use dandori_testkit::env::{TestEnv, wait_until};

use crate::machine;

fn backups(env: &TestEnv) -> Vec<Utf8PathBuf> {
    let folder = env.state().join("private/backups");
    let Ok(entries) = folder.read_dir_utf8() else { return Vec::new() };
    let mut found: Vec<Utf8PathBuf> =
        entries.flatten().map(camino::Utf8DirEntry::into_path).filter(|p| p.extension() == Some("db")).collect();
    found.sort();
    found
}

fn tasks_in(env: &TestEnv, backup: &Utf8PathBuf) -> String {
    let python = format!(
        "import sqlite3; print(sqlite3.connect('{backup}').execute('select count(*) from task').fetchone()[0])"
    );
    env.command("python3", ["-c", &python], env.root())
}

/// The daemon is stopped, its database damaged, and only the first backup left.
fn fall_back(env: &TestEnv) {
    let _ = env.dandori(["daemon", "stop"]).ok();
    for later in backups(env).iter().skip(1) {
        std::fs::remove_file(later).unwrap();
    }
    std::fs::write(env.state().join("private/dandori.db"), "no database").unwrap();
    for log in ["dandori.db-wal", "dandori.db-shm"] {
        let _ = std::fs::remove_file(env.state().join("private").join(log));
    }
}

#[test]
fn a_backup_is_made_soon_after_anything_was_written() {
    let env = machine();
    env.run_json(["x", "--agent", "exec:true"]);
    wait_until("the run is in a backup while the daemon lives", || {
        backups(&env).last().is_some_and(|newest| tasks_in(&env, newest) == "1")
    });
    env.run_json(["x", "--agent", "exec:true"]);
    let _ = env.dandori(["daemon", "stop"]).ok();
    assert_eq!(tasks_in(&env, backups(&env).last().unwrap()), "2", "a daemon that stops leaves everything behind");
}

#[test]
fn numbers_go_on_and_what_the_backup_does_not_know_is_told_and_left_alone() {
    let env = machine();
    let _ = env.dandori(["daemon", "start"]).ok();
    wait_until("there is a first backup, of nothing", || !backups(&env).is_empty());
    env.run_json(["x", "--agent", "exec:echo x > x.txt"]);
    let kept = env.run_json(["y", "--agent", "exec:echo y > y.txt; exit 1"]);
    assert_eq!(kept["task"], "T-2");
    let shown = env.dandori(["task", "show", "T-2", "--json"]).json();
    let tree = Utf8PathBuf::from(shown["runs"][0]["worktree"].as_str().unwrap());
    let first = env.dandori(["task", "show", "T-1", "--json"]).json();
    let branch = first["runs"][0]["branch"].as_str().unwrap().to_owned();
    let _ = env.dandori(["worktree", "remove", first["runs"][0]["worktree"].as_str().unwrap(), "--keep-branch"]).ok();
    fall_back(&env);
    let said = env.dandori(["daemon", "start"]);
    assert!(said.stderr.contains("quarantine"), "{said:?}");
    let third = env.run_json(["z", "--agent", "exec:true"]);
    assert_eq!(third["task"], "T-3", "no number names two things");
    let listed = env.dandori(["worktree", "list", "--json"]).json()["worktrees"].clone();
    let found = listed.as_array().unwrap().iter().find(|w| w["worktree"] == tree.as_str()).unwrap().clone();
    assert_eq!(found["state"], "unrecorded", "{listed}");
    let collected = env.dandori(["worktree", "gc", "--json"]).json();
    assert_eq!(collected["removed"], 0, "{collected}");
    assert!(tree.join("y.txt").exists());
    assert_ne!(env.git(["for-each-ref", &format!("refs/heads/{branch}")]), "", "its branch stays as well");
    let left: Vec<&str> = collected["left"].as_array().unwrap().iter().map(|l| l["why"].as_str().unwrap()).collect();
    assert_eq!(left, ["unrecorded", "unrecorded"], "{collected}");
    let report = env.dandori(["doctor", "--json"]).json();
    let told = report["checks"].as_array().unwrap().iter().find(|c| c["code"] == "unrecorded_runs").unwrap().clone();
    assert!(told["detail"].as_str().unwrap().contains('2'), "{told}");
    // The user may take it up again.
    let _ = env.dandori(["worktree", "adopt", tree.as_str()]).ok();
    let listed = env.dandori(["worktree", "list", "--json"]).json()["worktrees"].clone();
    let found = listed.as_array().unwrap().iter().find(|w| w["worktree"] == tree.as_str()).unwrap().clone();
    assert_eq!((&found["state"], &found["dirty"]), (&"idle".into(), &1.into()), "{found}");
}
