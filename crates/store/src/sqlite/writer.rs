//! The writer: takes what has come up meanwhile, runs it in one transaction, commits once, answers then.
//!
//! Each job has a savepoint of its own: one that fails is undone alone. When SQLite undoes the whole transaction by
//! itself (a full disk in the middle does that), the job that met it is answered with the error and the others
//! run again without it; nobody is told of a change that is gone.

use std::sync::mpsc::{Receiver, TryRecvError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::connection::{SqliteTx, failed};
use crate::error::{Result, StoreError};
use crate::event;
use crate::job::Job;
use crate::store::Shared;

/// More would only make the first of them wait longer.
const LARGEST_BATCH: usize = 64;
/// However slow the disk is.
const LONGEST_WAIT: Duration = Duration::from_millis(5);

pub(super) fn run(connection: &Connection, jobs: &Receiver<Box<dyn Job>>, shared: &Shared) {
    let mut expected = 1;
    let mut patience = Duration::ZERO;
    while let Ok(first) = jobs.recv() {
        let mut batch = gather(first, jobs, expected, Instant::now() + patience);
        // One that came too late for a batch is back for the next: a small one is not yet the end of a rush.
        expected = batch.len().max(expected / 2);
        let begun = Instant::now();
        // Every round answers at least one job.
        while !batch.is_empty() {
            batch = commit_together(connection, batch, shared);
        }
        // Short beside the commit it saves.
        patience = (begun.elapsed() / 2).min(LONGEST_WAIT);
    }
}

/// A job with a commit to itself.
pub(super) fn run_one(connection: &Connection, job: Box<dyn Job>, shared: &Shared) {
    let mut batch = vec![job];
    while !batch.is_empty() {
        batch = commit_together(connection, batch, shared);
    }
}

/// What has come up, and what is about to. Those who were answered together ask again one after the other; without
/// the moment's wait the first of them would get a commit to itself and the others wait for the next. Who writes
/// alone is not kept waiting.
fn gather(first: Box<dyn Job>, jobs: &Receiver<Box<dyn Job>>, expected: usize, until: Instant) -> Vec<Box<dyn Job>> {
    let mut batch = vec![first];
    while batch.len() < LARGEST_BATCH {
        let next = match jobs.try_recv() {
            Err(TryRecvError::Empty) if batch.len() < expected => {
                jobs.recv_timeout(until.saturating_duration_since(Instant::now())).ok()
            }
            other => other.ok(),
        };
        match next {
            Some(job) => batch.push(job),
            None => break,
        }
    }
    batch
}

/// Answers the jobs it is done with and gives back those that have to run again.
fn commit_together(connection: &Connection, batch: Vec<Box<dyn Job>>, shared: &Shared) -> Vec<Box<dyn Job>> {
    if let Err(error) = connection.execute_batch("BEGIN IMMEDIATE").map_err(failed) {
        answer_all(batch, &error);
        return Vec::new();
    }
    let mut done: Vec<(Box<dyn Job>, Result<()>)> = Vec::with_capacity(batch.len());
    let mut batch = batch.into_iter();
    while let Some(mut job) = batch.next() {
        match in_savepoint(connection, job.as_mut()) {
            Ok(outcome) => done.push((job, outcome)),
            Err(error) => {
                // The transaction is gone, and with it what the jobs before this one did.
                roll_back(connection);
                job.answer(Err(error));
                return done.into_iter().map(|(job, _)| job).chain(batch).collect();
            }
        }
    }
    match connection.execute_batch("COMMIT").map_err(failed) {
        Ok(()) => {
            shared.counters.committed(done.len());
            if let Ok(newest) = event::newest(&mut SqliteTx(connection)) {
                shared.newest.send_if_modified(|seq| std::mem::replace(seq, newest) != newest);
            }
            for (job, outcome) in done {
                job.answer(outcome);
            }
        }
        Err(error) => {
            roll_back(connection);
            let error = match error {
                // No room for the last page of the journal: without it the transaction does not count.
                StoreError::Full => StoreError::Full,
                other => StoreError::Unknown { reason: other.to_string() },
            };
            // A refusal stays true whether the rest of the batch was kept or not.
            for (job, outcome) in done {
                job.answer(outcome.and(Err(error.clone())));
            }
        }
    }
    Vec::new()
}

/// The job's own outcome, or the error that ended the transaction around it.
fn in_savepoint(connection: &Connection, job: &mut dyn Job) -> Result<Result<()>> {
    connection.execute_batch("SAVEPOINT job").map_err(failed)?;
    let outcome = job.run(&mut SqliteTx(connection));
    if connection.is_autocommit() {
        return Err(outcome.err().unwrap_or(StoreError::unavailable("SQLite ended the transaction")));
    }
    match &outcome {
        Ok(()) => connection.execute_batch("RELEASE job").map_err(failed)?,
        Err(_) => connection.execute_batch("ROLLBACK TO job; RELEASE job").map_err(failed)?,
    }
    Ok(outcome)
}

fn roll_back(connection: &Connection) {
    if !connection.is_autocommit()
        && let Err(error) = connection.execute_batch("ROLLBACK")
    {
        tracing::error!(%error, "a transaction could not be rolled back");
    }
}

fn answer_all(batch: Vec<Box<dyn Job>>, error: &StoreError) {
    for job in batch {
        job.answer(Err(error.clone()));
    }
}

/// A reader: one job at a time, each looking at one moment of the database.
pub(super) fn run_reader(connection: &Connection, jobs: &Mutex<Receiver<Box<dyn Job>>>) {
    loop {
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = next else { return };
        read_one(connection, job);
    }
}

pub(super) fn read_one(connection: &Connection, mut job: Box<dyn Job>) {
    let outcome = connection.execute_batch("BEGIN").map_err(failed).and_then(|()| job.run(&mut SqliteTx(connection)));
    roll_back(connection);
    job.answer(outcome);
}
