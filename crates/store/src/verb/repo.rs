//! Repositories, known by their host and common git directory.

use dandori_domain::id::{HostId, RepoId};
use dandori_domain::task::Repo;

use crate::error::{Noun, Result, StoreError};
use crate::event::{About, log};
use crate::store::Store;
use crate::tx::{Row, Tx, params};

const COLUMNS: &str = "SELECT id, host, root, git_dir, created_at FROM repo";

fn read(row: &Row) -> Result<Repo> {
    Ok(Repo {
        id: row.parsed(0)?,
        host: row.parsed(1)?,
        root: row.text(2)?.into(),
        git_dir: row.text(3)?.into(),
        created_at: row.parsed(4)?,
    })
}

fn by_git_dir(tx: &mut dyn Tx, candidate: &Repo) -> Result<Option<Repo>> {
    let sql = format!("{COLUMNS} WHERE host = $1 AND git_dir = $2");
    tx.first(&sql, params![candidate.host, &candidate.git_dir])?.as_ref().map(read).transpose()
}

fn know(tx: &mut dyn Tx, candidate: &Repo) -> Result<Repo> {
    let inserted = tx.execute(
        "INSERT INTO repo (id, host, root, git_dir, created_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (host, git_dir) DO NOTHING",
        params![candidate.id, candidate.host, &candidate.root, &candidate.git_dir, candidate.created_at],
    )?;
    if inserted == 1 {
        let about = About { repo: Some(candidate.id), ..About::default() };
        log(tx, candidate.created_at, about, "repo_known", candidate)?;
    }
    by_git_dir(tx, candidate)?.ok_or_else(|| StoreError::not_found(Noun::Repo, &candidate.git_dir))
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

    /// The repository with this git directory, if it is known.
    pub async fn repo_by_git_dir(&self, host: HostId, git_dir: camino::Utf8PathBuf) -> Result<Option<Repo>> {
        let sql = format!("{COLUMNS} WHERE host = $1 AND git_dir = $2");
        self.read(move |tx| tx.first(&sql, params![host, &git_dir])?.as_ref().map(read).transpose()).await
    }

    pub async fn repo(&self, id: RepoId) -> Result<Repo> {
        self.read(move |tx| {
            let row = tx.first(&format!("{COLUMNS} WHERE id = $1"), params![id])?;
            read(&row.ok_or_else(|| StoreError::not_found(Noun::Repo, id))?)
        })
        .await
    }

    /// Those of one host.
    pub async fn repos(&self, host: HostId) -> Result<Vec<Repo>> {
        let sql = format!("{COLUMNS} WHERE host = $1 ORDER BY id");
        self.read(move |tx| tx.query(&sql, params![host])?.iter().map(read).collect()).await
    }
}
