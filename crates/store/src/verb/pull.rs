//! Pull requests as we follow them, on whichever forge: what they are found by, and how they come into the world.

use dandori_domain::id::{PullId, RepoId, TaskId};
use dandori_domain::pull::{Pull, PullWanted};
use jiff::Timestamp;

use crate::error::{Noun, Result, StoreError};
use crate::store::Store;
use crate::tx::{Tx, params};
use crate::verb::consequence;
use crate::verb::life::{Hold, Life, check};
use crate::verb::subject::{Projection, Stored, read};

const SELECT: &str = "SELECT subject.body, subject_spec.spec, subject.version FROM pull
     JOIN subject ON subject.machine = 'pull' AND subject.id = pull.id
     JOIN subject_spec ON subject_spec.machine = 'pull' AND subject_spec.id = pull.id";

impl Stored for Pull {
    const NOUN: Noun = Noun::Pull;

    fn project(Projection(tx): &mut Projection<'_>, before: Option<&Self>, after: &Self) -> Result<()> {
        let (spec, wanted) = (&after.spec, &after.wanted);
        let Some(before) = before else {
            tx.execute(
                "INSERT INTO pull (id, repo, task, run, head, over) VALUES ($1, $2, $3, $4, $5, $6)",
                params![spec.id, spec.repo, wanted.task, wanted.run, after.head(), after.is_over()],
            )?;
            return Ok(());
        };
        let has_moved = before.wanted.run != wanted.run || before.head() != after.head();
        if before.is_over() != after.is_over() || has_moved {
            tx.execute(
                "UPDATE pull SET task = $2, run = $3, head = $4, over = $5 WHERE id = $1",
                params![spec.id, wanted.task, wanted.run, after.head(), after.is_over()],
            )?;
        }
        Ok(())
    }
}

/// The one of a branch that is open, or on its way to be.
pub(crate) fn current(tx: &mut dyn Tx, repo: RepoId, head: &str) -> Result<Option<PullId>> {
    // Held until the commit: two that want one for the same branch come one after the other.
    let lock = tx.dialect().lock("repo");
    tx.first(&format!("SELECT id FROM repo WHERE id = $1{lock}"), params![repo])?
        .ok_or_else(|| StoreError::not_found(Noun::Repo, repo))?;
    let row = tx.first("SELECT id FROM pull WHERE repo = $1 AND head = $2 AND over = 0", params![repo, head])?;
    row.map(|row| row.parsed(0)).transpose()
}

pub(crate) fn of_task(tx: &mut dyn Tx, task: TaskId) -> Result<Vec<Pull>> {
    tx.query(&format!("{SELECT} WHERE pull.task = $1 ORDER BY pull.id"), params![task])?.iter().map(read).collect()
}

impl Store {
    /// Somebody wants a pull request: the open one of its branch, or a new one.
    pub async fn want_pull(&self, life: Life, wanted: PullWanted, now: Timestamp) -> Result<Pull> {
        self.write(move |tx| {
            check(tx, life, Hold::Shared)?;
            if wanted.host != life.host {
                return Err(StoreError::OtherHost { host: wanted.host });
            }
            consequence::want_pull(tx, wanted.clone(), now)
        })
        .await
    }

    /// Those of a task's branches, oldest first.
    pub async fn pulls_of(&self, task: TaskId) -> Result<Vec<Pull>> {
        self.read(move |tx| of_task(tx, task)).await
    }

    /// Those of a branch, oldest first.
    pub async fn pulls_on(&self, repo: RepoId, head: String) -> Result<Vec<Pull>> {
        self.read(move |tx| {
            let sql = format!("{SELECT} WHERE pull.repo = $1 AND pull.head = $2 ORDER BY pull.id");
            tx.query(&sql, params![repo, head.as_str()])?.iter().map(read).collect()
        })
        .await
    }

    /// Those of a repository that are neither closed nor merged, as far as is known here.
    pub async fn current_pulls(&self, repo: RepoId) -> Result<Vec<Pull>> {
        self.read(move |tx| {
            tx.query(&format!("{SELECT} WHERE pull.repo = $1 AND pull.over = 0 ORDER BY pull.id"), params![repo])?
                .iter()
                .map(read)
                .collect()
        })
        .await
    }
}
