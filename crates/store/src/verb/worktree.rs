//! Worktrees and what was kept of them. Those of runs follow the runs' facts, in the same transaction.

use std::collections::HashMap;

use dandori_domain::id::{Oid, RepoId, RunId, TaskNumber, WorktreeKey};
use dandori_domain::run::Workspace;
use dandori_domain::worktree::{Keepsake, Owner, Worktree};
use dandori_domain::{Fact, Run};
use jiff::Timestamp;

use crate::error::{Noun, Result, StoreError};
use crate::event::{About, log};
use crate::store::Store;
use crate::tx::{Row, Tx, json, params};

const SELECT: &str = "SELECT worktree_key, repo, path, branch, base, base_oid, owner, created_at, removed_at, branch_is_ours FROM worktree";

/// The run a worktree was made for; follow-ups work in it too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MadeFor {
    pub run: RunId,
    pub task: TaskNumber,
}

fn read(row: &Row) -> Result<Worktree> {
    Ok(Worktree {
        key: WorktreeKey::new(row.text(0)?),
        repo: row.parsed(1)?,
        path: row.text(2)?.into(),
        branch: row.text(3)?.to_owned(),
        base: row.text(4)?.to_owned(),
        base_oid: Oid::new(row.text(5)?),
        owner: row.json(6)?,
        created_at: row.parsed(7)?,
        removed_at: row.parsed_if_there(8)?,
        branch_is_ours: row.int(9)? != 0,
    })
}

/// What a run's fact means for its worktree. The fact itself is the event; there is no second one.
pub(crate) fn follow(tx: &mut dyn Tx, run: &Run, fact: &Fact, now: Timestamp) -> Result<()> {
    let Some(workspace) = run.workspace() else { return Ok(()) };
    let mine = Owner::Run { run: run.spec.id };
    match fact {
        Fact::WorktreeReady { .. } => upsert(tx, &of_run(run, workspace, mine, now)),
        Fact::Settled => change_owner(tx, &workspace.key, &mine, &Owner::Nobody),
        Fact::Resumed | Fact::Released => change_owner(tx, &workspace.key, &Owner::Nobody, &mine),
        Fact::Removed { .. } => bury(tx, &workspace.key, now).map(drop),
        Fact::Preserved { reference, oid } => {
            let keepsake = Keepsake {
                key: workspace.key.clone(),
                reference: reference.clone(),
                oid: oid.clone(),
                branch: workspace.branch.clone(),
                path: workspace.path.clone(),
                at: now,
            };
            upsert_keepsake(tx, run.spec.repo, &keepsake)
        }
        _ => Ok(()),
    }
}

fn of_run(run: &Run, workspace: &Workspace, owner: Owner, now: Timestamp) -> Worktree {
    Worktree {
        key: workspace.key.clone(),
        repo: run.spec.repo,
        path: workspace.path.clone(),
        branch: workspace.branch.clone(),
        branch_is_ours: true,
        base: workspace.base.clone(),
        base_oid: workspace.base_oid.clone(),
        owner,
        created_at: now,
        removed_at: None,
    }
}

/// A worktree that is made again at its place (a follow-up) keeps the day it was first made.
fn upsert(tx: &mut dyn Tx, worktree: &Worktree) -> Result<()> {
    tx.execute(
        "INSERT INTO worktree (worktree_key, repo, path, branch, base, base_oid, owner, created_at, removed_at,
             branch_is_ours)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         ON CONFLICT (worktree_key) DO UPDATE SET repo = excluded.repo, path = excluded.path,
             branch = excluded.branch, base = excluded.base, base_oid = excluded.base_oid,
             owner = excluded.owner, removed_at = excluded.removed_at, branch_is_ours = excluded.branch_is_ours",
        params![
            &worktree.key,
            worktree.repo,
            &worktree.path,
            worktree.branch.as_str(),
            worktree.base.as_str(),
            &worktree.base_oid,
            json(&worktree.owner)?,
            worktree.created_at,
            worktree.removed_at,
            i64::from(worktree.branch_is_ours)
        ],
    )?;
    Ok(())
}

