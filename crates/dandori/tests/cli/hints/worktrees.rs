//! Worktrees, their branches and preserved work.

use std::collections::BTreeSet;

use camino::Utf8PathBuf;
use dandori_testkit::env::wait_until;

use super::{Stage, commands, only};

pub(super) fn play() -> BTreeSet<String> {
    let mut stage = Stage::new();
    let hint = only(stage.told(&["worktree", "list"]));
    let _ = stage.typed(&hint).ok();
    not_found(&mut stage);
    dirty(&mut stage);
    locked(&mut stage);
    adopted(&mut stage);
    taken(&mut stage);
    restored(&mut stage);
    cleaned_up(&mut stage);
    no_room(&mut stage);
    stage.reached
}

/// A worktree on this branch.
fn added(stage: &Stage, branch: &str) -> Utf8PathBuf {
    stage.env.dandori(["worktree", "add", branch, "--json"]).json()["worktree"].as_str().unwrap().into()
}

fn not_found(stage: &mut Stage) {
    let hint = only(stage.refused("no_such_worktree", &["worktree", "remove", "nothing-like-it"]));
    let _ = stage.typed(&hint).ok();
    let hint = only(stage.refused("nothing_preserved", &["worktree", "restore", "nothing-like-it"]));
    let _ = stage.typed(&hint).ok();
    let folder = stage.env.root().join("no-worktree");
    std::fs::create_dir(&folder).unwrap();
    let hint = only(stage.refused("not_our_worktree", &["worktree", "adopt", folder.as_str()]));
    assert!(stage.typed(&hint).ok().contains("repo"));
}

fn dirty(stage: &mut Stage) {
    let path = added(stage, "dirty");
    std::fs::write(path.join("kept.txt"), "kept\n").unwrap();
    let hints = stage.refused("worktree_dirty", &["worktree", "remove", "dirty"]);
    let [remove, restore] = hints.as_slice() else { panic!("{hints:?}") };
    let _ = stage.typed(remove).ok();
    assert!(!path.exists());
    let restored = stage.typed(&format!("{restore} --json")).json();
    let back: Utf8PathBuf = restored["worktree"].as_str().unwrap_or_else(|| panic!("{restored:#}")).into();
    assert!(back.join("kept.txt").exists());
}

/// What was changed after a restore is what the follow-up finds.
fn restored(stage: &mut Stage) {
    let agent = "exec:if [ -e edit.txt ]; then cp edit.txt seen.txt; else echo old > edit.txt; echo held; \
                 while true; do sleep 0.1; done; fi";
    let started = stage.env.run_json(["long work", "--agent", agent, "--detach"]);
    let task = started["task"].as_str().unwrap_or_else(|| panic!("{started:#}")).to_owned();
    let edited = || stage.env.dandori(["task", "log", &task, "--raw"]).stdout.contains("held");
    wait_until("the agent has edited", edited);
    let _ = stage.env.dandori(["task", "cancel", &task]).ok();
    let restored = stage.env.dandori(["worktree", "restore", &task, "--json"]).json();
    let path: Utf8PathBuf = restored["worktree"].as_str().unwrap().into();
    std::fs::write(path.join("edit.txt"), "new\n").unwrap();
    let hint = only(stage.refused("work_restored", &["task", "follow-up", &task, "continue"]));
    let _ = stage.typed(&hint).ok();
    let done = stage.env.dandori(["task", "follow-up", &task, "continue", "--json"]).json();
    assert_eq!(done["runs"][0]["state"], "SUCCEEDED", "{done}");
    let branch = done["runs"][0]["branch"].as_str().unwrap();
    assert_eq!(stage.env.git_in(&stage.env.origin(), ["show", &format!("{branch}:seen.txt")]), "new");
}

fn locked(stage: &mut Stage) {
    let path = added(stage, "locked");
    stage.env.git(["worktree", "lock", "--reason", "on a stick", path.as_str()]);
    let hint = only(stage.refused("worktree_locked", &["worktree", "remove", "locked"]));
    let _ = stage.typed(&hint).ok();
    let _ = stage.env.dandori(["worktree", "remove", "locked"]).ok();
}

fn adopted(stage: &mut Stage) {
    // A space in the name: the hint can be typed all the same.
    let path = stage.env.root().join("by hand");
    stage.env.git(["worktree", "add", "-q", "--detach", path.as_str()]);
    let hint = only(stage.refused("worktree_detached", &["worktree", "adopt", path.as_str()]));
    let _ = stage.typed(&hint).ok();
    let _ = stage.env.dandori(["worktree", "adopt", path.as_str()]).ok();
}

fn taken(stage: &mut Stage) {
    added(stage, "taken");
    let said = stage.env.dandori(["worktree", "add", "taken"]).fails(1);
    let name = said.split("such as ").nth(1).unwrap_or_else(|| panic!("{said}")).trim();
    let _ = stage.env.dandori(["worktree", "add", name]).ok();
}

fn cleaned_up(stage: &mut Stage) {
    let planned = stage.env.dandori(["worktree", "gc", "--dry-run"]);
    for hint in commands(&format!("{}{}", planned.stdout, planned.stderr)) {
        let _ = stage.typed(&hint).ok();
    }
}

fn no_room(stage: &mut Stage) {
    stage.env.write_user_config("[runs]\nmin_free_disk = \"900TiB\"\n");
    // The daemon reads it when it starts.
    let _ = stage.env.dandori(["daemon", "stop"]).ok();
    let hint = only(stage.refused("disk_full", &["worktree", "add", "no-room"]));
    let _ = stage.typed(&hint).ok();
}
