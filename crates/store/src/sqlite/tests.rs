//! What only a file can suffer: damage, a full disk, a kill in the middle; and how it is written.

use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::task::Task;
use dandori_domain::{Fact, Run};

use crate::sample::{World, at};
use crate::tx::params;
use crate::{Location, OpenReport, Result, Store, StoreError, TaskFilter};

fn file_of(world: &World) -> Utf8PathBuf {
    world.store.file().unwrap().to_owned()
}

/// Closes the store, spoils its file, and opens it again.
async fn spoiled(world: World, spoil: impl FnOnce(&Utf8Path)) -> (Store, OpenReport, tempfile::TempDir) {
    let path = file_of(&world);
    let folder = world.close();
    spoil(&path);
    let (store, report) = Store::open(Location::Sqlite(path), at(100)).await.unwrap();
    (store, report, folder)
}

fn flip(path: &Utf8Path, offset: u64) {
    let bytes = std::fs::read(path).unwrap();
    let start = usize::try_from(offset).unwrap();
    let flipped: Vec<u8> = bytes[start..start + 64].iter().map(|b| !b).collect();
    let mut file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(offset)).unwrap();
    file.write_all(&flipped).unwrap();
}

async fn numbers(store: &Store) -> Vec<i64> {
    let mut numbers: Vec<i64> =
        store.tasks(TaskFilter::default(), 10_000).await.unwrap().tasks.iter().map(|t| t.task.number.0).collect();
    numbers.sort_unstable();
    numbers
}

#[tokio::test]
async fn a_database_with_flipped_bytes_is_set_aside_and_the_backup_restored() {
    // The header, the first page's tree, a table's page.
    for offset in [0, 100, 3 * 4096] {
        let world = World::sqlite().await;
        world.task().await;
        world.task().await;
        let backup = world.store.backup(at(50), 3).await.unwrap().unwrap();
        world.task().await;
        let (store, report, _folder) = spoiled(world, |path| flip(path, offset)).await;
        let rescue = report.rescue.expect("damage is noticed");
        assert_eq!(rescue.restored.as_deref(), backup.file_name(), "at {offset}");
        assert!(rescue.quarantine.join("dandori.db").exists());
        assert_eq!(numbers(&store).await, [1, 2], "what the backup had");
        let given = store.read(|tx| tx.int("SELECT value FROM counter WHERE name = 'task'", &[])).await.unwrap();
        assert_eq!(given, 3, "the third was given before, and is not given again");
        assert_eq!(store.check_integrity().await.unwrap().findings, Vec::<String>::new());
        drop(store);
    }
}

#[tokio::test]
async fn a_damaged_database_without_a_backup_starts_empty_and_says_so() {
    let world = World::sqlite().await;
    world.task().await;
    let (store, report, _folder) = spoiled(world, |path| flip(path, 0)).await;
    let rescue = report.rescue.unwrap();
    assert_eq!(rescue.restored, None);
    assert!(rescue.quarantine.as_str().contains("/quarantine/"));
    assert_eq!(numbers(&store).await, Vec::<i64>::new());
}

#[tokio::test]
async fn a_backup_that_is_damaged_itself_is_passed_over() {
    let world = World::sqlite().await;
    world.task().await;
    let good = world.store.backup(at(50), 3).await.unwrap().unwrap();
    world.task().await;
    let bad = world.store.backup(at(60), 3).await.unwrap().unwrap();
    flip(&bad, 3 * 4096);
    let (store, report, _folder) = spoiled(world, |path| flip(path, 0)).await;
    assert_eq!(report.rescue.unwrap().restored.as_deref(), good.file_name());
    assert_eq!(numbers(&store).await, [1]);
}

#[tokio::test]
async fn a_file_that_was_emptied_is_damage_when_there_is_a_backup() {
    let world = World::sqlite().await;
    world.task().await;
    world.store.backup(at(50), 3).await.unwrap();
    let (store, report, _folder) = spoiled(world, |path| drop(std::fs::File::create(path).unwrap())).await;
    assert!(report.rescue.is_some());
    assert_eq!(numbers(&store).await, [1]);
}

