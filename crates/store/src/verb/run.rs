//! Runs: what they are found by, and their turn in the queue.
//!
//! Their facts are a subject's like any other's. `branch`, `waiting`, `live`, `open`, `status` and `may_need` of a run's own row are projections,
//! rewritten when they change, that the partial indexes stand on: admission looks at the first entry of one index, however
//! many runs wait.

use std::collections::HashSet;

use dandori_domain::id::{HostId, RepoId, RunId, TaskId};
use dandori_domain::need::may_need;
use dandori_domain::{Fact, Run, Status};
use jiff::Timestamp;

use crate::error::{Noun, Result, StoreError};
use crate::event::log;
use crate::store::Store;
use crate::tx::{Dialect, Tx, params};
use crate::verb::life::{Hold, Life, check};
use crate::verb::subject::{self, Projection, Recorded, Stored, read};
use crate::verb::worktree;

const SELECT: &str = "SELECT subject.body, subject_spec.spec, subject.version FROM run
     JOIN subject ON subject.machine = 'run' AND subject.id = run.id
     JOIN subject_spec ON subject_spec.machine = 'run' AND subject_spec.id = run.id";

/// The first waiting run of a host.
pub(crate) const NEXT_WAITING: &str =
    "SELECT run.id FROM run WHERE run.host = $1 AND run.waiting = 1 ORDER BY run.seq LIMIT 1";
/// The same where its facts have to be locked.
const NEXT_WAITING_TO_LOCK: &str = "SELECT run.id FROM run
     JOIN subject ON subject.machine = 'run' AND subject.id = run.id
     WHERE run.host = $1 AND run.waiting = 1 ORDER BY run.seq LIMIT 1";
/// How many runs of a host occupy a place.
pub(crate) const LIVE: &str = "SELECT count(*) FROM run WHERE host = $1 AND live = 1";
/// How often the next in the queue is looked for when it was canceled at the same moment.
const LOOKS: usize = 8;

fn is_live(run: &Run) -> bool {
    run.progress.admitted_at().is_some() && !run.is_settled() && !run.status().is_terminal()
}

/// What a run is found by.
#[derive(PartialEq)]
struct Found<'r> {
    branch: Option<&'r str>,
    waiting: bool,
    live: bool,
    open: bool,
    status: Status,
    may_need: bool,
}

impl<'r> Found<'r> {
    fn of(run: &'r Run) -> Self {
        Self {
            branch: run.branch(),
            waiting: run.is_waiting(),
            live: is_live(run),
            open: !run.is_settled(),
            status: run.status(),
            may_need: may_need(run),
        }
    }
}

impl Stored for Run {
    const NOUN: Noun = Noun::Run;

    fn project(Projection(tx): &mut Projection<'_>, before: Option<&Self>, after: &Self) -> Result<()> {
        let Found { branch, waiting, live, open, status, may_need } = Found::of(after);
        let spec = &after.spec;
        let Some(before) = before else {
            tx.execute(
                "INSERT INTO run (id, run_key, task, repo, host, branch, waiting, live, open, status, agent, may_need)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
                params![
                    spec.id,
                    spec.id.key().as_str(),
                    spec.task,
                    spec.repo,
                    spec.host,
                    branch,
                    waiting,
                    live,
                    open,
                    status.as_str(),
                    spec.agent.to_string(),
                    may_need
                ],
            )?;
            return Ok(());
        };
        if before.is_settled() && open {
            require_free_branch(*tx, after)?;
        }
        if Found::of(before) != Found::of(after) {
            tx.execute(
                "UPDATE run SET branch = $2, waiting = $3, live = $4, open = $5, status = $6, may_need = $7
                 WHERE id = $1",
                params![spec.id, branch, waiting, live, open, status.as_str(), may_need],
            )?;
        }
        Ok(())
    }

    fn follow(Projection(tx): &mut Projection<'_>, after: &Self, fact: &Fact, at: Timestamp) -> Result<()> {
        worktree::follow(*tx, after, fact, at)
    }
}

pub(crate) fn insert(tx: &mut dyn Tx, run: &Run) -> Result<()> {
    let spec = &run.spec;
    subject::insert(tx, run, spec.created_at)?;
    let body = serde_json::json!({
        "agent": spec.agent,
        "host": spec.host,
        "kind": spec.kind,
        "wants_pull": spec.settings.wants_pull,
    });
    log(tx, spec.created_at, subject::about(run), "run_created", &body)
}

