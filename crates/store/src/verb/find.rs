//! What people type for a task or a run: `T-12`, `12`, a whole id, a run's key or a part of it.

use dandori_domain::Run;
use dandori_domain::id::{RunId, TaskId};
use dandori_domain::task::Task;

use crate::error::{Noun, Result, StoreError};
use crate::store::Store;
use crate::tx::{Tx, params};
use crate::verb::{run, task};

/// Fewer characters of a key are a typing error rather than a name.
const SHORTEST_PART: usize = 4;
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
    let number = text.strip_prefix("T-").or_else(|| text.strip_prefix("t-")).unwrap_or(text);
    if let Ok(number) = number.parse::<i64>()
        && let Some(found) = task::by_number(tx, number)?
    {
        return Ok(Some(Found::Task(found)));
    }
    by_key(tx, text)
}

/// A whole key first: it may also be a part of nothing else. Then its beginning or its end.
fn by_key(tx: &mut dyn Tx, text: &str) -> Result<Option<Found>> {
    let part = text.strip_prefix("dandori/").unwrap_or(text).to_ascii_lowercase();
    if part.len() < SHORTEST_PART || !part.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return Ok(None);
    }
    let mut rows = tx.query("SELECT id FROM run WHERE run_key = $1 LIMIT $2", params![part.as_str(), SHOWN_MATCHES])?;
    if rows.is_empty() {
        rows = tx.query(
            "SELECT id FROM run WHERE run_key LIKE $1 OR run_key LIKE $2 ORDER BY seq DESC LIMIT $3",
            params![format!("{part}%"), format!("%{part}"), SHOWN_MATCHES],
        )?;
    }
    match rows.as_slice() {
        [] => Ok(None),
        [row] => Ok(Some(Found::Run(Box::new(run::load(tx, row.parsed(0)?)?)))),
        several => {
            let matches = several.iter().map(|r| r.text(0).map(str::to_owned)).collect::<Result<_>>()?;
            Err(StoreError::Ambiguous { text: text.to_owned(), matches })
        }
    }
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
