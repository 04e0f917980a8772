//! An order with its phases, and its plan with every task.

use dandori_domain::{CommandId, PhaseId, TaskId};
use dandori_formation::AgentId;
use dandori_formation::command::Review;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{CommandStage, PhaseStage, PhaseType, TaskStage};
use crate::PullLink;

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CommandView {
    #[schema(value_type = String)]
    pub id: CommandId,
    /// What people call it, counted from 1.
    pub number: u32,
    /// The order in the words it was given in.
    pub content: String,
    /// What it asks for, one by one.
    pub demands: Vec<String>,
    pub state: CommandStage,
    pub priority: u32,
    #[schema(value_type = String)]
    pub created_at: Timestamp,
    /// `not_wanted`, `wanted`, `approved`
    #[schema(value_type = String)]
    pub review: Review,
    /// Why nothing of it is given out.
    pub paused: Option<String>,
    /// Why it is being cancelled.
    pub cancelling: Option<String>,
    /// Of its required tasks.
    pub counts: TaskCounts,
    /// In the order of the plan; empty: it has none.
    pub phases: Vec<PhaseView>,
    pub pr: Option<PullLink>,
}

/// How tasks stand, counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct TaskCounts {
    pub open: u64,
    pub completed: u64,
    pub failed: u64,
    pub cancelled: u64,
}

impl TaskCounts {
    pub fn all(self) -> u64 {
        self.open + self.completed + self.failed + self.cancelled
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct PhaseView {
    #[schema(value_type = String)]
    pub id: PhaseId,
    pub name: String,
    #[serde(rename = "type")]
    pub kind: PhaseType,
    pub state: PhaseStage,
    #[schema(value_type = Vec<String>)]
    pub depends_on: Vec<PhaseId>,
    pub counts: TaskCounts,
    /// How many tasks it may be filled with; `null`: it is concrete.
    pub max_tasks: Option<u32>,
    /// Until when the planner has to fill it.
    #[schema(value_type = Option<String>)]
    pub fill_until_at: Option<Timestamp>,
}

/// What `plan show --json` prints.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PlanView {
    #[serde(flatten)]
    pub command: CommandView,
    /// In the order of the plan. Those that were replaced are among them and say by what.
    pub tasks: Vec<PlanTaskView>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct PlanTaskView {
    #[schema(value_type = String)]
    pub id: TaskId,
    pub name: String,
    /// `null`: the plan has no phases, or it is the commit step.
    #[schema(value_type = Option<String>)]
    pub phase: Option<PhaseId>,
    pub state: TaskStage,
    /// `null`: dandori itself takes the step.
    #[schema(value_type = Option<String>)]
    pub worker: Option<AgentId>,
    pub model: Option<String>,
    pub bloom_level: u8,
    pub required: bool,
    #[schema(value_type = Vec<String>)]
    pub blocked_by: Vec<TaskId>,
    /// How often its work was given back because it did not fit in.
    pub repairs: u32,
    /// Why it was given back or waits for the planner.
    pub reason: Option<String>,
    #[schema(value_type = Option<String>)]
    pub retry_of: Option<TaskId>,
    #[schema(value_type = Option<String>)]
    pub replaced_by: Option<TaskId>,
}
