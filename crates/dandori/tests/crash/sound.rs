//! What must hold when everything is over, whoever died on the way.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_testkit::env::wait_until;
use serde_json::Value;

use crate::stage::{Stage, read};

/// One line for every launch of an agent, in the tree it works in.
pub(crate) const LAUNCHES: &str = "launches.txt";
/// One line for every set-up.
pub(crate) const SET_UPS: &str = "set-ups.txt";

/// What a story leaves behind.
#[derive(Default)]
pub(crate) struct Left {
    /// Branches that stay, here and on the origin.
    pub(crate) branches: Vec<String>,
    /// Branches that stay only here: never pushed.
    pub(crate) unpushed: Vec<String>,
    pub(crate) pulls: usize,
    /// Uncommitted files of the main checkout, as it was from the beginning.
    pub(crate) dirty: Vec<&'static str>,
}

pub(crate) fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_else(|| panic!("no {key} in {value:#}")).to_owned()
}

pub(crate) fn worktree_of(run: &Value) -> Utf8PathBuf {
    text(run, "worktree").into()
}

/// The run is published: its one commit on top of `others`, at the origin's tip, and nothing left uncommitted.
pub(crate) fn assert_published(stage: &Stage, run: &Value, others: usize) {
    assert_eq!(run["state"], "SUCCEEDED", "{run:#}\n{}", stage.log());
    let (id, branch, commit) = (text(run, "id"), text(run, "branch"), text(run, "commit"));
    let env = &stage.env;
    assert_eq!(env.git(["rev-parse", &branch]), commit, "the branch");
    assert_eq!(env.git_in(&env.origin(), ["rev-parse", &branch]), commit, "the origin's branch");
    let commits = commits(stage, &commit);
    let own = commits.iter().filter(|c| **c == id).count();
    assert_eq!((own, commits.len()), (1, 1 + others), "commits of {id} on {branch}: {commits:?}");
    if let Some(worktree) = run["worktree"].as_str() {
        let status = env.git_in(Utf8Path::new(worktree), ["status", "--porcelain"]);
        assert_eq!(status, "", "the worktree is as the commit");
    }
}

/// The `Dandori-Run` of every commit beyond the base; empty for somebody else's.
fn commits(stage: &Stage, tip: &str) -> Vec<String> {
    let range = format!("origin/main..{tip}");
    let log = stage.env.git(["log", "--format=%H %(trailers:key=Dandori-Run,valueonly,separator=%x2C)", &range]);
    log.lines().map(|l| l.split_once(' ').map_or("", |(_, run)| run).trim().to_owned()).collect()
}

/// How many lines a file has in a commit.
pub(crate) fn lines_in(stage: &Stage, commit: &str, file: &str) -> usize {
    stage.env.git(["show", &format!("{commit}:{file}")]).lines().count()
}

pub(crate) fn assert_lines(stage: &Stage, run: &Value, file: &str, count: usize) {
    assert_eq!(lines_in(stage, &text(run, "commit"), file), count, "{file}");
}

pub(crate) fn assert_failed(stage: &Stage, run: &Value, kind: &str) {
    assert_eq!((run["state"].as_str(), run["error"]["code"].as_str()), (Some("FAILED"), Some(kind)), "{run:#}");
    // The cause in one sentence, as everybody sees it.
    let shown = stage.env.dandori(["task", "show", &text(run, "id")]).ok();
    let said: Vec<&str> = shown.lines().filter(|l| !l.trim().is_empty()).collect();
    assert!(said.iter().any(|l| l.contains("FAILED")) && said.len() > 2, "no cause is shown:\n{shown}");
}

/// Nothing else is there: no process, worktree, branch, lock, half-done removal or complaint.
pub(crate) fn assert_sound(stage: &mut Stage, left: &Left) {
    stage.assert_died();
    let env = &stage.env;
    let status = stage.ask(&["daemon", "start"]);
    assert_eq!(status["health"]["notices"], Value::Array(Vec::new()), "{status:#}");
    assert_eq!(status["health"]["live_runs"], 0, "{status:#}");
    let gc = stage.ask(&["worktree", "gc", "--dry-run"]);
    assert_eq!(gc["found"], Value::Array(Vec::new()), "{gc:#}\n{}", stage.log());
    let pulls = stage.ask(&["pr", "list", "--state", "all"]);
    assert_eq!(pulls["total"], left.pulls, "{pulls:#}");
    assert_branches(stage, left);
    let dirty = env.git(["status", "--porcelain", "--untracked-files=all"]);
    let dirty: Vec<&str> = dirty.lines().map(|l| l[3..].trim()).collect();
    assert_eq!(dirty, left.dirty, "the main checkout");
    assert_eq!(env.git(["symbolic-ref", "HEAD"]), "refs/heads/main");
    env.git(["fsck", "--connectivity-only", "--no-dangling"]);
    assert_records(stage);
    let mut daemon_only: Vec<String> = processes(stage).into_iter().map(|(_, line)| line).collect();
    daemon_only.retain(|line| !line.contains("daemon serve"));
    // A warm slot may be in the making: that is the daemon's own git, and it ends.
    if !daemon_only.is_empty() {
        wait_until(&format!("these end: {daemon_only:?}"), || {
            processes(stage).iter().all(|(_, line)| line.contains("daemon serve"))
        });
        assert!(daemon_only.iter().all(|line| line.starts_with("git")), "left running: {daemon_only:?}");
    }
    env.dandori(["daemon", "stop"]).ok();
    wait_until("nothing at all runs", || processes(stage).is_empty());
    assert_eq!(lock_files(&env.repo().join(".git")), Vec::<Utf8PathBuf>::new(), "locks");
}

