//! Many runs and a daemon that is killed at times nobody chose.
//!
//! The times come from a seed, printed and to be given again in `DANDORI_CRASH_SEED`. They hit what the crash points
//! cannot: the middle of an effect.

use std::time::Duration;

use dandori_testkit::env::kill;

use crate::sound::{LAUNCHES, Left, assert_failed, assert_lines, assert_published, assert_sound, text, worktree_of};
use crate::stage::{Stage, read};

const RUNS: usize = 12;
const KILLS: usize = 6;

/// SplitMix64.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn throw(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % below
    }
}

#[derive(Clone, Copy)]
enum Wanted {
    Published,
    PublishedWithPull,
    NoChanges,
    Failed,
    Canceled,
}

/// What the number says is asked for, and what the agent then does.
fn wanted(number: usize) -> (Wanted, &'static str) {
    match number % 6 {
        0 => (Wanted::Published, "echo work > work.txt"),
        1 => (Wanted::Canceled, "sleep 1000"),
        2 => (Wanted::NoChanges, "rm launches.txt"),
        3 => (Wanted::Failed, "exit 9"),
        _ => (Wanted::PublishedWithPull, "echo work > work.txt"),
    }
}

#[test]
fn a_daemon_killed_at_random_times_loses_nothing_and_does_nothing_twice() {
    let seed = std::env::var("DANDORI_CRASH_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(20_240_229);
    println!("DANDORI_CRASH_SEED={seed}");
    let mut dice = Dice(seed);
    let mut stage = Stage::new(None, "worktrees.pool = 2\nruns.max_parallel = 4\n");
    let mut tasks = Vec::new();
    let mut killed = 0;
    for number in 0..RUNS {
        let (wanted, deed) = wanted(number);
        let nap = dice.throw(200);
        let agent = format!("exec:echo launched >> launches.txt; sleep 0.{nap:03}; {deed}");
        let more: &[&str] = if matches!(wanted, Wanted::PublishedWithPull) { &["--pr"] } else { &[] };
        tasks.push((stage.run(&format!("number {number}"), &agent, more), wanted));
        // Half of them while orders still come in.
        if number % 4 == 3 && killed < KILLS / 2 {
            killed += strike(&stage, dice.throw(900));
        }
    }
    let canceled: Vec<&String> =
        tasks.iter().filter(|(_, w)| matches!(w, Wanted::Canceled)).map(|(task, _)| task).collect();
    std::thread::scope(|scope| {
        for task in canceled {
            let pause = Duration::from_millis(dice.throw(2000));
            let stage = &stage;
            scope.spawn(move || {
                std::thread::sleep(pause);
                stage.cancel(task)
            });
        }
        while killed < KILLS {
            // Any question brings the daemon back.
            stage.ask(&["task", "list"]);
            killed += strike(&stage, dice.throw(900));
        }
    });
    let mut left = Left::default();
    for (task, wanted) in &tasks {
        look_at(&stage, task, *wanted, &mut left);
    }
    assert_sound(&mut stage, &left);
}

/// Every run has come to the end that was asked for, once.
fn look_at(stage: &Stage, task: &str, wanted: Wanted, left: &mut Left) {
    let run = stage.settled(task);
    match wanted {
        Wanted::Published | Wanted::PublishedWithPull => {
            assert_published(stage, &run, 0);
            assert_lines(stage, &run, LAUNCHES, 1);
            left.branches.push(text(&run, "branch"));
            left.pulls += usize::from(matches!(wanted, Wanted::PublishedWithPull));
        }
        Wanted::NoChanges => {
            assert_eq!((&run["state"], run["commit"].is_null()), (&"SUCCEEDED".into(), true), "{run:#}");
        }
        Wanted::Failed => {
            assert_failed(stage, &run, "agent");
            assert_eq!(read(&worktree_of(&run).join(LAUNCHES)), "launched\n");
            left.unpushed.push(text(&run, "branch"));
        }
        Wanted::Canceled => {
            assert_eq!(run["state"], "CANCELED", "{run:#}");
            // One that was canceled before it began has nothing to keep.
            if let Some(reference) = run["preserved"].as_str() {
                assert_eq!(stage.env.git(["show", &format!("{reference}:{LAUNCHES}")]), "launched");
            }
        }
    }
}

fn strike(stage: &Stage, after_milliseconds: u64) -> usize {
    std::thread::sleep(Duration::from_millis(after_milliseconds));
    let Some(pid) = stage.env.daemon_pid() else { return 0 };
    kill(pid, "-KILL");
    1
}
