//! What a machine is: something that lives through facts.
//!
//! A run is one, a pull request another. Facts are recorded, never undone; [`Machine::apply`] is the one place that
//! says which fact may follow which; [`Machine::next`] says what comes next, from the facts alone. The engine's kernel
//! walks every machine the same way: it asks for the next step, carries it out, records what came of it, and after a
//! crash asks again. Nothing here knows which machines there are.

use std::fmt::{Debug, Display};
use std::hash::Hash;

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::id::{HostId, RepoId, RunId, TaskId};
use crate::pull::PullWanted;

pub trait Machine: Clone + PartialEq + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// What the store and the log call it.
    const NAME: &'static str;
    /// Of the stored form. One that changes so that older rows would be misread takes the next number and a migration.
    const VERSION: i64;
    /// Every fact's name: a crash point each.
    const FACTS: &'static [&'static str];
    /// Every intent's name: two crash points each, before its effect and after it.
    const INTENTS: &'static [&'static str];

    type Id: Copy + Eq + Hash + Debug + Display + Send + Sync + 'static;
    type Fact: Clone + PartialEq + Debug + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// Something to be done, with all that is needed to do it. What is done on an intent carries the intent.
    type Step: Clone + PartialEq + Debug + Send + Sync + 'static;

    fn id(&self) -> Self::Id;
    fn about(&self) -> About;
    /// The name of its status, for the log and for refusals.
    fn status_name(&self) -> &'static str;
    /// Takes one more fact in, or says that it cannot be.
    fn apply(&mut self, fact: &Self::Fact, at: Timestamp) -> Result<(), IllegalFact>;
    /// What comes now. `now` is for what an intent writes down, never for a decision.
    fn next(&self, now: Timestamp) -> Next<Self>;
    fn fact_name(fact: &Self::Fact) -> &'static str;
    /// The intent a fact writes down.
    fn intent_of(fact: &Self::Fact) -> Option<&'static str>;
    /// What a step is called in the daemon's log.
    fn step_name(step: &Self::Step) -> &'static str;
    /// The intent a step carries out.
    fn carries_out(step: &Self::Step) -> Option<&'static str>;
    /// What these facts, which it has just taken in, mean for other machines. Recorded in the same transaction.
    fn consequences(&self, _facts: &[Self::Fact], _at: Timestamp) -> Vec<Consequence> {
        Vec::new()
    }

    /// Somebody has to walk it: it neither waits for something from outside nor is over.
    fn is_walked(&self, now: Timestamp) -> bool {
        !matches!(self.next(now), Next::Wait | Next::Rest)
    }
}

/// What comes next.
#[derive(Clone, PartialEq, Debug)]
pub enum Next<M: Machine> {
    /// This follows from the facts alone: an intent, or the end. It is recorded along with the facts it follows from.
    Record(M::Fact),
    Take(M::Step),
    /// Nothing, until a fact comes from outside.
    Wait,
    /// Nothing, for good.
    Rest,
}

/// Whom a subject concerns: who walks it, and by what it is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct About {
    /// The daemon that walks it: what it works on is local to it.
    pub host: HostId,
    pub repo: Option<RepoId>,
    pub task: Option<TaskId>,
    pub run: Option<RunId>,
}

/// What one machine's facts mean for another.
#[derive(Clone, PartialEq, Debug)]
pub enum Consequence {
    /// The pull request of a branch is to be opened, or brought up to date.
    WantPull(PullWanted),
    /// A run's worktree is no longer needed.
    ReleaseRun(RunId),
}

/// Which subject of which machine.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SubjectRef {
    pub machine: &'static str,
    pub id: String,
}

impl SubjectRef {
    pub fn of<M: Machine>(id: M::Id) -> Self {
        Self { machine: M::NAME, id: id.to_string() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a {status} {machine} does not accept {fact}")]
pub struct IllegalFact {
    pub machine: &'static str,
    pub status: &'static str,
    pub fact: &'static str,
}

impl IllegalFact {
    pub fn of<M: Machine>(subject: &M, fact: &M::Fact) -> Self {
        Self { machine: M::NAME, status: subject.status_name(), fact: M::fact_name(fact) }
    }
}

/// Gives each variant of an enum its name: for the log, and for the tests that crash after each of them.
macro_rules! names {
    ($of:ident { $($variant:ident => $name:literal),+ $(,)? }) => {
        impl $of {
            pub const NAMES: &'static [&'static str] = &[$($name),+];
            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $name),+ }
            }
        }
    };
}
pub(crate) use names;
