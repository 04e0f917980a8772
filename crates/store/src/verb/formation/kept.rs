//! Plans and reports that were refused, kept as they came: whoever wrote them may be gone, and a person wants to see them.

use dandori_domain::id::{CommandId, RepoId, TaskId};
use dandori_formation::AgentId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::store::Store;
use crate::tx::{Row, json, params};

/// Of each repository. What is older goes.
const MOST: i64 = 100;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct KeptInput {
    pub kind: KeptKind,
    pub command: Option<CommandId>,
    pub task: Option<TaskId>,
    /// `None`: a person.
    pub by: Option<AgentId>,
    pub at: Timestamp,
    /// Why it was refused, as the problem was told.
    pub why: serde_json::Value,
    /// The phase a plan was for.
    pub phase: Option<String>,
    /// What came, as it came: the YAML of a plan, the fields of a report.
    pub content: String,
    /// It was given again since, and taken.
    #[serde(default)]
    pub restored_at: Option<Timestamp>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeptKind {
    Plan,
    Result,
}

impl KeptKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Result => "result",
        }
    }
}

fn numbered(row: &Row) -> Result<(i64, KeptInput)> {
    Ok((row.int(0)?, row.json(1)?))
}

impl Store {
    /// Keeps it under the number it answers.
    pub async fn keep_input(&self, repo: RepoId, kept: KeptInput) -> Result<i64> {
        self.write(move |tx| {
            let number = tx.int(
                "INSERT INTO kept_input (repo, body) VALUES ($1, $2) RETURNING seq",
                params![repo, json(&kept)?],
            )?;
            tx.execute(
                "DELETE FROM kept_input WHERE repo = $1 AND seq <=
                     (SELECT seq FROM kept_input WHERE repo = $1 ORDER BY seq DESC LIMIT 1 OFFSET $2)",
                params![repo, MOST],
            )?;
            Ok(number)
        })
        .await
    }

    /// The newest first.
    pub async fn kept_inputs(&self, repo: RepoId) -> Result<Vec<(i64, KeptInput)>> {
        self.read(move |tx| {
            let sql = "SELECT seq, body FROM kept_input WHERE repo = $1 ORDER BY seq DESC";
            tx.query(sql, params![repo])?.iter().map(numbered).collect()
        })
        .await
    }

    pub async fn kept_input(&self, repo: RepoId, number: i64) -> Result<Option<KeptInput>> {
        self.read(move |tx| {
            let row =
                tx.first("SELECT seq, body FROM kept_input WHERE repo = $1 AND seq = $2", params![repo, number])?;
            Ok(row.as_ref().map(numbered).transpose()?.map(|(_, kept)| kept))
        })
        .await
    }

    /// It was taken this time.
    pub async fn input_was_restored(&self, repo: RepoId, number: i64, kept: KeptInput) -> Result<()> {
        self.write(move |tx| {
            let sql = "UPDATE kept_input SET body = $3 WHERE repo = $1 AND seq = $2";
            tx.execute(sql, params![repo, number, json(&kept)?])?;
            Ok(())
        })
        .await
    }
}
