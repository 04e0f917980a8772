//! The event log: one line for every change, in the transaction of the change.
//!
//! `seq` is the order in which events became visible: a reader that has seen `seq` n has seen everything before it.
//! SQLite has one writer, so the row's number is that order. On PostgreSQL transactions commit in another order
//! than they took their numbers; there a row is numbered after its commit, in a transaction of its own under an
//! advisory lock. (Numbering inside the writing transactions would make their commits wait for each other.)

use std::fmt::Write;

use dandori_domain::id::{RepoId, RunId, TaskId};
use dandori_domain::machine::{Machine, SubjectRef};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::store::Store;
use crate::tx::{Dialect, Tx, Value, json, params};

/// A number of our own for PostgreSQL's advisory lock: whoever holds it numbers events.
const NUMBERING_LOCK: i64 = 0x64_616e_646f_7269;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Event {
    pub seq: i64,
    pub at: Timestamp,
    pub repo: Option<RepoId>,
    pub task: Option<TaskId>,
    pub run: Option<RunId>,
    /// Whose fact it is: the machine, and which of its subjects.
    pub machine: Option<String>,
    pub subject: Option<String>,
    /// The subject's status after it.
    pub status: Option<String>,
    /// A fact's name, or one of the store's own: `task_created`, `run_created`, `task_picked`, `worktree_put`, …
    pub kind: String,
    pub body: serde_json::Value,
}

impl Event {
    /// The machine's fact, when it is one of its.
    pub fn fact<M: Machine>(&self) -> Option<M::Fact> {
        let is_its = self.machine.as_deref() == Some(M::NAME);
        is_its.then(|| serde_json::from_value(self.body.clone()).ok()).flatten()
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct EventFilter {
    pub repo: Option<RepoId>,
    pub task: Option<TaskId>,
    pub run: Option<RunId>,
}

/// Whom a change concerns.
#[derive(Clone, Default)]
pub(crate) struct About {
    pub(crate) repo: Option<RepoId>,
    pub(crate) task: Option<TaskId>,
    pub(crate) run: Option<RunId>,
    /// Whose fact it is, and its status with it.
    pub(crate) subject: Option<(SubjectRef, &'static str)>,
}

pub(crate) fn log(tx: &mut dyn Tx, at: Timestamp, about: About, kind: &str, body: &impl Serialize) -> Result<()> {
    let (subject, status) = about.subject.unzip();
    let (machine, subject) = subject.map(|s| (s.machine, s.id)).unzip();
    tx.execute(
        "INSERT INTO event (at, repo, task, run, machine, subject, status, kind, body)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        params![at, about.repo, about.task, about.run, machine, subject, status, kind, json(body)?],
    )?;
    Ok(())
}

/// Numbers what has been committed since the last time. Nothing to do on SQLite.
pub(crate) fn number_committed(tx: &mut dyn Tx) -> Result<()> {
    if tx.dialect() == Dialect::Sqlite
        || tx.first("SELECT 1::BIGINT FROM event WHERE seq IS NULL LIMIT 1", &[])?.is_none()
    {
        return Ok(());
    }
    tx.query("SELECT pg_advisory_xact_lock($1)::TEXT", params![NUMBERING_LOCK])?;
    // A new statement sees what the last holder of the lock committed.
    tx.execute(
        "UPDATE event SET seq = numbered.seq FROM (
             SELECT row_id, (SELECT coalesce(max(seq), 0) FROM event) + row_number() OVER (ORDER BY row_id) AS seq
             FROM event WHERE seq IS NULL) AS numbered
         WHERE event.row_id = numbered.row_id",
        &[],
    )?;
    Ok(())
}

pub(crate) fn newest(tx: &mut dyn Tx) -> Result<i64> {
    tx.int("SELECT coalesce(max(seq), 0) FROM event", &[])
}

fn after(tx: &mut dyn Tx, seq: i64, filter: EventFilter, limit: i64) -> Result<Vec<Event>> {
    let mut sql =
        "SELECT seq, at, repo, task, run, machine, subject, status, kind, body FROM event WHERE seq > $1".to_owned();
    let mut values = vec![Value::Int(seq), Value::Int(limit)];
    let wanted = [("repo", Value::from(filter.repo)), ("task", filter.task.into()), ("run", filter.run.into())];
    for (column, value) in wanted {
        if value != Value::Null {
            values.push(value);
            // Writing to a string does not fail.
            let _ = write!(sql, " AND {column} = ${}", values.len());
        }
    }
    sql.push_str(" ORDER BY seq LIMIT $2");
    tx.query(&sql, &values)?
        .iter()
        .map(|row| {
            Ok(Event {
                seq: row.int(0)?,
                at: row.parsed(1)?,
                repo: row.parsed_if_there(2)?,
                task: row.parsed_if_there(3)?,
                run: row.parsed_if_there(4)?,
                machine: row.has(5).then(|| row.text(5).map(str::to_owned)).transpose()?,
                subject: row.has(6).then(|| row.text(6).map(str::to_owned)).transpose()?,
                status: row.has(7).then(|| row.text(7).map(str::to_owned)).transpose()?,
                kind: row.text(8)?.to_owned(),
                body: row.json(9)?,
            })
        })
        .collect()
}

impl Store {
    /// Events after `seq` in order, at most `limit`.
    pub async fn events_after(&self, seq: i64, filter: EventFilter, limit: u32) -> Result<Vec<Event>> {
        self.read_events(move |tx| after(tx, seq, filter, i64::from(limit))).await
    }

    /// The number of the newest event, 0 when there is none.
    pub async fn last_seq(&self) -> Result<i64> {
        self.read_events(newest).await
    }
}
