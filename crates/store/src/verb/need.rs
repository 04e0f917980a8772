//! What needs are derived from where it lies in the store, and what people did about them. Needs themselves are not here.

use std::collections::{HashMap, HashSet};

use dandori_domain::id::{HostId, RepoId, TaskId};
use dandori_domain::need::{Answer, NeedId};
use jiff::Timestamp;

use crate::error::{Result, StoreError};
use crate::event::{About, log};
use crate::store::Store;
use crate::tx::{Tx, json, params};
use crate::verb::task::{self, TaskWithRuns};

/// A run was refused because this configuration is not trusted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TrustWanted {
    pub repo: RepoId,
    /// Of what was not trusted.
    pub digest: String,
    pub at: Timestamp,
}

/// Tasks with a run that may be a reason for a need, or with a pull request that is not over.
fn needy(tx: &mut dyn Tx, host: HostId) -> Result<Vec<TaskWithRuns>> {
    let sql = "SELECT DISTINCT task FROM run WHERE host = $1 AND may_need = 1
         UNION SELECT pull.task FROM pull JOIN repo ON repo.id = pull.repo WHERE repo.host = $1 AND pull.over = 0";
    let ids: Vec<TaskId> = tx.query(sql, params![host])?.iter().map(|row| row.parsed(0)).collect::<Result<_>>()?;
    ids.into_iter()
        .map(|id| {
            let found = task::load(tx, id)?;
            task::with_runs(tx, found)
        })
        .collect()
}

fn answer(tx: &mut dyn Tx, need: &NeedId, answer: &Answer, now: Timestamp) -> Result<()> {
    tx.execute(
        "INSERT INTO need_answer (need, answer, at) VALUES ($1, $2, $3)
         ON CONFLICT (need) DO UPDATE SET answer = excluded.answer, at = excluded.at",
        params![need.as_str(), json(answer)?, now],
    )?;
    let body = serde_json::json!({ "need": need, "answer": answer });
    log(tx, now, About::default(), "need_answered", &body)
}

fn wake(tx: &mut dyn Tx, need: &NeedId, now: Timestamp) -> Result<bool> {
    let woken = tx.execute("DELETE FROM need_answer WHERE need = $1", params![need.as_str()])? > 0;
    if woken {
        log(tx, now, About::default(), "need_woken", &serde_json::json!({ "need": need }))?;
    }
    Ok(woken)
}

fn answers(tx: &mut dyn Tx) -> Result<Vec<(NeedId, Answer, Timestamp)>> {
    let rows = tx.query("SELECT need, answer, at FROM need_answer", &[])?;
    let parsed = rows.iter().map(|row| {
        let need = row.text(0)?.parse().map_err(StoreError::unreadable)?;
        Ok((need, row.json(1)?, row.parsed(2)?))
    });
    parsed.collect()
}

fn drop_answers(tx: &mut dyn Tx, current: &HashSet<NeedId>, before: Timestamp) -> Result<u64> {
    let mut dropped = 0;
    for (need, _, at) in answers(tx)? {
        if at < before && !current.contains(&need) {
            dropped += tx.execute("DELETE FROM need_answer WHERE need = $1", params![need.as_str()])?;
        }
    }
    Ok(dropped)
}

fn want_trust(tx: &mut dyn Tx, wanted: &TrustWanted) -> Result<()> {
    // The first refusal of the same content is when it began to wait.
    let changed = tx.execute(
        "INSERT INTO trust_wanted (repo, digest, at) VALUES ($1, $2, $3)
         ON CONFLICT (repo) DO UPDATE SET digest = excluded.digest, at = excluded.at
         WHERE trust_wanted.digest <> excluded.digest",
        params![wanted.repo, wanted.digest.as_str(), wanted.at],
    )?;
    if changed == 0 {
        return Ok(());
    }
    let about = About { repo: Some(wanted.repo), ..About::default() };
    log(tx, wanted.at, about, "trust_wanted", &serde_json::json!({ "digest": wanted.digest }))
}

impl Store {
    /// A host's tasks that may need somebody: a part of all, found without looking at the others.
    pub async fn needy_tasks(&self, host: HostId) -> Result<Vec<TaskWithRuns>> {
        self.read(move |tx| needy(tx, host)).await
    }

    /// What a person did about a need; the newest answer counts.
    pub async fn answer_need(&self, need: NeedId, given: Answer, now: Timestamp) -> Result<()> {
        self.write(move |tx| answer(tx, &need, &given, now)).await
    }

    /// Takes the answer back; whether there was one.
    pub async fn wake_need(&self, need: NeedId, now: Timestamp) -> Result<bool> {
        self.write(move |tx| wake(tx, &need, now)).await
    }

    pub async fn need_answers(&self) -> Result<HashMap<NeedId, Answer>> {
        self.read(|tx| Ok(answers(tx)?.into_iter().map(|(need, answer, _)| (need, answer)).collect())).await
    }

    /// Answers of before then to needs that are gone.
    pub async fn drop_need_answers(&self, current: HashSet<NeedId>, before: Timestamp) -> Result<u64> {
        self.write(move |tx| drop_answers(tx, &current, before)).await
    }

    /// A run was refused for want of trust.
    pub async fn want_trust(&self, wanted: TrustWanted) -> Result<()> {
        self.write(move |tx| want_trust(tx, &wanted)).await
    }

    /// What was refused in the repositories of a host, trusted since or not.
    pub async fn trust_wanted(&self, host: HostId) -> Result<Vec<TrustWanted>> {
        self.read(move |tx| {
            let sql = "SELECT trust_wanted.repo, digest, at FROM trust_wanted
                 JOIN repo ON repo.id = trust_wanted.repo WHERE repo.host = $1 ORDER BY trust_wanted.repo";
            let rows = tx.query(sql, params![host])?;
            rows.iter()
                .map(|row| {
                    Ok(TrustWanted { repo: row.parsed(0)?, digest: row.text(1)?.to_owned(), at: row.parsed(2)? })
                })
                .collect()
        })
        .await
    }
}