/// Changes nothing when somebody else holds it by now, or when it is gone.
fn change_owner(tx: &mut dyn Tx, key: &WorktreeKey, from: &Owner, to: &Owner) -> Result<()> {
    tx.execute(
        "UPDATE worktree SET owner = $3 WHERE worktree_key = $1 AND owner = $2 AND removed_at IS NULL",
        params![key, json(from)?, json(to)?],
    )?;
    Ok(())
}

/// Somebody has it, or it has gone.
pub(crate) fn is_held(tx: &mut dyn Tx, key: &WorktreeKey) -> Result<bool> {
    // Held until the commit: a session that takes it meanwhile comes after.
    let lock = tx.dialect().lock("worktree");
    let sql = format!(
        "SELECT worktree_key FROM worktree WHERE worktree_key = $1 AND owner = $2 AND removed_at IS NULL{lock}"
    );
    let free = tx.first(&sql, params![key, json(&Owner::Nobody)?])?;
    Ok(free.is_none())
}

/// A tombstone; what is gone has no owner. The first removal's time stands.
fn bury(tx: &mut dyn Tx, key: &WorktreeKey, now: Timestamp) -> Result<u64> {
    tx.execute(
        "UPDATE worktree SET removed_at = coalesce(removed_at, $2), owner = $3 WHERE worktree_key = $1",
        params![key, now, json(&Owner::Nobody)?],
    )
}

fn load(tx: &mut dyn Tx, key: &WorktreeKey, lock: &str) -> Result<Worktree> {
    let row = tx.first(&format!("{SELECT} WHERE worktree_key = $1{lock}"), params![key])?;
    read(&row.ok_or_else(|| StoreError::not_found(Noun::Worktree, key))?)
}

fn about(repo: RepoId) -> About {
    About { repo: Some(repo), ..About::default() }
}

fn put(tx: &mut dyn Tx, worktree: &Worktree, now: Timestamp) -> Result<()> {
    upsert(tx, worktree)?;
    log(tx, now, about(worktree.repo), "worktree_put", worktree)
}

fn set_owner(tx: &mut dyn Tx, key: &WorktreeKey, from: &Owner, to: &Owner, now: Timestamp) -> Result<Worktree> {
    let lock = tx.dialect().lock("worktree");
    let mut worktree = load(tx, key, &lock)?;
    if worktree.owner != *from {
        return Err(StoreError::Held { owner: worktree.owner });
    }
    worktree.owner = to.clone();
    upsert(tx, &worktree)?;
    log(tx, now, about(worktree.repo), "worktree_owner_set", &worktree)?;
    Ok(worktree)
}

fn mark_removed(tx: &mut dyn Tx, key: &WorktreeKey, now: Timestamp) -> Result<Worktree> {
    bury(tx, key, now)?;
    let worktree = load(tx, key, "")?;
    log(tx, now, about(worktree.repo), "worktree_removed", &worktree)?;
    Ok(worktree)
}

fn upsert_keepsake(tx: &mut dyn Tx, repo: RepoId, keepsake: &Keepsake) -> Result<()> {
    tx.execute(
        "INSERT INTO keepsake (repo, reference, worktree_key, oid, branch, path, at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (repo, reference) DO UPDATE SET worktree_key = excluded.worktree_key, oid = excluded.oid,
             branch = excluded.branch, path = excluded.path, at = excluded.at",
        params![
            repo,
            keepsake.reference.as_str(),
            &keepsake.key,
            &keepsake.oid,
            keepsake.branch.as_str(),
            &keepsake.path,
            keepsake.at
        ],
    )?;
    Ok(())
}

fn read_keepsake(row: &Row) -> Result<Keepsake> {
    Ok(Keepsake {
        key: WorktreeKey::new(row.text(0)?),
        reference: row.text(1)?.to_owned(),
        oid: Oid::new(row.text(2)?),
        branch: row.text(3)?.to_owned(),
        path: row.text(4)?.into(),
        at: row.parsed(5)?,
    })
}

