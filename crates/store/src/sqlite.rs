//! SQLite: one writer thread with group commit, two readers apart.
//!
//! One process opens the file (the daemon's lock sees to that) and one thread writes it: several writers on one
//! SQLite file starve each other. Every commit is on the disk before anybody is answered.

mod connection;
mod memory;
mod numbers;
mod rescue;
mod writer;

use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;

use crate::error::{Result, StoreError};
use crate::job::Job;
use crate::store::{Backend, Health, IntegrityReport, Look, OpenReport, Shared, spawn};
use connection::{Check, Connect};
use numbers::Numbers;

pub(crate) use memory::Memory;
pub(crate) use rescue::backup;

const READERS: usize = 2;

pub(crate) struct Sqlite {
    path: Utf8PathBuf,
    numbers: Numbers,
    readers: Crew,
    writer: Crew,
}

/// Threads with the queue they take their jobs from.
struct Crew {
    /// Gone only while it is being closed.
    queue: Option<mpsc::Sender<Box<dyn Job>>>,
    threads: Vec<JoinHandle<()>>,
}

impl Crew {
    fn send(&self, job: Box<dyn Job>, ended: &str) -> Result<()> {
        let sent = self.queue.as_ref().is_some_and(|queue| queue.send(job).is_ok());
        sent.then_some(()).ok_or_else(|| StoreError::unavailable(ended))
    }

    /// What was asked for is still done.
    fn close(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// The file is closed when the last handle is gone: whoever opens it next finds nobody else there. The writer goes last
/// and alone: only the last connection moves the journal into the file, and of two that close at once neither is the last.
impl Drop for Sqlite {
    fn drop(&mut self) {
        self.readers.close();
        self.writer.close();
    }
}

impl Sqlite {
    pub(crate) fn open(path: &Utf8Path, now: Timestamp, shared: &Arc<Shared>) -> Result<(Self, OpenReport)> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|e| StoreError::io(folder, e))?;
        }
        let (opened, rescue) = rescue::open_or_rescue(path, now)?;
        let report = OpenReport {
            backend: Backend::Sqlite,
            schema: opened.schema,
            rescue,
            checked_whole: opened.check == Check::Whole,
        };
        shared.newest.send_replace(opened.newest);
        let numbers = Numbers::go_on(path, &opened.connection, report.rescue.is_some())?;

        let (queue, jobs) = mpsc::channel();
        let for_writer = Arc::clone(shared);
        let threads = vec![spawn("store-writer", move || writer::run(&opened.connection, &jobs, &for_writer))?];
        let writer = Crew { queue: Some(queue), threads };

        let (queue, jobs) = mpsc::channel();
        let jobs = Arc::new(Mutex::new(jobs));
        let mut readers = Crew { queue: Some(queue), threads: Vec::new() };
        for _ in 0..READERS {
            let connection = connection::connect(path, Connect::ToRead)?;
            let jobs = Arc::clone(&jobs);
            readers.threads.push(spawn("store-reader", move || writer::run_reader(&connection, &jobs))?);
        }
        Ok((Self { path: path.to_owned(), numbers, readers, writer }, report))
    }

    /// A task was given this number. Whoever asked for it hears of it only after.
    pub(crate) fn note_number(&self, number: i64) {
        // The task is there all the same; only after a rescue would its number be given again.
        if let Err(error) = self.numbers.raise(number) {
            tracing::warn!(%error, "the highest task number is not noted");
        }
    }

    pub(crate) fn path(&self) -> &Utf8Path {
        &self.path
    }

    pub(crate) fn write(&self, job: Box<dyn Job>) -> Result<()> {
        self.writer.send(job, "its writer has ended")
    }

    pub(crate) fn read(&self, job: Box<dyn Job>) -> Result<()> {
        self.readers.send(job, "its readers have ended")
    }
}

pub(crate) fn health(path: &Utf8Path, look: Look) -> Result<Health> {
    let mut connection = connection::connect(path, Connect::ToRead)?;
    let limit = match look {
        Look::Glance => connection::GLANCE,
        Look::Moment => connection::MOMENT,
    };
    let (damage, check) = match connection::quick_check(&mut connection, limit) {
        Ok(check) => (None, check),
        Err(StoreError::Damaged { reason }) => (Some(reason), Check::Whole),
        Err(other) => return Err(other),
    };
    Ok(Health {
        backend: Backend::Sqlite,
        schema: connection::schema(&connection)?,
        bytes: connection::bytes(path),
        damage,
        checked_whole: check == Check::Whole,
        newest_backup: rescue::backups(path).pop().and_then(|p| p.file_name().map(str::to_owned)),
    })
}

pub(crate) fn check_integrity(path: &Utf8Path) -> Result<IntegrityReport> {
    let connection = connection::connect(path, Connect::ToRead)?;
    let findings = connection::integrity_check(&connection)?;
    if !findings.is_empty() {
        rescue::mark_damaged(path)?;
    }
    Ok(IntegrityReport { findings })
}

/// One transaction on a file that nobody else has open.
#[cfg(test)]
pub(crate) fn with_tx(path: &Utf8Path, work: impl FnOnce(&mut dyn crate::tx::Tx)) {
    let connection = connection::connect(path, Connect::ToWrite).unwrap();
    connection.execute_batch("BEGIN").unwrap();
    work(&mut connection::SqliteTx(&connection));
    connection.execute_batch("COMMIT").unwrap();
}

#[cfg(test)]
mod tests;
