//! What people are told: once per occurrence, whatever dies meanwhile.

use std::time::Duration;

use dandori_domain::need::Answer;
use dandori_domain::run::Status;
use jiff::SignedDuration;

use crate::points::in_simulated_time;
use crate::scene::Scene;
use crate::world::Hangs;

const WHILE: Duration = Duration::from_mins(2);

/// `need failed T-1`, `run_ended - T-1`
fn told(scene: &Scene) -> Vec<String> {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("-").to_owned();
    let world = scene.world.lock();
    world.told.iter().map(|b| format!("{} {} {}", text(&b["event"]), text(&b["kind"]), text(&b["task"]))).collect()
}

async fn until_told(scene: &mut Scene, count: usize) {
    scene.until("they are told", async |scene| scene.world.lock().told.len() >= count).await;
}

#[test]
fn a_failure_is_told_once_over_restarts_and_a_second_one_is_another() {
    in_simulated_time(async {
        let mut scene = Scene::new(None, "").await;
        let task = scene.run("it fails", "exec:fails", false).await;
        scene.settled(&task).await;
        until_told(&mut scene, 1).await;
        scene.pass(WHILE).await;
        for _ in 0..2 {
            scene.kill().await;
            scene.pass(WHILE).await;
        }
        assert_eq!(told(&scene), ["need failed T-1"]);
        assert_eq!(scene.engine.needs(None).await.unwrap().len(), 1);
        scene.retry(&task).await;
        scene.settled(&task).await;
        until_told(&mut scene, 2).await;
        scene.pass(WHILE).await;
        assert_eq!(told(&scene), ["need failed T-1", "need failed T-1"]);
        let ids: Vec<_> = scene.world.lock().told.iter().map(|body| body["id"].clone()).collect();
        assert_ne!(ids[0], ids[1]);
        assert_eq!(scene.engine.needs(None).await.unwrap().len(), 1, "the first is answered");
    });
}

#[test]
fn a_daemon_that_dies_while_it_tells_tells_again() {
    in_simulated_time(async {
        for (hangs, times) in [(Hangs::Before, 1), (Hangs::After, 2)] {
            let mut scene = Scene::new(None, "").await;
            scene.world.lock().telling_hangs = Some(hangs);
            let task = scene.run("it fails", "exec:fails", false).await;
            scene.settled(&task).await;
            scene.until("it is about to tell", async |scene| scene.world.lock().tellings == 1).await;
            scene.world.lock().telling_hangs = None;
            scene.kill().await;
            scene.pass(WHILE).await;
            scene.kill().await;
            scene.pass(WHILE).await;
            assert_eq!(told(&scene), vec!["need failed T-1"; times], "none is lost, and at most that one comes twice");
            assert_eq!(scene.world.lock().tellings, 2);
        }
    });
}

#[test]
fn a_run_that_ends_well_is_told_only_where_nobody_watches() {
    in_simulated_time(async {
        let mut scene = Scene::new(None, "").await;
        let watched = scene.run("watched", "exec:waits", false).await;
        scene.running(&watched).await;
        let watching = scene.engine.attend(watched.id);
        scene.world.let_agents_end();
        assert_eq!(scene.settled(&watched).await.status(), Status::Succeeded);
        // Whoever leaves when it is over has seen it.
        drop(watching);
        scene.pass(WHILE).await;
        let left = scene.run("left", "exec:waits", false).await;
        scene.running(&left).await;
        drop(scene.engine.attend(left.id));
        scene.pass(Duration::from_secs(5)).await;
        scene.world.let_agents_end();
        scene.settled(&left).await;
        until_told(&mut scene, 1).await;
        scene.kill().await;
        scene.pass(WHILE).await;
        assert_eq!(told(&scene), ["run_ended - T-2"]);
    });
}

#[test]
fn what_was_canceled_is_told_as_kept_work_alone() {
    in_simulated_time(async {
        let mut scene = Scene::new(None, "").await;
        let task = scene.run("to cancel", "exec:waits", false).await;
        scene.running(&task).await;
        scene.cancel(&task).await;
        let run = scene.settled(&task).await;
        until_told(&mut scene, 1).await;
        assert_eq!(told(&scene), ["need kept_work T-1"]);
        scene.engine.seen_kept_work(&run).await;
        let known = scene.engine.needs(None).await.unwrap();
        assert!(known.iter().all(|known| known.answer == Some(Answer::Seen)), "{known:?}");
    });
}

#[test]
fn a_snoozed_need_is_told_again_when_its_time_has_come_and_a_dismissed_one_never() {
    in_simulated_time(async {
        let mut scene = Scene::new(None, "").await;
        for name in ["one", "two"] {
            let task = scene.run(name, "exec:fails", false).await;
            scene.settled(&task).await;
        }
        until_told(&mut scene, 2).await;
        let until = scene.engine.needs(None).await.unwrap()[0].need.since + SignedDuration::from_mins(30);
        let snoozed = Answer::Snoozed { until, reason: "later".into() };
        scene.engine.answer_needs(&["T-1".into()], &snoozed).await.unwrap();
        scene.engine.answer_needs(&["t-2".into()], &Answer::Dismissed).await.unwrap();
        scene.pass(Duration::from_mins(20)).await;
        assert_eq!(told(&scene).len(), 2);
        scene.pass(Duration::from_mins(20)).await;
        assert_eq!(told(&scene)[2..], ["need failed T-1"]);
        scene.pass(Duration::from_mins(70)).await;
        scene.kill().await;
        scene.pass(WHILE).await;
        assert_eq!(told(&scene).len(), 3);
    });
}

#[test]
fn what_has_been_lying_there_for_long_is_no_news() {
    in_simulated_time(async {
        let mut scene = Scene::new(None, "").await;
        scene.world.lock().telling_hangs = Some(Hangs::Before);
        let task = scene.run("it fails", "exec:fails", false).await;
        scene.settled(&task).await;
        scene.pass(Duration::from_mins(70)).await;
        scene.world.lock().telling_hangs = None;
        scene.kill().await;
        scene.pass(WHILE).await;
        assert_eq!(told(&scene), Vec::<String>::new());
        assert_eq!(scene.engine.needs(None).await.unwrap().len(), 1, "and it is in the inbox all the same");
    });
}
