//! What a formation answers.

use dandori_domain::{CommandId, MessageId, PhaseId, ResultId, TaskId};
use dandori_formation::protocol::{Retried, RetriedTask, Submitted, SubmittedPhase, SubmittedTask};
use dandori_formation::result::Outcome;
use dandori_formation::{AgentId, Refused};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{CommandView, PlanView, WorkKind};
use crate::ErrorView;

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct OrderGiven {
    #[schema(value_type = String)]
    pub command_id: CommandId,
    /// What people call it.
    pub number: u32,
    /// What it asks for, one by one; empty: its plan need not say what it covers.
    pub demands: Vec<String>,
    /// Whether the formation gives out work.
    pub is_up: bool,
}

/// What `queue write` prints.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct QueueWritten {
    /// The order that was given or cancelled; `null`: a message was sent.
    #[schema(value_type = Option<String>)]
    pub command_id: Option<CommandId>,
    /// What people call it.
    pub number: Option<u32>,
    #[schema(value_type = Option<String>)]
    pub message_id: Option<MessageId>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct WordsSent {
    #[schema(value_type = String)]
    pub message_id: MessageId,
}

/// What `up` and `down` print.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct StandingView {
    /// The main checkout.
    pub repository: String,
    pub is_up: bool,
    #[schema(value_type = Option<String>)]
    pub since_at: Option<Timestamp>,
    pub boost: bool,
    pub continuous: bool,
    /// Whether a person is notified when an order is over.
    pub notify: bool,
    /// Orders that were cancelled by a reset.
    pub canceled: Vec<CommandView>,
    /// Orders that are not over.
    pub open: u64,
}

/// Orders, those that are not over first.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct OrderList {
    pub orders: Vec<CommandView>,
    pub total: u64,
}

/// An order with its plan and everything that came back.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct OrderView {
    #[serde(flatten)]
    pub plan: PlanView,
    /// Whether the formation gives out work.
    pub is_up: bool,
    /// The oldest first.
    pub results: Vec<ResultView>,
    /// What it has come to, in its planner's words.
    pub summary: Option<String>,
    /// Over, and its pull request merged or closed, where there is one: nothing more is expected.
    pub is_done: bool,
    /// It is complete, and its pull request is still to be made.
    pub awaits_pull: bool,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct ResultView {
    #[schema(value_type = String)]
    pub id: ResultId,
    /// `null`: it is the order's own.
    #[schema(value_type = Option<String>)]
    pub task: Option<TaskId>,
    /// Of the task.
    pub name: Option<String>,
    /// `null`: nobody reported; dandori wrote it.
    #[schema(value_type = Option<String>)]
    pub by: Option<AgentId>,
    /// `completed`, `failed`, `cancelled`
    #[schema(value_type = String)]
    pub outcome: Outcome,
    pub summary: String,
    pub files_changed: Vec<String>,
    pub partial_changes: bool,
    pub retry_safe: bool,
    /// It counts. One that is being checked, or whose work did not fit in, does not.
    pub applied: bool,
    #[schema(value_type = String)]
    pub at: Timestamp,
}

/// What was done with an order.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct OrderChanged {
    pub order: CommandView,
    /// The order that stands in its place now.
    pub replaced_by: Option<CommandView>,
    /// The planner was told with this message.
    #[schema(value_type = Option<String>)]
    pub message_id: Option<MessageId>,
}

