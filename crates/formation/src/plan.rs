//! A plan: what a planner submits, read from YAML, checked whole before anything of it is stored.
//!
//! Reading and checking never stop at the first problem: all of them are named, each with its path, so that whoever wrote the
//! plan, a model as a rule, can repair it in one go.

pub mod advice;
mod check;
pub mod demand;
mod graph;
mod read;

use serde::{Deserialize, Serialize};

use crate::phase::PhaseConstraints;
use crate::task::Brief;

pub use check::{Frame, check, check_fill};
pub use graph::{cycle, depth};
pub use read::read;

/// A plan as it was written. Names are local to it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Plan {
    pub body: Body,
    /// Demands of the order that it leaves out, each with a reason.
    pub left_out: Vec<LeftOut>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// One concrete phase that nobody had to name.
    Tasks(Vec<PlannedTask>),
    Phases(Vec<PlannedPhase>),
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LeftOut {
    pub demand: u32,
    pub reason: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlannedTask {
    pub name: String,
    pub brief: Brief,
    pub blocked_by: Vec<String>,
    pub bloom_level: u8,
    pub required: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlannedPhase {
    pub name: String,
    pub kind: PlannedKind,
    pub depends_on: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedKind {
    Concrete(Vec<PlannedTask>),
    Deferred(PhaseConstraints),
}

impl Plan {
    /// Every task there is so far, with the phase it belongs to.
    pub fn tasks(&self) -> Vec<(Option<&PlannedPhase>, &PlannedTask)> {
        match &self.body {
            Body::Tasks(tasks) => tasks.iter().map(|task| (None, task)).collect(),
            Body::Phases(phases) => phases
                .iter()
                .filter_map(|phase| match &phase.kind {
                    PlannedKind::Concrete(tasks) => Some(tasks.iter().map(move |task| (Some(phase), task))),
                    PlannedKind::Deferred(_) => None,
                })
                .flatten()
                .collect(),
        }
    }
}

/// Something is wrong at this place of a plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, thiserror::Error)]
#[error("{path}: {fault}")]
pub struct PlanError {
    /// `tasks[1].blocked_by[0]`
    pub path: String,
    pub fault: Fault,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum Fault {
    #[error("not valid YAML: {reason}")]
    NotYaml { reason: String },
    #[error("required field is missing")]
    Missing,
    #[error("must not be empty")]
    Empty,
    #[error("must be {expected}, not {found}")]
    WrongType { expected: Expected, found: String },
    #[error("unknown field{}", .nearest.as_ref().map(|n| format!(", did you mean {n:?}?")).unwrap_or_default())]
    UnknownField { nearest: Option<String> },
    #[error("value {value} is out of range ({least}-{most})")]
    OutOfRange { value: i64, least: i64, most: i64 },
    #[error("must be > 0")]
    NotPositive,
    #[error("must be one of {}", .allowed.join(", "))]
    NotOneOf { allowed: Vec<String> },
    #[error("references unknown name {name:?}")]
    UnknownName { name: String },
    #[error("duplicate name {name:?}")]
    DuplicateName { name: String },
    #[error("names that begin with __ are reserved")]
    ReservedName,
    #[error("must be a single line of at most {most} characters, without control characters")]
    BadName { most: usize },
    #[error("listed twice")]
    ListedTwice,
    #[error("waits for itself")]
    Itself,
    #[error("circular dependency detected: {}", .names.join(" -> "))]
    Cycle { names: Vec<String> },
    #[error("is {bytes} bytes long, the limit is {most}")]
    TooLong { bytes: usize, most: usize },
    #[error("{count} tasks, the limit is {most}")]
    TooMany { count: usize, most: usize },
    #[error("a plan has tasks or phases, not both")]
    BothBodies,
    #[error("a plan needs tasks or phases")]
    NoBody,
    #[error("at least one phase must be concrete")]
    NoConcretePhase,
    #[error("a concrete phase depends on no other phase")]
    ConcreteDepends,
    #[error("a deferred phase must depend on at least one phase")]
    DeferredAlone,
    #[error("a deferred phase has no tasks yet: they are submitted when it is awaiting_fill")]
    DeferredWithTasks,
    #[error("bloom_level {level} is not allowed in this phase ({})", .allowed.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    LevelNotAllowed { level: u8, allowed: Vec<u8> },
    #[error("no worker has the capability {name:?}")]
    NoSuchCapability { name: String },
    #[error("the order has no demand {number} (it has {count})")]
    UnknownDemand { number: u32, count: usize },
    #[error("no task covers demand {number}: {text}")]
    NotCovered { number: u32, text: String },
    #[error("demand {number} is covered by a task and left out")]
    CoveredAndLeftOut { number: u32 },
    #[error("the phase has promised to cover demand {number}, and no task does")]
    PromiseNotKept { number: u32 },
}

/// What a value has to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    Mapping,
    List,
    Text,
    Number,
    YesOrNo,
}

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Mapping => "a mapping",
            Self::List => "a list",
            Self::Text => "text",
            Self::Number => "a whole number",
            Self::YesOrNo => "true or false",
        })
    }
}

#[cfg(test)]
mod tests;
