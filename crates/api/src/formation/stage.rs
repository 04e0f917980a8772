//! The states of the formation by their names alone. What else belongs to a state has a field of its own, which is `null` in the
//! others.

use dandori_formation::command::CommandState;
use dandori_formation::phase::PhaseKind;
use dandori_formation::result::Outcome;
use dandori_formation::{MessageKind, PhaseState, TaskState};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Names as they are on the wire, in one place with their kinds.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($variant:ident => $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($variant),+ }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }
    };
}

names!(CommandStage {
    Queued => "queued",
    Sealed => "sealed",
    Completed => "completed",
    Failed => "failed",
    Cancelled => "cancelled",
});

names!(PhaseType { Concrete => "concrete", Deferred => "deferred" });

names!(PhaseStage {
    Pending => "pending",
    AwaitingFill => "awaiting_fill",
    Active => "active",
    Completed => "completed",
    Failed => "failed",
    Cancelled => "cancelled",
    TimedOut => "timed_out",
});

names!(TaskStage {
    Planned => "planned",
    Ready => "ready",
    Dispatched => "dispatched",
    Running => "running",
    VerifyPending => "verify_pending",
    RepairPending => "repair_pending",
    PausedForReplan => "paused_for_replan",
    Completed => "completed",
    Failed => "failed",
    Cancelled => "cancelled",
});

names!(
    /// What a message is about.
    WorkKind {
        Command => "command",
        Fill => "fill",
        Digest => "digest",
        Task => "task",
        Notice => "notice",
        Words => "words",
    }
);

impl From<&CommandState> for CommandStage {
    fn from(state: &CommandState) -> Self {
        match state {
            CommandState::Queued => Self::Queued,
            CommandState::Sealed { .. } => Self::Sealed,
            CommandState::Over { outcome: Outcome::Completed, .. } => Self::Completed,
            CommandState::Over { outcome: Outcome::Failed, .. } => Self::Failed,
            CommandState::Over { outcome: Outcome::Cancelled, .. } => Self::Cancelled,
        }
    }
}

impl From<&PhaseKind> for PhaseType {
    fn from(kind: &PhaseKind) -> Self {
        match kind {
            PhaseKind::Concrete => Self::Concrete,
            PhaseKind::Deferred { .. } => Self::Deferred,
        }
    }
}

impl From<&PhaseState> for PhaseStage {
    fn from(state: &PhaseState) -> Self {
        match state {
            PhaseState::Pending => Self::Pending,
            PhaseState::AwaitingFill { .. } => Self::AwaitingFill,
            PhaseState::Active => Self::Active,
            PhaseState::Completed => Self::Completed,
            PhaseState::Failed => Self::Failed,
            PhaseState::Cancelled { .. } => Self::Cancelled,
            PhaseState::TimedOut => Self::TimedOut,
        }
    }
}

impl From<&TaskState> for TaskStage {
    fn from(state: &TaskState) -> Self {
        match state {
            TaskState::Planned => Self::Planned,
            TaskState::Ready => Self::Ready,
            TaskState::Dispatched { .. } => Self::Dispatched,
            TaskState::Running { .. } => Self::Running,
            TaskState::VerifyPending { .. } => Self::VerifyPending,
            TaskState::RepairPending => Self::RepairPending,
            TaskState::PausedForReplan { .. } => Self::PausedForReplan,
            TaskState::Completed { .. } => Self::Completed,
            TaskState::Failed { .. } => Self::Failed,
            TaskState::Cancelled { .. } => Self::Cancelled,
        }
    }
}

impl From<&MessageKind> for WorkKind {
    fn from(kind: &MessageKind) -> Self {
        match kind {
            MessageKind::Command { .. } => Self::Command,
            MessageKind::Fill { .. } => Self::Fill,
            MessageKind::Digest { .. } => Self::Digest,
            MessageKind::Task { .. } => Self::Task,
            MessageKind::Notice { .. } => Self::Notice,
            MessageKind::Words { .. } => Self::Words,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wire_has_the_formations_own_names() {
        let names = |all: Vec<&'static str>, own: &[&str]| assert_eq!(all, own);
        names(PhaseStage::ALL.iter().map(|s| s.as_str()).collect(), PhaseState::NAMES);
        names(TaskStage::ALL.iter().map(|s| s.as_str()).collect(), TaskState::NAMES);
        names(WorkKind::ALL.iter().map(|s| s.as_str()).collect(), MessageKind::NAMES);
        for stage in PhaseStage::ALL {
            assert_eq!(serde_json::to_value(stage).unwrap(), stage.as_str());
        }
        for stage in TaskStage::ALL {
            assert_eq!(serde_json::to_value(stage).unwrap(), stage.as_str());
        }
    }
}
