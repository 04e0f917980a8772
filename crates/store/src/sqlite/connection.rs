//! One connection: how it is opened, how it runs SQL, what its errors mean, and whether the file is well.

use std::time::{Duration, Instant};

use camino::Utf8Path;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql, ffi, params_from_iter};

use crate::error::{Result, StoreError};
use crate::tx::{Dialect, Row, Tx, Value};

/// How long the structure is looked at when the store opens. On a slow disk that is some tens of megabytes.
pub(super) const MOMENT: Option<Duration> = Some(Duration::from_millis(500));
/// How long when somebody only asks how it is, and waits for the answer.
pub(super) const GLANCE: Option<Duration> = Some(Duration::from_millis(50));
/// The time is looked at after so many instructions, or pages where the structure is walked through.
const STEP: i32 = 1_000;
/// Steps that are gone in any case, some tens of megabytes: on a busy machine time passes without any. More would be read at
/// every start, however short the moment.
const LEAST: u32 = 5;

/// Every statement of the verbs stays prepared.
const STATEMENTS: usize = 128;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Connect {
    ToWrite,
    ToRead,
}

/// How much of the file a check came to see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Check {
    Whole,
    Partly,
}

pub(super) fn connect(path: &Utf8Path, how: Connect) -> Result<Connection> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if how == Connect::ToWrite {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(Duration::from_secs(5)).map_err(failed)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    let settings = match how {
        Connect::ToWrite => {
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
             PRAGMA journal_size_limit = 67108864; PRAGMA temp_store = MEMORY;
             PRAGMA cache_size = -8192;"
        }
        Connect::ToRead => "PRAGMA query_only = ON; PRAGMA temp_store = MEMORY;",
    };
    connection.execute_batch(settings).map_err(failed)?;
    Ok(connection)
}

/// What an error of SQLite means to us. Only the two that say so are damage: a file that is locked, or that we may
/// not read, is left alone.
pub(super) fn failed(error: rusqlite::Error) -> StoreError {
    let rusqlite::Error::SqliteFailure(code, _) = &error else { return StoreError::other(error) };
    match (code.code, code.extended_code) {
        // The shared-memory file cannot grow: the same full disk under another name.
        (ErrorCode::DiskFull, _) | (_, ffi::SQLITE_IOERR_SHMSIZE) => StoreError::Full,
        (ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase, _) => StoreError::Damaged { reason: error.to_string() },
        (
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::CannotOpen
            | ErrorCode::PermissionDenied
            | ErrorCode::ReadOnly
            | ErrorCode::SystemIoFailure,
            _,
        ) => StoreError::unavailable(error),
        _ => StoreError::other(error),
    }
}

/// Looks at the structure for at most `limit`; [`StoreError::Damaged`] when it is not well.
pub(super) fn quick_check(connection: &mut Connection, limit: Option<Duration>) -> Result<Check> {
    if let Some(limit) = limit {
        let until = Instant::now() + limit;
        let mut steps = 0;
        let is_over = move || {
            steps += 1;
            steps > LEAST && Instant::now() >= until
        };
        connection.progress_handler(STEP, Some(is_over)).map_err(failed)?;
    }
    let answer = findings_of(connection, "PRAGMA quick_check(3)");
    connection.progress_handler(0, None::<fn() -> bool>).map_err(failed)?;
    match answer {
        Ok(findings) if findings.is_empty() => Ok(Check::Whole),
        Ok(findings) => Err(StoreError::Damaged { reason: findings.join("; ") }),
        Err(rusqlite::Error::SqliteFailure(code, _)) if code.code == ErrorCode::OperationInterrupted => {
            Ok(Check::Partly)
        }
        Err(error) => Err(failed(error)),
    }
}

/// The whole file, indexes against their tables included. Damage is the answer here, not an error.
pub(super) fn integrity_check(connection: &Connection) -> Result<Vec<String>> {
    match findings_of(connection, "PRAGMA integrity_check(20)").map_err(failed) {
        Err(StoreError::Damaged { reason }) => Ok(vec![reason]),
        other => other,
    }
}

fn findings_of(connection: &Connection, pragma: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(pragma)?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
    lines.filter(|line| line.as_ref().map_or(true, |l| l != "ok")).collect()
}

pub(super) fn schema(connection: &Connection) -> Result<i64> {
    connection.query_row("SELECT coalesce(max(number), 0) FROM schema_migration", [], |row| row.get(0)).map_err(failed)
}

/// The file and its journal.
pub(super) fn bytes(path: &Utf8Path) -> u64 {
    ["", "-wal", "-shm"].iter().filter_map(|end| std::fs::metadata(format!("{path}{end}")).ok()).map(|m| m.len()).sum()
}

/// A transaction that somebody else begins and ends.
pub(super) struct SqliteTx<'a>(pub(super) &'a Connection);

impl Tx for SqliteTx<'_> {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn execute(&mut self, sql: &str, params: &[Value]) -> Result<u64> {
        let mut statement = self.0.prepare_cached(&placeholders(sql)).map_err(failed)?;
        let changed = statement.execute(params_from_iter(params)).map_err(failed)?;
        Ok(changed as u64)
    }

    fn query(&mut self, sql: &str, params: &[Value]) -> Result<Vec<Row>> {
        let mut statement = self.0.prepare_cached(&placeholders(sql)).map_err(failed)?;
        let columns = statement.column_count();
        let mut rows = statement.query(params_from_iter(params)).map_err(failed)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let values: Result<Vec<Value>> =
                (0..columns).map(|i| row.get_ref(i).map_err(failed).and_then(value_of)).collect();
            found.push(Row(values?));
        }
        Ok(found)
    }
}

/// `$1` is a name to SQLite and counted by appearance; `?1` is the first value.
fn placeholders(sql: &str) -> String {
    sql.replace('$', "?")
}

fn value_of(value: ValueRef<'_>) -> Result<Value> {
    match value {
        ValueRef::Null => Ok(Value::Null),
        ValueRef::Integer(number) => Ok(Value::Int(number)),
        ValueRef::Text(text) => String::from_utf8(text.to_vec()).map(Value::Text).map_err(StoreError::unreadable),
        ValueRef::Real(_) | ValueRef::Blob(_) => Err(StoreError::unreadable("a value that is neither number nor text")),
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_over_before_a_large_file_is_read_and_a_small_one_is_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        for (pages, expected) in [(1_000, Check::Whole), (20_000, Check::Partly)] {
            let path = folder.path().join(format!("{pages}.db"));
            let mut connection = Connection::open(path).unwrap();
            let fill = format!(
                "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE page (content BLOB);
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {pages})
                 INSERT INTO page SELECT zeroblob(3900) FROM n;"
            );
            connection.execute_batch(&fill).unwrap();
            assert_eq!(quick_check(&mut connection, Some(Duration::ZERO)).unwrap(), expected, "{pages}");
            assert_eq!(quick_check(&mut connection, None).unwrap(), Check::Whole);
        }
    }
}
