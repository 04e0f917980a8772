//! Pull requests of the embedded forge: one open per head, numbered per repository.

use dandori_domain::id::{Oid, RepoId, RunId};
use dandori_domain::pull::{LocalPull, PullDraft, PullState};
use jiff::Timestamp;

use crate::error::{Noun, Result, StoreError};
use crate::event::{About, log};
use crate::store::Store;
use crate::tx::{Row, Tx, params};

const SELECT: &str =
    "SELECT repo, number, run, title, body, head, base, head_oid, state, created_at, updated_at FROM local_pull";

fn read(row: &Row) -> Result<LocalPull> {
    let state = match row.text(8)? {
        "open" => PullState::Open,
        "merged" => PullState::Merged,
        "closed" => PullState::Closed,
        other => return Err(StoreError::unreadable(format!("a pull request that is {other:?}"))),
    };
    Ok(LocalPull {
        repo: row.parsed(0)?,
        number: u64::try_from(row.int(1)?).map_err(StoreError::unreadable)?,
        run: row.parsed_if_there(2)?,
        draft: PullDraft {
            title: row.text(3)?.to_owned(),
            body: row.text(4)?.to_owned(),
            head: row.text(5)?.to_owned(),
            base: row.text(6)?.to_owned(),
        },
        head_oid: Oid::new(row.text(7)?),
        state,
        created_at: row.parsed(9)?,
        updated_at: row.parsed(10)?,
    })
}

fn open(
    tx: &mut dyn Tx,
    repo: RepoId,
    known: Option<i64>,
    run: Option<RunId>,
    draft: &PullDraft,
    head_oid: &Oid,
    now: Timestamp,
) -> Result<LocalPull> {
    // Held until the commit: two that open at the same time take their numbers one after the other.
    let lock = tx.dialect().lock("repo");
    tx.first(&format!("SELECT id FROM repo WHERE id = $1{lock}"), params![repo])?
        .ok_or_else(|| StoreError::not_found(Noun::Repo, repo))?;
    // The one of this branch comes before the one that would move to it: a branch has one.
    let there = tx.first(
        "SELECT number FROM local_pull WHERE repo = $1 AND (head = $2 OR number = $3) AND state = 'open'
         ORDER BY CASE WHEN head = $2 THEN 0 ELSE 1 END LIMIT 1",
        params![repo, draft.head.as_str(), known.unwrap_or(0)],
    )?;
    let number = if let Some(row) = there {
        let number = row.int(0)?;
        tx.execute(
            "UPDATE local_pull SET run = coalesce($3, run), title = $4, body = $5, base = $6, head_oid = $7, updated_at = $8,
             head = $9 WHERE repo = $1 AND number = $2",
            params![
                repo,
                number,
                run,
                draft.title.as_str(),
                draft.body.as_str(),
                draft.base.as_str(),
                head_oid,
                now,
                draft.head.as_str()
            ],
        )?;
        number
    } else {
        let number = tx.int("SELECT coalesce(max(number), 0) + 1 FROM local_pull WHERE repo = $1", params![repo])?;
        tx.execute(
            "INSERT INTO local_pull (repo, number, run, title, body, head, base, head_oid, state, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'open', $9, $9)",
            params![
                repo,
                number,
                run,
                draft.title.as_str(),
                draft.body.as_str(),
                draft.head.as_str(),
                draft.base.as_str(),
                head_oid,
                now
            ],
        )?;
        number
    };
    let pull = require(tx, repo, number)?;
    let about = About { repo: Some(repo), run, ..About::default() };
    log(tx, now, about, "local_pull_put", &pull)?;
    Ok(pull)
}

fn require(tx: &mut dyn Tx, repo: RepoId, number: i64) -> Result<LocalPull> {
    let row = tx.first(&format!("{SELECT} WHERE repo = $1 AND number = $2"), params![repo, number])?;
    read(&row.ok_or_else(|| StoreError::not_found(Noun::Pull, number))?)
}

fn set_state(tx: &mut dyn Tx, repo: RepoId, number: i64, state: PullState, now: Timestamp) -> Result<LocalPull> {
    tx.execute(
        "UPDATE local_pull SET state = $3, updated_at = $4 WHERE repo = $1 AND number = $2",
        params![repo, number, state.as_str(), now],
    )?;
    let pull = require(tx, repo, number)?;
    let about = About { repo: Some(repo), run: pull.run, ..About::default() };
    log(tx, now, about, "local_pull_state", &pull)?;
    Ok(pull)
}

fn as_column(number: u64) -> Result<i64> {
    i64::try_from(number).map_err(|_| StoreError::not_found(Noun::Pull, number))
}

impl Store {
    /// Opens a pull request; one that is already open for the same head, or known by this number, is brought up to date and
    /// answered instead.
    pub async fn open_local_pull(
        &self,
        repo: RepoId,
        known: Option<u64>,
        run: Option<RunId>,
        draft: PullDraft,
        head_oid: Oid,
        now: Timestamp,
    ) -> Result<LocalPull> {
        let known = known.map(as_column).transpose()?;
        self.write(move |tx| open(tx, repo, known, run, &draft, &head_oid, now)).await
    }

    pub async fn local_pull(&self, repo: RepoId, number: u64) -> Result<LocalPull> {
        let number = as_column(number)?;
        self.read(move |tx| require(tx, repo, number)).await
    }

    /// Newest first.
    pub async fn local_pulls(&self, repo: RepoId) -> Result<Vec<LocalPull>> {
        self.read(move |tx| {
            tx.query(&format!("{SELECT} WHERE repo = $1 ORDER BY number DESC"), params![repo])?
                .iter()
                .map(read)
                .collect()
        })
        .await
    }

    /// The numbers of those that are open.
    pub async fn open_local_pulls(&self, repo: RepoId) -> Result<Vec<u64>> {
        self.read(move |tx| {
            let rows = tx.query("SELECT number FROM local_pull WHERE repo = $1 AND state = 'open'", params![repo])?;
            rows.iter().map(|row| u64::try_from(row.int(0)?).map_err(StoreError::unreadable)).collect()
        })
        .await
    }

    pub async fn set_local_pull_state(
        &self,
        repo: RepoId,
        number: u64,
        state: PullState,
        now: Timestamp,
    ) -> Result<LocalPull> {
        let number = as_column(number)?;
        self.write(move |tx| set_state(tx, repo, number, state, now)).await
    }
}
