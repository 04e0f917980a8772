//! A worker reports: the one structured handoff of its task.

use dandori_domain::{Epoch, ResultId, TaskId};
use serde::{Deserialize, Serialize};

use super::settle::{End, end_task};
use super::{Effect, Refused, Step, require_command, require_task};
use crate::agent::AgentId;
use crate::ledger::Ledger;
use crate::message::{Delivery, Lease, Message};
use crate::result::{Author, LateReport, Of, Outcome, Report, Reported, ResultRow, Told, says_too_little};
use crate::task::{Task, TaskState};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportIn {
    pub task: TaskId,
    pub by: AgentId,
    pub epoch: Epoch,
    pub report: Report,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "accepted", rename_all = "snake_case")]
pub enum Accepted {
    Now {
        result: ResultId,
    },
    /// It counts once the agent has stopped and its work is committed.
    Noted,
    /// It was reported before: nothing has changed.
    Before {
        result: ResultId,
    },
    /// It came late, but nobody else had taken the task.
    Adopted {
        result: ResultId,
    },
    /// It came too late to count, and was kept.
    Kept {
        why: Refused,
    },
}

/// Refusals that keep what was reported come back as [`Accepted::Kept`], because they write.
pub fn report<L: Ledger>(ledger: &mut L, step: &mut Step<'_>, new: &ReportIn) -> Result<Accepted, L::Error> {
    let task = require_task(ledger, new.task)?;
    if task.doer.worker() != Some(new.by) {
        return Err(Refused::NotYours { task: task.id, agent: new.by }.into());
    }
    if says_too_little(&new.report.summary, new.report.outcome) {
        return Err(Refused::SaysTooLittle.into());
    }
    if let Some(by) = task.replaced_by {
        return keep(ledger, step, &task, new, Refused::Replaced { task: task.id, by });
    }
    if let TaskState::VerifyPending { result, .. } = task.state {
        return Ok(Accepted::Before { result });
    }
    if let Some(id) = task.state.result() {
        let is_same = ledger
            .result(id)?
            .is_some_and(|result| result.by == Author::Agent(new.by) && result.report.summary == new.report.summary);
        if is_same {
            return Ok(Accepted::Before { result: id });
        }
        let state = task.state.name().to_owned();
        return keep(ledger, step, &task, new, Refused::TaskOver { task: task.id, state });
    }
    let command = require_command(ledger, task.command)?;
    if command.cancel.is_some() {
        return keep(ledger, step, &task, new, Refused::Cancelling { command: command.id });
    }
    let Some(message) = ledger.open_message_of(task.id)? else {
        let state = task.state.name().to_owned();
        return keep(ledger, step, &task, new, Refused::TaskOver { task: task.id, state });
    };
    if new.epoch.0 < 1 || new.epoch > message.epoch {
        return Err(Refused::NeverGiven { given: new.epoch.0, current: message.epoch.0 }.into());
    }
    if message.is_held_under(new.epoch) {
        let result = apply(ledger, step, &task, message, new)?;
        return Ok(Accepted::Now { result });
    }
    if message.lease().is_some() {
        // Somebody else is at it.
        let why = Refused::Stale { task: task.id, given: new.epoch.0, current: message.epoch.0 };
        return keep(ledger, step, &task, new, why);
    }
    let result = adopt(ledger, step, &task, message, new)?;
    Ok(Accepted::Adopted { result })
}

/// The agent that has the task says what came of it, and still runs: noted, and reported with its work once it has stopped. One
/// that does not have it any more is answered as [`report`] does.
pub fn note<L: Ledger>(ledger: &mut L, step: &mut Step<'_>, new: &ReportIn) -> Result<Accepted, L::Error> {
    let task = require_task(ledger, new.task)?;
    let held = match ledger.open_message_of(task.id)? {
        Some(message) if message.is_held_under(new.epoch) => Some(message),
        _ => None,
    };
    let is_wanted = require_command(ledger, task.command)?.cancel.is_none();
    let (Some(mut message), true, Some(_)) = (held, is_wanted, task.doer.worker().filter(|doer| *doer == new.by))
    else {
        return report(ledger, step, new);
    };
    if says_too_little(&new.report.summary, new.report.outcome) {
        return Err(Refused::SaysTooLittle.into());
    }
    if let Delivery::InProgress { lease } = &mut message.delivery {
        lease.said = Some(new.report.clone());
    }
    ledger.put_message(&message)?;
    step.effect(Effect::Wake { agent: new.by });
    Ok(Accepted::Noted)
}

