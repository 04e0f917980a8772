//! An order to the formation, from its words to its end.

use dandori_domain::{CommandId, ResultId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::result::Outcome;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Command {
    pub id: CommandId,
    /// Counted per formation, from 1: what people call it.
    pub number: u32,
    pub content: String,
    /// What it asks for, one by one. Empty: its plan need not say what it covers.
    pub demands: Vec<String>,
    pub priority: u32,
    pub created_at: Timestamp,
    pub state: CommandState,
    pub cancel: Option<CancelRequest>,
    /// A person has to approve the plan before anybody works on it.
    pub review: Review,
    /// Nothing of it is given out while this stands.
    pub paused: Option<Pause>,
    /// How many tasks its plan has, counted when it was submitted and filled.
    pub expected: u32,
    /// Of its required tasks.
    pub tally: Tally,
    /// Required and not, that are not over.
    pub open: u32,
}

impl Command {
    pub fn is_sealed(&self) -> bool {
        matches!(self.state, CommandState::Sealed { .. })
    }

    pub fn is_over(&self) -> bool {
        matches!(self.state, CommandState::Over { .. })
    }

    /// Its tasks may be given out.
    pub fn is_workable(&self) -> bool {
        self.is_sealed() && self.cancel.is_none() && self.paused.is_none() && self.review != Review::Wanted
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum CommandState {
    /// No plan yet.
    Queued,
    /// Its plan stands: only a retry changes it.
    Sealed { at: Timestamp },
    Over {
        at: Timestamp,
        outcome: Outcome,
        /// `None`: it was cancelled before it had a plan.
        result: Option<ResultId>,
    },
}

impl CommandState {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Sealed { .. } => "sealed",
            Self::Over { outcome, .. } => outcome.name(),
        }
    }
}

/// Once asked for it is never taken back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CancelRequest {
    pub by: String,
    pub reason: String,
    pub at: Timestamp,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Pause {
    pub reason: String,
    pub at: Timestamp,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Review {
    NotWanted,
    Wanted,
    Approved,
}

/// How tasks stand, counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    pub open: u32,
    pub completed: u32,
    pub failed: u32,
    pub cancelled: u32,
}

impl Tally {
    pub fn all(self) -> u32 {
        self.open + self.completed + self.failed + self.cancelled
    }

    /// What follows from it once nothing is open: one that failed outweighs one that was cancelled.
    pub fn outcome(self) -> Option<Outcome> {
        if self.open > 0 {
            None
        } else if self.failed > 0 {
            Some(Outcome::Failed)
        } else if self.cancelled > 0 {
            Some(Outcome::Cancelled)
        } else {
            Some(Outcome::Completed)
        }
    }

    pub(crate) fn add(&mut self, at: Option<Outcome>) {
        *self.slot(at) += 1;
    }

    pub(crate) fn take(&mut self, at: Option<Outcome>) {
        let slot = self.slot(at);
        *slot = slot.saturating_sub(1);
    }

    fn slot(&mut self, at: Option<Outcome>) -> &mut u32 {
        match at {
            None => &mut self.open,
            Some(Outcome::Completed) => &mut self.completed,
            Some(Outcome::Failed) => &mut self.failed,
            Some(Outcome::Cancelled) => &mut self.cancelled,
        }
    }
}
