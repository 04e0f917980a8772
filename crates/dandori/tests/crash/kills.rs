//! The shim and the agent killed, alone and together with the daemon.
//!
//! They live in two states: PENDING, where a shim runs the set-up, and RUNNING. Whoever of them dies, the run fails
//! with a cause, nothing of it stays alive, a child in a session of its own included, and a follow-up goes on with
//! what was in the worktree.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_testkit::env::{Ran, kill, wait_for, wait_until};
use serde_json::Value;

use crate::sound::{
    LAUNCHES, Left, assert_failed, assert_lines, assert_published, assert_restorable, assert_sound, processes, text,
    worktree_of,
};
use crate::stage::{Stage, read, wait_for_file};
use crate::story::LINGERS;

const NO_POOL: &str = "worktrees.pool = 0\n";

/// Lingers the first time, with a child in a session of its own; done at once when it is launched again.
const LINGERS_ONCE: &str = "exec:echo launched >> launches.txt; [ -e work.txt ] && exit 0; echo work > work.txt; \
    setsid sh -c 'echo up > \"$TMPDIR/child\"; exec sleep 1000' < /dev/null > /dev/null 2>&1 & sleep 1000";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Victim {
    Daemon,
    Shim,
    Agent,
}

use Victim::{Agent, Daemon, Shim};

/// Kills them as fast as one can, in this order.
fn slay(stage: &Stage, shim_folder: &Utf8Path, victims: &[Victim]) {
    let started: Value = serde_json::from_str(&wait_for_file(&shim_folder.join("started.json"))).unwrap();
    let pid = |who: &str| u32::try_from(started[who]["pid"].as_u64().unwrap()).unwrap();
    let pids: Vec<u32> = victims
        .iter()
        .map(|victim| match victim {
            Daemon => stage.env.daemon_pid().unwrap(),
            Shim => pid("shim"),
            Agent => pid("agent"),
        })
        .collect();
    for pid in &pids {
        kill(*pid, "-KILL");
    }
    for pid in pids {
        wait_until("the victim is dead", || is_dead(pid));
    }
}

fn is_dead(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with('Z'))
}

/// The child in its own session included.
fn assert_nothing_lives(run: &Value) {
    assert!(!dandori_testkit::env::TestEnv::has_processes_of(&text(run, "id")), "something of {} is alive", run["id"]);
}

/// The agent at work, its child in a session of its own, and the victims dead.
fn struck_down(victims: &[Victim]) -> (Stage, String, Value) {
    let stage = Stage::new(None, NO_POOL);
    let task = stage.run("linger", LINGERS_ONCE, &[]);
    let run = stage.running(&task);
    let folder = stage.run_folder(&run);
    wait_for_file(&folder.join("tmp/child"));
    slay(&stage, &folder, victims);
    (stage, task, run)
}

fn fails_and_goes_on(victims: &[Victim], causes: &[&str]) {
    let (mut stage, task, begun) = struck_down(victims);
    let run = stage.settled(&task);
    let cause = run["error"]["code"].as_str().unwrap_or_default().to_owned();
    assert!(causes.contains(&cause.as_str()), "{victims:?}: {run:#}");
    assert_failed(&stage, &run, &cause);
    assert_nothing_lives(&begun);
    assert_eq!(read(&worktree_of(&run).join("work.txt")), "work\n", "{victims:?}: uncommitted edits are intact");
    stage.follow_up(&task, "go on", &[]);
    let run = stage.settled(&task);
    assert_published(&stage, &run, 0);
    assert_lines(&stage, &run, LAUNCHES, 2);
    assert_lines(&stage, &run, "work.txt", 1);
    assert_sound(&mut stage, &Left { branches: vec![text(&run, "branch")], ..Left::default() });
}

#[test]
fn a_killed_shim_fails_the_run_and_leaves_nothing_alive() {
    fails_and_goes_on(&[Shim], &["supervisor_lost"]);
}

#[test]
fn a_killed_agent_fails_the_run_and_leaves_nothing_alive() {
    fails_and_goes_on(&[Agent], &["agent"]);
}

#[test]
fn a_shim_killed_with_the_daemon_fails_the_run() {
    fails_and_goes_on(&[Daemon, Shim], &["supervisor_lost"]);
}

#[test]
fn an_agent_killed_with_the_daemon_fails_the_run() {
    fails_and_goes_on(&[Daemon, Agent], &["agent"]);
}

