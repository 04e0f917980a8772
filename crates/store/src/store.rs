//! The handle everybody holds: cheap to clone, verbs are `async`, the work is done on the backend's own threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::{oneshot, watch};

use crate::error::{Result, StoreError};
use crate::event;
use crate::job::job;
use crate::postgres::Postgres;
use crate::sqlite::{Memory, Sqlite};
use crate::tx::Tx;

/// Where the store is.
#[derive(Clone, PartialEq, Eq)]
pub enum Location {
    /// A file. `backups/` and `quarantine/` lie beside it.
    Sqlite(Utf8PathBuf),
    /// Nowhere but in memory: gone with its last handle.
    Memory,
    /// `postgres://…`, or any connection string PostgreSQL's clients know.
    Postgres(String),
}

impl std::fmt::Debug for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "Sqlite({path})"),
            Self::Memory => f.write_str("Memory"),
            // The string may hold a password.
            Self::Postgres(_) => f.write_str("Postgres(…)"),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    Sqlite,
    Postgres,
}

/// What opening the store came upon.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenReport {
    pub backend: Backend,
    pub schema: i64,
    /// The database was damaged; it was set aside.
    pub rescue: Option<Rescue>,
    /// The whole structure was looked at. A large database is looked at for a moment only: let
    /// [`Store::check_integrity`] follow in the background.
    pub checked_whole: bool,
}

/// A damaged database and what was done about it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Rescue {
    pub damage: String,
    /// Where the damaged files are now.
    pub quarantine: Utf8PathBuf,
    /// The backup that took its place; with none the store starts empty.
    pub restored: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Health {
    pub backend: Backend,
    pub schema: i64,
    /// What the database takes up, its journal included.
    pub bytes: u64,
    /// `None` when it is well; else what a short look at it found.
    pub damage: Option<String>,
    /// The short look came to its end.
    pub checked_whole: bool,
    /// The newest backup's file name. PostgreSQL's are not ours to make.
    pub newest_backup: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct IntegrityReport {
    /// Empty when all is well.
    pub findings: Vec<String>,
}

/// Counted since the store was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Stats {
    /// Writing verbs carried out.
    pub jobs: u64,
    /// Commits they took: each waits for the disk once.
    pub commits: u64,
}

#[derive(Default)]
pub(crate) struct Counters {
    jobs: AtomicU64,
    commits: AtomicU64,
}

impl Counters {
    pub(crate) fn committed(&self, jobs: usize) {
        self.jobs.fetch_add(jobs as u64, Ordering::Relaxed);
        self.commits.fetch_add(1, Ordering::Relaxed);
    }
}

/// How long a database is looked at by those who wait for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Look {
    Glance,
    Moment,
}

/// What the threads and the handle share.
pub(crate) struct Shared {
    pub(crate) counters: Counters,
    pub(crate) newest: watch::Sender<i64>,
}

#[derive(Clone)]
pub struct Store {
    database: Arc<Database>,
    shared: Arc<Shared>,
}

enum Database {
    Sqlite(Sqlite),
    Memory(Memory),
    Postgres(Postgres),
}

impl Store {
    /// Opens, migrates and, where a SQLite file is damaged, rescues.
    pub async fn open(location: Location, now: Timestamp) -> Result<(Self, OpenReport)> {
        on_thread("store-open", move || Self::open_here(&location, now)).await
    }

    fn open_here(location: &Location, now: Timestamp) -> Result<(Self, OpenReport)> {
        let shared = Arc::new(Shared { counters: Counters::default(), newest: watch::Sender::new(0) });
        let (database, report) = match location {
            Location::Sqlite(path) => {
                let (sqlite, report) = Sqlite::open(path, now, &shared)?;
                (Database::Sqlite(sqlite), report)
            }
            Location::Memory => {
                let (memory, schema) = Memory::open(now)?;
                let report = OpenReport { backend: Backend::Sqlite, schema, rescue: None, checked_whole: true };
                (Database::Memory(memory), report)
            }
            Location::Postgres(address) => {
                let (postgres, schema) = Postgres::open(address, now, &shared)?;
                let report = OpenReport { backend: Backend::Postgres, schema, rescue: None, checked_whole: true };
                (Database::Postgres(postgres), report)
            }
        };
        Ok((Self { database: Arc::new(database), shared }, report))
    }

    pub fn backend(&self) -> Backend {
        match *self.database {
            Database::Sqlite(_) | Database::Memory(_) => Backend::Sqlite,
            Database::Postgres(_) => Backend::Postgres,
        }
    }

