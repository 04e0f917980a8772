//! Many runs and a daemon that is killed at times nobody chose.
//!
//! The times come from a seed, printed and to be given again in `DANDORI_CRASH_SEED`. They hit what the crash points
//! cannot: the middle of an effect.

use std::time::Duration;

use dandori_testkit::env::kill;

use crate::sound::{LAUNCHES, Left, assert_failed, assert_lines, assert_published, assert_sound, text};
use crate::stage::Stage;

const RUNS: usize = 12;
const KILLS: usize = 6;

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, below: u64) -> u64 {
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
}

#[test]
fn a_daemon_killed_at_random_times_loses_nothing_and_does_nothing_twice() {
    let seed = std::env::var("DANDORI_CRASH_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(20_240_229);
    println!("DANDORI_CRASH_SEED={seed}");
    let mut dice = Dice(seed);
    let mut stage = Stage::new(None, "worktrees.pool = 2\nruns.max_parallel = 3\n");
    let mut tasks = Vec::new();
    let mut killed = 0;
    for number in 0..RUNS {
        let naps = dice.throw(200);
        let (wanted, deed) = match number % 4 {
            0 => (Wanted::Published, "echo work > work.txt"),
            1 => (Wanted::PublishedWithPull, "echo work > work.txt"),
            2 => (Wanted::NoChanges, "rm launches.txt"),
            _ => (Wanted::Failed, "exit 9"),
        };
        let agent = format!("exec:echo launched >> launches.txt; sleep 0.{naps:03}; {deed}");
        let more: &[&str] = if matches!(wanted, Wanted::PublishedWithPull) { &["--pr"] } else { &[] };
        tasks.push((stage.run(&format!("number {number}"), &agent, more), wanted));
        // Half of them while orders still come in.
        if number % 4 == 3 && killed < KILLS / 2 {
            killed += strike(&stage, &mut dice);
        }
    }
    while killed < KILLS {
        // Any question brings the daemon back.
        stage.ask(["task", "list"]);
        killed += strike(&stage, &mut dice);
    }
    let mut left = Left::default();
    for (task, wanted) in tasks {
        let run = stage.settled(&task);
        match wanted {
            Wanted::Published | Wanted::PublishedWithPull => {
                assert_published(&stage, &run, 0);
                assert_lines(&stage, &run, LAUNCHES, 1);
                left.branches.push(text(&run, "branch"));
                left.pulls += usize::from(matches!(wanted, Wanted::PublishedWithPull));
            }
            Wanted::NoChanges => assert_eq!((&run["state"], run["commit"].is_null()), (&"SUCCEEDED".into(), true)),
            Wanted::Failed => {
                assert_failed(&stage, &run, "agent");
                let launches = crate::stage::read(&crate::sound::worktree_of(&run).join(LAUNCHES));
                assert_eq!(launches, "launched\n");
                left.unpushed.push(text(&run, "branch"));
            }
        }
    }
    assert_sound(&mut stage, &left);
}

fn strike(stage: &Stage, dice: &mut Dice) -> usize {
    std::thread::sleep(Duration::from_millis(dice.throw(900)));
    match stage.env.daemon_pid() {
        Some(pid) => {
            kill(pid, "-KILL");
            1
        }
        None => 0,
    }
}
