//! One transaction, whichever database it is in: the little that the verbs need of SQL.
//!
//! SQL is written with `$1` placeholders and the types both sides share: 64-bit integers and text. What the
//! dialects do differently is on [`Dialect`] and nowhere else.

use std::str::FromStr;

use dandori_domain::id::{
    CommandId, HostId, MessageId, Oid, PhaseId, PullId, RepoId, ResultId, RunId, SessionId, TaskId, WorktreeKey,
};
use dandori_formation::AgentId;
use jiff::Timestamp;
use serde::de::DeserializeOwned;

use crate::error::{Result, StoreError};

pub(crate) trait Tx {
    fn dialect(&self) -> Dialect;
    fn execute(&mut self, sql: &str, params: &[Value]) -> Result<u64>;
    fn query(&mut self, sql: &str, params: &[Value]) -> Result<Vec<Row>>;
}

impl dyn Tx + '_ {
    pub(crate) fn first(&mut self, sql: &str, params: &[Value]) -> Result<Option<Row>> {
        Ok(self.query(sql, params)?.into_iter().next())
    }

    pub(crate) fn int(&mut self, sql: &str, params: &[Value]) -> Result<i64> {
        self.first(sql, params)?.ok_or_else(|| StoreError::unreadable("no row where one must be"))?.int(0)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// Nobody else changes the selected rows of `table` until the commit. SQLite has one writer anyway.
    pub(crate) fn lock(self, table: &str) -> String {
        match self {
            Self::Sqlite => String::new(),
            Self::Postgres => format!(" FOR UPDATE OF {table}"),
        }
    }

    /// As [`Self::lock`], but rows somebody else is changing are passed over.
    pub(crate) fn lock_free(self, table: &str) -> String {
        match self {
            Self::Sqlite => String::new(),
            Self::Postgres => format!(" FOR UPDATE OF {table} SKIP LOCKED"),
        }
    }

    /// The selected rows stay as they are until the commit, though others may read and hold them too.
    pub(crate) fn hold(self, table: &str) -> String {
        match self {
            Self::Sqlite => String::new(),
            Self::Postgres => format!(" FOR SHARE OF {table}"),
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Text(String),
}

/// Values for the placeholders, in order.
macro_rules! params {
    ($($value:expr),* $(,)?) => { &[$($crate::tx::Value::from($value)),*] };
}
pub(crate) use params;

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Int(i64::from(value))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

macro_rules! shown_as_text {
    ($($name:ty),+) => { $(
        impl From<$name> for Value {
            fn from(value: $name) -> Self {
                Self::Text(value.to_string())
            }
        }
        impl From<&$name> for Value {
            fn from(value: &$name) -> Self {
                Self::Text(value.to_string())
            }
        }
    )+ };
}
shown_as_text!(
    HostId,
    PullId,
    RepoId,
    RunId,
    TaskId,
    Oid,
    SessionId,
    WorktreeKey,
    Timestamp,
    camino::Utf8PathBuf,
    CommandId,
    PhaseId,
    MessageId,
    ResultId,
    AgentId
);

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Row(pub(crate) Vec<Value>);

impl Row {
    pub(crate) fn int(&self, column: usize) -> Result<i64> {
        match self.0.get(column) {
            Some(Value::Int(value)) => Ok(*value),
            other => Err(StoreError::unreadable(format!("column {column} is {other:?}, not a number"))),
        }
    }

    pub(crate) fn text(&self, column: usize) -> Result<&str> {
        match self.0.get(column) {
            Some(Value::Text(value)) => Ok(value),
            other => Err(StoreError::unreadable(format!("column {column} is {other:?}, not text"))),
        }
    }

    pub(crate) fn has(&self, column: usize) -> bool {
        !matches!(self.0.get(column), None | Some(Value::Null))
    }

    pub(crate) fn parsed<T: FromStr>(&self, column: usize) -> Result<T> {
        let text = self.text(column)?;
        text.parse().map_err(|_| StoreError::unreadable(format!("column {column} is {text:?}")))
    }

    pub(crate) fn parsed_if_there<T: FromStr>(&self, column: usize) -> Result<Option<T>> {
        if self.has(column) { self.parsed(column).map(Some) } else { Ok(None) }
    }

    pub(crate) fn json<T: DeserializeOwned>(&self, column: usize) -> Result<T> {
        serde_json::from_str(self.text(column)?).map_err(StoreError::unreadable)
    }
}

/// JSON for a column. Our own types always have one; the error is for the type system.
pub(crate) fn json<T: serde::Serialize + ?Sized>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(StoreError::other)
}
