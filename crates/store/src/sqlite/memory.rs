//! A store that is nowhere but in memory, and answers on the asker's own thread: for stories told in simulated time, where
//! nothing may happen beside the clock.

use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use rusqlite::Connection;

use super::connection::{SqliteTx, failed};
use super::writer;
use crate::error::Result;
use crate::job::Job;
use crate::migrate::migrate;
use crate::store::Shared;

pub(crate) struct Memory(Mutex<Connection>);

impl Memory {
    pub(crate) fn open(now: Timestamp) -> Result<(Self, i64)> {
        let connection = Connection::open_in_memory().map_err(failed)?;
        connection.execute_batch("PRAGMA foreign_keys = ON; BEGIN").map_err(failed)?;
        let schema = migrate(&mut SqliteTx(&connection), now)?;
        connection.execute_batch("COMMIT").map_err(failed)?;
        Ok((Self(Mutex::new(connection)), schema))
    }

    pub(crate) fn write(&self, job: Box<dyn Job>, shared: &Shared) {
        let connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        writer::run_one(&connection, job, shared);
    }

    pub(crate) fn read(&self, job: Box<dyn Job>) {
        let connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        writer::read_one(&connection, job);
    }
}
