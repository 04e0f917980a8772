//! From the formation's rows to what is shown of them.

use dandori_formation::command::Tally;
use dandori_formation::continuous::Continuous;
use dandori_formation::{Command, Phase, PhaseKind, PhaseState, Task, TaskState};

use super::{CommandView, ContinuousView, PhaseView, PlanTaskView, PlanView, TaskCounts};
use crate::PullLink;

impl From<Tally> for TaskCounts {
    fn from(tally: Tally) -> Self {
        Self {
            open: tally.open.into(),
            completed: tally.completed.into(),
            failed: tally.failed.into(),
            cancelled: tally.cancelled.into(),
        }
    }
}

impl CommandView {
    pub fn of(command: &Command, phases: &[Phase], pr: Option<PullLink>) -> Self {
        Self {
            id: command.id,
            number: command.number,
            content: command.content.clone(),
            demands: command.demands.clone(),
            state: (&command.state).into(),
            priority: command.priority,
            created_at: command.created_at,
            review: command.review,
            paused: command.paused.as_ref().map(|pause| pause.reason.clone()),
            cancelling: command.cancel.as_ref().filter(|_| !command.is_over()).map(|cancel| cancel.reason.clone()),
            counts: command.tally.into(),
            phases: phases.iter().map(PhaseView::of).collect(),
            pr,
        }
    }
}

impl PhaseView {
    fn of(phase: &Phase) -> Self {
        Self {
            id: phase.id,
            name: phase.name.clone(),
            kind: (&phase.kind).into(),
            state: (&phase.state).into(),
            depends_on: phase.depends_on.clone(),
            counts: phase.tally.into(),
            max_tasks: match &phase.kind {
                PhaseKind::Concrete => None,
                PhaseKind::Deferred { constraints, .. } => Some(constraints.max_tasks),
            },
            fill_until_at: match &phase.state {
                PhaseState::AwaitingFill { deadline } => Some(*deadline),
                _ => None,
            },
        }
    }
}

impl PlanView {
    pub fn of(command: CommandView, tasks: &[Task]) -> Self {
        Self { command, tasks: tasks.iter().map(PlanTaskView::of).collect() }
    }
}

impl PlanTaskView {
    fn of(task: &Task) -> Self {
        Self {
            id: task.id,
            name: task.name.clone(),
            phase: task.phase,
            state: (&task.state).into(),
            worker: task.doer.worker(),
            model: task.model.clone(),
            bloom_level: task.bloom_level,
            required: task.required,
            blocked_by: task.blocked_by.clone(),
            repairs: task.repairs,
            reason: match &task.state {
                TaskState::PausedForReplan { why, .. } => Some(why.clone()),
                _ => task.misfit.clone(),
            },
            retry_of: task.retry_of,
            replaced_by: task.replaced_by,
        }
    }
}

impl ContinuousView {
    /// `None`: it is not in continuous mode.
    pub fn of(continuous: &Continuous) -> Option<Self> {
        continuous.enabled.then_some(Self {
            current_iteration: continuous.current_iteration,
            max_iterations: (continuous.max_iterations > 0).then_some(continuous.max_iterations),
            consecutive_failures: continuous.consecutive_failures,
            stopped: continuous.stopped,
        })
    }
}
