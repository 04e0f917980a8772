//! One connection and the verbs that go over it: what is tried again, what is not, and what is not known.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use postgres::error::SqlState;
use postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, IsolationLevel, Statement, Transaction};

use super::tls::Server;
use crate::error::{Result, StoreError};
use crate::job::Job;
use crate::tx::{Dialect, Row, Tx, Value};

/// How long a verb waits for the server to come back before its caller is told.
const PATIENCE: Duration = Duration::from_secs(10);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// Deadlocks and serialization failures of one verb.
const TRIES: u32 = 20;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Write,
    Read,
}

pub(super) struct Worker {
    server: Server,
    access: Access,
    session: Option<Session>,
}

struct Session {
    client: Client,
    statements: HashMap<String, Statement>,
}

/// How one attempt at a transaction ended.
enum Attempt {
    Answered(Result<()>),
    /// Another transaction was in the way; nothing was written.
    InTheWay(StoreError),
    /// The connection broke before the commit; nothing was written.
    Broken,
}

impl Worker {
    pub(super) fn new(server: Server, access: Access) -> Self {
        Self { server, access, session: None }
    }

    pub(super) fn connect(&mut self) -> Result<()> {
        let client = self.server.connect()?;
        self.session = Some(Session { client, statements: HashMap::new() });
        Ok(())
    }

    pub(super) fn carry_out(&mut self, job: &mut dyn Job) -> Result<()> {
        let until = job.asked_at() + PATIENCE;
        let mut pause = FIRST_PAUSE;
        let mut tries = 0;
        loop {
            if let Some(session) = &mut self.session {
                match session.attempt(job, self.access) {
                    Attempt::Answered(outcome) => {
                        if session.client.is_closed() {
                            self.session = None;
                        }
                        return outcome;
                    }
                    Attempt::InTheWay(error) if tries >= TRIES => return Err(error),
                    Attempt::InTheWay(_) => tries += 1,
                    Attempt::Broken => {
                        self.session = None;
                        // A server that takes the connection and drops the verb every time is no better than none.
                        if Instant::now() > until {
                            return Err(StoreError::unavailable("the connection breaks again and again"));
                        }
                    }
                }
            } else if let Err(error) = self.connect() {
                if Instant::now() + pause > until {
                    return Err(error);
                }
                std::thread::sleep(pause);
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }
}

impl Session {
    fn attempt(&mut self, job: &mut dyn Job, access: Access) -> Attempt {
        let begun = match access {
            Access::Write => self.client.transaction(),
            Access::Read => {
                self.client.build_transaction().read_only(true).isolation_level(IsolationLevel::RepeatableRead).start()
            }
        };
        let transaction = match begun {
            Ok(transaction) => transaction,
            Err(error) => return ended_by(&error),
        };
        let mut tx = PostgresTx { transaction, statements: &mut self.statements, broken: None };
        let outcome = job.run(&mut tx);
        let PostgresTx { transaction, broken, .. } = tx;
        match (outcome, broken) {
            (Ok(()), _) => match transaction.commit() {
                Ok(()) => Attempt::Answered(Ok(())),
                Err(error) if error.as_db_error().is_some() => ended_by(&error),
                Err(_) if access == Access::Read => Attempt::Broken,
                Err(error) => Attempt::Answered(Err(StoreError::Unknown { reason: error.to_string() })),
            },
            // Dropped, the transaction is rolled back.
            (Err(_), Some(attempt)) => attempt,
            (Err(error), None) => Attempt::Answered(Err(error)),
        }
    }
}

/// What an error of the server means for the transaction it came in.
fn ended_by(error: &postgres::Error) -> Attempt {
    let Some(db) = error.as_db_error() else { return Attempt::Broken };
    let code = db.code();
    if *code == SqlState::T_R_SERIALIZATION_FAILURE || *code == SqlState::T_R_DEADLOCK_DETECTED {
        return Attempt::InTheWay(StoreError::unavailable(db));
    }
    // The server shuts down, or cut the connection: it says so before it goes.
    if code.code().starts_with("57P") || code.code().starts_with("08") {
        return Attempt::Broken;
    }
    Attempt::Answered(Err(meaning(error)))
}

fn meaning(error: &postgres::Error) -> StoreError {
    let Some(db) = error.as_db_error() else { return StoreError::unavailable(error) };
    match db.code().code() {
        "53100" => StoreError::Full,
        "XX001" | "XX002" => StoreError::Damaged { reason: db.to_string() },
        code if code.starts_with("53") || code.starts_with("25006") => StoreError::unavailable(db),
        _ => StoreError::other(db),
    }
}

struct PostgresTx<'a> {
    transaction: Transaction<'a>,
    statements: &'a mut HashMap<String, Statement>,
    /// An error after which the verb is run again, whatever it made of it.
    broken: Option<Attempt>,
}

impl PostgresTx<'_> {
    fn statement(&mut self, sql: &str) -> Result<Statement> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.transaction.prepare(sql).map_err(|e| self.failed(&e))?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    fn failed(&mut self, error: &postgres::Error) -> StoreError {
        match ended_by(error) {
            Attempt::Answered(_) => {}
            attempt => self.broken = Some(attempt),
        }
        meaning(error)
    }
}

fn bound(params: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    params.iter().map(|v| v as &(dyn ToSql + Sync)).collect()
}

impl Tx for PostgresTx<'_> {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn execute(&mut self, sql: &str, params: &[Value]) -> Result<u64> {
        let statement = self.statement(sql)?;
        self.transaction.execute(&statement, &bound(params)).map_err(|e| self.failed(&e))
    }

    fn query(&mut self, sql: &str, params: &[Value]) -> Result<Vec<Row>> {
        let statement = self.statement(sql)?;
        let rows = self.transaction.query(&statement, &bound(params)).map_err(|e| self.failed(&e))?;
        rows.iter()
            .map(|row| {
                let values: std::result::Result<_, _> = (0..row.len()).map(|i| row.try_get::<_, Value>(i)).collect();
                values.map(Row).map_err(StoreError::unreadable)
            })
            .collect()
    }
}

impl ToSql for Value {
    fn to_sql(
        &self,
        of: &Type,
        out: &mut postgres::types::private::BytesMut,
    ) -> std::result::Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(number) => number.to_sql(of, out),
            Self::Text(text) => text.to_sql(of, out),
        }
    }

    fn accepts(of: &Type) -> bool {
        [Type::INT8, Type::TEXT].contains(of)
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(of: &Type, raw: &'a [u8]) -> std::result::Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        match *of {
            Type::INT8 => i64::from_sql(of, raw).map(Self::Int),
            Type::TEXT => String::from_sql(of, raw).map(Self::Text),
            _ => Err(format!("a column of type {of}").into()),
        }
    }

    fn from_sql_null(_: &Type) -> std::result::Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(of: &Type) -> bool {
        [Type::INT8, Type::TEXT].contains(of)
    }
}