/// Every record of a worktree that git has is of a worktree. Those of slots are swept by the next look after the pool.
fn assert_records(stage: &Stage) {
    let env = &stage.env;
    let records = || -> Vec<String> {
        let entries = env.repo().join(".git/worktrees").read_dir_utf8();
        entries.into_iter().flatten().flatten().map(|e| e.file_name().to_owned()).collect()
    };
    let stumps = || -> Vec<String> {
        let listed = env.git(["worktree", "list", "--porcelain"]);
        let is_of_one = |record: &String| {
            let path = read(&env.repo().join(".git/worktrees").join(record).join("gitdir"));
            path.strip_suffix("/.git\n").is_some_and(|p| listed.lines().any(|l| l.strip_prefix("worktree ") == Some(p)))
        };
        records().into_iter().filter(|r| !is_of_one(r)).collect()
    };
    let found = stumps();
    assert!(found.iter().all(|name| name.starts_with("slot-")), "records of nothing: {found:?}");
    wait_until("the pool is swept", || stumps().is_empty());
}

/// What was removed leaves the disk, too, in the background.
pub(crate) fn assert_trash_goes(stage: &Stage) {
    let trash = stage.below_repos("trash");
    wait_until("the trash is empty", || trash.read_dir_utf8().map_or(0, Iterator::count) == 0);
}

fn assert_branches(stage: &Stage, left: &Left) {
    let env = &stage.env;
    let names = |text: String| {
        let mut names: Vec<String> = text.lines().map(str::to_owned).collect();
        names.sort();
        names
    };
    let list = ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/"];
    let with_main = |more: &[&[String]]| {
        let mut all = vec!["main".to_owned()];
        all.extend(more.iter().flat_map(|m| m.iter().cloned()));
        all.sort();
        all
    };
    assert_eq!(names(env.git(list)), with_main(&[&left.branches, &left.unpushed]), "branches here");
    assert_eq!(names(env.git_in(&env.origin(), list)), with_main(&[&left.branches]), "branches at the origin");
    assert_eq!(env.git(["rev-parse", "main"]), env.git(["rev-parse", "origin/main"]), "main");
}

/// Everything alive that has to do with this machine: by its environment, its place, or its arguments.
pub(crate) fn processes(stage: &Stage) -> Vec<(u32, String)> {
    let root = stage.env.root().as_str().as_bytes();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse::<u32>().ok()) else { continue };
        if pid == std::process::id() {
            continue;
        }
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        let cwd = std::fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        let has = |bytes: &[u8]| bytes.windows(root.len()).any(|w| w == root);
        // The dead who wait for their parent have no command line.
        if !line.is_empty() && (has(&line) || has(&environ) || has(cwd.as_os_str().as_encoded_bytes())) {
            found.push((pid, String::from_utf8_lossy(&line).replace('\0', " ")));
        }
    }
    found
}

fn lock_files(folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    for entry in folder.read_dir_utf8().unwrap().flatten() {
        let path = entry.path();
        // Ours is held by the kernel's leave, not by being there.
        if path.extension() == Some("lock") && path.file_name() != Some("dandori.lock") {
            found.push(path.to_owned());
        }
        if path.is_dir() && !path.is_symlink() {
            found.extend(lock_files(path));
        }
    }
    found
}

/// What a canceled run had not committed comes back as it was.
pub(crate) fn assert_restorable(stage: &Stage, run: &Value, file: &str, content: &str) {
    let reference = text(run, "preserved");
    assert_eq!(stage.env.git(["show", &format!("{reference}:{file}")]), content);
    let restored = stage.ask(&["worktree", "restore", &text(run, "run")]);
    let path = Utf8PathBuf::from(text(&restored, "worktree"));
    assert_eq!(read(&path.join(file)).trim(), content);
    assert!(stage.env.git_in(&path, ["status", "--porcelain"]).contains(file), "uncommitted again");
}
