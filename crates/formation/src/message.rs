//! A message in an agent's queue: who has it, under which epoch, how often it was tried.
//!
//! Each time it is claimed its epoch is one more; whatever an earlier holder writes is refused. Attempts that failed without
//! progress, interruptions after progress and resumed conversations are counted apart: a machine that was switched off does not
//! use up a task's attempts.

use dandori_domain::{CommandId, Epoch, MessageId, PhaseId, ResultId, TaskId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::agent::AgentId;
use crate::result::Report;

pub const DEFAULT_PRIORITY: u32 = 100;

/// What it is about. The words are made when it is delivered, from what is so then.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MessageKind {
    /// To the planner: an order to be planned.
    Command { command: CommandId },
    /// To the planner: a deferred phase wants its tasks.
    Fill { command: CommandId, phase: PhaseId },
    /// To the planner: what has come back since the last time, because something is to be decided.
    Digest {
        command: CommandId,
        /// Fixed when it is claimed: what is told is marked as told.
        #[serde(default)]
        results: Vec<ResultId>,
    },
    /// To a worker.
    Task { command: CommandId, task: TaskId },
    /// To the orchestrator: a command is over.
    Notice { command: CommandId, source: ResultId },
    /// A person's words, to the orchestrator or, about a command, to the planner.
    Words { command: Option<CommandId>, words: String },
}

impl MessageKind {
    pub const NAMES: &'static [&'static str] = &["command", "fill", "digest", "task", "notice", "words"];

    pub fn name(&self) -> &'static str {
        match self {
            Self::Command { .. } => "command",
            Self::Fill { .. } => "fill",
            Self::Digest { .. } => "digest",
            Self::Task { .. } => "task",
            Self::Notice { .. } => "notice",
            Self::Words { .. } => "words",
        }
    }

    pub fn command(&self) -> Option<CommandId> {
        match self {
            Self::Command { command }
            | Self::Fill { command, .. }
            | Self::Digest { command, .. }
            | Self::Task { command, .. }
            | Self::Notice { command, .. } => Some(*command),
            Self::Words { command, .. } => *command,
        }
    }

    /// It ends with its command. A notice is about one that is over, and outlives it.
    pub fn belongs_to(&self, command: CommandId) -> bool {
        self.command() == Some(command) && !matches!(self, Self::Notice { .. })
    }

    pub fn task(&self) -> Option<TaskId> {
        match self {
            Self::Task { task, .. } => Some(*task),
            _ => None,
        }
    }

    /// Over once the agent has it: nothing is reported back for it.
    pub fn ends_with_delivery(&self) -> bool {
        match self {
            Self::Notice { .. } | Self::Words { .. } | Self::Digest { .. } => true,
            Self::Command { .. } | Self::Fill { .. } | Self::Task { .. } => false,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Lease {
    /// Which daemon delivers it.
    pub holder: String,
    pub epoch: Epoch,
    pub since: Timestamp,
    pub until: Timestamp,
    /// The agent's own event has shown that it has it.
    pub accepted_at: Option<Timestamp>,
    /// Something came of it under this epoch: a tool was used, a file changed.
    pub has_progress: bool,
    /// The conversation of the attempt before is gone on with.
    pub is_resume: bool,
    /// What its agent has said came of it. It counts once the agent has stopped and its work is committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Report>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "delivery", rename_all = "snake_case")]
pub enum Delivery {
    /// Not yet: its task waits for others, its plan for a person's approval.
    Held,
    Pending {
        not_before: Option<Timestamp>,
    },
    InProgress {
        lease: Lease,
    },
    Completed {
        at: Timestamp,
    },
    Failed {
        at: Timestamp,
    },
    Cancelled {
        at: Timestamp,
    },
    /// It could not be delivered; a person may put it back into the queue.
    DeadLetter {
        at: Timestamp,
        why: String,
    },
}

impl Delivery {
    pub const NAMES: &'static [&'static str] =
        &["held", "pending", "in_progress", "completed", "failed", "cancelled", "dead_letter"];

    pub fn name(&self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Pending { .. } => "pending",
            Self::InProgress { .. } => "in_progress",
            Self::Completed { .. } => "completed",
            Self::Failed { .. } => "failed",
            Self::Cancelled { .. } => "cancelled",
            Self::DeadLetter { .. } => "dead_letter",
        }
    }

    pub fn is_over(&self) -> bool {
        match self {
            Self::Held | Self::Pending { .. } | Self::InProgress { .. } => false,
            Self::Completed { .. } | Self::Failed { .. } | Self::Cancelled { .. } | Self::DeadLetter { .. } => true,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Message {
    pub id: MessageId,
    pub to: AgentId,
    #[serde(flatten)]
    pub kind: MessageKind,
    pub priority: u32,
    pub created_at: Timestamp,
    pub delivery: Delivery,
    /// The highest that was given: it only rises.
    pub epoch: Epoch,
    /// Claims; those that were interrupted after progress are taken out again.
    pub attempts: u32,
    /// Claims that were interrupted after progress.
    pub interrupts: u32,
    pub resumes: u32,
    /// The next claim goes on with the conversation of the last one.
    pub resume_next: bool,
    pub last_error: Option<String>,
    /// There is never a second message with this key: what is sent twice arrives once.
    pub key: String,
}

impl Message {
    pub fn lease(&self) -> Option<&Lease> {
        match &self.delivery {
            Delivery::InProgress { lease } => Some(lease),
            _ => None,
        }
    }

    /// Whoever writes under this epoch still has it.
    pub fn is_held_under(&self, epoch: Epoch) -> bool {
        self.epoch == epoch && self.lease().is_some_and(|lease| lease.epoch == epoch)
    }

    pub fn is_due(&self, now: Timestamp) -> bool {
        match &self.delivery {
            Delivery::Pending { not_before } => not_before.is_none_or(|at| at <= now),
            _ => false,
        }
    }

    /// Which attempt this is, counted from 1: as the agent is told.
    pub fn attempt(&self) -> u32 {
        self.attempts + self.interrupts
    }
}