impl Store {
    /// A worktree made or adopted by hand. Those of runs come by themselves with their facts.
    pub async fn put_worktree(&self, worktree: Worktree, now: Timestamp) -> Result<()> {
        self.write(move |tx| put(tx, &worktree, now)).await
    }

    /// Worktrees that are there (no tombstones), oldest first; of one repository or of all.
    pub async fn worktrees(&self, repo: Option<RepoId>) -> Result<Vec<Worktree>> {
        self.read(move |tx| {
            let of_one = if repo.is_some() { " AND repo = $1" } else { "" };
            let values = repo.map(crate::tx::Value::from);
            let sql = format!("{SELECT} WHERE removed_at IS NULL{of_one}");
            let mut found: Vec<Worktree> =
                tx.query(&sql, values.as_slice())?.iter().map(read).collect::<Result<_>>()?;
            found.sort_by(|a, b| (a.created_at, &a.key).cmp(&(b.created_at, &b.key)));
            Ok(found)
        })
        .await
    }

    /// Which run each worktree of a repository was made for, of those that are there and that a run has made.
    pub async fn made_for(&self, repo: RepoId) -> Result<HashMap<WorktreeKey, MadeFor>> {
        self.read(move |tx| {
            let rows = tx.query(
                "SELECT worktree.worktree_key, run.id, task.number FROM worktree
                 JOIN run ON run.run_key = worktree.worktree_key JOIN task ON task.id = run.task
                 WHERE worktree.repo = $1 AND worktree.removed_at IS NULL",
                params![repo],
            )?;
            let of = |row: &Row| {
                let made_for = MadeFor { run: row.parsed(1)?, task: TaskNumber(row.int(2)?) };
                Ok((WorktreeKey::new(row.text(0)?), made_for))
            };
            rows.iter().map(of).collect()
        })
        .await
    }

    /// The worktree by its key, tombstone or not.
    pub async fn worktree(&self, key: WorktreeKey) -> Result<Option<Worktree>> {
        self.read(move |tx| match load(tx, &key, "") {
            Ok(worktree) => Ok(Some(worktree)),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(other) => Err(other),
        })
        .await
    }

    /// Hands a worktree on. [`StoreError::Held`] when its owner is not `from` (any more).
    pub async fn set_owner(&self, key: WorktreeKey, from: Owner, to: Owner, now: Timestamp) -> Result<Worktree> {
        self.write(move |tx| set_owner(tx, &key, &from, &to, now)).await
    }

    pub async fn mark_removed(&self, key: WorktreeKey, now: Timestamp) -> Result<Worktree> {
        self.write(move |tx| mark_removed(tx, &key, now)).await
    }

    /// Work kept under a private ref, when no run's fact says so.
    pub async fn keep(&self, repo: RepoId, keepsake: Keepsake) -> Result<()> {
        self.write(move |tx| {
            upsert_keepsake(tx, repo, &keepsake)?;
            log(tx, keepsake.at, about(repo), "kept", &keepsake)
        })
        .await
    }

    /// What was kept in a repository, newest first.
    pub async fn keepsakes(&self, repo: RepoId) -> Result<Vec<Keepsake>> {
        self.read(move |tx| {
            let sql = "SELECT worktree_key, reference, oid, branch, path, at FROM keepsake WHERE repo = $1";
            let mut found: Vec<Keepsake> =
                tx.query(sql, params![repo])?.iter().map(read_keepsake).collect::<Result<_>>()?;
            found.sort_by(|a, b| (b.at, &b.reference).cmp(&(a.at, &a.reference)));
            Ok(found)
        })
        .await
    }

    /// The ref is gone; so is our knowledge of it.
    pub async fn drop_keepsake(&self, repo: RepoId, reference: String, now: Timestamp) -> Result<()> {
        self.write(move |tx| {
            let values = params![repo, reference.as_str()];
            if tx.execute("DELETE FROM keepsake WHERE repo = $1 AND reference = $2", values)? == 0 {
                return Err(StoreError::not_found(Noun::Keepsake, &reference));
            }
            log(tx, now, about(repo), "keepsake_dropped", &serde_json::json!({ "reference": reference }))
        })
        .await
    }
}
