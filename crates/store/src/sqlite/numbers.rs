//! The highest task number ever given, beside the database: a backup that takes the database's place knows fewer, and no
//! number may name two things.
//!
//! Written whole and not synced: it has to outlive the database's damage, not a power cut at the same moment. Where it is
//! missing after a rescue, a gap is left that nobody can have filled.

use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use super::connection::failed;
use crate::error::{Result, StoreError};

/// More tasks than are created between two backups.
const GAP: i64 = 1_000;
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Mark {
    version: u32,
    task: i64,
}

#[derive(Debug)]
pub(super) struct Numbers {
    path: Utf8PathBuf,
    highest: Mutex<i64>,
}

impl Numbers {
    /// Brings the database's counter up to what was given out. `was_rescued`: it may be an older one.
    pub(super) fn go_on(database: &Utf8Path, connection: &Connection, was_rescued: bool) -> Result<Self> {
        let path = Utf8PathBuf::from(format!("{database}-numbers"));
        let mark = std::fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Mark>(&bytes).ok());
        let counted: i64 = connection
            .query_row("SELECT value FROM counter WHERE name = 'task'", [], |row| row.get(0))
            .map_err(failed)?;
        let noted = mark.as_ref().map_or(i64::MIN, |mark| mark.task);
        let given = match mark {
            Some(mark) => mark.task.max(counted),
            None if was_rescued => counted + GAP,
            None => counted,
        };
        if given > counted {
            tracing::warn!(from = counted, to = given, "task numbers go on where they were");
            let sql = "UPDATE counter SET value = ?1 WHERE name = 'task'";
            connection.execute(sql, [given]).map_err(failed)?;
        }
        let numbers = Self { path, highest: Mutex::new(noted) };
        // A full disk is no reason not to open.
        if let Err(error) = numbers.raise(given) {
            tracing::warn!(%error, "the highest task number is not noted");
        }
        Ok(numbers)
    }

    /// A number was given.
    pub(super) fn raise(&self, number: i64) -> Result<()> {
        let mut highest = self.highest.lock().unwrap_or_else(PoisonError::into_inner);
        if number <= *highest {
            return Ok(());
        }
        let bytes = serde_json::to_vec(&Mark { version: VERSION, task: number }).map_err(StoreError::other)?;
        let sibling = Utf8PathBuf::from(format!("{}.new", self.path));
        File::create(&sibling)
            .and_then(|mut file| file.write_all(&bytes))
            .and_then(|()| std::fs::rename(&sibling, &self.path))
            .map_err(|e| StoreError::io(&self.path, e))?;
        *highest = number;
        Ok(())
    }
}
