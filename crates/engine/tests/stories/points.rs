//! The engine killed at every crash point of every machine, in every story that comes by it.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Instant;

use crate::plays::{self, Crash};
use crate::scene::Scene;

/// How often a point is died at in one story: later times are more of the same.
const TIMES: u32 = 2;

/// Points that a story in one process cannot end at, or that come from outside of every story here.
const ELSEWHERE: &[&str] = &[
    // In the middle of a step: the spawned daemon's stories.
    "run:prepared:launch",
];

macro_rules! stories {
    ($($name:ident),+ $(,)?) => {
        const NAMES: &[&str] = &[$(stringify!($name)),+];

        async fn play(name: &str, crash: Crash) -> Scene {
            match name {
                $(stringify!($name) => Box::pin(plays::$name(crash)).await,)+
                other => panic!("no story {other}"),
            }
        }
    };
}

stories!(
    published,
    without_a_remote,
    remote_gone_before_the_push,
    canceled_and_taken_up,
    conversation,
    overtaken,
    conflict_and_retry,
    no_changes,
    agent_fails,
    silent,
    forbidden,
    worktree_fails,
    set_up_fails,
    canceled_running,
    canceled_in_set_up,
    canceled_waiting,
    follow_up,
    follow_up_updates,
    pull_fails_and_is_opened_by_hand,
    closed_and_merged,
    merged,
    merged_behind_others,
    merge_refused,
    merge_overtaken_too_often,
    merged_by_hand,
    merged_by_the_forge,
    closed_and_reopened,
    close_refused,
    moved_by_a_pick,
    wanted_again_while_the_forge_is_asked,
    a_worktree_that_a_later_run_left_work_in_stays,
    cleaned_up,
    queued,
    errand,
    order_to_pull_request,
    order_with_a_conflict,
    order_that_fails,
    order_called_off,
    order_that_hangs,
);

pub(crate) fn in_simulated_time<T>(story: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(story)
}

/// The points a story comes by, and how often.
fn points_of(name: &str) -> Vec<(String, u32)> {
    in_simulated_time(async {
        let mut scene = play(name, None).await;
        scene.assert_sound().await;
        let reached = scene.crashes.reached.lock().unwrap();
        reached.iter().map(|(point, count)| (point.clone(), *count)).collect()
    })
}

#[test]
fn an_engine_killed_at_any_point_of_any_machine_changes_nothing() {
    let begun = Instant::now();
    let only = std::env::var("DANDORI_STORY").unwrap_or_default();
    let names: Vec<&str> = NAMES.iter().copied().filter(|name| name.contains(&only)).collect();
    let points: Vec<(&str, Vec<(String, u32)>)> = side_by_side(names, |name| (name, points_of(name)));
    let reached: BTreeSet<String> =
        points.iter().flat_map(|(_, points)| points).map(|(point, _)| point.clone()).collect();
    let cases: Vec<(&str, String, u32)> = points
        .into_iter()
        .flat_map(|(name, points)| points.into_iter().map(move |(point, count)| (name, point, count)))
        .flat_map(|(name, point, count)| (1..=count.min(TIMES)).map(move |time| (name, point.clone(), time)))
        .collect();
    let count = cases.len();
    side_by_side(cases, |(name, point, time)| {
        println!("{name}, killed at {point}#{time}");
        in_simulated_time(async {
            let mut scene = play(name, Some((point, time))).await;
            scene.assert_sound().await;
        });
    });
    println!("{count} deaths in {:.1} s", begun.elapsed().as_secs_f32());
    if only.is_empty() {
        let all: BTreeSet<String> =
            dandori_engine::crash_points().into_iter().filter(|p| !ELSEWHERE.contains(&p.as_str())).collect();
        let missing: Vec<_> = all.difference(&reached).collect();
        assert!(missing.is_empty(), "crash points that no story comes by: {missing:?}");
    }
}

/// On as many threads as there are cores; one that panics fails the test with its name on the screen.
fn side_by_side<T: Send, R: Send>(work: Vec<T>, each: impl Fn(T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let waiting = Mutex::new(work.into_iter());
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(next) = { waiting.lock().unwrap().next() } {
                    let result = each(next);
                    done.lock().unwrap().push(result);
                }
            });
        }
    });
    done.into_inner().unwrap()
}