/// Nobody has the task: whoever did the work gets it back for the moment it takes to write down what came of it.
fn adopt<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    task: &Task,
    mut message: Message,
    new: &ReportIn,
) -> Result<ResultId, L::Error> {
    let epoch = Epoch(message.epoch.0 + 1);
    message.epoch = epoch;
    message.delivery = Delivery::InProgress {
        lease: Lease {
            holder: "adopted".to_owned(),
            epoch,
            since: step.now,
            until: step.now,
            accepted_at: Some(step.now),
            has_progress: true,
            is_resume: false,
            said: None,
        },
    };
    ledger.put_late(&late(step, task, new, message.epoch, true))?;
    apply(ledger, step, task, message, new)
}

fn apply<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    task: &Task,
    mut message: Message,
    new: &ReportIn,
) -> Result<ResultId, L::Error> {
    let needs_check = new.report.outcome == Reported::Completed && new.report.work.is_some();
    let result = ResultRow {
        id: step.mint.result(),
        command: task.command,
        of: Of::Task(task.id),
        by: Author::Agent(new.by),
        outcome: Outcome::from(new.report.outcome),
        report: new.report.clone(),
        at: step.now,
        applied: !needs_check,
        told: Told::NotYet,
    };
    ledger.put_result(&result)?;
    message.delivery = match new.report.outcome {
        Reported::Completed => Delivery::Completed { at: step.now },
        Reported::Failed => Delivery::Failed { at: step.now },
    };
    ledger.put_message(&message)?;
    if needs_check {
        let mut task = task.clone();
        task.state = TaskState::VerifyPending { result: result.id, since: step.now };
        ledger.put_task(&task)?;
        step.effect(Effect::Integrate { command: task.command });
    } else {
        let end = match new.report.outcome {
            Reported::Completed => End::Completed,
            Reported::Failed => End::Failed,
        };
        end_task(ledger, step, task.id, result.id, end)?;
    }
    // Its worker is free.
    step.effect(Effect::Wake { agent: new.by });
    Ok(result.id)
}

fn keep<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    task: &Task,
    new: &ReportIn,
    why: Refused,
) -> Result<Accepted, L::Error> {
    let current = ledger.open_message_of(task.id)?.map_or(Epoch(0), |message| message.epoch);
    ledger.put_late(&late(step, task, new, current, false))?;
    Ok(Accepted::Kept { why })
}

fn late(step: &Step<'_>, task: &Task, new: &ReportIn, current: Epoch, adopted: bool) -> LateReport {
    LateReport {
        task: task.id,
        command: task.command,
        by: new.by,
        epoch: new.epoch,
        current,
        report: new.report.clone(),
        at: step.now,
        adopted,
    }
}

/// The newest late report of a task with which it would be completed.
pub(super) fn newest_completed<L: Ledger>(ledger: &mut L, task: TaskId) -> Result<Option<LateReport>, L::Error> {
    let late = ledger.late(task)?;
    Ok(late.into_iter().rev().find(|late| late.report.outcome == Reported::Completed && !late.adopted))
}

/// Its last attempt came to nothing, but an earlier one had finished: that counts.
pub(super) fn adopt_late<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    task: &Task,
    message: Message,
    late: LateReport,
) -> Result<ResultId, L::Error> {
    let new = ReportIn { task: task.id, by: late.by, epoch: late.epoch, report: late.report };
    adopt(ledger, step, task, message, &new)
}