/// As when the machine goes down, but that the child in its own session is even left over.
#[test]
fn daemon_shim_and_agent_killed_at_once_fail_the_run() {
    fails_and_goes_on(&[Daemon, Shim, Agent], &["supervisor_lost"]);
}

#[test]
fn a_run_whose_shim_died_without_a_daemon_can_be_canceled() {
    let (mut stage, task, begun) = struck_down(&[Daemon, Shim]);
    // The next daemon may find the death before the cancel comes: then there is nothing left to cancel.
    let run = stage.cancel(&task);
    assert_nothing_lives(&begun);
    if run["state"] == "CANCELED" {
        assert_sound(&mut stage, &Left::default());
        assert_restorable(&stage, &run, "work.txt", "work");
    } else {
        assert_failed(&stage, &run, "supervisor_lost");
        assert_eq!(read(&worktree_of(&run).join("work.txt")), "work\n");
    }
}

#[test]
fn a_daemon_killed_again_and_again_does_not_disturb_the_agent() {
    let mut stage = Stage::new(None, NO_POOL);
    let agent = "exec:echo launched >> launches.txt; until [ -e go ]; do sleep 0.02; done; rm go";
    let task = stage.run("be patient", agent, &["--pr"]);
    for _ in 0..3 {
        stage.running(&task);
        stage.env.kill_daemon();
    }
    std::fs::write(worktree_of(&stage.running(&task)).join("go"), "").unwrap();
    let run = stage.settled(&task);
    assert_published(&stage, &run, 0);
    assert_lines(&stage, &run, LAUNCHES, 1);
    assert_sound(&mut stage, &Left { branches: vec![text(&run, "branch")], pulls: 1, ..Left::default() });
}

#[test]
fn a_waiting_command_outlives_the_daemon_and_tells_the_end() {
    let mut stage = Stage::new(None, NO_POOL);
    let agent = "exec:echo launched >> launches.txt; until [ -e go ]; do sleep 0.02; done; rm go";
    let words = ["run", "wait for me", "--agent", agent, "--pr", "--json"];
    let mut waiting = stage.env.prepared(&stage.env.repo(), words);
    let waiting = waiting.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let task =
        wait_for("the task is there", || stage.ask(&["task", "list"])["tasks"][0]["task"].as_str().map(str::to_owned));
    for _ in 0..2 {
        stage.running(&task);
        stage.env.kill_daemon();
    }
    // Not by us: the waiting command itself brings the daemon back.
    wait_until("the daemon is back", || stage.env.daemon_pid().is_some());
    std::fs::write(worktree_of(&stage.running(&task)).join("go"), "").unwrap();
    let told = Ran::of(&waiting.wait_with_output().unwrap());
    assert_eq!(told.code, 0, "{told:?}");
    let run = stage.settled(&task);
    assert_eq!(told.json()["runs"][0]["state"], "SUCCEEDED", "{told:?}");
    assert_eq!(told.json()["runs"][0]["commit"], run["commit"], "{told:?}");
    assert_published(&stage, &run, 0);
    assert_lines(&stage, &run, LAUNCHES, 1);
    assert_sound(&mut stage, &Left { branches: vec![text(&run, "branch")], pulls: 1, ..Left::default() });
}

/// The daemon dies the moment it has launched, the shim a moment later or at once.
#[test]
fn a_shim_killed_right_after_the_launch_is_not_launched_again() {
    let mut stage = Stage::new(Some("run:done:launch"), NO_POOL);
    stage.arm();
    let task = stage.run("hardly begun", LINGERS, &[]);
    stage.await_death();
    let folder = wait_for("the run's folder", || only_entry(&stage.below_repos("runs")));
    slay(&stage, &folder, &[Shim]);
    let run = stage.settled(&task);
    assert_failed(&stage, &run, "supervisor_lost");
    let launches = read(&worktree_of(&run).join(LAUNCHES)).lines().count();
    assert!(launches <= 1, "{launches} launches");
    assert_sound(&mut stage, &Left { unpushed: vec![text(&run, "branch")], ..Left::default() });
}

