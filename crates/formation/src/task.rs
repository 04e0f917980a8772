//! A task of a plan: what a worker is to do, and how far it is.
//!
//! Its id is the id of the task that is run for it: what the formation calls `task_…` is found under the same id everywhere.

use dandori_domain::{CommandId, Epoch, PhaseId, ResultId, TaskId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::agent::AgentId;

/// The commit step, which dandori takes itself.
pub const SYSTEM_COMMIT: &str = "__system_commit";

/// What is to be done. Written once, never changed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Brief {
    pub purpose: String,
    pub content: String,
    pub acceptance_criteria: String,
    #[serde(default)]
    pub constraints: Vec<String>,
    #[serde(default)]
    pub tools_hint: Vec<String>,
    #[serde(default)]
    pub persona_hint: Option<String>,
    #[serde(default)]
    pub skill_refs: Vec<String>,
    #[serde(default)]
    pub expected_paths: Vec<String>,
    #[serde(default)]
    pub required_capabilities: Vec<String>,
    #[serde(default)]
    pub preferred_capabilities: Vec<String>,
    /// Which demands of the order it meets.
    #[serde(default)]
    pub covers: Vec<u32>,
}

/// Who takes the step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doer {
    Worker(AgentId),
    /// dandori itself: the commit step.
    System,
}

impl Doer {
    pub fn worker(self) -> Option<AgentId> {
        match self {
            Self::Worker(agent) => Some(agent),
            Self::System => None,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Task {
    pub id: TaskId,
    pub command: CommandId,
    /// `None`: the plan has no phases, or this is the commit step, which stands outside them.
    pub phase: Option<PhaseId>,
    pub name: String,
    pub ordinal: u32,
    pub bloom_level: u8,
    pub required: bool,
    pub doer: Doer,
    pub model: Option<String>,
    pub blocked_by: Vec<TaskId>,
    /// How many of those are not completed yet.
    pub waits_for: u32,
    pub state: TaskState,
    /// How often its work was given back because it did not fit in.
    pub repairs: u32,
    /// Why, the last time.
    pub misfit: Option<String>,
    pub retry_of: Option<TaskId>,
    /// Counts for nothing any more: this one stands in its place.
    pub replaced_by: Option<TaskId>,
}

impl Task {
    /// It is part of the plan as it is now.
    pub fn is_current(&self) -> bool {
        self.replaced_by.is_none()
    }

    pub fn is_system(&self) -> bool {
        self.doer == Doer::System
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum TaskState {
    /// Waits for other tasks, or for the plan's approval.
    Planned,
    Ready,
    /// Claimed for its worker, who has not shown yet that it has it.
    Dispatched {
        epoch: Epoch,
    },
    Running {
        epoch: Epoch,
    },
    /// Reported as completed; its work is being merged and checked.
    VerifyPending {
        result: ResultId,
        since: Timestamp,
    },
    /// Its work did not fit in: back to a worker, who is told why.
    RepairPending,
    /// It cannot be mended as it is planned: the planner decides.
    PausedForReplan {
        since: Timestamp,
        why: String,
    },
    Completed {
        result: ResultId,
    },
    Failed {
        result: ResultId,
    },
    Cancelled {
        result: ResultId,
        cause: CancelCause,
    },
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "because", rename_all = "snake_case")]
pub enum CancelCause {
    /// The command was cancelled.
    Requested,
    /// A task it waits for did not complete.
    BlockedDependencyTerminal { task: TaskId },
    /// Its phase was cancelled because one it depends on did not complete.
    Phase { phase: PhaseId },
    /// It was not required, and the command is complete without it.
    NotRequired,
}

impl TaskState {
    pub const NAMES: &'static [&'static str] = &[
        "planned",
        "ready",
        "dispatched",
        "running",
        "verify_pending",
        "repair_pending",
        "paused_for_replan",
        "completed",
        "failed",
        "cancelled",
    ];

    pub fn name(&self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Ready => "ready",
            Self::Dispatched { .. } => "dispatched",
            Self::Running { .. } => "running",
            Self::VerifyPending { .. } => "verify_pending",
            Self::RepairPending => "repair_pending",
            Self::PausedForReplan { .. } => "paused_for_replan",
            Self::Completed { .. } => "completed",
            Self::Failed { .. } => "failed",
            Self::Cancelled { .. } => "cancelled",
        }
    }

    pub fn result(&self) -> Option<ResultId> {
        match self {
            Self::Completed { result } | Self::Failed { result } | Self::Cancelled { result, .. } => Some(*result),
            _ => None,
        }
    }

    pub fn is_over(&self) -> bool {
        self.result().is_some()
    }

    pub fn is_completed(&self) -> bool {
        matches!(self, Self::Completed { .. })
    }

    /// An agent has it.
    pub fn is_with_agent(&self) -> bool {
        matches!(self, Self::Dispatched { .. } | Self::Running { .. })
    }
}
