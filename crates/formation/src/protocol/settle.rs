//! A task is over: what that means for those who waited for it, for its phase and for its command.

use dandori_domain::{Oid, ResultId, TaskId};

use super::phases::phase_changed;
use super::tell::wake_planner;
use super::{Effect, Step, require_command, require_task};
use crate::ledger::Ledger;
use crate::message::Delivery;
use crate::result::{Author, Of, Outcome, Report, Reported, ResultRow, Told};
use crate::task::{CancelCause, Task, TaskState};

/// How a task ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum End {
    Completed,
    Failed,
    Cancelled(CancelCause),
}

impl End {
    fn outcome(&self) -> Outcome {
        match self {
            Self::Completed => Outcome::Completed,
            Self::Failed => Outcome::Failed,
            Self::Cancelled(_) => Outcome::Cancelled,
        }
    }
}

/// Ends a task with a result that is stored already, and everything that follows from it.
pub(super) fn end_task<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    task: TaskId,
    result: ResultId,
    end: End,
) -> Result<(), L::Error> {
    let command = require_task(ledger, task)?.command;
    let mut open: Vec<(TaskId, ResultId, End)> = vec![(task, result, end)];
    let mut phases = Vec::new();
    // Not recursive: a chain of tasks may be long.
    while let Some((id, result, end)) = open.pop() {
        let task = close(ledger, step, id, result, &end)?;
        phases.extend(task.phase);
        for dependent in ledger.dependents(id)? {
            let mut dependent = require_task(ledger, dependent)?;
            if dependent.state.is_over() || !dependent.is_current() {
                continue;
            }
            if end == End::Completed {
                dependent.waits_for = dependent.waits_for.saturating_sub(1);
                if dependent.waits_for == 0 && dependent.state == TaskState::Planned {
                    dependent.state = TaskState::Ready;
                    ledger.put_task(&dependent)?;
                    let_go(ledger, step, &dependent)?;
                } else {
                    ledger.put_task(&dependent)?;
                }
            } else {
                let cause = CancelCause::BlockedDependencyTerminal { task: id };
                let result =
                    stand_in(ledger, step, &dependent, Outcome::Cancelled, &format!("{} did not complete", task.name))?;
                open.push((dependent.id, result, End::Cancelled(cause)));
            }
        }
    }
    phases.sort_unstable();
    phases.dedup();
    for phase in phases {
        phase_changed(ledger, step, phase)?;
    }
    wake_planner(ledger, step, command)
}

/// The task itself, its message and the counts it is part of.
fn close<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    id: TaskId,
    result: ResultId,
    end: &End,
) -> Result<Task, L::Error> {
    let mut task = require_task(ledger, id)?;
    task.state = match end {
        End::Completed => TaskState::Completed { result },
        End::Failed => TaskState::Failed { result },
        End::Cancelled(cause) => TaskState::Cancelled { result, cause: cause.clone() },
    };
    ledger.put_task(&task)?;
    if let Some(mut message) = ledger.open_message_of(id)? {
        message.delivery = match end {
            End::Completed => Delivery::Completed { at: step.now },
            End::Failed => Delivery::Failed { at: step.now },
            End::Cancelled(_) => Delivery::Cancelled { at: step.now },
        };
        ledger.put_message(&message)?;
    }
    let outcome = end.outcome();
    let mut command = require_command(ledger, task.command)?;
    command.open = command.open.saturating_sub(1);
    if task.required {
        command.tally.take(None);
        command.tally.add(Some(outcome));
    }
    ledger.put_command(&command)?;
    if let Some(phase) = task.phase
        && let Some(mut phase) = ledger.phase(phase)?
        && phase.counts(task.required)
    {
        phase.tally.take(None);
        phase.tally.add(Some(outcome));
        ledger.put_phase(&phase)?;
    }
    Ok(task)
}

/// A task that waits for nothing any more may be given out.
pub(super) fn let_go<L: Ledger>(ledger: &mut L, step: &mut Step<'_>, task: &Task) -> Result<(), L::Error> {
    if task.is_system() {
        step.effect(Effect::Commit { task: task.id });
        return Ok(());
    }
    let command = require_command(ledger, task.command)?;
    let Some(mut message) = ledger.open_message_of(task.id)? else { return Ok(()) };
    if message.delivery == Delivery::Held && command.is_workable() {
        message.delivery = Delivery::Pending { not_before: None };
        ledger.put_message(&message)?;
        step.effect(Effect::Wake { agent: message.to });
    }
    Ok(())
}

/// A result where nobody has reported one.
pub(super) fn stand_in<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    task: &Task,
    outcome: Outcome,
    why: &str,
) -> Result<ResultId, L::Error> {
    let was_begun = task.state.is_with_agent();
    let result = ResultRow {
        id: step.mint.result(),
        command: task.command,
        of: Of::Task(task.id),
        by: Author::Engine,
        outcome,
        report: words(why, was_begun, None),
        at: step.now,
        applied: true,
        told: Told::NotYet,
    };
    ledger.put_result(&result)?;
    Ok(result.id)
}

fn words(summary: &str, partial_changes: bool, work: Option<Oid>) -> Report {
    Report {
        outcome: Reported::Failed,
        summary: summary.to_owned(),
        files_changed: Vec::new(),
        partial_changes,
        retry_safe: !partial_changes,
        exit_code: None,
        work,
    }
}