/// Killed while it starts, again and again a little later: whichever moment is hit, the run fails and nothing stays.
#[test]
fn a_shim_killed_while_it_starts_fails_the_run() {
    let mut stage = Stage::new(None, NO_POOL);
    let mut left = Left::default();
    for moment in [0u64, 2, 5, 10, 20, 40] {
        let before: Vec<u32> = shims(&stage);
        let task = stage.run(&format!("start {moment}"), LINGERS, &[]);
        let until = Instant::now() + Duration::from_secs(30);
        let shim = loop {
            if let Some(new) = shims(&stage).into_iter().find(|pid| !before.contains(pid)) {
                break new;
            }
            assert!(Instant::now() < until, "no shim\n{}", stage.log());
            std::thread::yield_now();
        };
        std::thread::sleep(Duration::from_millis(moment));
        kill(shim, "-KILL");
        let run = stage.settled(&task);
        let cause = run["error"]["code"].as_str().unwrap_or_default().to_owned();
        assert!(["agent", "supervisor_lost"].contains(&cause.as_str()), "{run:#}\n{}", stage.log());
        assert_failed(&stage, &run, &cause);
        let launches = read(&worktree_of(&run).join(LAUNCHES)).lines().count();
        assert!(launches <= 1, "{launches} launches");
        left.unpushed.push(text(&run, "branch"));
    }
    assert_sound(&mut stage, &left);
}

fn shims(stage: &Stage) -> Vec<u32> {
    processes(stage).into_iter().filter(|(_, line)| line.contains(" shim ")).map(|(pid, _)| pid).collect()
}

fn only_entry(folder: &Utf8Path) -> Option<Utf8PathBuf> {
    Some(folder.read_dir_utf8().ok()?.flatten().next()?.into_path())
}

/// The set-up hangs the first time, with a child in a session of its own; done at once when it is tried again.
fn set_up_struck_down(victims: &[Victim]) {
    let config = r#"worktrees.set_up = ["echo set-up >> set-ups.txt; [ -e half.txt ] && exit 0; echo half > half.txt; setsid sh -c 'echo up > \"$TMPDIR/child\"; exec sleep 1000' < /dev/null > /dev/null 2>&1 & sleep 1000"]"#;
    let mut stage = Stage::new(None, &format!("{NO_POOL}{config}\n"));
    let task = stage.run("begin", "exec:echo launched >> launches.txt", &[]);
    let run = stage.newest_when(&task, "the worktree is there", |run| run["worktree"].is_string());
    let folder = stage.run_folder(&run);
    wait_for_file(&folder.join("tmp/child"));
    slay(&stage, &folder.join("set-up-0"), victims);
    let run = stage.settled(&task);
    assert_failed(&stage, &run, "set_up");
    assert_nothing_lives(&run);
    assert!(!worktree_of(&run).join(LAUNCHES).exists(), "the agent never began");
    assert_eq!(read(&worktree_of(&run).join("half.txt")), "half\n");
    stage.follow_up(&task, "go on", &[]);
    let run = stage.settled(&task);
    assert_published(&stage, &run, 0);
    assert_lines(&stage, &run, LAUNCHES, 1);
    // Half a set-up is none: the follow-up has had a whole one.
    assert_lines(&stage, &run, "set-ups.txt", 2);
    assert_sound(&mut stage, &Left { branches: vec![text(&run, "branch")], ..Left::default() });
}

#[test]
fn a_killed_shim_of_the_set_up_fails_the_run() {
    set_up_struck_down(&[Shim]);
}

#[test]
fn a_killed_set_up_command_fails_the_run() {
    set_up_struck_down(&[Agent]);
}

#[test]
fn everything_killed_in_the_set_up_fails_the_run() {
    set_up_struck_down(&[Daemon, Shim, Agent]);
}

/// The daemon alone: the set-up goes on and so does the run.
#[test]
fn a_daemon_killed_in_the_set_up_changes_nothing() {
    let config = r#"worktrees.set_up = ["echo set-up >> set-ups.txt; echo up > \"$TMPDIR/up\"; until [ -e go ]; do sleep 0.02; done; rm go"]"#;
    let mut stage = Stage::new(None, &format!("{NO_POOL}{config}\n"));
    let task = stage.run("begin", "exec:echo launched >> launches.txt", &[]);
    let run = stage.newest_when(&task, "the worktree is there", |run| run["worktree"].is_string());
    wait_for_file(&stage.run_folder(&run).join("tmp/up"));
    stage.env.kill_daemon();
    assert!(Path::new(worktree_of(&run).as_str()).exists());
    std::fs::write(worktree_of(&run).join("go"), "").unwrap();
    let run = stage.settled(&task);
    assert_published(&stage, &run, 0);
    assert_lines(&stage, &run, LAUNCHES, 1);
    assert_lines(&stage, &run, "set-ups.txt", 1);
    assert_sound(&mut stage, &Left { branches: vec![text(&run, "branch")], ..Left::default() });
}
