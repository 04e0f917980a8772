//! The schema, step by step: numbered SQL per dialect, each applied once, forward only.
//!
//! A step that was applied with another text than ours, or a schema with steps we do not have, is refused: guessing
//! would write rows that the other program cannot read.

mod runs_before_machines;
mod runs_without_status;

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::error::{Result, StoreError};
use crate::tx::{Dialect, Tx, params};

type Conversion = fn(&mut dyn Tx, Timestamp) -> Result<()>;

struct Step {
    number: i64,
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
    /// What SQL alone cannot do: bodies that take another form.
    then: Option<Conversion>,
}

macro_rules! step {
    ($number:literal, $name:literal) => {
        step!($number, $name, None)
    };
    ($number:literal, $name:literal, $then:expr) => {
        Step {
            number: $number,
            name: $name,
            sqlite: include_str!(concat!("../migrations/sqlite/", $name, ".sql")),
            postgres: include_str!(concat!("../migrations/postgres/", $name, ".sql")),
            then: $then,
        }
    };
}

const STEPS: &[Step] = &[
    step!(1, "0001_runs"),
    step!(2, "0002_guards"),
    step!(3, "0003_machines", Some(runs_before_machines::convert)),
    step!(4, "0004_lists", Some(runs_without_status::fill)),
    step!(5, "0005_needs"),
    step!(6, "0006_formation"),
];

/// The newest schema this program knows.
pub(crate) fn known() -> i64 {
    STEPS.last().map_or(0, |s| s.number)
}

/// Brings the schema up to date; answers its number. One transaction around all of it is the caller's.
pub(crate) fn migrate(tx: &mut dyn Tx, now: Timestamp) -> Result<i64> {
    migrate_to(tx, now, known())
}

/// As [`migrate`], no further than to this step.
pub(crate) fn migrate_to(tx: &mut dyn Tx, now: Timestamp, last: i64) -> Result<i64> {
    if tx.dialect() == Dialect::Postgres {
        // Two daemons that start together: `IF NOT EXISTS` alone is a race there.
        tx.query("SELECT pg_advisory_xact_lock($1)::TEXT", params![0x64_616e_646f_726a_i64])?;
    }
    tx.execute(
        "CREATE TABLE IF NOT EXISTS schema_migration (
             number BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at TEXT NOT NULL)",
        &[],
    )?;
    let applied = tx.query("SELECT number, checksum FROM schema_migration ORDER BY number", &[])?;
    if let Some(found) = applied.last().map(|r| r.int(0)).transpose()?.filter(|n| *n > known()) {
        return Err(StoreError::TooNew { found, known: known() });
    }
    for step in STEPS.iter().filter(|step| step.number <= last) {
        let sql = match tx.dialect() {
            Dialect::Sqlite => step.sqlite,
            Dialect::Postgres => step.postgres,
        };
        let checksum = format!("{:x}", Sha256::digest(sql));
        match applied.iter().find(|r| r.int(0) == Ok(step.number)) {
            Some(row) if row.text(1)? == checksum => {}
            Some(_) => return Err(StoreError::MigrationDiffers { number: step.number }),
            None => {
                for statement in statements(sql) {
                    tx.execute(statement, &[])?;
                }
                if let Some(then) = step.then {
                    then(tx, now)?;
                }
                tx.execute(
                    "INSERT INTO schema_migration (number, name, checksum, applied_at) VALUES ($1, $2, $3, $4)",
                    params![step.number, step.name, checksum, now],
                )?;
            }
        }
    }
    Ok(last)
}

/// Our own files have no `;` but at the end of a statement.
pub(crate) fn statements(sql: &str) -> impl Iterator<Item = &str> {
    sql.split(";\n").map(str::trim).filter(|s| !s.is_empty())
}