#[tokio::test]
async fn damage_found_in_the_background_is_remedied_at_the_next_opening() {
    let world = World::sqlite().await;
    world.task().await;
    world.store.backup(at(50), 3).await.unwrap();
    // Everything is in the file itself, and the flip is below the open store's feet.
    world.store.read(|_| Ok(())).await.unwrap();
    let path = file_of(&world);
    rusqlite::Connection::open(&path).unwrap().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    flip(&path, 3 * 4096);
    let report = world.store.check_integrity().await.unwrap();
    assert!(!report.findings.is_empty());
    assert!(world.store.health().await.unwrap().damage.is_some());
    let (store, report, _folder) = spoiled(world, |_| {}).await;
    assert!(report.rescue.is_some_and(|r| r.restored.is_some()));
    drop(store);
    let (_, report) = Store::open(Location::Sqlite(path), at(200)).await.unwrap();
    assert_eq!((report.rescue, report.checked_whole), (None, true));
}

#[tokio::test]
async fn a_file_that_is_locked_or_cannot_be_opened_is_not_damage() {
    let world = World::sqlite().await;
    world.task().await;
    let path = file_of(&world);
    let _folder = world.close();
    let holder = rusqlite::Connection::open(&path).unwrap();
    holder.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    let refused = Store::open(Location::Sqlite(path.clone()), at(1)).await.map(|(_, report)| report);
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
    drop(holder);
    assert!(!path.with_file_name("quarantine").exists());
    let (store, report) = Store::open(Location::Sqlite(path.clone()), at(2)).await.unwrap();
    assert_eq!(report.rescue, None);
    assert_eq!(numbers(&store).await, [1]);

    let folder = path.with_file_name("folder.db");
    std::fs::create_dir(&folder).unwrap();
    let refused = Store::open(Location::Sqlite(folder), at(1)).await.map(|(_, report)| report);
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
}

#[tokio::test]
async fn backups_are_verified_copies_and_only_the_newest_stay() {
    let world = World::sqlite().await;
    for second in 1..=5 {
        world.task().await;
        let path = world.store.backup(at(second), 3).await.unwrap().unwrap();
        let copy = rusqlite::Connection::open(&path).unwrap();
        let tasks: i64 = copy.query_row("SELECT count(*) FROM task", [], |r| r.get(0)).unwrap();
        assert_eq!(tasks, second);
    }
    let folder = file_of(&world).with_file_name("backups");
    let mut names: Vec<_> = folder.read_dir_utf8().unwrap().map(|e| e.unwrap().file_name().to_owned()).collect();
    names.sort();
    assert_eq!(names.len(), 3, "{names:?}");
    assert_eq!(world.store.health().await.unwrap().newest_backup.as_ref(), names.last());
}

#[tokio::test]
async fn verbs_that_come_together_share_a_commit() {
    let world = World::sqlite().await;
    let before = world.store.stats();
    let mut asked = tokio::task::JoinSet::new();
    for _ in 0..256 {
        let (store, task) = (world.store.clone(), world.new_task("together"));
        asked.spawn(async move { store.create_task(task, vec![]).await.unwrap() });
    }
    asked.join_all().await;
    let after = world.store.stats();
    assert_eq!(after.jobs - before.jobs, 256);
    assert!(after.commits - before.commits <= 64, "{} commits", after.commits - before.commits);
}

#[tokio::test]
async fn admission_looks_at_one_entry_of_an_index() {
    let world = World::sqlite().await;
    for (sql, index) in [(crate::verb::run::NEXT_WAITING, "run_waiting"), (crate::verb::run::LIVE, "run_live")] {
        let plan = world.store.read(move |tx| tx.query(&format!("EXPLAIN QUERY PLAN {sql}"), params!["host"])).await;
        let plan: Vec<String> = plan.unwrap().iter().map(|r| r.text(3).unwrap().to_owned()).collect();
        assert_eq!(plan.len(), 1, "no sorting: {plan:?}");
        assert!(plan[0].contains("SEARCH") && plan[0].contains(index), "{plan:?}");
    }
}

/// A file system of four megabytes, or `None` where mounting is not permitted.
struct SmallDisk(Utf8PathBuf);

#[expect(clippy::disallowed_methods, reason = "mount and umount are part of this test alone")]
fn run(program: &str, args: &[&str]) -> bool {
    let quiet = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success())
}

