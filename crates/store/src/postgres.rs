//! PostgreSQL: the same verbs on a few connections, each on a thread of its own.
//!
//! Rows that are changed are locked, so that several daemons can share the store. A lost connection is made again
//! for ever; a verb that was not committed when it broke is run again, one whose commit got no answer is an error
//! that says so. The event log is numbered after the commits by one thread per daemon (see [`crate::event`]).

mod session;
mod tls;

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use crate::error::{Result, StoreError};
use crate::event;
use crate::job::{Job, job};
use crate::migrate::migrate;
use crate::store::{Backend, Health, Shared, spawn};
use crate::tx::Tx;
use session::{Access, Worker};

const WRITERS: usize = 4;
const READERS: usize = 2;

/// Other hosts' events are found by looking; our own wake the numbering at once.
const LOOK_EVERY: Duration = Duration::from_secs(1);

pub(crate) struct Postgres {
    writers: Sender<Box<dyn Job>>,
    readers: Sender<Box<dyn Job>>,
}

type Jobs = Arc<Mutex<Receiver<Box<dyn Job>>>>;

impl Postgres {
    pub(crate) fn open(address: &str, now: Timestamp, shared: &Arc<Shared>) -> Result<(Self, i64)> {
        let server = tls::Server::parse(address)?;
        let mut first = Worker::new(server.clone(), Access::Write);
        // The first connection is not waited for: a wrong address is told at once.
        first.connect()?;
        let (schema, newest) = now_or_never(&mut first, move |tx| {
            let schema = migrate(tx, now)?;
            event::number_committed(tx)?;
            Ok((schema, event::newest(tx)?))
        })?;
        shared.newest.send_replace(newest);

        let (wake, woken) = sync_channel(1);
        let shared_by_numbering = Arc::clone(shared);
        spawn("store-numbering", move || keep_numbered(first, &woken, &shared_by_numbering))?;

        let (writers, jobs) = channel();
        let jobs: Jobs = Arc::new(Mutex::new(jobs));
        for _ in 0..WRITERS {
            let (jobs, shared, wake) = (Arc::clone(&jobs), Arc::clone(shared), wake.clone());
            let worker = Worker::new(server.clone(), Access::Write);
            spawn("store-writer", move || write_all(worker, &jobs, &shared, &wake))?;
        }
        let (readers, jobs) = channel();
        let jobs: Jobs = Arc::new(Mutex::new(jobs));
        for _ in 0..READERS {
            let jobs = Arc::clone(&jobs);
            let mut worker = Worker::new(server.clone(), Access::Read);
            spawn("store-reader", move || {
                while let Some(mut job) = next(&jobs) {
                    let outcome = worker.carry_out(job.as_mut());
                    job.answer(outcome);
                }
            })?;
        }
        Ok((Self { writers, readers }, schema))
    }

    pub(crate) fn write(&self, job: Box<dyn Job>) -> Result<()> {
        self.writers.send(job).map_err(|_| StoreError::unavailable("its writers have ended"))
    }

    pub(crate) fn read(&self, job: Box<dyn Job>) -> Result<()> {
        self.readers.send(job).map_err(|_| StoreError::unavailable("its readers have ended"))
    }
}

fn next(jobs: &Jobs) -> Option<Box<dyn Job>> {
    jobs.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

fn write_all(mut worker: Worker, jobs: &Jobs, shared: &Shared, wake: &SyncSender<()>) {
    while let Some(mut job) = next(jobs) {
        let outcome = worker.carry_out(job.as_mut());
        if outcome.is_ok() {
            shared.counters.committed(1);
            // Full means that it is awake already.
            let _ = wake.try_send(());
        }
        job.answer(outcome);
    }
}

/// Numbers committed events and tells the newest number, until the last writer is gone.
fn keep_numbered(mut worker: Worker, woken: &Receiver<()>, shared: &Shared) {
    loop {
        match woken.recv_timeout(LOOK_EVERY) {
            Ok(()) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let newest = now_or_never(&mut worker, |tx| {
            event::number_committed(tx)?;
            event::newest(tx)
        });
        match newest {
            Ok(newest) => {
                shared.newest.send_if_modified(|seq| std::mem::replace(seq, newest) != newest);
            }
            Err(error) => tracing::warn!(%error, "events wait for their numbers"),
        }
    }
}

/// Runs a verb on this thread.
fn now_or_never<T, F>(worker: &mut Worker, verb: F) -> Result<T>
where
    T: Send + 'static,
    F: FnMut(&mut dyn Tx) -> Result<T> + Send + 'static,
{
    let (mut job, mut answer) = job(verb);
    let outcome = worker.carry_out(job.as_mut());
    job.answer(outcome);
    answer.try_recv().unwrap_or_else(|_| Err(StoreError::other("a verb gave no answer")))
}

pub(crate) fn health(tx: &mut dyn Tx) -> Result<Health> {
    let bytes = tx.int("SELECT pg_database_size(current_database())", &[])?;
    Ok(Health {
        backend: Backend::Postgres,
        schema: tx.int("SELECT coalesce(max(number), 0) FROM schema_migration", &[])?,
        bytes: u64::try_from(bytes).unwrap_or(0),
        damage: None,
        checked_whole: false,
        newest_backup: None,
    })
}

/// One transaction on a database that nobody else has open.
#[cfg(test)]
pub(crate) fn with_tx(address: &str, work: impl Fn(&mut dyn Tx) + Send + 'static) {
    let mut worker = Worker::new(tls::Server::parse(address).unwrap(), Access::Write);
    worker.connect().unwrap();
    now_or_never(&mut worker, move |tx| {
        work(tx);
        Ok(())
    })
    .unwrap();
}

#[cfg(test)]
mod tests;
