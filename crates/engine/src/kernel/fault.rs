//! Crash points: where the tests kill the daemon.
//!
//! They follow from the facts and intents of the machines themselves, so a new one cannot be forgotten: after every fact
//! has been recorded, between every intent and its effect, and between every effect and its outcome. In a daemon only
//! debug builds have them: `DANDORI_CRASH_AT` names one, `name#2` the second time it is reached. A story in this
//! process brings a [`Faults::Story`], in which the engine stands still where it would have died.

use std::sync::Arc;

use dandori_domain::machine::Machine;

/// Whether the engine ends at a point it has come to.
pub trait CrashPlan: Send + Sync {
    fn ends_at(&self, point: &str) -> bool;
}

#[derive(Clone)]
pub(crate) enum Faults {
    /// What the environment names ends the process.
    Process,
    /// What the plan names ends the engine, and the process goes on.
    Story(Arc<dyn CrashPlan>),
}

impl Faults {
    pub(super) async fn reached(&self, point: &str) {
        match self {
            Self::Process => end_process_at(point),
            Self::Story(plan) if plan.ends_at(point) => std::future::pending().await,
            Self::Story(_) => {}
        }
    }
}

/// Every point a machine has, by name.
pub(crate) fn points<M: Machine>() -> Vec<String> {
    let is_intended = |name: &&&str| !name.ends_with("intended");
    let recorded = M::FACTS.iter().filter(is_intended).map(|fact| recorded_name(M::NAME, fact));
    let intents = M::INTENTS.iter().flat_map(|i| [intended_name::<M>(i), done::<M>(i)]);
    recorded.chain(intents).collect()
}

pub(super) fn recorded<M: Machine>(fact: &M::Fact) -> String {
    match M::intent_of(fact) {
        Some(intent) => intended_name::<M>(intent),
        None => recorded_name(M::NAME, M::fact_name(fact)),
    }
}

pub(super) fn recorded_name(machine: &str, fact: &str) -> String {
    format!("{machine}:recorded:{fact}")
}

fn intended_name<M: Machine>(intent: &str) -> String {
    format!("{}:intended:{intent}", M::NAME)
}

pub(super) fn done<M: Machine>(intent: &str) -> String {
    format!("{}:done:{intent}", M::NAME)
}

/// A point in the middle of a step, which only a process can end at.
#[cfg(debug_assertions)]
#[expect(clippy::disallowed_methods, reason = "a switch of the tests, read where it acts")]
pub(crate) fn end_process_at(point: &str) {
    use std::sync::atomic::{AtomicU32, Ordering};
    static PASSED: AtomicU32 = AtomicU32::new(0);
    let Ok(wanted) = std::env::var("DANDORI_CRASH_AT") else { return };
    let (name, time) = wanted.split_once('#').unwrap_or((&wanted, "1"));
    if name != point || (PASSED.fetch_add(1, Ordering::Relaxed) + 1).to_string() != time {
        return;
    }
    // Into the log, so that the tests know this death from any other.
    tracing::error!("crash point {wanted}");
    // Not a panic and not an exit: nothing may run on the way out.
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    loop {
        std::thread::park();
    }
}

#[cfg(not(debug_assertions))]
pub(crate) fn end_process_at(_point: &str) {}
