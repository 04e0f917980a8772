//! What people see of a formation beyond what its protocol needs, and how it stands.

use dandori_domain::id::{CommandId, MessageId, RepoId, TaskId};
use dandori_formation::{Command, Message, ResultRow, Standing};

use super::Book;
use crate::error::{Result, StoreError};
use crate::store::Store;
use crate::tx::{json, params};

/// How many there are of each state, and what was done in all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FormationCounts {
    /// By the name of the state.
    pub commands: Vec<(String, u64)>,
    /// Replaced ones included.
    pub tasks: Vec<(String, u64)>,
    pub deliveries: u64,
    /// Deliveries that came to nothing.
    pub failed_deliveries: u64,
    pub late_reports: u64,
    /// Reports whose work did not fit in.
    pub repairs: u64,
    pub dead_letters: u64,
}

impl Book<'_> {
    /// The repository it is the formation of.
    pub fn repo(&self) -> RepoId {
        self.repo
    }

    pub fn command_by_number(&mut self, number: u32) -> Result<Option<Command>> {
        let sql = "SELECT body FROM command WHERE repo = $1 AND number = $2";
        self.one(sql, params![self.repo, i64::from(number)])
    }

    /// Those that are not over, the oldest first.
    pub fn open_command_rows(&mut self) -> Result<Vec<Command>> {
        self.many("SELECT body FROM command WHERE repo = $1 AND open = 1 ORDER BY id", params![self.repo])
    }

    /// Those that are over, the newest first.
    pub fn past_commands(&mut self, most: u32) -> Result<Vec<Command>> {
        let sql = "SELECT body FROM command WHERE repo = $1 AND open = 0 ORDER BY id DESC LIMIT $2";
        self.many(sql, params![self.repo, i64::from(most)])
    }

    pub fn command_count(&mut self) -> Result<u64> {
        self.count("SELECT count(*) FROM command WHERE repo = $1")
    }

    /// Of this command and its tasks, the oldest first.
    pub fn results(&mut self, command: CommandId) -> Result<Vec<ResultRow>> {
        self.many("SELECT body FROM result WHERE command = $1 ORDER BY id", params![command])
    }

    /// The oldest first.
    pub fn dead_letters(&mut self) -> Result<Vec<Message>> {
        self.many("SELECT body FROM message WHERE repo = $1 AND state = 'dead_letter' ORDER BY id", params![self.repo])
    }

    pub fn counts(&mut self) -> Result<FormationCounts> {
        let of_tasks = "FROM plan_task JOIN command ON command.id = plan_task.command WHERE command.repo = $1";
        let given_back = "FROM result JOIN command ON command.id = result.command WHERE command.repo = $1
             AND result.applied = 0 AND result.task IS NOT NULL";
        let sql = |what: &str, from: &str| format!("SELECT {what} {from}");
        let checking = sql("count(*)", &format!("{of_tasks} AND plan_task.state = 'verify_pending'"));
        let unfinished = "SELECT count(*) FROM message WHERE repo = $1 AND claims > 0
             AND state IN ('in_progress', 'completed', 'failed')";
        let deliveries = self.count("SELECT CAST(coalesce(sum(claims), 0) AS BIGINT) FROM message WHERE repo = $1")?;
        let (unfinished, checking) = (self.count(unfinished)?, self.count(&checking)?);
        let late = "FROM late_report JOIN command ON command.id = late_report.command WHERE command.repo = $1";
        Ok(FormationCounts {
            commands: self.by_state("SELECT state, count(*) FROM command WHERE repo = $1 GROUP BY state")?,
            tasks: self.by_state(&format!("SELECT plan_task.state, count(*) {of_tasks} GROUP BY plan_task.state"))?,
            deliveries,
            failed_deliveries: deliveries.saturating_sub(unfinished),
            late_reports: self.count(&sql("count(*)", late))?,
            repairs: self.count(&sql("count(*)", given_back))?.saturating_sub(checking),
            dead_letters: self.count("SELECT count(*) FROM message WHERE repo = $1 AND state = 'dead_letter'")?,
        })
    }

    fn count(&mut self, sql: &str) -> Result<u64> {
        u64::try_from(self.tx.int(sql, params![self.repo])?).map_err(StoreError::unreadable)
    }

    fn by_state(&mut self, sql: &str) -> Result<Vec<(String, u64)>> {
        let rows = self.tx.query(sql, params![self.repo])?;
        let one = |row: &crate::tx::Row| {
            Ok((row.text(0)?.to_owned(), u64::try_from(row.int(1)?).map_err(StoreError::unreadable)?))
        };
        rows.iter().map(one).collect()
    }

    /// How it stands. One that was never up is down.
    pub fn standing(&mut self) -> Result<Standing> {
        Ok(self.one("SELECT standing FROM formation WHERE repo = $1", params![self.repo])?.unwrap_or_default())
    }

    pub fn put_standing(&mut self, standing: &Standing) -> Result<()> {
        self.make_whole()?;
        let sql = "UPDATE formation SET standing = $2 WHERE repo = $1";
        self.tx.execute(sql, params![self.repo, json(standing)?])?;
        Ok(())
    }
}

/// What somebody names without saying whose it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FormationItem {
    Command(CommandId),
    Task(TaskId),
    Message(MessageId),
}

impl Store {
    /// The repository whose formation has it.
    pub async fn formation_with(&self, named: FormationItem) -> Result<Option<RepoId>> {
        self.read(move |tx| {
            let row = match named {
                FormationItem::Command(id) => tx.first("SELECT repo FROM command WHERE id = $1", params![id])?,
                FormationItem::Task(id) => {
                    let sql = "SELECT command.repo FROM plan_task JOIN command ON command.id = plan_task.command
                         WHERE plan_task.id = $1";
                    tx.first(sql, params![id])?
                }
                FormationItem::Message(id) => tx.first("SELECT repo FROM message WHERE id = $1", params![id])?,
            };
            row.map(|row| row.parsed(0)).transpose()
        })
        .await
    }

    /// Every repository that has a formation: one that was up, or was given an order.
    pub async fn formations(&self) -> Result<Vec<RepoId>> {
        self.read(move |tx| {
            let rows = tx.query("SELECT repo FROM formation ORDER BY repo", params![])?;
            rows.iter().map(|row| row.parsed(0)).collect()
        })
        .await
    }
}
