//! A formation as it is now: its agents, its orders, what they cost. `status`, the board, `dashboard.md` and the metrics all show
//! these.

mod answer;
mod ask;
mod of;
mod plan;
mod stage;

use dandori_domain::{CommandId, TaskId};
use dandori_formation::continuous::StopReason;
use dandori_formation::{AgentId, Role};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use answer::*;
pub use ask::*;
pub use plan::{CommandView, PhaseView, PlanTaskView, PlanView, TaskCounts};
pub use stage::{CommandStage, PhaseStage, PhaseType, TaskStage, WorkKind};

/// Everything about a formation at one moment.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct FormationView {
    /// The main checkout.
    pub repository: String,
    /// Whether its agents get work.
    pub is_up: bool,
    #[schema(value_type = String)]
    pub seen_at: Timestamp,
    /// Orchestrator, planner, then the workers.
    pub agents: Vec<AgentView>,
    /// Not over, the oldest first, then the last few that are.
    pub commands: Vec<CommandView>,
    pub budgets: Vec<BudgetView>,
    pub tokens: TokenView,
    /// `null`: one order at a time, each from a person.
    pub continuous: Option<ContinuousView>,
    pub counters: FormationCounters,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct AgentView {
    /// `orchestrator`, `planner`, `worker3`
    #[schema(value_type = String)]
    pub agent: AgentId,
    #[schema(value_type = String)]
    pub role: Role,
    /// `claude`, `codex`, `gemini`, …
    pub client: String,
    /// `null`: each task is started with the model it needs, or the client chooses.
    pub model: Option<String>,
    pub channel: Channel,
    pub state: AgentState,
    /// Since when it is in this state.
    #[schema(value_type = Option<String>)]
    pub since_at: Option<Timestamp>,
    /// How this is known.
    pub fact: AgentFact,
    /// Messages that wait for it.
    pub queued: u64,
    pub work: Option<WorkView>,
}

/// How an agent is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    Headless,
    Tmux,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// It was not started, or was stopped.
    Stopped,
    Starting,
    Idle,
    /// It was given a message and has not shown that it has it.
    Delivering,
    Busy,
    /// It asks a person.
    Asking,
    /// It ended by itself.
    Gone,
}

impl AgentState {
    pub const ALL: [Self; 7] =
        [Self::Stopped, Self::Starting, Self::Idle, Self::Delivering, Self::Busy, Self::Asking, Self::Gone];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Starting => "starting",
            Self::Idle => "idle",
            Self::Delivering => "delivering",
            Self::Busy => "busy",
            Self::Asking => "asking",
            Self::Gone => "gone",
        }
    }
}

/// What a state was derived from. Nothing is guessed from what stands on a screen.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum AgentFact {
    /// Nothing has started it.
    NotStarted,
    /// A hook event of its own client: `PreToolUse`, `Stop`, …
    Hook { event: String },
    /// The title its client gives its terminal.
    Title { title: String },
    /// What its run says: `RUNNING`, `STAGING`, …
    Run { run: String, state: String },
    /// It was typed into its pane, or its process was started.
    Delivered,
    /// It has nothing to do: no message is with it.
    NoMessage,
    /// Its process ended; `null`: by a signal, or the code is not known.
    Exited { code: Option<i32> },
    /// Its pane is not there.
    PaneGone,
    /// A person stopped it.
    StoppedByPerson,
}

/// What an agent has.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct WorkView {
    pub kind: WorkKind,
    #[schema(value_type = Option<String>)]
    pub command: Option<CommandId>,
    /// The order's number.
    pub number: Option<u32>,
    #[schema(value_type = Option<String>)]
    pub task: Option<TaskId>,
    /// Of the task or the phase.
    pub name: Option<String>,
    pub attempt: u32,
    pub lease_epoch: i64,
    #[schema(value_type = String)]
    pub since_at: Timestamp,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct BudgetView {
    pub scope: BudgetScope,
    /// What it is a budget of: a task's name, an order's number, a day.
    pub name: String,
    /// In US dollars.
    pub limit_cost: f64,
    /// What was spent of it. `null`: no client has said.
    pub cost: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BudgetScope {
    Task,
    Command,
    Day,
}

impl BudgetScope {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Command => "command",
            Self::Day => "day",
        }
    }
}

/// What agents used, as far as their clients have said.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct TokenView {
    /// By orchestrator and planner.
    pub coordination: u64,
    /// By everybody.
    pub all: u64,
    /// More than this share of coordination is too much; `null`: no limit.
    pub limit_percent: Option<u8>,
}

impl TokenView {
    /// `None`: nothing was used yet.
    pub fn coordination_percent(&self) -> Option<u64> {
        self.coordination.saturating_mul(100).checked_div(self.all)
    }

    pub fn is_over_limit(&self) -> bool {
        let over = |limit: u8| self.coordination.saturating_mul(100) > self.all.saturating_mul(u64::from(limit));
        self.limit_percent.is_some_and(over)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct ContinuousView {
    pub current_iteration: u32,
    /// `null`: no limit.
    pub max_iterations: Option<u32>,
    pub consecutive_failures: u32,
    /// `null`: the next order may come.
    #[schema(value_type = Option<String>)]
    pub stopped: Option<StopReason>,
}

/// Counted since the formation was set up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct FormationCounters {
    pub commands: TaskCounts,
    pub tasks: TaskCounts,
    /// Messages that were given to an agent.
    pub deliveries: u64,
    pub failed_deliveries: u64,
    /// Reports that came too late, kept.
    pub late_reports: u64,
    /// Tasks whose work was given back because it did not fit in.
    pub repairs: u64,
    /// Messages that could not be delivered and wait for a person, now.
    pub dead_letters: u64,
}
