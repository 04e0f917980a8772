//! Databases of every earlier schema, as they were used, brought up to date: nothing in them is lost or misread.
//!
//! `populated/<step>.sql` holds the rows of a database that had the schema up to that step.

use std::collections::BTreeMap;

use dandori_domain::need::may_need;
use dandori_domain::pull::{Pull, Standing};
use dandori_domain::run::{Progress, Removal, Run};
use dandori_domain::{Machine, Next, Status};
use dandori_testkit::postgres::Postgres;

use crate::migrate::{migrate_to, statements};
use crate::sample::at;
use crate::tx::Tx;
use crate::{EventFilter, Life, Location, Store, TaskFilter};

const ROWS: &str = include_str!("populated/0001_runs.sql");

/// A database with the schema of `step`, and rows in it.
fn populate(tx: &mut dyn Tx, step: i64) {
    // The rows are of the first two; a later schema has made of them what it does.
    migrate_to(tx, at(0), step.min(2)).unwrap();
    for statement in statements(ROWS).filter(|s| !s.starts_with("--")) {
        // PostgreSQL gives these numbers itself; the rows come in their order.
        let ours = if tx.dialect() == crate::tx::Dialect::Postgres {
            statement.replacen(
                ") VALUES (",
                ") OVERRIDING SYSTEM VALUE VALUES (",
                usize::from(statement.starts_with("INSERT INTO run (")),
            )
        } else {
            statement.to_owned()
        };
        tx.execute(&ours, &[]).unwrap_or_else(|e| panic!("{e}: {ours}"));
    }
    migrate_to(tx, at(0), step).unwrap();
}

async fn sqlite(step: i64) -> (Store, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = camino::Utf8Path::from_path(folder.path()).unwrap().join("dandori.db");
    crate::sqlite::with_tx(&path, |tx| populate(tx, step));
    (Store::open(Location::Sqlite(path), at(1)).await.unwrap().0, folder)
}

async fn postgres(step: i64) -> Store {
    let address = tokio::task::spawn_blocking(move || {
        let address = Postgres::shared().database();
        crate::postgres::with_tx(&address, move |tx| populate(tx, step));
        address
    })
    .await
    .unwrap();
    Store::open(Location::Postgres(address), at(1)).await.unwrap().0
}

