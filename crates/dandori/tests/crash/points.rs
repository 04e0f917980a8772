//! The daemon killed at every crash point there is, in every story that comes by it.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::Instant;

use crate::story::{self, Story};

/// As many at a time: each is a machine of its own, and mostly waits.
const AT_A_TIME: usize = 4;

/// A story by name, and the points it comes by; `name#2` is the second time.
const STORIES: &[(&str, Story, &[&str])] = &[
    (
        "published",
        story::published,
        &[
            "recorded:admitted",
            "recorded:noted",
            "intended:worktree",
            "done:worktree",
            "recorded:worktree_ready",
            "intended:set_up",
            "done:set_up",
            "recorded:set_up_done",
            "intended:launch",
            "done:launch",
            "recorded:launched",
            "recorded:agent_ended",
            "recorded:staged",
            "intended:commit",
            "done:commit",
            "recorded:committed",
            "intended:push",
            "done:push",
            "recorded:pushed",
            "intended:pull",
            "done:pull",
            "recorded:pull_opened",
            "recorded:settled",
        ],
    ),
    ("from_a_warm_slot", story::from_a_warm_slot, &["intended:worktree", "done:worktree", "recorded:worktree_ready"]),
    ("conversation", story::conversation, &["recorded:session_seen", "prepared:launch", "done:launch"]),
    (
        "overtaken",
        story::overtaken,
        &["done:push", "done:push#2", "recorded:rebased", "intended:push#2", "done:push#3", "done:pull"],
    ),
    ("signed", story::signed, &["done:commit", "done:push#2", "done:push#3"]),
    (
        "conflict_and_retry",
        story::conflict_and_retry,
        &[
            "done:push#2",
            "recorded:failed",
            "recorded:settled",
            "recorded:resumed",
            "intended:push#2",
            "done:push#3",
            "recorded:pushed",
        ],
    ),
    (
        "conflict_brought_together",
        story::conflict_brought_together,
        &["intended:worktree", "done:worktree", "recorded:preserved", "recorded:worktree_ready", "done:commit"],
    ),
    (
        "unsigned_and_retry",
        story::unsigned_and_retry,
        &[
            "intended:commit",
            "recorded:failed",
            "recorded:settled",
            "recorded:resumed",
            "intended:commit#2",
            "done:commit",
            "recorded:committed",
        ],
    ),
    (
        "no_changes",
        story::no_changes,
        &["recorded:staged", "intended:remove", "done:remove", "recorded:removed", "recorded:settled"],
    ),
    ("agent_fails", story::agent_fails, &["recorded:agent_ended", "recorded:settled", "done:worktree#2"]),
    ("silent", story::silent, &["recorded:failed", "recorded:agent_ended", "recorded:stopped"]),
    ("forbidden", story::forbidden, &["recorded:agent_ended", "recorded:failed"]),
    (
        "worktree_fails",
        story::worktree_fails,
        &["intended:worktree", "recorded:failed", "intended:remove", "done:remove", "recorded:removed"],
    ),
    ("set_up_fails", story::set_up_fails, &["intended:set_up", "recorded:failed", "recorded:settled"]),
    (
        "canceled_running",
        story::canceled_running,
        &[
            "done:launch",
            "recorded:launched",
            "recorded:cancel_requested",
            "recorded:stopped",
            "recorded:preserved",
            "intended:remove",
            "done:remove",
            "recorded:removed",
            "recorded:settled",
        ],
    ),
    (
        "canceled_in_set_up",
        story::canceled_in_set_up,
        &["intended:set_up", "recorded:cancel_requested", "recorded:stopped", "recorded:preserved", "done:remove"],
    ),
    ("canceled_waiting", story::canceled_waiting, &["recorded:cancel_requested", "recorded:settled"]),
    (
        "follow_up",
        story::follow_up,
        &[
            "recorded:admitted",
            "intended:worktree",
            "done:worktree",
            "recorded:worktree_ready",
            "done:launch",
            "done:commit",
            "done:push",
            "done:pull",
        ],
    ),
    (
        "follow_up_remade",
        story::follow_up_remade,
        &["intended:worktree", "done:worktree", "done:set_up", "intended:remove", "done:remove"],
    ),
    ("follow_up_canceled", story::follow_up_canceled, &["recorded:preserved", "done:remove", "recorded:removed"]),
    ("pull_fails", story::pull_fails, &["intended:pull", "done:pull", "recorded:pull_failed"]),
    ("pull_by_hand", story::pull_by_hand, &["recorded:pull_linked"]),
    ("cleaned_up", story::cleaned_up, &["recorded:pull_opened", "intended:remove", "done:remove", "recorded:removed"]),
    ("ends_without_a_daemon", story::ends_without_a_daemon, &["done:launch", "recorded:launched"]),
];

/// Effects that are looked at and found done: a daemon that dies there again has lost nothing either.
const AGAIN: &[&str] = &["done:worktree", "done:set_up", "done:launch", "done:commit", "done:push", "done:pull"];

#[test]
fn every_crash_point_has_a_story() {
    let there_are: BTreeSet<String> = dandori_engine::fault::points().into_iter().collect();
    let name = |point: &str| point.split('#').next().unwrap_or(point).to_owned();
    let played: BTreeSet<String> = STORIES.iter().flat_map(|(_, _, points)| points.iter().map(|p| name(p))).collect();
    assert_eq!(played, there_are, "a crash point without a story, or a story's point that is no more");
    let again: BTreeSet<String> = AGAIN.iter().map(|p| (*p).to_owned()).collect();
    let effects: BTreeSet<String> =
        there_are.into_iter().filter(|p| p.starts_with("done:") && p != "done:remove").collect();
    assert_eq!(again, effects, "an effect whose recovery is never interrupted");
}

#[test]
fn a_daemon_killed_at_any_point_changes_nothing() {
    let mut cases: Vec<(String, Box<dyn Fn() + Send>)> = Vec::new();
    for (name, story, points) in STORIES {
        cases.push((format!("{name}, nobody killed"), Box::new(move || story(None))));
        for point in *points {
            cases.push((format!("{name}, killed at {point}"), Box::new(move || story(Some(point)))));
        }
    }
    for point in AGAIN {
        let twice = move || story::published_after(Some(point), 2);
        cases.push((format!("published, killed at {point} twice"), Box::new(twice)));
    }
    play(cases);
}

/// Plays all of them, some at a time, and fails with the names of those that failed.
fn play(cases: Vec<(String, Box<dyn Fn() + Send>)>) {
    let only = std::env::var("DANDORI_CRASH_CASE").unwrap_or_default();
    let cases: Vec<_> = cases.into_iter().filter(|(name, _)| name.contains(&only)).collect();
    let (count, begun) = (cases.len(), Instant::now());
    let waiting = Mutex::new(cases.into_iter());
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let Some((name, case)) = { waiting.lock().unwrap().next() } {
                    let begun = Instant::now();
                    let ended = catch_unwind(AssertUnwindSafe(case));
                    println!("{:5.1} s  {name}", begun.elapsed().as_secs_f32());
                    if let Err(cause) = ended {
                        let cause = cause.downcast_ref::<String>().map_or("", String::as_str).to_owned();
                        failed.lock().unwrap().push(format!("=== {name}\n{cause}"));
                    }
                }
            });
        }
    });
    println!("{count} cases in {:.0} s", begun.elapsed().as_secs_f32());
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} of {count} failed\n{}", failed.len(), failed.join("\n"));
}