pub(crate) fn load(tx: &mut dyn Tx, id: RunId) -> Result<Run> {
    subject::load(tx, id)
}

pub(crate) fn of_task(tx: &mut dyn Tx, task: TaskId) -> Result<Vec<Run>> {
    tx.query(&format!("{SELECT} WHERE run.task = $1 ORDER BY run.seq"), params![task])?.iter().map(read).collect()
}

/// Another unsettled run of the task on this run's branch.
pub(crate) fn works_on_its_branch(tx: &mut dyn Tx, run: &Run) -> Result<Option<RunId>> {
    let Some(branch) = run.branch() else { return Ok(None) };
    let other = tx.first(
        "SELECT id FROM run WHERE task = $1 AND open = 1 AND branch = $2 AND id <> $3 ORDER BY seq LIMIT 1",
        params![run.spec.task, branch, run.spec.id],
    )?;
    other.map(|row| row.parsed(0)).transpose()
}

/// A later run of the task has the branch and its worktree, whatever became of it: what it left there is still wanted.
pub(crate) fn is_followed_on_its_branch(tx: &mut dyn Tx, run: &Run) -> Result<bool> {
    let later = tx.first(
        "SELECT later.id FROM run AS later JOIN run AS this ON this.id = $3
         WHERE later.task = $1 AND later.branch = $2 AND later.seq > this.seq LIMIT 1",
        params![run.spec.task, run.branch(), run.spec.id],
    )?;
    Ok(later.is_some())
}

/// Such a run means that this one may not be opened.
pub(crate) fn require_free_branch(tx: &mut dyn Tx, run: &Run) -> Result<()> {
    let lock = tx.dialect().lock("task");
    tx.query(&format!("SELECT id FROM task WHERE id = $1{lock}"), params![run.spec.task])?;
    match works_on_its_branch(tx, run)? {
        None => Ok(()),
        Some(other) => Err(StoreError::Busy { run: other, status: load(tx, other)?.status() }),
    }
}

fn admit(tx: &mut dyn Tx, life: Life, limit: i64, now: Timestamp) -> Result<Option<Recorded<Run>>> {
    // Held alone: two that count at the same time would both find the last place free.
    check(tx, life, Hold::Alone)?;
    if tx.int(LIVE, params![life.host])? >= limit {
        return Ok(None);
    }
    // A run somebody is changing at this moment is being canceled; the next one takes the place.
    let next = match tx.dialect() {
        Dialect::Sqlite => NEXT_WAITING.to_owned(),
        Dialect::Postgres => format!("{NEXT_WAITING_TO_LOCK}{}", tx.dialect().lock_free("subject")),
    };
    for _ in 0..LOOKS {
        let Some(row) = tx.first(&next, params![life.host])? else { return Ok(None) };
        let run: Run = subject::load_to_change(tx, row.parsed(0)?)?;
        // Canceled between the look at the queue and the lock.
        if run.is_waiting() {
            return subject::take_in(tx, &run, &[Fact::Admitted], now).map(Some);
        }
    }
    Ok(None)
}

fn place(tx: &mut dyn Tx, id: RunId) -> Result<Option<u64>> {
    let row = tx.first("SELECT host, seq, waiting FROM run WHERE id = $1", params![id])?;
    let row = row.ok_or_else(|| StoreError::not_found(Noun::Run, id))?;
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
    /// The host's next waiting run, admitted, when fewer than `limit` of its runs are alive.
    pub async fn admit(&self, life: Life, limit: u32, now: Timestamp) -> Result<Option<Recorded<Run>>> {
        self.write(move |tx| admit(tx, life, i64::from(limit), now)).await
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

    /// Every run of a repository that is not settled, waiting ones and other hosts' included: what they work in, or
    /// mean to, is theirs.
    pub async fn unsettled_runs(&self, repo: RepoId) -> Result<Vec<Run>> {
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

    pub async fn run(&self, id: RunId) -> Result<Run> {
        self.read(move |tx| load(tx, id)).await
    }

    /// The runs of a task in the order they were asked for.
    pub async fn runs_of(&self, task: TaskId) -> Result<Vec<Run>> {
        self.read(move |tx| of_task(tx, task)).await
    }
}