/// What every one of them must look like today.
async fn assert_whole(store: &Store) {
    let tasks = store.tasks(TaskFilter::default(), 1000).await.unwrap();
    assert_eq!((tasks.tasks.len(), tasks.total), (20, 20));
    let runs: BTreeMap<String, Run> =
        tasks.tasks.iter().flat_map(|t| &t.runs).map(|run| (run.spec.instruction.clone(), run.clone())).collect();
    let run =
        |instruction: &str| runs.get(instruction).unwrap_or_else(|| panic!("no {instruction}: {:?}", runs.keys()));
    let status = |instruction: &str| run(instruction).status();
    assert_eq!((status("publish it"), status("nothing")), (Status::Succeeded, Status::Succeeded));
    assert_eq!((status("fails"), status("to cancel")), (Status::Failed, Status::Canceled));
    assert_eq!((status("long"), status("waits in the queue")), (Status::Running, Status::Pending));
    assert_eq!(run("go on").branch(), run("publish it").branch(), "a follow-up");
    assert!(run("waits in the queue").is_waiting());

    // In the middle of a step: the intent is carried out, not made again.
    let halfway = |at: &str| &run(&format!("crash at {at}")).progress;
    assert!(matches!(halfway("intended:worktree"), Progress::Making { .. }));
    assert!(matches!(halfway("intended:set_up"), Progress::SettingUp { .. }));
    assert!(matches!(halfway("intended:launch"), Progress::Launching { .. }));
    assert!(matches!(halfway("recorded:agent_ended"), Progress::Ended { .. }));
    assert!(matches!(halfway("intended:commit"), Progress::Committing { .. }));
    assert!(matches!(halfway("intended:push"), Progress::Pushing { .. }));
    assert!(matches!(halfway("intended:pull"), Progress::Pushed { .. }));
    assert!(matches!(run("crash at intended:remove").removal, Removal::Begun(_)));
    assert!(run("crash at recorded:cancel_requested").is_canceling());
    assert_eq!(status("crash at recorded:stopped"), Status::Canceled);

    // A restart goes on with exactly what was under way.
    let host = run("publish it").spec.host;
    let walked: Vec<String> =
        store.walked::<Run>(host).await.unwrap().iter().map(|run| run.spec.instruction.clone()).collect();
    let unsettled: Vec<String> = runs
        .values()
        .filter(|run| !run.is_settled() && !run.is_waiting())
        .map(|run| run.spec.instruction.clone())
        .collect();
    assert_eq!(sorted(walked), sorted(unsettled));

    // What may need somebody is found again.
    let needy: Vec<i64> = store.needy_tasks(host).await.unwrap().iter().map(|found| found.task.number.0).collect();
    for found in &tasks.tasks {
        let may_need = found.runs.iter().any(may_need) || found.pulls.iter().any(|pull| !pull.is_over());
        let is_found = needy.contains(&found.task.number.0);
        assert!(is_found || !may_need, "{}", found.task.title);
    }

    // Pull requests have become their own.
    let pull_of = async |instruction: &str| -> Pull {
        let run = run(instruction);
        let pulls = store.pulls_of(run.spec.task).await.unwrap();
        pulls.into_iter().find(|pull| Some(pull.head()) == run.branch()).unwrap()
    };
    let number = async |instruction: &str| pull_of(instruction).await.link().map(|link| link.number);
    assert_eq!((number("publish it").await, number("日本語の指示").await), (Some(1), Some(2)));
    assert_eq!(number("no pull").await, Some(3), "opened by hand");
    assert_eq!(pull_of("crash at intended:pull").await.standing, Standing::Wanted { link: None });
    assert_eq!(store.walked::<Pull>(host).await.unwrap().len(), 1, "the one that was about to be opened");
    let repo = run("publish it").spec.repo;
    assert_eq!(store.local_pulls(repo).await.unwrap().len(), 3, "and the forge's own are where they were");

    // What lists are narrowed by was filled in.
    let failed = TaskFilter { states: vec![Status::Failed], ..TaskFilter::default() };
    let failed = store.tasks(failed, 1000).await.unwrap();
    let by_facts = runs.values().filter(|run| run.status() == Status::Failed).count();
    assert_eq!((failed.tasks.len(), by_facts > 0), (by_facts, true));
    let agent = Some(run("publish it").spec.agent.to_string());
    assert!(store.tasks(TaskFilter { agent, ..TaskFilter::default() }, 1000).await.unwrap().total > 0);

    // It goes on.
    assert_eq!(store.worktrees(Some(repo)).await.unwrap().len(), 16, "those that are there still");
    assert!(store.events_after(0, EventFilter::default(), 1000).await.unwrap().len() >= 250);
    let epoch = store.begin_life(host, at(2)).await.unwrap();
    let life = Life { host, epoch };
    for run in store.walked::<Run>(host).await.unwrap() {
        if let Next::Record(fact) = run.next(at(3)) {
            store.record::<Run>(life, run.spec.id, vec![fact], at(3)).await.unwrap();
        }
    }
    let admitted = store.admit(life, 100, at(4)).await.unwrap().unwrap();
    assert_eq!(admitted.subject.spec.instruction, "waits in the queue");
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}

#[tokio::test]
async fn a_sqlite_database_of_every_earlier_schema_is_taken_over_whole() {
    for step in [1, 2, 3, 4, 5] {
        let (store, _folder) = sqlite(step).await;
        assert_whole(&store).await;
    }
}

#[tokio::test]
async fn a_postgres_database_of_every_earlier_schema_is_taken_over_whole() {
    for step in [1, 2, 3, 4, 5] {
        assert_whole(&postgres(step).await).await;
    }
}

/// A schema that nobody has populated yet is not forgotten here.
#[test]
fn every_schema_before_this_one_has_its_test() {
    assert_eq!(crate::migrate::known(), 6, "populate a database of schema 6 and add it above");
}
