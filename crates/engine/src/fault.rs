//! Crash points: where the tests kill the daemon.
//!
//! They follow from the facts and intents themselves, so a new one cannot be forgotten: after every fact has been
//! recorded, between every intent and its effect, and between every effect and its outcome; and in a launch, which is made
//! of several, when all is written and nothing started. Only debug builds have them; `DANDORI_CRASH_AT` names one, `name#2` the second time it is reached.

use dandori_domain::run::{Fact, FactKind, Intent, IntentKind};

const PREPARED_LAUNCH: &str = "prepared:launch";

/// Every point there is, by name.
pub fn points() -> Vec<String> {
    let recorded = FactKind::ALL.iter().filter(|k| **k != FactKind::Intended).map(|k| recorded_name(*k));
    let intents = IntentKind::ALL.iter().flat_map(|k| [intended_name(*k), done_name(*k)]);
    recorded.chain(intents).chain([PREPARED_LAUNCH.to_owned()]).collect()
}

fn recorded_name(kind: FactKind) -> String {
    format!("recorded:{}", kind.as_str())
}

fn intended_name(kind: IntentKind) -> String {
    format!("intended:{}", kind.as_str())
}

fn done_name(kind: IntentKind) -> String {
    format!("done:{}", kind.as_str())
}

/// A fact has just been committed.
pub(crate) fn recorded(fact: &Fact) {
    match fact {
        Fact::Intended { intent } => crash_at(&intended_name(intent.kind())),
        other => crash_at(&recorded_name(other.kind())),
    }
}

/// An effect has just happened, and nothing says so yet.
pub(crate) fn done(intent: &Intent) {
    crash_at(&done_name(intent.kind()));
}

/// The guards' rules and the agent's private folder are there, and no agent yet.
pub(crate) fn launch_prepared() {
    crash_at(PREPARED_LAUNCH);
}

#[cfg(debug_assertions)]
#[expect(clippy::disallowed_methods, reason = "a switch of the tests, read where it acts")]
fn crash_at(point: &str) {
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
fn crash_at(_point: &str) {}
