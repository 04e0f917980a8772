//! Worktrees by hand: held, removed with care, brought back.

use std::process::Stdio;

use camino::Utf8PathBuf;
use dandori_testkit::env::{TestEnv, wait_until};

use crate::machine;

#[test]
fn another_session_s_worktree_is_not_removed() {
    let env = machine();
    let made = env.dandori(["worktree", "add", "topic", "--session", "alice", "--json"]).json();
    let path = made["worktree"].as_str().unwrap();
    assert!(std::path::Path::new(path).join("README.md").exists());
    let said = env.dandori(["worktree", "remove", "topic", "--force"]).fails(1);
    assert!(said.contains("in use by alice"), "{said}");
    let said = env.dandori(["worktree", "remove", "topic", "--session", "bob"]).fails(1);
    assert!(said.contains("in use by alice"), "{said}");
    let _ = env.dandori(["worktree", "remove", "topic", "--session", "alice"]).ok();
    assert!(!std::path::Path::new(path).exists());
    assert_eq!(env.git(["for-each-ref", "refs/heads/topic"]), "");
}

#[test]
fn uncommitted_and_unpushed_work_is_named_kept_and_restored() {
    let env = machine();
    let made = env.dandori(["worktree", "add", "topic", "--json"]).json();
    let path = camino::Utf8PathBuf::from(made["worktree"].as_str().unwrap());
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
    let back = camino::Utf8PathBuf::from(restored["worktree"].as_str().unwrap());
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
    std::fs::remove_dir_all(lost["worktree"].as_str().unwrap()).unwrap();
    // A merged run.
    let run = env.run_json(["x", "--agent", "exec:echo x > x.txt"]);
    let branch = run["runs"][0]["branch"].as_str().unwrap();
    env.git(["push", "--quiet", "origin", &format!("{branch}:main")]);
    // A branch of ours that nobody knows.
    env.git(["branch", "dandori/unknown1"]);
    let listed = env.dandori(["worktree", "list"]).ok();
    assert!(listed.contains("missing") && listed.contains("merged"), "{listed}");
    let said = env.dandori(["worktree", "gc", "--dry-run", "--lang", "ja"]).ok();
    for part in ["記録 ", "(フォルダーがありません)", "(ベースにすべてマージ済みです)", "ブランチ dandori/unknown1"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
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
    let listed = env.dandori(["worktree", "list", "--json"]).json()["worktrees"].clone();
    assert_eq!((&listed[0]["owner"], &listed[0]["branch"]), (&"me".into(), &"hand".into()));
    assert_eq!(env.dandori(["worktree", "adopt", "/nowhere"]).code, 1);
    // Held as one that was made for a session: git knows it too, until it is removed.
    assert!(env.git(["worktree", "list", "--porcelain"]).contains("locked dandori: dandori session me"));
    let said = env.dandori(["worktree", "adopt", path.as_str(), "--session", "you"]).fails(1);
    assert!(said.contains("in use by me"), "{said}");
    let _ = env.dandori(["worktree", "remove", "hand", "--session", "me"]).ok();
    assert!(!path.exists());
}

#[test]
fn a_session_adopts_what_nobody_has_and_leaves_the_user_s_own_lock() {
    let env = machine();
    let (free, locked, theirs) = (env.root().join("free"), env.root().join("locked"), env.root().join("theirs"));
    env.git(["worktree", "add", "--quiet", "-b", "free", free.as_str()]);
    env.git(["worktree", "add", "--quiet", "--lock", "--reason", "on a stick", "-b", "locked", locked.as_str()]);
    let reason = "dandori: dandori session alice";
    env.git(["worktree", "add", "--quiet", "--lock", "--reason", reason, "-b", "theirs", theirs.as_str()]);
    let _ = env.dandori(["worktree", "adopt", free.as_str()]).ok();
    assert!(!env.git(["worktree", "list", "--porcelain"]).contains("session me"));
    let _ = env.dandori(["worktree", "adopt", free.as_str(), "--session", "me"]).ok();
    assert!(env.git(["worktree", "list", "--porcelain"]).contains("locked dandori: dandori session me"));
    assert_eq!(env.dandori(["worktree", "list", "--json"]).json()["worktrees"][0]["owner"], "me");
    let _ = env.dandori(["worktree", "adopt", locked.as_str(), "--session", "me"]).ok();
    assert!(env.git(["worktree", "list", "--porcelain"]).contains("locked on a stick"));
    let said = env.dandori(["worktree", "adopt", theirs.as_str(), "--session", "me"]).fails(1);
    assert!(said.contains("in use by alice"), "{said}");
}

#[test]
fn unsafe_places_are_refused() {
    let env = machine();
    let link = env.root().join("link");
    std::fs::create_dir_all(env.root().join("real")).unwrap();
    std::os::unix::fs::symlink(env.root().join("real"), &link).unwrap();
    let dangling = env.root().join("dangling");
    std::os::unix::fs::symlink(env.root().join("nowhere"), &dangling).unwrap();
    std::fs::create_dir_all(env.repo().join("deep/er")).unwrap();
    let in_state = env.state().join("mine");
    let cases = [
        ("../repo/inside", "another repository"),
        ("deep/er/inside", "another repository"),
        (link.as_str(), "symbolic link"),
        (dangling.as_str(), "symbolic link"),
        ("../link/x", "the real path is"),
        (in_state.as_str(), "dandori's state folder"),
    ];
    for (place, why) in cases {
        let said = env.dandori(["worktree", "add", "topic", "--path", place]).fails(1);
        assert!(said.contains(why), "{place}: {said}");
    }
    assert_eq!(env.git(["for-each-ref", "refs/heads/topic"]), "");
    assert_eq!(env.dandori(["worktree", "list", "--json"]).json()["worktrees"], serde_json::json!([]));
    // A relative place is meant from where the user stands.
    let made = env.dandori(["worktree", "add", "topic", "--path", "../real/./x", "--json"]).json();
    assert_eq!(made["worktree"], env.root().join("real/x").as_str());
}

#[test]
fn a_state_root_behind_a_link_loses_nothing() {
    let mut env = machine();
    std::fs::create_dir(env.root().join("disk")).unwrap();
    std::os::unix::fs::symlink(env.root().join("disk"), env.root().join("link")).unwrap();
    let state = env.root().join("link/state");
    env.var("DANDORI_STATE_DIR", state.as_str());
    let made = env.dandori(["worktree", "add", "topic", "--json"]).json();
    // By the path git knows it by.
    assert!(made["worktree"].as_str().unwrap().starts_with(env.root().join("disk/state").as_str()), "{made}");
    let listed = env.dandori(["worktree", "list", "--json"]).json()["worktrees"].clone();
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["state"]), (1, &"idle".into()), "{listed}");
    let collected = env.dandori(["worktree", "gc", "--json"]).json();
    assert_eq!(collected["found"], serde_json::json!([]), "{collected}");
    let _ = env.dandori(["daemon", "stop"]).ok();
}

