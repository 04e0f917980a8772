//! Sixteen who ask for admission at once, again and again; also as a process of its own, to be looked at by strace.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use dandori_domain::{HostId, RunId};
use dandori_host::now;
use dandori_store::{Life, Location, Store};
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use crate::seed::{give_up, joined};
use crate::trouble::Trouble;

pub(crate) const CONCURRENT: usize = 16;
/// Ten for each of those who ask.
pub(crate) const ADMISSIONS_OF_ROUND: usize = 160;
/// More than are ever live here: nobody is turned away.
const LIMIT: u32 = 10_000;

#[derive(clap::Args)]
pub(crate) struct AdmissionLoadArgs {
    database: Utf8PathBuf,
    host: HostId,
    rounds: usize,
}

/// What the process says when it is done.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Told {
    pub(crate) admitted: usize,
    pub(crate) commits: u64,
    /// When admissions were under way, in seconds since 1970: what else the process did is not counted.
    pub(crate) windows: Vec<(f64, f64)>,
}

pub(crate) fn main(args: &AdmissionLoadArgs) -> Result<(), Trouble> {
    let told = runtime()?.block_on(load(args))?;
    writeln!(std::io::stdout(), "{}", serde_json::to_string(&told)?)?;
    Ok(())
}

pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Trouble> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}

async fn load(args: &AdmissionLoadArgs) -> Result<Told, Trouble> {
    let (store, _) = Store::open(Location::Sqlite(args.database.clone()), now()).await?;
    let life = Life { host: args.host, epoch: store.begin_life(args.host, now()).await? };
    let mut told = Told { admitted: 0, commits: 0, windows: Vec::new() };
    for _ in 0..args.rounds {
        let (began, commits) = (epoch_seconds(), store.stats().commits);
        let (_, runs) = round(&store, life).await?;
        told.commits += store.stats().commits - commits;
        told.windows.push((began, epoch_seconds()));
        told.admitted += runs.len();
        give_up(&store, life, runs).await?;
    }
    Ok(told)
}

fn epoch_seconds() -> f64 {
    now().as_duration().as_secs_f64()
}

/// One round: how long it took, and who was admitted.
pub(crate) async fn round(store: &Store, life: Life) -> Result<(Duration, Vec<RunId>), Trouble> {
    let left = Arc::new(AtomicUsize::new(ADMISSIONS_OF_ROUND));
    let started = Instant::now();
    let mut asking = JoinSet::new();
    for _ in 0..CONCURRENT {
        let (store, left) = (store.clone(), Arc::clone(&left));
        asking.spawn(async move {
            let mut admitted = Vec::new();
            while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok() {
                admitted.extend(store.admit(life, LIMIT, now()).await?.map(|run| run.subject.spec.id));
            }
            Ok(admitted)
        });
    }
    let mut admitted = Vec::new();
    while let Some(more) = joined(asking.join_next().await)? {
        admitted.extend(more);
    }
    let took = started.elapsed();
    if admitted.len() != ADMISSIONS_OF_ROUND {
        return Err(Trouble::wrong(format!("{} of {ADMISSIONS_OF_ROUND} were admitted", admitted.len())));
    }
    Ok((took, admitted))
}
