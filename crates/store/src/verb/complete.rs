//! Names that begin as somebody has typed, with what they are about: for shells that complete them. A few, and quickly.

use dandori_domain::id::{RepoId, TaskNumber};

use crate::error::Result;
use crate::store::Store;
use crate::tx::{Row, params};

/// More than fit on a screen help nobody to choose.
const MOST: i64 = 50;

/// What is to be completed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NameKind {
    Tasks,
    Runs,
    Worktrees,
    Pulls,
}

/// A name, and what it is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    pub name: String,
    pub about: String,
}

/// `%` and `_` mean themselves: none of our names has a backslash.
fn beginning(text: &str) -> Option<String> {
    (!text.contains(['%', '\\'])).then(|| format!("{text}%"))
}

impl Store {
    /// Names of a repository, the newest first.
    pub async fn names(&self, repo: RepoId, kind: NameKind, text: &str) -> Result<Vec<Named>> {
        let Some(begins) = beginning(text) else { return Ok(Vec::new()) };
        self.read(move |tx| {
            let (sql, begins) = match kind {
                NameKind::Tasks => (
                    "SELECT CAST(number AS TEXT), title FROM task WHERE repo = $1 AND CAST(number AS TEXT) LIKE $2
                     ORDER BY number DESC LIMIT $3",
                    begins.trim_start_matches(['T', 't', '-', '#']).to_owned(),
                ),
                NameKind::Runs => (
                    "SELECT run.run_key, run.agent || ': ' || task.title FROM run JOIN task ON task.id = run.task
                     WHERE run.repo = $1 AND run.run_key LIKE $2 ORDER BY run.seq DESC LIMIT $3",
                    begins.to_ascii_lowercase(),
                ),
                NameKind::Worktrees => (
                    "SELECT branch, path FROM worktree WHERE repo = $1 AND removed_at IS NULL AND branch LIKE $2
                     ORDER BY created_at DESC LIMIT $3",
                    begins.clone(),
                ),
                NameKind::Pulls => (
                    "SELECT CAST(number AS TEXT), title FROM local_pull WHERE repo = $1 AND CAST(number AS TEXT) LIKE $2
                     ORDER BY number DESC LIMIT $3",
                    begins.trim_start_matches('#').to_owned(),
                ),
            };
            let named = |row: &Row| {
                let name = row.text(0)?;
                let name = match kind {
                    NameKind::Tasks => name.parse().map_or_else(|_| name.to_owned(), |n| TaskNumber(n).to_string()),
                    _ => name.to_owned(),
                };
                Ok(Named { name, about: row.text(1)?.to_owned() })
            };
            tx.query(sql, params![repo, begins, MOST])?.iter().map(named).collect()
        })
        .await
    }
}
