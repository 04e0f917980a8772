//! The ledger in SQL.

use dandori_domain::id::{CommandId, MessageId, PhaseId, RepoId, ResultId, TaskId};
use dandori_formation::continuous::Continuous;
use dandori_formation::ledger::Untold;
use dandori_formation::memory::Memory;
use dandori_formation::result::{LateReport, Of, Outcome, Told};
use dandori_formation::standing::Standing;
use dandori_formation::{AgentId, Brief, Command, Delivery, Ledger, Message, Phase, ResultRow, Task};
use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::lock;
use crate::error::{Result, StoreError};
use crate::event::{About, log};
use crate::tx::{Tx, Value, json, params};

/// The rows of one formation, within one transaction.
pub struct Book<'t> {
    pub(super) tx: &'t mut dyn Tx,
    pub(super) repo: RepoId,
    pub(super) now: Timestamp,
    is_to_change: bool,
}

impl<'t> Book<'t> {
    pub(super) fn to_change(tx: &'t mut dyn Tx, repo: RepoId, now: Timestamp) -> Self {
        Self { tx, repo, now, is_to_change: true }
    }

    pub(super) fn to_read(tx: &'t mut dyn Tx, repo: RepoId, now: Timestamp) -> Self {
        Self { tx, repo, now, is_to_change: false }
    }

    pub(super) fn one<T: DeserializeOwned>(&mut self, sql: &str, params: &[Value]) -> Result<Option<T>> {
        self.tx.first(sql, params)?.map(|row| row.json(0)).transpose()
    }

    pub(super) fn many<T: DeserializeOwned>(&mut self, sql: &str, params: &[Value]) -> Result<Vec<T>> {
        self.tx.query(sql, params)?.iter().map(|row| row.json(0)).collect()
    }

    /// What changed, for whoever watches.
    fn log(&mut self, task: Option<TaskId>, kind: &str, body: &impl Serialize) -> Result<()> {
        let about = About { repo: Some(self.repo), task, ..About::default() };
        log(self.tx, self.now, about, kind, body)
    }

    /// Every row of the formation: for `doctor`, and for the tests that check what must always hold.
    pub fn everything(&mut self) -> Result<Memory> {
        let mut memory = Memory::default();
        let of_commands = |table: &str| {
            format!(
                "SELECT {table}.body FROM {table} JOIN command ON command.id = {table}.command WHERE command.repo = $1"
            )
        };
        let repo = self.repo;
        for command in self.many::<Command>("SELECT body FROM command WHERE repo = $1", params![repo])? {
            memory.put_command(&command)?;
        }
        for phase in self.many::<Phase>(&of_commands("phase"), params![repo])? {
            memory.put_phase(&phase)?;
        }
        for task in self.many::<Task>(&of_commands("plan_task"), params![repo])? {
            memory.put_task(&task)?;
        }
        for message in self.many::<Message>("SELECT body FROM message WHERE repo = $1", params![repo])? {
            memory.put_message(&message)?;
        }
        for result in self.many::<ResultRow>(&of_commands("result"), params![repo])? {
            memory.put_result(&result)?;
        }
        for late in self.many::<LateReport>(&format!("{} ORDER BY seq", of_commands("late_report")), params![repo])? {
            memory.put_late(&late)?;
        }
        let continuous = self.continuous()?;
        memory.put_continuous(&continuous)?;
        Ok(memory)
    }

    /// The row that says how the formation as a whole stands is made when it is first needed.
    pub(super) fn make_whole(&mut self) -> Result<()> {
        self.tx.execute(
            "INSERT INTO formation (repo, commands, continuous, standing) VALUES ($1, 0, $2, $3)
             ON CONFLICT (repo) DO NOTHING",
            params![self.repo, json(&Continuous::default())?, json(&Standing::default())?],
        )?;
        Ok(())
    }
}

fn millis(at: Timestamp) -> i64 {
    at.as_millisecond()
}

const PENDING: &str = "repo = $1 AND agent = $2 AND state = 'pending'";

