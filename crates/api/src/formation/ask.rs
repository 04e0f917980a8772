//! What is asked of a formation. Where an order is meant, `path` says in whose repository its number counts; an id needs none.

use dandori_domain::{CommandId, TaskId};
use dandori_formation::AgentId;
use dandori_formation::result::Reported;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Variables;

/// An order in words.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct GiveOrder {
    /// A folder in the repository.
    pub path: String,
    pub content: String,
    /// 0 is the most urgent. `null`: 100.
    pub priority: Option<u32>,
    /// A person approves the plan before anybody works on it.
    #[serde(default)]
    pub review: bool,
    /// Number what it asks for: its plan then has to say what covers each.
    #[serde(default)]
    pub demands: bool,
    /// Bring the formation up if it is down.
    #[serde(default)]
    pub up: bool,
    pub env: Option<Variables>,
}

/// Words to an agent.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SendWords {
    /// A folder in the repository.
    pub path: String,
    #[schema(value_type = String)]
    pub to: AgentId,
    pub content: String,
    /// The order they are about, by id or number.
    pub order: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RaiseFormation {
    /// A folder in the repository.
    pub path: String,
    /// Cancel everything that is open, first.
    #[serde(default)]
    pub reset: bool,
    /// With `reset`: leave it down.
    #[serde(default)]
    pub stay_down: bool,
    /// All work goes to the larger model.
    #[serde(default)]
    pub boost: bool,
    /// One order after the other, as the orchestrator decides.
    #[serde(default)]
    pub continuous: bool,
    /// Nobody is notified when an order is over.
    #[serde(default)]
    pub quiet: bool,
    pub env: Option<Variables>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LowerFormation {
    /// A folder in the repository.
    pub path: String,
}

/// What is done with an order, and why.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct ChangeOrder {
    /// A folder in the repository.
    pub path: Option<String>,
    /// Why it is paused or cancelled; what is added to it.
    pub reason: Option<String>,
    /// Who asks for it, where that is not who sends it.
    pub by: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SubmitPlan {
    /// A folder in the repository.
    pub path: Option<String>,
    /// The plan, in YAML.
    pub plan: String,
    /// The deferred phase it fills.
    pub phase: Option<String>,
    /// Check it, store nothing.
    #[serde(default)]
    pub dry_run: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CompletePlan {
    /// A folder in the repository.
    pub path: Option<String>,
    pub summary: String,
}

/// A task that stands in for one that failed. `null`: as it was.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RetryTask {
    /// A folder in the repository.
    pub path: Option<String>,
    #[schema(value_type = String)]
    pub retry_of: TaskId,
    pub purpose: Option<String>,
    pub content: Option<String>,
    pub acceptance_criteria: Option<String>,
    pub constraints: Option<Vec<String>>,
    pub expected_paths: Option<Vec<String>>,
    /// 1 to 6.
    pub bloom_level: Option<u8>,
}

/// A worker's report on its task.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct WriteResult {
    #[schema(value_type = String)]
    pub worker: AgentId,
    #[schema(value_type = String)]
    pub task_id: TaskId,
    #[schema(value_type = Option<String>)]
    pub command_id: Option<CommandId>,
    pub lease_epoch: i64,
    /// `completed` or `failed`
    #[schema(value_type = String)]
    pub status: Reported,
    pub summary: String,
    #[serde(default)]
    pub files_changed: Vec<String>,
    /// What failed may have left changes behind.
    #[serde(default)]
    pub partial_changes: bool,
    /// It may be done again without harm.
    #[serde(default = "yes")]
    pub retry_safe: bool,
    pub exit_code: Option<i32>,
}

fn yes() -> bool {
    true
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SendHeartbeat {
    #[schema(value_type = String)]
    pub task_id: TaskId,
    /// `null`: whoever has it.
    #[schema(value_type = Option<String>)]
    pub worker: Option<AgentId>,
    pub lease_epoch: i64,
}

/// Words for a person.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SendNotice {
    /// A folder in the repository it is about.
    pub path: Option<String>,
    pub content: String,
    /// Whose bell is rung.
    pub terminal: Option<String>,
}
