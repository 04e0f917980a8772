//! Runs: their facts recorded, their turn in the queue.
//!
//! The row's `facts` is the truth, made by [`RunFacts::apply`] alone. `branch`, `waiting`, `live` and `open` beside
//! it are projections, rewritten with every change, that the partial indexes stand on: admission looks at the first
//! entry of one index, however many runs wait.

use std::collections::HashSet;

use dandori_domain::id::{HostId, RepoId, RunId, TaskId};
use dandori_domain::{Fact, RunFacts};
use jiff::Timestamp;

use crate::error::{Result, StoreError, Subject};
use crate::event::{About, log};
use crate::store::Store;
use crate::tx::{Row, Tx, json, params};
use crate::verb::life::{Fence, Hold, check};
use crate::verb::worktree;

const SELECT: &str = "SELECT run.facts, run_spec.spec FROM run JOIN run_spec ON run_spec.run = run.id";

/// The first waiting run of a host.
pub(crate) const NEXT_WAITING: &str = "SELECT run.id FROM run WHERE host = $1 AND waiting = 1 ORDER BY seq LIMIT 1";
/// How many runs of a host occupy a place.
pub(crate) const LIVE: &str = "SELECT count(*) FROM run WHERE host = $1 AND live = 1";

pub(crate) fn read(row: &Row) -> Result<RunFacts> {
    let mut facts: serde_json::Map<_, _> = row.json(0)?;
    facts.insert("spec".into(), row.json(1)?);
    serde_json::from_value(facts.into()).map_err(StoreError::unreadable)
}

/// Everything but the specification, which has a row of its own.
fn without_spec(facts: &RunFacts) -> Result<String> {
    let mut value = serde_json::to_value(facts).map_err(StoreError::other)?;
    if let Some(map) = value.as_object_mut() {
        map.remove("spec");
    }
    json(&value)
}

fn is_live(facts: &RunFacts) -> bool {
    facts.admitted_at.is_some() && !facts.is_settled() && !facts.status().is_terminal()
}

fn branch(facts: &RunFacts) -> Option<&str> {
    facts.workspace.as_ref().map(|w| w.branch.as_str())
}

pub(crate) fn about(facts: &RunFacts) -> About {
    About { repo: Some(facts.spec.repo), task: Some(facts.spec.task), run: Some(facts.spec.id) }
}

pub(crate) fn insert(tx: &mut dyn Tx, facts: &RunFacts) -> Result<()> {
    let spec = &facts.spec;
    tx.execute(
        "INSERT INTO run (id, run_key, task, repo, host, branch, waiting, live, open, facts)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        params![
            spec.id,
            spec.id.key().as_str(),
            spec.task,
            spec.repo,
            spec.host,
            branch(facts),
            facts.is_waiting(),
            is_live(facts),
            !facts.is_settled(),
            without_spec(facts)?
        ],
    )?;
    tx.execute("INSERT INTO run_spec (run, spec) VALUES ($1, $2)", params![spec.id, json(spec)?])?;
    let body = serde_json::json!({ "agent": spec.agent, "host": spec.host, "kind": spec.kind });
    log(tx, spec.created_at, about(facts), "run_created", &body)
}

fn update(tx: &mut dyn Tx, facts: &RunFacts) -> Result<()> {
    tx.execute(
        "UPDATE run SET branch = $2, waiting = $3, live = $4, open = $5, facts = $6 WHERE id = $1",
        params![
            facts.spec.id,
            branch(facts),
            facts.is_waiting(),
            is_live(facts),
            !facts.is_settled(),
            without_spec(facts)?
        ],
    )?;
    Ok(())
}

/// The run, with its row locked where several can write.
fn load_to_change(tx: &mut dyn Tx, id: RunId) -> Result<RunFacts> {
    let lock = tx.dialect().lock("run");
    let row = tx.first(&format!("{SELECT} WHERE run.id = $1{lock}"), params![id])?;
    read(&row.ok_or_else(|| StoreError::not_found(Subject::Run, id))?)
}

pub(crate) fn load(tx: &mut dyn Tx, id: RunId) -> Result<RunFacts> {
    let row = tx.first(&format!("{SELECT} WHERE run.id = $1"), params![id])?;
    read(&row.ok_or_else(|| StoreError::not_found(Subject::Run, id))?)
}

pub(crate) fn of_task(tx: &mut dyn Tx, task: TaskId) -> Result<Vec<RunFacts>> {
    tx.query(&format!("{SELECT} WHERE run.task = $1 ORDER BY run.seq"), params![task])?.iter().map(read).collect()
}

/// Another unsettled run of the task on this branch means that this one may not be opened.
pub(crate) fn require_free_branch(tx: &mut dyn Tx, facts: &RunFacts) -> Result<()> {
    let Some(branch) = branch(facts) else { return Ok(()) };
    let lock = tx.dialect().lock("task");
    tx.query(&format!("SELECT id FROM task WHERE id = $1{lock}"), params![facts.spec.task])?;
    let other = tx.first(
        "SELECT id FROM run WHERE task = $1 AND open = 1 AND branch = $2 AND id <> $3 ORDER BY seq LIMIT 1",
        params![facts.spec.task, branch, facts.spec.id],
    )?;
    match other {
        None => Ok(()),
        Some(row) => {
            let run: RunId = row.parsed(0)?;
            Err(StoreError::Busy { run, status: load(tx, run)?.status() })
        }
    }
}

