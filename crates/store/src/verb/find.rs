//! What people type for a task or a run, and whom it means: `T-12`, `t-12`, `12`, `#12`, a branch, an id or a key, or as much of
//! their beginning as no other shares.
//!
//! The first of these that fits counts, so that a whole name is never taken for a part of another: a whole id, a task's number,
//! a branch, a whole key, the beginning of an id, the beginning or the end of a key.

use dandori_domain::Run;
use dandori_domain::id::{RunId, TaskId};
use dandori_domain::task::Task;

use crate::error::{Noun, Result, StoreError};
use crate::store::Store;
use crate::tx::{Row, Tx, params};
use crate::verb::{run, task};

/// Fewer characters of a key's end are a typing error rather than a name.
const SHORTEST_END: usize = 4;
const SHOWN_MATCHES: i64 = 10;

enum Found {
    Task(Task),
    Run(Box<Run>),
}

fn find(tx: &mut dyn Tx, text: &str) -> Result<Option<Found>> {
    if let Ok(id) = text.parse::<TaskId>() {
        return Ok(task::by_id(tx, id)?.map(Found::Task));
    }
    if let Ok(id) = text.parse::<RunId>() {
        return match run::load(tx, id) {
            Ok(found) => Ok(Some(Found::Run(Box::new(found)))),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(other) => Err(other),
        };
    }
    let number = ["T-", "t-", "#"].iter().find_map(|sign| text.strip_prefix(sign)).unwrap_or(text);
    if number.bytes().all(|b| b.is_ascii_digit())
        && let Ok(number) = number.parse::<i64>()
        && let Some(found) = task::by_number(tx, number)?
    {
        return Ok(Some(Found::Task(found)));
    }
    if let Some(found) = on_branch(tx, text)? {
        return Ok(Some(found));
    }
    match text.strip_prefix("task_").map(|_| Noun::Task).or_else(|| text.strip_prefix("run_").map(|_| Noun::Run)) {
        Some(noun) => by_id_part(tx, text, noun),
        None => by_key(tx, text),
    }
}

/// The newest run on a branch of this name.
fn on_branch(tx: &mut dyn Tx, text: &str) -> Result<Option<Found>> {
    let row = tx.first("SELECT id FROM run WHERE branch = $1 ORDER BY seq DESC LIMIT 1", params![text])?;
    row.map(|row| Ok(Found::Run(Box::new(run::load(tx, row.parsed(0)?)?)))).transpose()
}

fn by_id_part(tx: &mut dyn Tx, text: &str, noun: Noun) -> Result<Option<Found>> {
    let part = text.to_ascii_lowercase();
    // What SQL reads as a pattern is part of no id.
    if part.matches('_').count() != 1 || part.contains('%') {
        return Ok(None);
    }
    let table = if noun == Noun::Task { "task" } else { "run" };
    // The one underscore also fits itself.
    let from = format!("SELECT id FROM {table} WHERE id LIKE $1 ORDER BY id DESC LIMIT $2");
    let rows = tx.query(&from, params![format!("{part}%"), SHOWN_MATCHES])?;
    match (rows.as_slice(), noun) {
        ([row], Noun::Task) => Ok(task::by_id(tx, row.parsed(0)?)?.map(Found::Task)),
        (rows, Noun::Task) => several_tasks(tx, text, rows),
        (rows, _) => the_run(tx, text, rows),
    }
}

/// A whole key first: it may also be a part of nothing else. Then its beginning or its end.
fn by_key(tx: &mut dyn Tx, text: &str) -> Result<Option<Found>> {
    let part = text.strip_prefix("dandori/").unwrap_or(text).to_ascii_lowercase();
    if part.is_empty() || !part.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return Ok(None);
    }
    let mut rows = tx.query("SELECT id FROM run WHERE run_key = $1 LIMIT $2", params![part.as_str(), SHOWN_MATCHES])?;
    if rows.is_empty() {
        let end = if part.len() < SHORTEST_END { part.clone() } else { format!("%{part}") };
        rows = tx.query(
            "SELECT id FROM run WHERE run_key LIKE $1 OR run_key LIKE $2 ORDER BY seq DESC LIMIT $3",
            params![format!("{part}%"), end, SHOWN_MATCHES],
        )?;
    }
    the_run(tx, text, &rows)
}

/// The one run that fits, or what could be meant: each by its key, with what it is about.
fn the_run(tx: &mut dyn Tx, text: &str, rows: &[Row]) -> Result<Option<Found>> {
    match rows {
        [] => Ok(None),
        [row] => Ok(Some(Found::Run(Box::new(run::load(tx, row.parsed(0)?)?)))),
        several => {
            let mut matches = Vec::with_capacity(several.len());
            for row in several {
                let run = run::load(tx, row.parsed(0)?)?;
                let task = task::load(tx, run.spec.task)?;
                matches.push(format!("{} ({}, {}: {})", run.spec.id.key(), task.number, run.spec.agent, task.title));
            }
            Err(StoreError::Ambiguous { text: text.to_owned(), matches })
        }
    }
}

fn several_tasks(tx: &mut dyn Tx, text: &str, rows: &[Row]) -> Result<Option<Found>> {
    if rows.is_empty() {
        return Ok(None);
    }
    let mut matches = Vec::with_capacity(rows.len());
    for row in rows {
        let task = task::load(tx, row.parsed(0)?)?;
        matches.push(format!("{} ({})", task.number, task.title));
    }
    Err(StoreError::Ambiguous { text: text.to_owned(), matches })
}

impl Store {
    /// The task that is meant; a run stands for its task.
    pub async fn find_task(&self, text: &str) -> Result<Task> {
        let text = text.trim().to_owned();
        self.read(move |tx| match find(tx, &text)? {
            Some(Found::Task(task)) => Ok(task),
            Some(Found::Run(run)) => task::load(tx, run.spec.task),
            None => Err(StoreError::not_found(Noun::Task, &text)),
        })
        .await
    }

    /// The runs that are meant, in the order they were asked for; a task stands for all of its runs.
    pub async fn find_runs(&self, text: &str) -> Result<Vec<Run>> {
        let text = text.trim().to_owned();
        self.read(move |tx| match find(tx, &text)? {
            Some(Found::Task(task)) => run::of_task(tx, task.id),
            Some(Found::Run(run)) => Ok(vec![*run]),
            None => Err(StoreError::not_found(Noun::Run, &text)),
        })
        .await
    }
}