/// What a plan has become. Without phases it has `tasks`, with phases `phases` and, in continuous mode, the commit step in `tasks`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PlanTaken {
    /// Always `true`: what is not valid is refused.
    pub valid: bool,
    /// It was checked alone: nothing is stored, and the ids are not given again.
    pub dry_run: bool,
    #[schema(value_type = String)]
    pub command_id: CommandId,
    pub tasks: Option<Vec<TakenTask>>,
    pub phases: Option<Vec<TakenPhase>>,
    /// What is worth knowing about it, in the language that was asked for.
    pub advice: Vec<String>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct TakenTask {
    pub name: String,
    #[schema(value_type = String)]
    pub task_id: TaskId,
    /// `null`: dandori takes the step itself.
    #[schema(value_type = Option<String>)]
    pub worker: Option<AgentId>,
    pub model: Option<String>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct TakenPhase {
    pub name: String,
    #[schema(value_type = String)]
    pub phase_id: PhaseId,
    #[serde(rename = "type")]
    pub kind: String,
    pub status: String,
    /// `null`: it has none yet.
    pub tasks: Option<Vec<TakenTask>>,
}

impl PlanTaken {
    pub fn of(submitted: Submitted, advice: Vec<String>, is_dry_run: bool) -> Self {
        let phases = submitted.phases.map(|phases| phases.into_iter().map(TakenPhase::of).collect());
        Self {
            valid: true,
            dry_run: is_dry_run,
            command_id: submitted.command_id,
            tasks: submitted.tasks.map(|tasks| tasks.into_iter().map(TakenTask::of).collect()),
            phases,
            advice,
        }
    }
}

impl TakenTask {
    fn of(task: SubmittedTask) -> Self {
        Self { name: task.name, task_id: task.task_id, worker: task.worker, model: task.model }
    }
}

impl TakenPhase {
    fn of(phase: SubmittedPhase) -> Self {
        let tasks = phase.tasks.map(|tasks| tasks.into_iter().map(TakenTask::of).collect());
        Self { name: phase.name, phase_id: phase.phase_id, kind: phase.kind, status: phase.status, tasks }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PlanCompleted {
    #[schema(value_type = String)]
    pub command_id: CommandId,
    /// `completed`, `failed`, `cancelled`: it follows from the tasks.
    #[schema(value_type = String)]
    pub status: Outcome,
    #[schema(value_type = String)]
    pub result_id: ResultId,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RetryAdded {
    #[schema(value_type = String)]
    pub task_id: TaskId,
    #[schema(value_type = Option<String>)]
    pub worker: Option<AgentId>,
    pub model: Option<String>,
    /// The task it stands in for.
    #[schema(value_type = String)]
    pub replaced: TaskId,
    /// Tasks that were cancelled because of it and are back.
    pub cascade_recovered: Vec<RecoveredTask>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct RecoveredTask {
    #[schema(value_type = String)]
    pub task_id: TaskId,
    #[schema(value_type = Option<String>)]
    pub worker: Option<AgentId>,
    pub model: Option<String>,
    #[schema(value_type = String)]
    pub replaced: TaskId,
}

impl From<Retried> for RetryAdded {
    fn from(retried: Retried) -> Self {
        let recovered = |task: RetriedTask| RecoveredTask {
            task_id: task.task_id,
            worker: task.worker,
            model: task.model,
            replaced: task.replaced,
        };
        Self {
            task_id: retried.task_id,
            worker: retried.worker,
            model: retried.model,
            replaced: retried.replaced,
            cascade_recovered: retried.cascade_recovered.into_iter().map(recovered).collect(),
        }
    }
}

/// What became of a report.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ResultWritten {
    #[schema(value_type = String)]
    pub task_id: TaskId,
    pub accepted: Acceptance,
    /// `null`: it does not count yet, or not at all.
    #[schema(value_type = Option<String>)]
    pub result_id: Option<ResultId>,
    /// Why it was kept without counting.
    #[schema(value_type = Option<Object>)]
    pub kept_because: Option<Refused>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Acceptance {
    Now,
    /// It counts once the run has ended and its work is committed.
    Noted,
    /// It was reported before: nothing has changed.
    Before,
    /// It came late, but nobody else had taken the task.
    Adopted,
    /// It came too late to count, and was kept.
    Kept,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct HeartbeatTaken {
    #[schema(value_type = String)]
    pub task_id: TaskId,
    pub lease_epoch: i64,
    /// Until when the task is its.
    #[schema(value_type = Option<String>)]
    pub until_at: Option<Timestamp>,
}

/// A message that could not be delivered.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct DeadLetterView {
    #[schema(value_type = String)]
    pub id: MessageId,
    #[schema(value_type = String)]
    pub to: AgentId,
    pub kind: WorkKind,
    #[schema(value_type = Option<String>)]
    pub command: Option<CommandId>,
    /// The order's number.
    pub number: Option<u32>,
    #[schema(value_type = Option<String>)]
    pub task: Option<TaskId>,
    /// Of the task or the phase.
    pub name: Option<String>,
    pub attempts: u32,
    /// What went wrong the last time.
    pub reason: Option<String>,
    #[schema(value_type = String)]
    pub created_at: Timestamp,
    #[schema(value_type = Option<String>)]
    pub dead_at: Option<Timestamp>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DeadLetterList {
    pub dead_letters: Vec<DeadLetterView>,
    pub total: u64,
}

/// What a dead letter has become: one of these.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DeadLetterRequeued {
    /// The same message waits again.
    #[schema(value_type = Option<String>)]
    pub message_id: Option<MessageId>,
    /// Its task had failed with it: this one stands in its place.
    #[schema(value_type = Option<String>)]
    pub task_id: Option<TaskId>,
    /// Its order had failed with it: this is the same order once more.
    #[schema(value_type = Option<String>)]
    pub command_id: Option<CommandId>,
}

/// A plan or report that was refused, as it came.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct QuarantinedView {
    pub number: i64,
    /// `plan` or `result`
    pub kind: String,
    #[schema(value_type = Option<String>)]
    pub command: Option<CommandId>,
    #[schema(value_type = Option<String>)]
    pub task: Option<TaskId>,
    /// The phase a plan was for.
    pub phase: Option<String>,
    /// `null`: a person.
    #[schema(value_type = Option<String>)]
    pub by: Option<AgentId>,
    #[schema(value_type = String)]
    pub at: Timestamp,
    /// Why it was refused.
    pub error: ErrorView,
    pub content: String,
    /// It was given again since, and taken.
    #[schema(value_type = Option<String>)]
    pub restored_at: Option<Timestamp>,
}

/// The newest first.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct QuarantineList {
    pub quarantined: Vec<QuarantinedView>,
    pub total: u64,
}

/// What refused input has become that was given once more: one of these.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct QuarantineRestored {
    pub number: i64,
    pub plan: Option<PlanTaken>,
    pub result: Option<ResultWritten>,
}

/// What `doctor --formation` found and did.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct FormationSound {
    /// The main checkout.
    pub repository: String,
    /// Looked at.
    pub commands: u64,
    pub tasks: u64,
    pub messages: u64,
    pub violations: Vec<ViolationView>,
    pub repairs: Vec<RepairView>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct ViolationView {
    /// `I5`
    pub invariant: String,
    pub what: String,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct RepairView {
    pub repair: RepairKind,
    #[schema(value_type = Option<String>)]
    pub command: Option<CommandId>,
    /// Of the task or the phase.
    pub name: Option<String>,
    #[schema(value_type = Option<String>)]
    pub message: Option<MessageId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RepairKind {
    /// R6: a phase was not filled in time.
    TimedOut,
    /// R10: the planner did not decide in time.
    GivenUp,
    /// R7 to R9: work waits to be merged.
    WokenToMerge,
    LeaseExpired,
    /// The planner is told what it had not been told.
    Told,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct FormationSoundness {
    pub formations: Vec<FormationSound>,
}

/// What `setup` did.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SetupDone {
    pub repository: String,
    pub files: Vec<SetupFile>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct SetupFile {
    pub path: String,
    /// `false`: it was there, and is as it was.
    pub is_new: bool,
}