impl SmallDisk {
    fn mount(path: &Utf8Path) -> Option<Self> {
        std::fs::create_dir_all(path).unwrap();
        run("mount", &["-t", "tmpfs", "-o", "size=4m", "tmpfs", path.as_str()]).then(|| Self(path.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        run("umount", &["-l", self.0.as_str()]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_refuses_clearly_and_loses_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(folder.path()).unwrap().join("disk");
    let disk = SmallDisk::mount(&path);
    let world = World::sqlite_in(&path.join("dandori.db")).await;
    if disk.is_none() {
        limit_pages(&world).await;
    }
    fill(world).await;
}

/// A real disk is full when the batch is committed; SQLite's own limit is met in the middle of a verb, and undoes the
/// whole batch.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_fills_up_in_the_middle_of_a_batch_loses_nothing_acknowledged() {
    let world = World::sqlite().await;
    limit_pages(&world).await;
    fill(world).await;
}

async fn limit_pages(world: &World) {
    world.store.write(|tx| tx.query("PRAGMA max_page_count = 700", &[])).await.unwrap();
}

async fn fill(world: World) {
    let mut asked = tokio::task::JoinSet::new();
    for i in 0..400 {
        let (store, task, mut run) = (world.store.clone(), world.new_task(&format!("task {i}")), world.new_run());
        run.instruction = "x".repeat(16 * 1024);
        asked.spawn(async move { (task.id, store.create_task(task, vec![run]).await) });
    }
    let outcomes = asked.join_all().await;
    let acknowledged: Vec<&Task> = outcomes.iter().filter_map(|(_, o)| o.as_ref().ok()).map(|(t, _)| t).collect();
    let refused: Vec<_> = outcomes.iter().filter_map(|(id, o)| Some((id, o.as_ref().err()?))).collect();
    assert!(acknowledged.len() > 20 && refused.len() > 20, "{} and {}", acknowledged.len(), refused.len());
    assert!(refused.iter().all(|(_, error)| **error == StoreError::Full), "{refused:?}");

    let location = world.location.clone();
    let _folder = world.close();
    let (store, report) = Store::open(location, at(1)).await.unwrap();
    assert_eq!(report.rescue, None);
    for task in &acknowledged {
        assert_eq!(&store.task(task.id).await.unwrap(), *task);
        assert_eq!(store.runs_of(task.id).await.unwrap().len(), 1);
    }
    for (id, _) in &refused {
        assert!(store.task(**id).await.is_err(), "{id} was refused");
    }
    assert_eq!(numbers(&store).await, (1..=i64::try_from(acknowledged.len()).unwrap()).collect::<Vec<_>>());
    assert_eq!(store.check_integrity().await.unwrap().findings, Vec::<String>::new());
}

const CHILD: &str = "DANDORI_STORE_TEST_CHILD";

/// The victim of the next test: writes and says what was acknowledged, until it is killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "only a child of `what_was_acknowledged_survives_a_kill`"]
async fn writes_until_it_is_killed() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let world = std::sync::Arc::new(World::sqlite_in(Utf8Path::new(path.to_str().unwrap())).await);
    let mut writers = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let world = std::sync::Arc::clone(&world);
        writers.spawn(async move {
            loop {
                let (task, run) = world.task().await;
                println!("created {}", task.id);
                world.record(run.spec.id, vec![Fact::Admitted]).await.unwrap();
                println!("admitted {}", run.spec.id);
            }
        });
    }
    writers.join_all().await;
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "this very program, to be killed")]
async fn what_was_acknowledged_survives_a_kill() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(folder.path()).unwrap().join("dandori.db");
    for kill_after in [1, 40, 111] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "sqlite::tests::writes_until_it_is_killed", "--ignored", "--nocapture"])
            .env(CHILD, &path)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut heard = 0;
        let mut acknowledged = Vec::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines().map_while(std::result::Result::ok) {
            // The last line may be cut off.
            if let Some((what, id)) = line.split_once(' ').filter(|(_, id)| id.len() >= 30) {
                acknowledged.push((what.to_owned(), id.to_owned()));
            }
            heard += 1;
            if heard == kill_after + 3 {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        let (store, report) = Store::open(Location::Sqlite(path.clone()), at(1)).await?;
        assert_eq!(report.rescue, None);
        for (what, id) in &acknowledged {
            match what.as_str() {
                "created" => assert_eq!(store.task(id.parse().unwrap()).await?.id.to_string(), *id),
                "admitted" => {
                    assert!(store.subject::<Run>(id.parse().unwrap()).await?.progress.admitted_at().is_some(), "{id}");
                }
                _ => {}
            }
        }
        assert!(acknowledged.iter().filter(|(what, _)| what == "created").count() >= 1, "{acknowledged:?}");
        let there = numbers(&store).await;
        assert_eq!(there, (1..=i64::try_from(there.len()).unwrap()).collect::<Vec<_>>(), "no gap");
    }
    Ok(())
}
