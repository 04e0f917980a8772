//! The kernel: what every machine is walked with. Store, clock, ids, bells, crash points, a pool for blocking work.
//!
//! It knows no machine by name. A capability brings a [`Walker`] for its machine; [`walk`] does the rest, the same for all:
//! look at the facts, take the next step, record what came of it, again. Nothing is kept in memory that a restart would
//! miss.

mod clock;
pub(crate) mod fault;
mod walk;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dandori_domain::Problem;
use dandori_domain::machine::{Machine, Next, SubjectRef};
use dandori_store::{Life, Recorded, Store, StoreError, Stored};
use jiff::Timestamp;
use serde::Serialize;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use clock::{Clock, Ids};
pub(crate) use clock::{SystemClock, SystemIds};
pub(crate) use walk::{WalkError, Walker};

use fault::Faults;

/// However many facts follow from each other: more is a mistake of ours, and must not hang the daemon.
const MOST_AT_ONCE: usize = 8;

/// Something the daemon has to say about itself, shown by `status` and `doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Notice(pub Problem);

/// A cheap handle; all clones are the same kernel.
#[derive(Clone)]
pub(crate) struct Kernel(Arc<Parts>);

pub(crate) struct Parts {
    pub(crate) store: Store,
    pub(crate) life: Life,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    faults: Faults,
    notices: Mutex<Vec<Notice>>,
    /// Subjects that a task of this process walks, each with the bell that wakes it.
    live: Mutex<HashMap<SubjectRef, Arc<Notify>>>,
    pub(crate) tracker: TaskTracker,
    pub(crate) stopping: CancellationToken,
    /// Everything ends where it stands, as with the process.
    killed: CancellationToken,
}

impl std::ops::Deref for Kernel {
    type Target = Parts;
    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl Kernel {
    pub(crate) fn new(store: Store, life: Life, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>, faults: Faults) -> Self {
        Self(Arc::new(Parts {
            store,
            life,
            clock,
            ids,
            faults,
            notices: Mutex::default(),
            live: Mutex::default(),
            tracker: TaskTracker::new(),
            stopping: CancellationToken::new(),
            killed: CancellationToken::new(),
        }))
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn is_simulated(&self) -> bool {
        matches!(self.faults, Faults::Story(_))
    }

    pub(crate) fn random(&self) -> u128 {
        self.ids.random()
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.is_cancelled()
    }

    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let killed = self.killed.clone();
        self.tracker.spawn(async move {
            killed.run_until_cancelled_owned(work).await;
        });
    }

    /// What `kill -9` does to a process, done to this kernel alone: no step is finished, nothing is said.
    pub(crate) async fn kill(&self) {
        self.killed.cancel();
        self.tracker.close();
        self.tracker.wait().await;
    }

    /// Stops taking steps. A step under way gets its time; one that does not end is ended by its own deadline, or settled
    /// after the restart.
    pub(crate) async fn stop(&self) {
        self.stopping.cancel();
        self.tracker.close();
        let _ = tokio::time::timeout(Duration::from_secs(30), self.tracker.wait()).await;
    }

    pub(crate) fn notices(&self) -> Vec<Notice> {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn notice(&self, problem: Problem) {
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        if !notices.iter().any(|n| n.0 == problem) {
            notices.push(Notice(problem));
        }
    }

    /// Runs blocking work where it cannot hold up the rest.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|e| Problem::Internal { reason: format!("a step panicked: {e}") })
    }

    /// Records facts, and with them what follows from them alone, in one transaction.
    pub(crate) async fn record<M: Stored>(
        &self,
        subject: &M,
        mut facts: Vec<M::Fact>,
    ) -> Result<Recorded<M>, StoreError> {
        let at = self.now();
        let mut after = subject.clone();
        if facts.iter().all(|fact| after.apply(fact, at).is_ok()) {
            for _ in 0..MOST_AT_ONCE {
                let Next::Record(fact) = after.next(at) else { break };
                if after.apply(&fact, at).is_err() {
                    break;
                }
                facts.push(fact);
            }
        }
        self.record_just::<M>(subject.id(), facts).await
    }

    /// Records these facts and no others: what follows from them is for the walk to find out.
    pub(crate) async fn record_just<M: Stored>(
        &self,
        id: M::Id,
        facts: Vec<M::Fact>,
    ) -> Result<Recorded<M>, StoreError> {
        let recorded = self.store.record::<M>(self.life, id, facts.clone(), self.now()).await?;
        for fact in &facts {
            self.recorded::<M>(fact).await;
        }
        for touched in &recorded.touched {
            self.faults.reached(&fault::recorded_name(touched.subject.machine, touched.fact)).await;
        }
        Ok(recorded)
    }

    /// A fact has just been committed: a crash point.
    pub(crate) async fn recorded<M: Machine>(&self, fact: &M::Fact) {
        self.faults.reached(&fault::recorded::<M>(fact)).await;
    }

    /// Something has just been committed that no machine's fact says, and what follows from it is not done yet.
    pub(crate) async fn point(&self, name: &str) {
        self.faults.reached(name).await;
    }

    /// An effect has just happened, and nothing says so yet: a crash point.
    async fn done<M: Machine>(&self, intent: &str) {
        self.faults.reached(&fault::done::<M>(intent)).await;
    }

    /// Begins to walk a subject, or wakes the task that does.
    pub(crate) fn walk<W: Walker>(&self, walker: &W, id: <W::Machine as Machine>::Id) {
        let subject = SubjectRef::of::<W::Machine>(id);
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bell) = live.get(&subject) {
            bell.notify_one();
            return;
        }
        let bell = Arc::new(Notify::new());
        live.insert(subject, Arc::clone(&bell));
        drop(live);
        self.spawn(walk::walk(walker.clone(), id, bell));
    }

    /// Every subject that was under way is walked on from its facts.
    pub(crate) async fn take_up<W: Walker>(&self, walker: &W) -> Result<(), StoreError> {
        for subject in self.store.walked::<W::Machine>(self.life.host).await? {
            self.walk(walker, subject.id());
        }
        Ok(())
    }

    /// The task that walked this subject is done with it.
    fn forget(&self, subject: &SubjectRef) {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).remove(subject);
    }

    /// The subjects of a machine that are walked at this moment.
    pub(crate) fn live<M: Machine>(&self) -> Vec<String> {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.keys().filter(|subject| subject.machine == M::NAME).map(|subject| subject.id.clone()).collect()
    }
}

#[cfg(test)]
mod tests;
