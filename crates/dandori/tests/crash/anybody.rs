//! Schedules in which anybody is killed at any time: the daemon, the shim, the process that made the run's namespaces, the
//! first one in them, the agent, or several at once.
//!
//! Whatever happens, a run comes to an end that is told as it is, has launched its agent at most once, has left nobody
//! behind, and has lost nothing: it is published, or failed with its work in its worktree. `DANDORI_CRASH_SCHEDULES=200`
//! for a long look, `DANDORI_CRASH_SEED` for other times.

use std::time::Duration;

use dandori_testkit::env::{TestEnv, kill, wait_until};
use serde_json::Value;

use crate::schedule::Dice;
use crate::sound::{LAUNCHES, Left, assert_lines, assert_published, assert_sound, text, worktree_of};
use crate::stage::{Stage, read};

const SCHEDULES: usize = 30;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn whoever_is_killed_whenever_nothing_is_lost_doubled_stuck_or_left() {
    let seed = number("DANDORI_CRASH_SEED", 20_261_118);
    let schedules = number("DANDORI_CRASH_SCHEDULES", SCHEDULES as u64);
    println!("DANDORI_CRASH_SEED={seed}");
    let mut dice = Dice(seed);
    let mut stage = Stage::new(None, "worktrees.pool = 0\n");
    let mut left = Left::default();
    for schedule in 0..schedules {
        let nap = dice.throw(400);
        let agent = format!(
            "exec:echo launched >> launches.txt; (setsid sleep 1000 &); sleep 0.{nap:03}; echo work > work.txt; sleep 0.05"
        );
        let task = stage.run(&format!("schedule {schedule}"), &agent, &[]);
        let run = stage.newest(&task);
        for _ in 0..=dice.throw(2) {
            std::thread::sleep(Duration::from_millis(dice.throw(350)));
            for pid in victims(&stage, &run, &mut dice) {
                kill(pid, "-KILL");
            }
        }
        look_at(&stage, schedule, &task, &mut left);
    }
    assert_sound(&mut stage, &left);
}

/// Who is there to be killed, and of them who is.
fn victims(stage: &Stage, run: &Value, dice: &mut Dice) -> Vec<u32> {
    let started = read(&stage.run_folder(run).join("started.json"));
    let started: Value = serde_json::from_str(&started).unwrap_or(Value::Null);
    let pid = |who: &str| started[who]["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
    let parent = |pid: u32| -> Option<u32> {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
    };
    // Only what still is what the record says.
    let agent = pid("agent").filter(|pid| {
        std::fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|e| e.split(|b| *b == 0).any(|v| v == format!("DANDORI_RUN={}", text(run, "id")).as_bytes()))
    });
    let shim = pid_of_shim(pid("shim"));
    let is_between = |pid: &u32| *pid > 1 && Some(*pid) != shim;
    let first = agent.and_then(parent).filter(is_between);
    let enter = first.and_then(parent).filter(is_between);
    match dice.throw(7) {
        0 => stage.env.daemon_pid().into_iter().collect(),
        1 => shim.into_iter().collect(),
        2 => first.into_iter().collect(),
        3 => enter.into_iter().collect(),
        4 => agent.into_iter().collect(),
        5 => stage.env.daemon_pid().into_iter().chain(shim).collect(),
        _ => stage.env.daemon_pid().into_iter().chain(first).collect(),
    }
}

/// It, while it is one.
fn pid_of_shim(pid: Option<u32>) -> Option<u32> {
    pid.filter(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|b| *b == 0).nth(1) == Some(b"shim")
    })
}

fn look_at(stage: &Stage, schedule: u64, task: &str, left: &mut Left) {
    let run = stage.settled(task);
    wait_until("nobody is left", || !TestEnv::has_processes_of(&text(&run, "id")));
    assert_eq!(stage.runs(task).len(), 1, "schedule {schedule}: {run:#}");
    if run["state"] == "SUCCEEDED" {
        assert_published(stage, &run, 0);
        assert_lines(stage, &run, LAUNCHES, 1);
        assert_lines(stage, &run, "work.txt", 1);
        left.branches.push(text(&run, "branch"));
        return;
    }
    let kind = run["error"]["code"].as_str().unwrap_or_default();
    assert!(matches!(kind, "supervisor_lost" | "agent"), "schedule {schedule}: {run:#}");
    let launches = read(&worktree_of(&run).join(LAUNCHES));
    assert!(launches.is_empty() || launches == "launched\n", "schedule {schedule}: launched again: {launches}");
    left.unpushed.push(text(&run, "branch"));
}
