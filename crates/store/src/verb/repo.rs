//! Repositories, known by their common git directory.

use dandori_domain::id::RepoId;
use dandori_domain::task::Repo;

use crate::error::{Result, StoreError, Subject};
use crate::event::{About, log};
use crate::store::Store;
use crate::tx::{Row, Tx, params};

const COLUMNS: &str = "SELECT id, root, git_dir, created_at FROM repo";

fn read(row: &Row) -> Result<Repo> {
    Ok(Repo { id: row.parsed(0)?, root: row.text(1)?.into(), git_dir: row.text(2)?.into(), created_at: row.parsed(3)? })
}

fn by_git_dir(tx: &mut dyn Tx, candidate: &Repo) -> Result<Option<Repo>> {
    tx.first(&format!("{COLUMNS} WHERE git_dir = $1"), params![&candidate.git_dir])?.as_ref().map(read).transpose()
}

fn know(tx: &mut dyn Tx, candidate: &Repo) -> Result<Repo> {
    let inserted = tx.execute(
        "INSERT INTO repo (id, root, git_dir, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (git_dir) DO NOTHING",
        params![candidate.id, &candidate.root, &candidate.git_dir, candidate.created_at],
    )?;
    if inserted == 1 {
        let about = About { repo: Some(candidate.id), ..About::default() };
        log(tx, candidate.created_at, about, "repo_known", candidate)?;
    }
    by_git_dir(tx, candidate)?.ok_or_else(|| StoreError::not_found(Subject::Repo, &candidate.git_dir))
}

impl Store {
    /// The repository with the candidate's git directory, taken in as the candidate when it is new.
    pub async fn know_repo(&self, candidate: Repo) -> Result<Repo> {
        let asked = candidate.clone();
        // Asked for with every command and nearly always known: no write then.
        if let Some(known) = self.read(move |tx| by_git_dir(tx, &asked)).await? {
            return Ok(known);
        }
        self.write(move |tx| know(tx, &candidate)).await
    }

    pub async fn repo(&self, id: RepoId) -> Result<Repo> {
        self.read(move |tx| {
            let row = tx.first(&format!("{COLUMNS} WHERE id = $1"), params![id])?;
            read(&row.ok_or_else(|| StoreError::not_found(Subject::Repo, id))?)
        })
        .await
    }

    pub async fn repos(&self) -> Result<Vec<Repo>> {
        self.read(|tx| tx.query(&format!("{COLUMNS} ORDER BY id"), &[])?.iter().map(read).collect()).await
    }
}
