//! The formation's rows, and the one way to change them: a step of its protocol, in a transaction.
//!
//! The rules are `dandori_formation::protocol`; this is the ledger they are applied to. On PostgreSQL steps of one command wait for
//! each other, and claims of one agent; an agent's lock is always taken before a command's, so nobody waits in a circle. Times
//! are the database's there: hosts need not agree about theirs.

mod book;
mod keeping;
mod kept;
mod looks;

use dandori_domain::id::{CommandId, MessageId, RepoId, TaskId};
use dandori_formation::protocol::{Effect, Refused, Step};
use dandori_formation::{AgentId, Rules};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::error::{Result, StoreError};
use crate::store::Store;
use crate::tx::{Dialect, Tx, params};
use crate::verb::life::{Hold, Life, check};

pub use book::Book;
pub use kept::{KeptInput, KeptKind};
pub use looks::{FormationCounts, FormationItem};

/// What a step is taken with.
#[derive(Clone, Debug)]
pub struct FormationStep {
    pub repo: RepoId,
    /// The daemon that takes it; `None`: a person or an agent asks.
    pub life: Option<Life>,
    pub rules: Rules,
    /// SQLite goes by this; PostgreSQL has a clock of its own, unless the time is simulated.
    pub now: Timestamp,
    pub is_simulated: bool,
    /// For ids: a step that is run again makes the same ones.
    pub seed: u128,
}

/// What a step changes, and so what it waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// A new order.
    Orders,
    /// An agent's next message.
    Agent(AgentId),
    Command(CommandId),
    Task(TaskId),
    Message(MessageId),
}

/// What came of a step.
#[derive(Clone, PartialEq, Debug)]
pub struct Done<T> {
    pub value: T,
    pub effects: Vec<Effect>,
    /// When it was, by the clock that counts.
    pub at: Timestamp,
}

impl Store {
    /// Takes a step of the protocol: all of it is written, or nothing.
    pub async fn formation_step<T, F>(&self, step: FormationStep, scope: Scope, mut work: F) -> Result<Done<T>>
    where
        T: Send + 'static,
        F: FnMut(&mut Book<'_>, &mut Step<'_>) -> Result<T> + Send + 'static,
    {
        self.write(move |tx| {
            if let Some(life) = step.life {
                check(tx, life, Hold::Shared)?;
            }
            take_locks(tx, step.repo, scope)?;
            let now = now(tx, &step)?;
            let mut taken = Step::new(&step.rules, now, step.seed);
            let value = work(&mut Book::to_change(tx, step.repo, now), &mut taken)?;
            Ok(Done { value, effects: taken.effects, at: now })
        })
        .await
    }

    /// Looks at the rows at one moment.
    pub async fn formation_look<T, F>(&self, repo: RepoId, now: Timestamp, mut work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Book<'_>) -> Result<T> + Send + 'static,
    {
        self.read(move |tx| work(&mut Book::to_read(tx, repo, now))).await
    }
}

fn take_locks(tx: &mut dyn Tx, repo: RepoId, scope: Scope) -> Result<()> {
    if tx.dialect() == Dialect::Sqlite {
        return Ok(());
    }
    match scope {
        Scope::Orders => lock(tx, &format!("{repo} orders")),
        Scope::Agent(agent) => lock(tx, &format!("{repo} {agent}")),
        Scope::Command(command) => lock(tx, &command.to_string()),
        Scope::Task(task) => {
            let row = tx.first("SELECT command FROM plan_task WHERE id = $1", params![task])?;
            let row = row.ok_or(StoreError::Formation(Refused::UnknownTask { task }))?;
            lock(tx, row.text(0)?)
        }
        Scope::Message(message) => {
            let row = tx.first("SELECT command, agent FROM message WHERE id = $1", params![message])?;
            let row = row.ok_or(StoreError::Formation(Refused::UnknownMessage { message }))?;
            if row.has(0) { lock(tx, row.text(0)?) } else { lock(tx, &format!("{repo} {}", row.text(1)?)) }
        }
    }
}

/// Until the transaction ends. SQLite has one writer anyway.
fn lock(tx: &mut dyn Tx, name: &str) -> Result<()> {
    if tx.dialect() == Dialect::Postgres {
        let hash = Sha256::digest(name);
        let key = i64::from_be_bytes(hash.first_chunk::<8>().copied().unwrap_or_default());
        tx.query("SELECT pg_advisory_xact_lock($1)::TEXT", params![key])?;
    }
    Ok(())
}

fn now(tx: &mut dyn Tx, step: &FormationStep) -> Result<Timestamp> {
    if tx.dialect() == Dialect::Sqlite || step.is_simulated {
        return Ok(step.now);
    }
    let sql = "SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')";
    let row = tx.first(sql, &[])?.ok_or_else(|| StoreError::unreadable("the database does not know the time"))?;
    row.parsed(0)
}
