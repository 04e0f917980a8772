//! What the store promises about the guards' records.

use crate::sample::{World, at};
use crate::{GuardCursor, GuardPlace, GuardRecord, Life, StoreError};

fn cursor(segment: &str, next: u64) -> GuardCursor {
    GuardCursor { folder: "repo-1".to_owned(), segment: segment.to_owned(), next }
}

fn record(position: u64, second: i64, body: &str) -> GuardRecord {
    GuardRecord {
        position,
        at: at(second),
        session: (position > 0).then(|| "s".to_owned()),
        event: "pre-tool".to_owned(),
        verdict: "block".to_owned(),
        guard: (position > 0).then(|| "playbook".to_owned()),
        body: body.to_owned(),
    }
}

/// All of them since then, three at a time.
async fn kept(world: &World, folders: &str, since: i64) -> Vec<GuardRecord> {
    let mut found = Vec::new();
    let mut after = GuardPlace::since(at(since));
    loop {
        let page = world.store.guard_records(world.life.host, folders.to_owned(), after.clone(), 3).await.unwrap();
        let Some((last, _)) = page.last() else { return found };
        after = last.clone();
        found.extend(page.into_iter().map(|(_, record)| record));
    }
}

pub(super) async fn guard_records_are_taken_in_once_with_the_place_they_were_read_to(world: World) {
    let (store, life) = (&world.store, world.life);
    let batch = vec![record(0, 1, "{\"a\":\"é\"}"), record(40, 2, "{}")];
    assert_eq!(store.take_guard_records(life, cursor("h1", 80), batch.clone()).await, Ok(2));
    // The answer was lost and the batch comes again, with more behind it.
    let again = [batch.clone(), vec![record(80, 3, "{}")]].concat();
    assert_eq!(store.take_guard_records(life, cursor("h1", 120), again.clone()).await, Ok(1));
    assert_eq!(kept(&world, "", 0).await, again);
    assert_eq!(kept(&world, "", 2).await, again[1..]);
    assert_eq!(store.guard_cursors(life.host).await.unwrap(), [cursor("h1", 120)]);
    // The file was removed and begun again: another line at a place that is known.
    assert_eq!(store.take_guard_records(life, cursor("h1", 40), vec![record(0, 4, "{\"b\":1}")]).await, Ok(1));
    assert_eq!(store.guard_cursors(life.host).await.unwrap(), [cursor("h1", 40)]);
    assert_eq!(kept(&world, "", 0).await.len(), 4);
    let hostile = GuardRecord { session: Some("\0'; --".to_owned()), ..record(0, 5, "\0") };
    assert_eq!(store.take_guard_records(life, cursor("h2", 1), vec![hostile]).await, Ok(1));
}

pub(super) async fn guard_records_are_taken_in_by_the_present_life_alone(world: World) {
    let newer = world.store.begin_life(world.life.host, at(1)).await.unwrap();
    let refused = world.store.take_guard_records(world.life, cursor("h1", 80), vec![record(0, 1, "{}")]).await;
    assert!(matches!(refused, Err(StoreError::Fenced { .. })), "{refused:?}");
    assert_eq!(world.store.guard_cursors(world.life.host).await.unwrap(), [], "neither records nor the place");
    assert_eq!(kept(&world, "", 0).await, []);
    let life = Life { epoch: newer, ..world.life };
    assert_eq!(world.store.take_guard_records(life, cursor("h1", 80), vec![record(0, 1, "{}")]).await, Ok(1));
}

pub(super) async fn old_guard_records_go(world: World) {
    let (store, life) = (&world.store, world.life);
    for (segment, second) in [("h1", 1), ("h2", 2), ("h3", 3)] {
        store.take_guard_records(life, cursor(segment, 80), vec![record(1, second, "{}")]).await.unwrap();
    }
    assert_eq!(store.drop_guard_records(life, at(2), "h3".to_owned()).await, Ok(1));
    assert_eq!(kept(&world, "", 0).await, [record(1, 2, "{}"), record(1, 3, "{}")]);
    assert_eq!(store.guard_cursors(life.host).await.unwrap(), [cursor("h3", 80)]);
}

pub(super) async fn guard_records_are_told_apart_by_their_folder(world: World) {
    let (store, life) = (&world.store, world.life);
    let runs = ["run/a/1", "run/a/2", "run/b/1", "repo-run"];
    for folder in runs {
        let cursor = GuardCursor { folder: folder.to_owned(), segment: "h1".to_owned(), next: 9 };
        // All at one time: then folder and place tell them apart.
        let batch = (0..4).map(|position| record(position, 1, folder)).collect();
        assert_eq!(store.take_guard_records(life, cursor, batch).await, Ok(4));
    }
    let bodies = async |folders: &str| {
        let found = kept(&world, folders, 0).await;
        found.into_iter().map(|record| record.body).collect::<Vec<_>>()
    };
    assert_eq!(bodies("run/").await, ["run/a/1", "run/a/2", "run/b/1"].map(|body| [body; 4]).concat());
    assert_eq!(bodies("run/a/").await, ["run/a/1", "run/a/2"].map(|body| [body; 4]).concat());
    assert_eq!(bodies("").await.len(), 16);
    assert_eq!(bodies("run/c/").await, [""; 0]);
}
