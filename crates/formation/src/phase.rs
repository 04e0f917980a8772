//! A stage of a plan. Concrete ones have their tasks from the beginning; deferred ones get theirs when what they depend on is done.

use dandori_domain::{CommandId, PhaseId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::command::Tally;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Phase {
    pub id: PhaseId,
    pub command: CommandId,
    pub name: String,
    pub ordinal: u32,
    pub kind: PhaseKind,
    pub depends_on: Vec<PhaseId>,
    pub state: PhaseState,
    /// Of its required tasks, or, where none is required, of all.
    pub tally: Tally,
    pub counts_all: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PhaseKind {
    Concrete,
    Deferred { constraints: PhaseConstraints, is_filled: bool },
}

impl Phase {
    /// Whether a task, required or not, is one of those it is over with.
    pub fn counts(&self, required: bool) -> bool {
        required || self.counts_all
    }
}

impl PhaseKind {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Concrete => "concrete",
            Self::Deferred { .. } => "deferred",
        }
    }
}

/// What a deferred phase may be filled with.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PhaseConstraints {
    pub max_tasks: u32,
    pub allowed_bloom_levels: Vec<u8>,
    pub timeout_minutes: u32,
    /// Which demands of the order it has promised to meet.
    #[serde(default)]
    pub covers: Vec<u32>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum PhaseState {
    /// Waits for the phases it depends on.
    Pending,
    /// The planner is to say what its tasks are.
    AwaitingFill {
        deadline: Timestamp,
    },
    Active,
    Completed,
    Failed,
    Cancelled {
        /// The phase that did not complete; `None`: by request.
        because_of: Option<PhaseId>,
    },
    /// Nobody filled it in time.
    TimedOut,
}

impl PhaseState {
    pub const NAMES: &'static [&'static str] =
        &["pending", "awaiting_fill", "active", "completed", "failed", "cancelled", "timed_out"];

    pub fn name(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::AwaitingFill { .. } => "awaiting_fill",
            Self::Active => "active",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled { .. } => "cancelled",
            Self::TimedOut => "timed_out",
        }
    }

    pub fn is_over(&self) -> bool {
        match self {
            Self::Pending | Self::AwaitingFill { .. } | Self::Active => false,
            Self::Completed | Self::Failed | Self::Cancelled { .. } | Self::TimedOut => true,
        }
    }
}
