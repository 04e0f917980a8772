//! The daemon killed around every effect there is, in every story that comes by it.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::Instant;

use crate::alone;
use crate::story::{self, Story};

/// As many at a time: each is a machine of its own, and mostly waits.
const AT_A_TIME: usize = 4;

/// A story by name, and the points it comes by; `name#2` is the second time.
const STORIES: &[(&str, Story, &[&str])] = &[
    (
        "published",
        story::published,
        &[
            "run:intended:worktree",
            "run:done:worktree",
            "run:intended:set_up",
            "run:done:set_up",
            "run:intended:launch",
            "run:done:launch",
            "run:intended:commit",
            "run:done:commit",
            "run:intended:push",
            "run:done:push",
            "pull:intended:put",
            "pull:done:put",
            "run:recorded:settled",
        ],
    ),
    (
        "without_a_remote",
        alone::without_a_remote,
        &[
            "run:intended:commit",
            "run:done:commit",
            "run:recorded:committed_locally",
            "pull:done:put",
            "run:done:remove",
        ],
    ),
    (
        "canceled_and_taken_up",
        alone::canceled_and_taken_up,
        &["run:recorded:starts_from", "run:intended:worktree", "run:done:worktree", "run:done:commit"],
    ),
    ("from_a_warm_slot", story::from_a_warm_slot, &["run:intended:worktree", "run:done:worktree"]),
    ("conversation", story::conversation, &["run:recorded:session_seen", "run:prepared:launch", "run:done:launch"]),
    ("overtaken", story::overtaken, &["run:done:push", "run:intended:push#2", "run:done:push#2", "pull:done:put"]),
    ("signed", story::signed, &["run:done:commit", "run:done:push", "run:done:push#2"]),
    (
        "conflict_and_retry",
        story::conflict_and_retry,
        &["run:done:push", "run:recorded:resumed", "run:intended:push#2", "run:done:push#2"],
    ),
    (
        "conflict_brought_together",
        story::conflict_brought_together,
        &["run:intended:worktree", "run:done:worktree", "run:done:commit"],
    ),
    (
        "unsigned_and_retry",
        story::unsigned_and_retry,
        &["run:intended:commit", "run:intended:commit#2", "run:done:commit"],
    ),
    ("no_changes", story::no_changes, &["run:intended:remove", "run:done:remove"]),
    ("agent_fails", story::agent_fails, &["run:done:worktree#2"]),
    ("silent", story::silent, &[]),
    ("forbidden", story::forbidden, &[]),
    ("worktree_fails", story::worktree_fails, &["run:intended:worktree", "run:intended:remove", "run:done:remove"]),
    ("set_up_fails", story::set_up_fails, &["run:intended:set_up"]),
    (
        "canceled_running",
        story::canceled_running,
        &["run:done:launch", "run:recorded:cancel_requested", "run:intended:remove", "run:done:remove"],
    ),
    ("canceled_in_set_up", story::canceled_in_set_up, &["run:intended:set_up", "run:done:remove"]),
    ("canceled_waiting", story::canceled_waiting, &[]),
    (
        "follow_up",
        story::follow_up,
        &[
            "run:intended:worktree",
            "run:done:worktree",
            "run:done:launch",
            "run:done:commit",
            "run:done:push",
            "pull:done:put",
        ],
    ),
    (
        "follow_up_remade",
        story::follow_up_remade,
        &["run:intended:worktree", "run:done:worktree", "run:done:set_up", "run:intended:remove", "run:done:remove"],
    ),
    ("follow_up_canceled", story::follow_up_canceled, &["run:done:remove"]),
    ("pull_fails", story::pull_fails, &["pull:intended:put", "pull:done:put"]),
    ("pull_by_hand", story::pull_by_hand, &["pull:recorded:pull_wanted"]),
    (
        "ended",
        story::ended,
        &[
            "pull:intended:close",
            "pull:done:close",
            "pull:intended:reopen",
            "pull:done:reopen",
            "pull:intended:merge",
            "pull:done:merge",
        ],
    ),
    ("merged_behind_others", story::merged_behind_others, &["pull:intended:merge", "pull:done:merge"]),
    ("cleaned_up", story::cleaned_up, &["run:intended:remove", "run:done:remove"]),
    ("ends_without_a_daemon", story::ends_without_a_daemon, &["run:done:launch"]),
];

/// Effects that are looked at and found done: a daemon that dies there again has lost nothing either.
const AGAIN: &[&str] =
    &["run:done:worktree", "run:done:set_up", "run:done:launch", "run:done:commit", "run:done:push", "pull:done:put"];

/// The same of what a person decides about a pull request.
const ENDED_AGAIN: &[&str] = &["pull:done:close", "pull:done:reopen", "pull:done:merge"];

/// Every point of every machine is died at in the engine's own stories. Here are those with an effect in the world around
/// them, which only real processes and real git can show.
#[test]
fn every_effect_has_a_story_with_the_real_world() {
    let name = |point: &str| point.split('#').next().unwrap_or(point).to_owned();
    let effects: BTreeSet<String> =
        dandori_engine::crash_points().into_iter().filter(|point| !point.contains(":recorded:")).collect();
    let played: BTreeSet<String> = STORIES.iter().flat_map(|(_, _, points)| points.iter().map(|p| name(p))).collect();
    let missing: Vec<&String> = effects.difference(&played).collect();
    assert!(missing.is_empty(), "effects without a story: {missing:?}");
    let again: BTreeSet<String> = AGAIN.iter().chain(ENDED_AGAIN).map(|p| (*p).to_owned()).collect();
    let done: BTreeSet<String> =
        effects.into_iter().filter(|p| p.contains(":done:") && p != "run:done:remove").collect();
    assert_eq!(again, done, "an effect whose recovery is never interrupted");
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
    for point in ENDED_AGAIN {
        let twice = move || story::ended_after(Some(point), 2);
        cases.push((format!("ended, killed at {point} twice"), Box::new(twice)));
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