pub(crate) fn record(tx: &mut dyn Tx, fence: Fence, id: RunId, facts: &[Fact], now: Timestamp) -> Result<RunFacts> {
    check(tx, fence, Hold::Shared)?;
    let mut run = load_to_change(tx, id)?;
    if run.spec.host != fence.host {
        return Err(StoreError::Fenced { host: fence.host, epoch: fence.epoch });
    }
    for fact in facts {
        let was_settled = run.is_settled();
        run.apply(fact, now)?;
        if was_settled && !run.is_settled() {
            require_free_branch(tx, &run)?;
        }
        log(tx, now, about(&run), fact.kind().as_str(), fact)?;
        worktree::follow(tx, &run, fact, now)?;
    }
    update(tx, &run)?;
    Ok(run)
}

fn admit(tx: &mut dyn Tx, fence: Fence, limit: i64, now: Timestamp) -> Result<Option<RunFacts>> {
    // Held alone: two that count at the same time would both find the last place free.
    check(tx, fence, Hold::Alone)?;
    if tx.int(LIVE, params![fence.host])? >= limit {
        return Ok(None);
    }
    // A run somebody is changing at this moment is being canceled; the next one takes the place.
    let lock = tx.dialect().lock_free("run");
    let Some(row) = tx.first(&format!("{NEXT_WAITING}{lock}"), params![fence.host])? else { return Ok(None) };
    let mut run = load(tx, row.parsed(0)?)?;
    run.apply(&Fact::Admitted, now)?;
    log(tx, now, about(&run), Fact::Admitted.kind().as_str(), &Fact::Admitted)?;
    update(tx, &run)?;
    Ok(Some(run))
}

fn place(tx: &mut dyn Tx, id: RunId) -> Result<Option<u64>> {
    let row = tx.first("SELECT host, seq, waiting FROM run WHERE id = $1", params![id])?;
    let row = row.ok_or_else(|| StoreError::not_found(Subject::Run, id))?;
    if row.int(2)? == 0 {
        return Ok(None);
    }
    let place = tx.int(
        "SELECT count(*) FROM run WHERE host = $1 AND waiting = 1 AND seq <= $2",
        params![row.text(0)?, row.int(1)?],
    )?;
    Ok(u64::try_from(place).ok())
}

impl Store {
    /// Takes facts into a run: all of them with their events and what follows for its worktree, or none.
    pub async fn record(&self, fence: Fence, run: RunId, facts: Vec<Fact>, now: Timestamp) -> Result<RunFacts> {
        self.write(move |tx| record(tx, fence, run, &facts, now)).await
    }

    /// The host's next waiting run, admitted, when fewer than `limit` of its runs are alive.
    pub async fn admit(&self, fence: Fence, limit: u32, now: Timestamp) -> Result<Option<RunFacts>> {
        self.write(move |tx| admit(tx, fence, i64::from(limit), now)).await
    }

    /// The run's place in its host's queue, from 1; `None` when it does not wait.
    pub async fn place(&self, run: RunId) -> Result<Option<u64>> {
        self.read(move |tx| place(tx, run)).await
    }

    pub async fn waiting_count(&self, host: HostId) -> Result<u64> {
        self.read(move |tx| {
            let count = tx.int("SELECT count(*) FROM run WHERE host = $1 AND waiting = 1", params![host])?;
            u64::try_from(count).map_err(StoreError::unreadable)
        })
        .await
    }

    /// What a daemon has to go on with after a restart: every run that is neither waiting nor settled. A run that
    /// was canceled while it waited is among them, though it was never admitted: it still has to be settled.
    pub async fn open_runs(&self, host: HostId) -> Result<Vec<RunFacts>> {
        self.read(move |tx| {
            let sql = format!("{SELECT} WHERE run.host = $1 AND run.open = 1 AND run.waiting = 0 ORDER BY run.seq");
            tx.query(&sql, params![host])?.iter().map(read).collect()
        })
        .await
    }

    /// Every run of a repository that is not settled, waiting ones and other hosts' included: what they work in, or
    /// mean to, is theirs.
    pub async fn unsettled_runs(&self, repo: RepoId) -> Result<Vec<RunFacts>> {
        self.read(move |tx| {
            let sql = format!("{SELECT} WHERE run.repo = $1 AND run.open = 1 ORDER BY run.seq");
            tx.query(&sql, params![repo])?.iter().map(read).collect()
        })
        .await
    }

    /// The keys of a repository's runs.
    pub async fn run_keys(&self, repo: RepoId) -> Result<HashSet<String>> {
        self.read(move |tx| {
            let rows = tx.query("SELECT run_key FROM run WHERE repo = $1", params![repo])?;
            rows.iter().map(|row| row.text(0).map(str::to_owned)).collect()
        })
        .await
    }

    pub async fn run(&self, id: RunId) -> Result<RunFacts> {
        self.read(move |tx| load(tx, id)).await
    }

    /// The runs of a task in the order they were asked for.
    pub async fn runs_of(&self, task: TaskId) -> Result<Vec<RunFacts>> {
        self.read(move |tx| of_task(tx, task)).await
    }
}
