//! What cannot be staged is named and fails the run, with its work kept; what only looks so is staged. Nothing waits.

use camino::Utf8PathBuf;
use serde_json::Value;

use crate::ground::{Ground, Kind, Who, is_root, kinds, run};

/// The failure of a run that left this behind, and where its work is.
fn failed(ground: &Ground, agent: &str) -> (Value, Utf8PathBuf) {
    let ended = run(ground, agent);
    assert_eq!(ended["state"], "FAILED", "{ended:#}");
    let shown = ground.env.dandori(["task", "show", "T-1", "--json"]).json();
    let run = &shown["runs"][0];
    assert_eq!(run["error"]["code"], "unstageable", "{run:#}");
    (run["error"]["detail"].clone(), run["worktree"].as_str().unwrap().into())
}

#[test]
fn a_pipe_where_git_would_read_is_named_and_nobody_waits_for_it() {
    for path in ["README.md", ".gitignore", "deep/.gitattributes"] {
        let ground = Ground::new(kinds()[0]);
        let line = format!("exec:mkdir -p deep; echo work > work.txt; rm -f {path}; mkfifo {path}");
        let (failure, worktree) = failed(&ground, &line);
        assert_eq!(failure["paths"][0]["path"], path, "{failure}");
        assert_eq!(failure["paths"][0]["why"], "special", "{failure}");
        assert_eq!(std::fs::read_to_string(worktree.join("work.txt")).unwrap(), "work\n", "the work is kept");
        // And it can be cleared away, with the work kept under a name of its own.
        let key = worktree.file_name().unwrap().trim_start_matches("run_").to_owned();
        let _ = ground.env.dandori(["worktree", "remove", &key, "--force"]).ok();
        assert!(!worktree.exists());
    }
}

#[test]
fn a_file_without_end_is_more_than_a_run_may_bring() {
    let ground = Ground::new(kinds()[0]);
    let (failure, _) = failed(&ground, "exec:echo work > work.txt; truncate -s 1T huge.bin");
    assert_eq!((&failure["paths"][0]["path"], &failure["paths"][0]["why"]), (&"huge.bin".into(), &"too_large".into()));
    let told = ground.env.dandori(["task", "show", "T-1"]).stdout;
    assert!(told.contains("huge.bin"), "{told}");
}

#[test]
fn a_path_beyond_the_system_s_limit_is_not_left_out_without_a_word() {
    let ground = Ground::new(kinds()[0]);
    let name = "d".repeat(200);
    let code = format!(
        "import os\nfor _ in range(25):\n  os.mkdir('{name}'); os.chdir('{name}')\nopen('work','w').write('x')"
    );
    ground.plant("deep.py", &code);
    let (failure, _) = failed(&ground, "exec:python3 deep.py");
    assert_eq!(failure["paths"][0]["why"], "too_long", "{failure}");
}

#[test]
fn what_nobody_may_read_is_committed_all_the_same() {
    let who = if is_root() { Who::Ordinary } else { Who::Self_ };
    for namespaces in [true, false] {
        let ground = Ground::new(Kind { who, namespaces });
        let line = "exec:mkdir -p closed/deep && echo a > closed/deep/a.txt && echo b > b.txt && chmod 000 b.txt closed/deep closed";
        let ended = run(&ground, line);
        assert_eq!(ended["state"], "SUCCEEDED", "{ended:#}");
        let branch = ended["branch"].as_str().unwrap();
        let listed = ground.env.git_in(&ground.env.origin(), ["ls-tree", "-r", "--name-only", branch]);
        assert!(listed.contains("closed/deep/a.txt") && listed.contains("b.txt"), "{listed}");
        let shown = ground.env.dandori(["task", "show", "T-1", "--json"]).json();
        let worktree: Utf8PathBuf = shown["runs"][0]["worktree"].as_str().unwrap().into();
        let key = worktree.file_name().unwrap().trim_start_matches("run_").to_owned();
        let _ = ground.env.dandori(["worktree", "remove", &key]).ok();
        assert!(!worktree.exists());
    }
}

/// A small disk, for as long as the test.
struct SmallDisk(Utf8PathBuf);

impl SmallDisk {
    fn at(path: &camino::Utf8Path) -> Option<Self> {
        std::fs::create_dir_all(path).unwrap();
        let line = ["-t", "tmpfs", "-o", "size=60m", "none", path.as_str()];
        let mounted = std::process::Command::new("mount").args(line).status().is_ok_and(|s| s.success());
        mounted.then(|| Self(path.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").args(["--lazy", self.0.as_str()]).status();
    }
}

#[test]
fn a_disk_that_fills_in_the_middle_of_a_run_ends_it_and_leaves_nobody() {
    let ground = Ground::new(kinds()[0]);
    let Some(_disk) = SmallDisk::at(&ground.env.state()) else {
        eprintln!("not tried: only a superuser makes a small disk");
        return;
    };
    ground.env.write_user_config("[runs]\nmin_free_disk = \"1MiB\"\n[worktrees]\npool = 0\n");
    let _ = ground.env.dandori(["daemon", "start"]).ok();
    let reserve = ground.env.state().join("private/reserve");
    dandori_testkit::env::wait_until("room is kept back", || reserve.exists());
    let ended = run(&ground, "exec:echo work > work.txt; dd if=/dev/zero of=big bs=1M; true");
    assert_eq!(ended["state"], "FAILED", "{ended:#}");
    assert!(ended["error"]["message"].as_str().unwrap().contains("the disk is full"), "{ended:#}");
    let shown = ground.env.dandori(["task", "show", "T-1", "--json"]).json();
    let worktree: Utf8PathBuf = shown["runs"][0]["worktree"].as_str().unwrap().into();
    assert_eq!(std::fs::read_to_string(worktree.join("work.txt")).unwrap(), "work\n");
    assert!(!dandori_testkit::env::TestEnv::has_processes_of(ended["id"].as_str().unwrap()));
    // With room again it is taken up.
    std::fs::remove_file(worktree.join("big")).unwrap();
    let again = ground.env.dandori(["task", "retry", "T-1", "--json"]).json();
    assert_eq!(again["runs"][0]["state"], "SUCCEEDED", "{again:#}");
    let _ = ground.env.dandori(["daemon", "stop"]).ok();
}