impl Ledger for Book<'_> {
    type Error = StoreError;

    fn lock(&mut self, command: CommandId) -> Result<()> {
        lock(self.tx, &command.to_string())
    }

    fn command(&mut self, id: CommandId) -> Result<Option<Command>> {
        self.one("SELECT body FROM command WHERE id = $1 AND repo = $2", params![id, self.repo])
    }

    fn put_command(&mut self, command: &Command) -> Result<()> {
        let state = command.state.name();
        let before = self.tx.first("SELECT state FROM command WHERE id = $1", params![command.id])?;
        let has_changed = before.as_ref().map(|row| row.text(0)).transpose()? != Some(state);
        self.tx.execute(
            "INSERT INTO command (id, repo, number, state, open, body) VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (id) DO UPDATE SET state = excluded.state, open = excluded.open, body = excluded.body",
            params![command.id, self.repo, i64::from(command.number), state, !command.is_over(), json(command)?],
        )?;
        if has_changed { self.log(None, &format!("command_{state}"), command) } else { Ok(()) }
    }

    fn queued_commands(&mut self) -> Result<usize> {
        let sql = "SELECT count(*) FROM command WHERE repo = $1 AND open = 1 AND state = 'queued'";
        usize::try_from(self.tx.int(sql, params![self.repo])?).map_err(StoreError::unreadable)
    }

    fn next_command_number(&mut self) -> Result<u32> {
        self.make_whole()?;
        let sql = "UPDATE formation SET commands = commands + 1 WHERE repo = $1 RETURNING commands";
        u32::try_from(self.tx.int(sql, params![self.repo])?).map_err(StoreError::unreadable)
    }

    fn open_commands(&mut self) -> Result<Vec<CommandId>> {
        let rows =
            self.tx.query("SELECT id FROM command WHERE repo = $1 AND open = 1 ORDER BY id", params![self.repo])?;
        rows.iter().map(|row| row.parsed(0)).collect()
    }

    fn phase(&mut self, id: PhaseId) -> Result<Option<Phase>> {
        self.one("SELECT body FROM phase WHERE id = $1", params![id])
    }

    fn put_phase(&mut self, phase: &Phase) -> Result<()> {
        let before: Option<Phase> = self.phase(phase.id)?;
        self.tx.execute(
            "INSERT INTO phase (id, command, ordinal, body) VALUES ($1, $2, $3, $4)
             ON CONFLICT (id) DO UPDATE SET body = excluded.body",
            params![phase.id, phase.command, i64::from(phase.ordinal), json(phase)?],
        )?;
        if before.is_some_and(|before| before.state == phase.state) {
            return Ok(());
        }
        self.log(None, &format!("phase_{}", phase.state.name()), phase)
    }

    fn phases(&mut self, command: CommandId) -> Result<Vec<Phase>> {
        self.many("SELECT body FROM phase WHERE command = $1 ORDER BY ordinal", params![command])
    }

    fn task(&mut self, id: TaskId) -> Result<Option<Task>> {
        self.one("SELECT body FROM plan_task WHERE id = $1", params![id])
    }

    fn put_task(&mut self, task: &Task) -> Result<()> {
        let state = task.state.name();
        let before = self.tx.first("SELECT state FROM plan_task WHERE id = $1", params![task.id])?;
        self.tx.execute(
            "INSERT INTO plan_task (id, command, ordinal, state, body) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (id) DO UPDATE SET state = excluded.state, body = excluded.body",
            params![task.id, task.command, i64::from(task.ordinal), state, json(task)?],
        )?;
        for on in &task.blocked_by {
            self.tx.execute(
                "INSERT INTO dependence (on_task, task) VALUES ($1, $2) ON CONFLICT (on_task, task) DO NOTHING",
                params![on, task.id],
            )?;
        }
        // A plan is one event, not as many as it has tasks.
        match before {
            Some(row) if row.text(0)? != state => self.log(Some(task.id), &format!("plan_task_{state}"), task),
            _ => Ok(()),
        }
    }

    fn brief(&mut self, task: TaskId) -> Result<Brief> {
        let found = self.one("SELECT body FROM brief WHERE task = $1", params![task])?;
        found.ok_or(StoreError::Formation(dandori_formation::Refused::UnknownTask { task }))
    }

    fn put_brief(&mut self, task: TaskId, brief: &Brief) -> Result<()> {
        self.tx.execute("INSERT INTO brief (task, body) VALUES ($1, $2)", params![task, json(brief)?])?;
        Ok(())
    }

    fn tasks(&mut self, command: CommandId) -> Result<Vec<Task>> {
        self.many("SELECT body FROM plan_task WHERE command = $1 ORDER BY ordinal, id", params![command])
    }

    fn dependents(&mut self, task: TaskId) -> Result<Vec<TaskId>> {
        let sql = "SELECT plan_task.body FROM dependence JOIN plan_task ON plan_task.id = dependence.task
             WHERE dependence.on_task = $1 ORDER BY plan_task.ordinal, plan_task.id";
        let found: Vec<Task> = self.many(sql, params![task])?;
        // One that was pointed at another task since is no longer among them.
        Ok(found.into_iter().filter(|other| other.blocked_by.contains(&task)).map(|other| other.id).collect())
    }

    fn paused_tasks(&mut self, command: CommandId) -> Result<Vec<TaskId>> {
        let sql = "SELECT id FROM plan_task WHERE command = $1 AND state = 'paused_for_replan' ORDER BY id";
        self.tx.query(sql, params![command])?.iter().map(|row| row.parsed(0)).collect()
    }

    fn message(&mut self, id: MessageId) -> Result<Option<Message>> {
        self.one("SELECT body FROM message WHERE id = $1", params![id])
    }

    fn put_message(&mut self, message: &Message) -> Result<()> {
        let command = message.kind.command().filter(|command| message.kind.belongs_to(*command));
        let not_before = match &message.delivery {
            Delivery::Pending { not_before: Some(at) } => millis(*at),
            _ => 0,
        };
        let until = message.lease().map(|lease| millis(lease.until));
        self.tx.execute(
            "INSERT INTO message
                 (id, repo, agent, command, task, message_key, priority, created_ms, state, open, not_before_ms, until_ms,
                  claims, body)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
             ON CONFLICT (id) DO UPDATE SET state = excluded.state, open = excluded.open,
                 not_before_ms = excluded.not_before_ms, until_ms = excluded.until_ms, claims = excluded.claims,
                 body = excluded.body",
            params![
                message.id,
                self.repo,
                message.to,
                command,
                message.kind.task(),
                message.key.as_str(),
                i64::from(message.priority),
                millis(message.created_at),
                message.delivery.name(),
                !message.delivery.is_over(),
                not_before,
                until,
                i64::from(message.attempt()),
                json(message)?
            ],
        )?;
        match &message.delivery {
            Delivery::DeadLetter { .. } => self.log(message.kind.task(), "dead_letter", message),
            _ => Ok(()),
        }
    }

    fn message_by_key(&mut self, key: &str) -> Result<Option<Message>> {
        self.one("SELECT body FROM message WHERE repo = $1 AND message_key = $2", params![self.repo, key])
    }

    fn in_flight(&mut self, agent: AgentId) -> Result<Option<Message>> {
        let sql = "SELECT body FROM message WHERE repo = $1 AND agent = $2 AND state = 'in_progress' LIMIT 1";
        self.one(sql, params![self.repo, agent])
    }

    fn heads(&mut self, agent: AgentId, now: Timestamp) -> Result<Vec<Message>> {
        let mut heads = Vec::new();
        let mut above = -1;
        // From one priority to the next by the index, however many messages each has.
        let next = format!("SELECT priority FROM message WHERE {PENDING} AND priority > $3 ORDER BY priority LIMIT 1");
        let first = format!(
            "SELECT body FROM message WHERE {PENDING} AND priority = $3 AND not_before_ms <= $4
             ORDER BY created_ms, id LIMIT 1"
        );
        while let Some(row) = self.tx.first(&next, params![self.repo, agent, above])? {
            above = row.int(0)?;
            heads.extend(self.one::<Message>(&first, params![self.repo, agent, above, millis(now)])?);
        }
        Ok(heads)
    }

    fn open_message_of(&mut self, task: TaskId) -> Result<Option<Message>> {
        self.one("SELECT body FROM message WHERE task = $1 AND open = 1 LIMIT 1", params![task])
    }

    fn open_messages(&mut self, command: CommandId) -> Result<Vec<Message>> {
        self.many("SELECT body FROM message WHERE command = $1 AND open = 1 ORDER BY id", params![command])
    }

    fn waiting(&mut self, agent: AgentId) -> Result<usize> {
        let pending =
            self.tx.int(&format!("SELECT count(*) FROM message WHERE {PENDING}"), params![self.repo, agent])?;
        let held = "SELECT count(*) FROM message WHERE repo = $1 AND agent = $2 AND state = 'held'";
        let held = self.tx.int(held, params![self.repo, agent])?;
        usize::try_from(pending + held).map_err(StoreError::unreadable)
    }

    fn expired(&mut self, now: Timestamp) -> Result<Vec<Message>> {
        let sql = "SELECT body FROM message WHERE repo = $1 AND state = 'in_progress' AND until_ms <= $2 ORDER BY id";
        self.many(sql, params![self.repo, millis(now)])
    }

    fn result(&mut self, id: ResultId) -> Result<Option<ResultRow>> {
        self.one("SELECT body FROM result WHERE id = $1", params![id])
    }

    fn put_result(&mut self, result: &ResultRow) -> Result<()> {
        let task = match result.of {
            Of::Task(task) => Some(task),
            Of::Command => None,
        };
        let is_untold = result.told == Told::NotYet && result.applied && task.is_some();
        self.tx.execute(
            "INSERT INTO result (id, command, task, applied, untold, outcome, body) VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (id) DO UPDATE SET applied = excluded.applied, untold = excluded.untold, body = excluded.body",
            params![result.id, result.command, task, result.applied, is_untold, result.outcome.name(), json(result)?],
        )?;
        Ok(())
    }

    fn untold(&mut self, command: CommandId) -> Result<Vec<ResultRow>> {
        self.many("SELECT body FROM result WHERE command = $1 AND untold = 1 ORDER BY id", params![command])
    }

    fn untold_glance(&mut self, command: CommandId) -> Result<Untold> {
        let end = |order: &str| {
            format!("SELECT body FROM result WHERE command = $1 AND untold = 1 ORDER BY id {order} LIMIT 1")
        };
        let oldest: Option<ResultRow> = self.one(&end("ASC"), params![command])?;
        let newest: Option<ResultRow> = self.one(&end("DESC"), params![command])?;
        let failed = "SELECT body FROM result WHERE command = $1 AND untold = 1 AND outcome = 'failed' LIMIT 1";
        let failed: Option<ResultRow> = self.one(failed, params![command])?;
        debug_assert!(failed.as_ref().is_none_or(|result| result.outcome == Outcome::Failed));
        Ok(Untold {
            oldest: oldest.map(|result| result.at),
            newest: newest.map(|result| result.id),
            has_failed: failed.is_some(),
        })
    }

    fn put_late(&mut self, late: &LateReport) -> Result<()> {
        self.tx.execute(
            "INSERT INTO late_report (task, command, body) VALUES ($1, $2, $3)",
            params![late.task, late.command, json(late)?],
        )?;
        self.log(Some(late.task), "late_report", late)
    }

    fn late(&mut self, task: TaskId) -> Result<Vec<LateReport>> {
        self.many("SELECT body FROM late_report WHERE task = $1 ORDER BY seq", params![task])
    }

    fn continuous(&mut self) -> Result<Continuous> {
        // Two commands may end at the same moment, and both are counted.
        let lock = if self.is_to_change { self.tx.dialect().lock("formation") } else { String::new() };
        let sql = format!("SELECT continuous FROM formation WHERE repo = $1{lock}");
        Ok(self.one(&sql, params![self.repo])?.unwrap_or_default())
    }

    fn put_continuous(&mut self, continuous: &Continuous) -> Result<()> {
        self.make_whole()?;
        let sql = "UPDATE formation SET continuous = $2 WHERE repo = $1";
        self.tx.execute(sql, params![self.repo, json(continuous)?])?;
        Ok(())
    }
}