/// Every checkout of `slow.txt` says that it began and waits until it may end.
fn slow_checkouts(env: &TestEnv) -> Utf8PathBuf {
    let go = env.root().join("go");
    std::fs::write(&go, "").unwrap();
    let smudge = format!("sh -c 'while [ ! -e {go} ]; do sleep 0.02; done; cat'");
    env.git(["config", "filter.slow.smudge", &smudge]);
    env.git(["config", "filter.slow.clean", "cat"]);
    env.write(".gitattributes", "slow.txt filter=slow\n");
    env.write("slow.txt", "s\n");
    env.git(["add", "-A"]);
    env.git(["commit", "--quiet", "-m", "slow"]);
    env.git(["push", "--quiet", "origin", "main"]);
    std::fs::remove_file(&go).unwrap();
    go
}

#[test]
fn gc_leaves_what_is_just_being_made() {
    for args in [&["run", "x", "--agent", "exec:echo x > x.txt"][..], &["worktree", "add", "topic"][..]] {
        let env = machine();
        let go = slow_checkouts(&env);
        let making = env.prepared(&env.repo(), args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Filters write nothing outside of their fence: that it waits is seen from outside.
        wait_until("the checkout has begun", || env.processes().iter().any(|(_, line)| line.contains(go.as_str())));
        let collected = env.dandori(["worktree", "gc", "--json"]).json();
        let listed = env.dandori(["worktree", "list", "--json"]).json()["worktrees"].clone();
        std::fs::write(&go, "").unwrap();
        let made = making.wait_with_output().unwrap();
        assert_eq!(
            (&collected["found"], &collected["left"]),
            (&serde_json::json!([]), &serde_json::json!([])),
            "{args:?}"
        );
        assert_eq!(listed[0]["state"], "live", "{args:?}: {listed}");
        assert!(made.status.success(), "{args:?}: {}", String::from_utf8_lossy(&made.stderr));
        let path =
            env.dandori(["worktree", "list", "--json"]).json()["worktrees"][0]["worktree"].as_str().unwrap().to_owned();
        assert!(std::path::Path::new(&path).join("slow.txt").exists(), "{args:?}");
    }
}

#[test]
fn a_failed_add_leaves_no_record() {
    let env = machine();
    env.git(["branch", "a"]);
    let _ = env.dandori(["worktree", "add", "a/b"]).fails(1);
    assert_eq!(env.dandori(["worktree", "list", "--json"]).json()["worktrees"], serde_json::json!([]));
}

#[test]
fn an_orphan_whose_lock_names_somebody_is_left() {
    let env = machine();
    let known = env.dandori(["worktree", "add", "known", "--json"]).json();
    let folder = Utf8PathBuf::from(known["worktree"].as_str().unwrap()).parent().unwrap().to_owned();
    let held = folder.join("wt_held");
    let reason = "dandori: dandori session alice";
    env.git(["worktree", "add", "--quiet", "--lock", "--reason", reason, "-b", "held", held.as_str()]);
    let free = folder.join("wt_free");
    env.git(["worktree", "add", "--quiet", "-b", "free", free.as_str()]);
    let collected = env.dandori(["worktree", "gc", "--json"]).json();
    assert_eq!((collected["removed"].as_u64(), &collected["found"][0]["name"]), (Some(1), &free.as_str().into()));
    assert_eq!(collected["found"][0]["why"], "orphaned");
    assert_eq!(collected["left"][0]["name"], held.as_str());
    assert_eq!((&collected["left"][0]["why"], &collected["left"][0]["detail"]), (&"held".into(), &"alice".into()));
    let said = env.dandori(["worktree", "gc"]).ok();
    assert!(said.contains("(in use by alice)"), "{said}");
    let said = env.dandori(["worktree", "gc", "--lang", "ja"]).ok();
    assert!(said.contains("(alice が使用中です)"), "{said}");
    assert!(held.join("README.md").exists() && !free.exists());
    assert!(env.dandori(["worktree", "remove", held.as_str()]).fails(1).contains("in use by alice"));
}

#[test]
fn a_folder_git_has_forgotten_is_left_with_what_is_in_it() {
    let env = machine();
    let made = env.dandori(["worktree", "add", "topic", "--json"]).json();
    let path = Utf8PathBuf::from(made["worktree"].as_str().unwrap());
    std::fs::write(path.join("mine.txt"), "m\n").unwrap();
    let record = env.git_in(&path, ["rev-parse", "--git-dir"]);
    std::fs::remove_dir_all(record).unwrap();
    assert_eq!(env.dandori(["worktree", "list", "--json"]).json()["worktrees"][0]["state"], "unknown");
    for planned in [&["--dry-run"][..], &[]] {
        let collected = env.dandori([&["worktree", "gc", "--json"], planned].concat()).json();
        assert_eq!(
            (&collected["removed"], &collected["found"], &collected["left"][0]["name"]),
            (&0.into(), &serde_json::json!([]), &path.as_str().into()),
            "{planned:?}"
        );
        assert_eq!(collected["left"][0]["why"], "unknown");
    }
    let said = env.dandori(["worktree", "remove", "topic", "--force"]).fails(1);
    assert!(said.contains("cannot be preserved"), "{said}");
    assert_eq!(std::fs::read_to_string(path.join("mine.txt")).unwrap(), "m\n");
    // Once the user has taken the folder away, the record goes as well.
    std::fs::remove_dir_all(&path).unwrap();
    assert_eq!(env.dandori(["worktree", "gc", "--json"]).json()["found"][0]["kind"], "record");
}

#[test]
fn a_branch_goes_with_its_worktree_only_when_it_was_made_for_it() {
    let env = machine();
    env.git(["branch", "attached"]);
    let by_hand = env.root().join("by-hand");
    env.git(["worktree", "add", "--quiet", "-b", "adopted", by_hand.as_str()]);
    let _ = env.dandori(["worktree", "adopt", by_hand.as_str()]).ok();
    let _ = env.dandori(["worktree", "add", "attached"]).ok();
    let _ = env.dandori(["worktree", "add", "made"]).ok();
    for (branch, goes) in [("attached", false), ("adopted", false), ("made", true)] {
        let removed = env.dandori(["worktree", "remove", branch, "--json"]).json();
        assert_eq!(removed["branch_deleted"], goes, "{removed}");
        let left = env.git(["for-each-ref", &format!("refs/heads/{branch}")]);
        assert_eq!(left.is_empty(), goes, "{branch}: {left}");
    }
    let _ = env.dandori(["worktree", "add", "attached"]).ok();
    let said = env.dandori(["worktree", "remove", "attached"]).ok();
    assert!(said.contains("kept branch attached"), "{said}");
}

#[test]
fn adopted_trees_have_keys_of_their_own_and_do_not_grow_stale() {
    let env = machine();
    env.write_user_config("[worktrees]\nkeep_days = 0\n");
    let mut keys = Vec::new();
    for folder in ["a", "b"] {
        let place = env.root().join(folder).join("tree");
        env.git(["worktree", "add", "--quiet", "-b", folder, place.as_str()]);
        let adopted = env.dandori(["worktree", "adopt", &format!("../{folder}/tree"), "--json"]).json();
        assert_eq!(adopted["worktree"], place.as_str());
        keys.push(adopted["key"].as_str().unwrap().to_owned());
    }
    assert!(keys[0] != keys[1] && !keys.contains(&"tree".to_owned()), "{keys:?}");
    let own = env.dandori(["worktree", "add", "own", "--json"]).json();
    // Older than no days at all.
    let collected = env.dandori(["worktree", "gc", "--json"]).json();
    assert_eq!(collected["found"].as_array().unwrap().len(), 1, "{collected}");
    assert_eq!(collected["found"][0]["name"], own["worktree"], "{collected}");
    let listed = env.dandori(["worktree", "list", "--json"]).json()["worktrees"].clone();
    assert!(listed[0]["created_at"].is_string(), "{listed}");
    let detached = env.root().join("detached");
    env.git(["worktree", "add", "--quiet", "--detach", detached.as_str()]);
    let said = env.dandori(["worktree", "adopt", detached.as_str()]).fails(1);
    assert!(said.contains("is not on a branch"), "{said}");
}

#[test]
fn gc_leaves_branches_that_another_state_root_works_on() {
    let mut env = machine();
    let made = env.dandori(["worktree", "add", "--json"]).json();
    let branch = made["branch"].as_str().unwrap().to_owned();
    let _ = env.dandori(["daemon", "stop"]).ok();
    env.var("DANDORI_STATE_DIR", env.root().join("other").into_string());
    let planned = env.dandori(["worktree", "gc", "--dry-run", "--json"]).json();
    assert_eq!(planned["found"], serde_json::json!([]), "{planned}");
    let collected = env.dandori(["worktree", "gc", "--json"]).json();
    let _ = env.dandori(["daemon", "stop"]).ok();
    assert_eq!((&collected["found"], &collected["removed"]), (&serde_json::json!([]), &0.into()));
    assert!(!env.git(["for-each-ref", &format!("refs/heads/{branch}")]).is_empty());
    assert_eq!(env.git(["for-each-ref", "refs/dandori/preserved"]), "");
}

#[test]
fn submodules_are_refused_as_for_runs() {
    let env = machine();
    env.write(".gitmodules", "[submodule \"s\"]\n\tpath = s\n\turl = ../s\n");
    let head = env.git(["rev-parse", "HEAD"]);
    env.git(["update-index", "--add", "--cacheinfo", &format!("160000,{head},s")]);
    env.git(["add", ".gitmodules"]);
    env.git(["commit", "--quiet", "-m", "submodule"]);
    env.git(["push", "--quiet", "origin", "main"]);
    let said = env.dandori(["worktree", "add", "topic"]).fails(1);
    assert!(said.contains("submodule"), "{said}");
    assert_eq!(env.git(["for-each-ref", "refs/heads/topic"]), "");
}

#[test]
fn a_new_worktree_is_set_up_in_the_caller_s_environment() {
    let mut env = machine();
    env.write("dandori.toml", "[worktrees]\nset_up = [\"echo $WHO > set-up.txt\", \"echo broken; exit 3\"]\n");
    env.write("lefthook.yml", "pre-commit: {}\n");
    env.git(["add", "-A"]);
    env.git(["commit", "--quiet", "-m", "set up"]);
    env.git(["push", "--quiet", "origin", "main"]);
    let said = env.dandori(["worktree", "add", "topic"]).fails(1);
    assert!(said.contains("trust"), "{said}");
    let _ = env.dandori(["trust", "--yes"]).ok();
    env.var("WHO", "caller");
    let made = env.dandori(["worktree", "add", "topic", "--json"]).json();
    let path = Utf8PathBuf::from(made["worktree"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(path.join("set-up.txt")).unwrap(), "caller\n");
    let warnings = made["warnings"].to_string();
    assert!(warnings.contains("broken") && warnings.contains("lefthook"), "{warnings}");
    let made = env.dandori(["worktree", "add", "bare", "--no-set-up", "--json"]).json();
    assert!(!Utf8PathBuf::from(made["worktree"].as_str().unwrap()).join("set-up.txt").exists());
}

#[test]
fn what_git_would_refuse_is_refused_with_a_hint() {
    let env = machine();
    let said = env.dandori(["worktree", "add", "a..b"]).fails(1);
    assert!(said.contains("is not a valid branch name") && said.contains("hint"), "{said}");
    let said = env.dandori(["worktree", "add", "main"]).fails(1);
    assert!(said.contains(&format!("checked out at {}", env.repo())), "{said}");
    let made = env.dandori(["worktree", "add", "topic", "--json"]).json();
    std::fs::write(format!("{}/loose.txt", made["worktree"].as_str().unwrap()), "l\n").unwrap();
    env.git(["worktree", "lock", "--reason", "on a stick", made["worktree"].as_str().unwrap()]);
    let said = env.dandori(["worktree", "remove", "topic", "--force"]).fails(1);
    assert!(said.contains("on a stick") && said.contains("git worktree unlock"), "{said}");
    assert_eq!(env.git(["for-each-ref", "refs/dandori/preserved"]), "", "nothing was begun");
}
