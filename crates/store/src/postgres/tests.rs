//! What only a server can do: go away, hang up, refuse, and serve several daemons.

use std::time::{Duration, Instant};

use dandori_domain::id::HostId;

use crate::sample::{World, at};
use crate::{EventFilter, Life, Location, Store, StoreError};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_breaks_is_made_again_and_the_verb_with_it() {
    let world = World::postgres().await;
    for _ in 0..3 {
        let hang_up = world.store.write(|tx| {
            let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                       WHERE datname = current_database() AND pid <> pg_backend_pid()";
            tx.int(sql, &[])
        });
        assert!(hang_up.await.unwrap() >= 1);
        let mut asked = tokio::task::JoinSet::new();
        for _ in 0..16 {
            let (store, task, run) = (world.store.clone(), world.new_task("after"), world.new_run());
            asked.spawn(async move { store.create_task(task, vec![run]).await });
        }
        for outcome in asked.join_all().await {
            let (task, _) = outcome.unwrap();
            world.store.task(task.id).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_said_at_once_without_the_password() {
    let begun = Instant::now();
    let address = "postgres://me:secret@127.0.0.1:1/none".to_owned();
    let refused = Store::open(Location::Postgres(address.clone()), at(0)).await.map(|(_, report)| report);
    let Err(StoreError::Unavailable { reason }) = refused else { panic!("{refused:?}") };
    assert!(reason.to_lowercase().contains("refused"), "{reason}");
    assert!(!reason.contains("secret") && !format!("{:?}", Location::Postgres(address)).contains("secret"));
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_wrong_address_is_refused() {
    let refused = Store::open(Location::Postgres("postgres://h:notaport/x".into()), at(0)).await.map(|(_, r)| r);
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_secured_way_that_is_required_is_not_done_without() {
    let world = World::postgres().await;
    let Location::Postgres(address) = &world.location else { panic!() };
    let secured = Location::Postgres(format!("{address}?sslmode=require"));
    let refused = Store::open(secured, at(0)).await.map(|(_, report)| report);
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn daemons_of_two_hosts_share_the_store() {
    let world = World::postgres().await;
    let other = world.reopen().await;
    let mut events = other.watch_events();
    let (task, run) = world.task().await;
    assert_eq!(other.task(task.id).await.unwrap(), task);

    let newest = world.store.last_seq().await.unwrap();
    let heard = tokio::time::timeout(Duration::from_secs(30), events.wait_for(|seq| *seq >= newest)).await;
    assert!(heard.is_ok_and(|w| w.is_ok()), "the other's events are heard of");
    let seen = other.events_after(0, EventFilter::default(), 1000).await.unwrap();
    assert_eq!(seen.last().unwrap().run, Some(run.spec.id));

    let host = HostId::mint(at(9), 1 << 90);
    let life = Life { host, epoch: other.begin_life(host, at(0)).await.unwrap() };
    assert_eq!(other.admit(life, 5, at(1)).await.unwrap(), None, "a run stays with its host");
    assert!(world.store.admit(world.life, 5, at(1)).await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_that_is_committed_late_is_numbered_late() {
    let world = World::postgres().await;
    let seen = world.store.last_seq().await.unwrap();
    let (written, was_written) = std::sync::mpsc::channel();
    let (go_on, may_go_on) = std::sync::mpsc::channel::<()>();
    let store = world.store.clone();
    let late = tokio::spawn(async move {
        store
            .write(move |tx| {
                crate::event::log(tx, at(1), crate::event::About::default(), "late", &())?;
                written.send(()).map_err(StoreError::other)?;
                may_go_on.recv().map_err(StoreError::other)
            })
            .await
    });
    tokio::task::spawn_blocking(move || was_written.recv().unwrap()).await.unwrap();
    world.store.write(|tx| crate::event::log(tx, at(1), crate::event::About::default(), "early", &())).await.unwrap();
    let kinds = async |after| {
        let events = world.store.events_after(after, EventFilter::default(), 10).await.unwrap();
        events.into_iter().map(|e| (e.seq, e.kind)).collect::<Vec<_>>()
    };
    assert_eq!(kinds(seen).await, [(seen + 1, "early".to_owned())]);
    go_on.send(()).unwrap();
    late.await.unwrap().unwrap();
    assert_eq!(kinds(seen + 1).await, [(seen + 2, "late".to_owned())], "a follower still sees it");
}
