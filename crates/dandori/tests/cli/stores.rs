//! Where facts are kept: PostgreSQL instead of the embedded store, and a disk that is full.

use std::process::Command;

use dandori_testkit::postgres::Postgres;

use crate::machine;

#[test]
fn a_run_on_postgresql_survives_the_daemon_as_well() {
    let env = machine();
    let address = Postgres::shared().database();
    env.write_user_config(&format!("store = \"{address}\"\n"));
    let answer = env.run_json(["x", "--agent", "exec:echo x > x.txt", "--pr"]);
    assert_eq!(answer["runs"][0]["state"], "SUCCEEDED", "{answer}");
    assert_eq!(answer["runs"][0]["pr"]["number"], 1);
    env.kill_daemon();
    let again = env.dandori(["task", "follow-up", "T-1", "more", "--json"]).json();
    assert_eq!(again["runs"][0]["state"], "SUCCEEDED", "{again}");
    let status = env.dandori(["daemon", "status"]).ok();
    assert!(status.contains("PostgreSQL"), "{status}");
    assert!(!env.state().join("private/dandori.db").exists());
}

#[test]
fn two_that_share_a_database_leave_each_others_work_alone() {
    let mut env = machine();
    let address = Postgres::shared().database();
    env.write_user_config(&format!("store = \"{address}\"\n"));
    env.run_json(["x", "--agent", "exec:echo x > x.txt; exit 1"]);
    let mine = env.dandori(["worktree", "list", "--json"]).json()["worktrees"].clone();
    assert_eq!(mine.as_array().unwrap().len(), 1, "{mine}");
    let _ = env.dandori(["daemon", "stop"]).ok();

    // The same path to the same repository, under another state root: as another host would see it.
    let first = env.state();
    env.var("DANDORI_STATE_DIR", env.root().join("elsewhere"));
    assert_eq!(env.dandori(["task", "list", "--json"]).json()["tasks"].as_array().unwrap().len(), 0);
    assert_eq!(env.dandori(["task", "list", "--all", "--json"]).json()["tasks"].as_array().unwrap().len(), 1);
    for order in [&["task", "retry", "T-1"][..], &["task", "cancel", "T-1"], &["task", "follow-up", "T-1", "more"]] {
        let said = env.dandori(order).fails(1);
        assert!(said.contains("belongs to another dandori"), "{order:?}: {said}");
    }
    let taken = env.dandori(["worktree", "gc", "--json"]).json();
    assert_eq!((&taken["removed"], taken["found"].as_array().map(Vec::len)), (&0.into(), Some(0)), "{taken}");
    let _ = env.dandori(["daemon", "stop"]).ok();

    env.var("DANDORI_STATE_DIR", first);
    assert_eq!(env.dandori(["worktree", "list", "--json"]).json()["worktrees"], mine);
    assert!(std::path::Path::new(mine[0]["worktree"].as_str().unwrap()).join("x.txt").exists());
}

#[test]
fn a_database_that_cannot_be_reached_is_a_clear_error() {
    let env = machine();
    env.write_user_config("store = \"postgres://nobody@127.0.0.1:1/none\"\n");
    let said = env.dandori(["task", "list"]).fails(3);
    assert!(said.contains("cannot use dandori's database"), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn a_full_disk_refuses_new_work_and_loses_nothing_taken_on() {
    let env = machine();
    std::fs::create_dir_all(env.state()).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=12m,mode=0700", "tmpfs", env.state().as_str()])
        .status()
        .is_ok_and(|s| s.success());
    // Without the right to mount, the limit on free space stands in for the full disk.
    let limit = if mounted { "1MiB" } else { "900TiB" };
    if mounted {
        env.write_user_config("[runs]\nmin_free_disk = \"1MiB\"\n[worktrees]\npool = 0\n");
        for _ in 0..3 {
            let answer = env.run_json(["x", "--agent", "exec:true"]);
            assert_eq!(answer["runs"][0]["state"], "SUCCEEDED", "{answer}");
        }
        // What is left of the disk goes.
        let _ = Command::new("dd")
            .args(["if=/dev/zero", &format!("of={}", env.state().join("ballast")), "bs=64k", "status=none"])
            .stderr(std::process::Stdio::null())
            .status();
    } else {
        env.run_json(["x", "--agent", "exec:true"]);
        let _ = env.dandori(["daemon", "stop"]).ok();
        env.write_user_config(&format!("[runs]\nmin_free_disk = \"{limit}\"\n"));
    }
    let before = env.dandori(["task", "list", "--json"]).json()["tasks"].as_array().unwrap().len();
    let said = env.dandori(["run", "more", "--agent", "exec:true"]).fails(3);
    assert!(said.contains("not enough disk space") || said.contains("database is full"), "{said}");
    let after = env.dandori(["task", "list", "--json"]).json()["tasks"].clone();
    assert_eq!(after.as_array().unwrap().len(), before);
    assert!(after.as_array().unwrap().iter().all(|t| t["runs"][0]["state"] == "SUCCEEDED"), "{after}");
    if mounted {
        env.kill_daemon();
        std::fs::remove_file(env.state().join("ballast")).unwrap();
        let answer = env.run_json(["room again", "--agent", "exec:true"]);
        assert_eq!(answer["runs"][0]["state"], "SUCCEEDED", "{answer}");
        let tasks = env.dandori(["task", "list", "--json"]).json()["tasks"].clone();
        assert_eq!(tasks.as_array().unwrap().len(), before + 1);
        env.kill_daemon();
        let _ = Command::new("umount").arg(env.state().as_str()).status();
    }
}
