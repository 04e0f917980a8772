//! Worktrees by hand: held, removed with care, brought back.

use crate::machine;

#[test]
fn another_session_s_worktree_is_not_removed() {
    let env = machine();
    let made = env.dandori(["worktree", "add", "topic", "--session", "alice", "--json"]).json();
    let path = made["path"].as_str().unwrap();
    assert!(std::path::Path::new(path).join("README.md").exists());
    let said = env.dandori(["worktree", "remove", "topic", "--force"]).fails(1);
    assert!(said.contains("belongs to alice"), "{said}");
    let said = env.dandori(["worktree", "remove", "topic", "--session", "bob"]).fails(1);
    assert!(said.contains("belongs to alice"), "{said}");
    let _ = env.dandori(["worktree", "remove", "topic", "--session", "alice"]).ok();
    assert!(!std::path::Path::new(path).exists());
    assert_eq!(env.git(["for-each-ref", "refs/heads/topic"]), "");
}

#[test]
fn uncommitted_and_unpushed_work_is_named_kept_and_restored() {
    let env = machine();
    let made = env.dandori(["worktree", "add", "topic", "--json"]).json();
    let path = camino::Utf8PathBuf::from(made["path"].as_str().unwrap());
    std::fs::write(path.join("committed.txt"), "c\n").unwrap();
    env.git_in(&path, ["add", "-A"]);
    env.git_in(&path, ["commit", "--quiet", "-m", "mine"]);
    std::fs::write(path.join("loose.txt"), "l\n").unwrap();
    let said = env.dandori(["worktree", "remove", "topic"]).fails(1);
    assert!(said.contains("1 uncommitted file and 1 unpushed commit"), "{said}");
    assert!(path.exists());
    let removed = env.dandori(["worktree", "remove", "topic", "--force", "--json"]).json();
    let reference = removed["preserved"].as_str().unwrap().to_owned();
    assert!(reference.starts_with("refs/dandori/preserved/"), "{removed}");
    assert!(!path.exists());
    let restored = env.dandori(["worktree", "restore", &reference, "--json"]).json();
    let back = camino::Utf8PathBuf::from(restored["path"].as_str().unwrap());
    assert_eq!(restored["branch"], "topic");
    assert_eq!(std::fs::read_to_string(back.join("loose.txt")).unwrap(), "l\n");
    assert_eq!(env.git_in(&back, ["log", "-1", "--format=%s"]), "mine");
    assert_eq!(env.git_in(&back, ["status", "--porcelain"]), "?? loose.txt");
}

#[test]
fn gc_finds_orphans_merged_trees_and_lost_records_and_keeps_what_is_in_them() {
    let env = machine();
    assert_eq!(env.dandori(["worktree", "gc", "--json"]).json()["found"], serde_json::json!([]));
    // A record without a folder.
    let lost = env.dandori(["worktree", "add", "lost", "--json"]).json();
    std::fs::remove_dir_all(lost["path"].as_str().unwrap()).unwrap();
    // A merged run.
    let run = env.run_json(["x", "--agent", "exec:echo x > x.txt"]);
    let branch = run["runs"][0]["branch"].as_str().unwrap();
    env.git(["push", "--quiet", "origin", &format!("{branch}:main")]);
    // A branch of ours that nobody knows.
    env.git(["branch", "dandori/unknown1"]);
    let listed = env.dandori(["worktree", "list"]).ok();
    assert!(listed.contains("missing") && listed.contains("merged"), "{listed}");
    let planned = env.dandori(["worktree", "gc", "--dry-run", "--json"]).json();
    assert_eq!(planned["found"].as_array().unwrap().len(), 3, "{planned}");
    let done = env.dandori(["worktree", "gc", "--json"]).json();
    assert_eq!(done["removed"], 3, "{done}");
    assert_eq!(env.dandori(["worktree", "gc", "--json"]).json()["found"], serde_json::json!([]));
}

#[test]
fn a_worktree_made_by_hand_is_adopted() {
    let env = machine();
    let path = env.root().join("by-hand");
    env.git(["worktree", "add", "--quiet", "-b", "hand", path.as_str()]);
    let adopted = env.dandori(["worktree", "adopt", path.as_str(), "--session", "me", "--json"]).json();
    assert_eq!(adopted["branch"], "hand");
    let listed = env.dandori(["worktree", "list", "--json"]).json();
    assert_eq!((&listed[0]["owner"], &listed[0]["branch"]), (&"me".into(), &"hand".into()));
    assert_eq!(env.dandori(["worktree", "adopt", "/nowhere"]).code, 1);
}

#[test]
fn unsafe_places_are_refused() {
    let env = machine();
    let outside = env.root().join("link");
    std::os::unix::fs::symlink(env.repo(), &outside).unwrap();
    for place in ["../repo/inside", outside.join("x").as_str()] {
        let ran = env.dandori(["worktree", "add", "topic", "--path", place]);
        assert_eq!(ran.code, 1, "{place}: {}", ran.stderr);
    }
    assert_eq!(env.git(["for-each-ref", "refs/heads/topic"]), "");
}
