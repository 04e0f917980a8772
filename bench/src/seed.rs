//! Stores with many rows, made through the store's own verbs.
//!
//! A task may be created with any number of runs in one transaction, so a million waiting runs are a thousand
//! transactions. Nothing is written past the verbs: what is measured is a store as the engine would have made it.

use dandori_domain::agent::{AgentName, Usage, Verdict};
use dandori_domain::run::{BranchFate, Changes, PlannedWorktree, ProcessRef, RunSettings, Sandbox, Workspace};
use dandori_domain::{Fact, Failure, HostId, Intent, Oid, RepoId, Run, RunId, RunKind, TaskId, WorktreeKey};
use dandori_host::{now, random};
use dandori_store::{Life, NewRun, NewTask, Store};
use tokio::task::JoinSet;

use crate::trouble::Trouble;

const RUNS_OF_TASK: usize = 1_000;
/// How many verbs are under way at once while seeding: they share their commits.
const AT_ONCE: usize = 64;

/// `count` runs that wait.
pub(crate) async fn waiting(store: &Store, repo: RepoId, host: HostId, count: usize) -> Result<(), Trouble> {
    for here in parts(count) {
        create(store, repo, host, here).await?;
    }
    Ok(())
}

/// `count` runs that were pushed and are settled.
pub(crate) async fn settled(store: &Store, repo: RepoId, life: Life, count: usize) -> Result<(), Trouble> {
    for here in parts(count) {
        let runs = create(store, repo, life.host, here).await?;
        record_all(store, life, runs.into_iter().map(|run| (run.spec.id, whole_life(&run)))).await?;
    }
    Ok(())
}

/// `count` tasks, each with one run that was pushed and is settled.
pub(crate) async fn tasks(store: &Store, repo: RepoId, life: Life, count: usize) -> Result<(), Trouble> {
    let mut left = count;
    while left > 0 {
        let here = left.min(AT_ONCE);
        let mut made = JoinSet::new();
        for _ in 0..here {
            let store = store.clone();
            let title = "Say hello in the language of whoever reads it".to_owned();
            let task = NewTask { id: TaskId::mint(now(), random()), repo, title, created_at: now() };
            made.spawn(async move { store.create_task(task, vec![new_run(life.host)]).await });
        }
        let mut runs = Vec::with_capacity(here);
        while let Some((_, created)) = joined(made.join_next().await)? {
            runs.extend(created);
        }
        record_all(store, life, runs.into_iter().map(|run| (run.spec.id, whole_life(&run)))).await?;
        left -= here;
    }
    Ok(())
}

fn parts(count: usize) -> impl Iterator<Item = usize> {
    (0..count).step_by(RUNS_OF_TASK).map(move |done| RUNS_OF_TASK.min(count - done))
}

async fn create(store: &Store, repo: RepoId, host: HostId, count: usize) -> Result<Vec<Run>, Trouble> {
    let runs = (0..count).map(|_| new_run(host)).collect();
    let task = NewTask { id: TaskId::mint(now(), random()), repo, title: "seeded".into(), created_at: now() };
    Ok(store.create_task(task, runs).await?.1)
}

/// Ends runs that were admitted and nothing else: their places are free again.
pub(crate) async fn give_up(store: &Store, life: Life, runs: Vec<RunId>) -> Result<(), Trouble> {
    let over = || vec![Fact::Failed { failure: Failure::SupervisorLost }, Fact::Settled];
    record_all(store, life, runs.into_iter().map(|run| (run, over()))).await
}

async fn record_all(store: &Store, life: Life, facts: impl Iterator<Item = (RunId, Vec<Fact>)>) -> Result<(), Trouble> {
    let mut under_way = JoinSet::new();
    for (run, facts) in facts {
        let store = store.clone();
        under_way.spawn(async move { store.record::<Run>(life, run, facts, now()).await.map(drop) });
        if under_way.len() >= AT_ONCE {
            joined(under_way.join_next().await)?;
        }
    }
    while !under_way.is_empty() {
        joined(under_way.join_next().await)?;
    }
    Ok(())
}

pub(crate) fn joined<T>(
    done: Option<Result<dandori_store::Result<T>, tokio::task::JoinError>>,
) -> Result<Option<T>, Trouble> {
    match done {
        None => Ok(None),
        Some(Ok(answer)) => Ok(Some(answer?)),
        Some(Err(e)) => Err(Trouble::wrong(format!("a task broke off: {e}"))),
    }
}

fn new_run(host: HostId) -> NewRun {
    NewRun {
        again: None,
        id: RunId::mint(now(), random()),
        host,
        agent: AgentName::Exec("true".into()),
        kind: RunKind::First,
        instruction: "edit one file, and say in a sentence or two what was done and why it was done so".into(),
        base: None,
        here: None,
        checkout: None,
        brings: None,
        errand: None,
        settings: RunSettings::default(),
        created_at: now(),
    }
}

/// Every fact of a run that went well, its worktree removed at the end.
fn whole_life(run: &Run) -> Vec<Fact> {
    let key = run.spec.id.key();
    let oid = |digit: &str| Oid::new(digit.repeat(40));
    let workspace = Workspace {
        key: WorktreeKey::from(run.spec.id.key()),
        path: format!("/nowhere/worktrees/run_{key}").into(),
        branch: format!("dandori/{key}"),
        base: "main".into(),
        base_oid: oid("a"),
        ours_after: oid("a"),
        merges: None,
    };
    vec![
        Fact::Admitted,
        Fact::Intended {
            intent: Intent::Worktree(PlannedWorktree { workspace: workspace.clone(), arrival: None, kept: None }),
        },
        Fact::WorktreeReady { workspace, from_pool: true },
        Fact::SetUpDone { commands: 0 },
        Fact::Intended { intent: Intent::Launch },
        Fact::Launched {
            shim: ProcessRef { pid: 1, started: 1, boot: "an earlier one".into() },
            sandbox: Sandbox::Landlock { abi: 7 },
        },
        Fact::AgentEnded {
            verdict: Verdict::Done { summary: "done".into() },
            exit: Some(0),
            signal: None,
            usage: Usage::default(),
        },
        Fact::Staged {
            tree: oid("b"),
            parent: oid("a"),
            changes: Some(Changes { files: 1, insertions: 1, deletions: 0 }),
        },
        Fact::Committed { oid: oid("c") },
        Fact::Pushed { oid: oid("c") },
        Fact::Removed { branch: BranchFate::Keep },
        Fact::Settled,
    ]
}