    /// One transaction that changes something. A future that is dropped does not take the change back.
    pub(crate) async fn write<T, F>(&self, verb: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Tx) -> Result<T> + Send + 'static,
    {
        let (job, answer) = job(verb);
        match &*self.database {
            Database::Sqlite(sqlite) => sqlite.write(job),
            Database::Memory(memory) => {
                memory.write(job, &self.shared);
                Ok(())
            }
            Database::Postgres(postgres) => postgres.write(job),
        }?;
        answered(answer).await
    }

    /// One transaction that only looks: all its queries see the same moment.
    pub(crate) async fn read<T, F>(&self, verb: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Tx) -> Result<T> + Send + 'static,
    {
        let (job, answer) = job(verb);
        match &*self.database {
            Database::Sqlite(sqlite) => sqlite.read(job),
            Database::Memory(memory) => {
                memory.read(job);
                Ok(())
            }
            Database::Postgres(postgres) => postgres.read(job),
        }?;
        answered(answer).await
    }

    /// Reads of the event log see everything committed before they were asked for.
    pub(crate) async fn read_events<T, F>(&self, verb: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Tx) -> Result<T> + Send + 'static,
    {
        if let Database::Postgres(_) = &*self.database {
            self.write(event::number_committed).await?;
        }
        self.read(verb).await
    }

    /// The newest committed event's number, whenever it changes. On PostgreSQL other hosts' events come within a
    /// second.
    pub fn watch_events(&self) -> watch::Receiver<i64> {
        self.shared.newest.subscribe()
    }

    pub fn stats(&self) -> Stats {
        let counters = &self.shared.counters;
        Stats { jobs: counters.jobs.load(Ordering::Relaxed), commits: counters.commits.load(Ordering::Relaxed) }
    }

    /// A short look: size, schema, and as much of the structure as fits into a moment.
    pub async fn health(&self) -> Result<Health> {
        self.look_at(Look::Moment).await
    }

    /// As [`Self::health`], for those who ask often: a tenth of the moment.
    pub async fn glance(&self) -> Result<Health> {
        self.look_at(Look::Glance).await
    }

    async fn look_at(&self, look: Look) -> Result<Health> {
        match &*self.database {
            Database::Sqlite(sqlite) => {
                let path = sqlite.path().to_owned();
                on_thread("store-health", move || crate::sqlite::health(&path, look)).await
            }
            Database::Memory(_) => Ok(Health {
                backend: Backend::Sqlite,
                schema: crate::migrate::known(),
                bytes: 0,
                damage: None,
                checked_whole: true,
                newest_backup: None,
            }),
            Database::Postgres(_) => self.read(crate::postgres::health).await,
        }
    }

    /// Looks at everything; takes minutes on a large database, beside the work. SQLite: what it finds makes the next
    /// opening look at everything too, and rescue. PostgreSQL looks after itself and answers without findings.
    pub async fn check_integrity(&self) -> Result<IntegrityReport> {
        match &*self.database {
            Database::Sqlite(sqlite) => {
                let path = sqlite.path().to_owned();
                on_thread("store-check", move || crate::sqlite::check_integrity(&path)).await
            }
            Database::Memory(_) | Database::Postgres(_) => Ok(IntegrityReport { findings: Vec::new() }),
        }
    }

    /// A verified copy in `backups/`; of the older ones `keep` stay, the newest and others half an hour apart. `None` on
    /// PostgreSQL, whose backups are not ours.
    pub async fn backup(&self, now: Timestamp, keep: usize) -> Result<Option<Utf8PathBuf>> {
        match &*self.database {
            Database::Sqlite(sqlite) => {
                let path = sqlite.path().to_owned();
                on_thread("store-backup", move || crate::sqlite::backup(&path, now, keep)).await.map(Some)
            }
            Database::Memory(_) | Database::Postgres(_) => Ok(None),
        }
    }

    /// PostgreSQL keeps its numbers with its own backups.
    pub(crate) fn note_number(&self, number: i64) {
        if let Database::Sqlite(sqlite) = &*self.database {
            sqlite.note_number(number);
        }
    }

    /// The SQLite file; `None` on PostgreSQL.
    pub fn file(&self) -> Option<&Utf8Path> {
        match &*self.database {
            Database::Sqlite(sqlite) => Some(sqlite.path()),
            Database::Memory(_) | Database::Postgres(_) => None,
        }
    }
}

async fn answered<T>(answer: oneshot::Receiver<Result<T>>) -> Result<T> {
    // The thread ended between taking the job and answering it: nobody knows how far it came.
    answer.await.unwrap_or_else(|_| Err(StoreError::Unknown { reason: "the store was closed meanwhile".into() }))
}

async fn on_thread<T: Send + 'static>(name: &str, work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let (reply, answer) = oneshot::channel();
    spawn(name, move || drop(reply.send(work())))?;
    answer.await.unwrap_or_else(|_| Err(StoreError::other("a thread of the store broke off")))
}

pub(crate) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map_err(StoreError::unavailable)
}
