//! The work of a task was merged and checked: it fits in, or it is given back to be mended.

use dandori_domain::{ResultId, TaskId};

use super::order::new_message;
use super::settle::{End, end_task, stand_in};
use super::tell::send_digest;
use super::{Effect, Refused, Step, require_command, require_task};
use crate::ledger::Ledger;
use crate::message::{Delivery, MessageKind};
use crate::result::Outcome;
use crate::task::{Task, TaskState};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    Fits,
    /// In conflict with other work, or a check failed: both sides are named here.
    Misfit {
        why: String,
    },
}

/// Once for each result: what was decided before is not decided again.
pub fn verified<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    task: TaskId,
    result: ResultId,
    verdict: Verdict,
) -> Result<Task, L::Error> {
    let mut task = require_task(ledger, task)?;
    match &task.state {
        TaskState::VerifyPending { result: pending, .. } if *pending == result => {}
        state => {
            return Err(Refused::TaskOver { task: task.id, state: state.name().to_owned() }.into());
        }
    }
    match verdict {
        Verdict::Fits => {
            if let Some(mut row) = ledger.result(result)? {
                row.applied = true;
                ledger.put_result(&row)?;
            }
            end_task(ledger, step, task.id, result, End::Completed)?;
        }
        Verdict::Misfit { why } if task.repairs < step.rules.repairs => {
            task.repairs += 1;
            task.misfit = Some(why);
            task.state = TaskState::RepairPending;
            ledger.put_task(&task)?;
            send_again(ledger, step, &task)?;
        }
        Verdict::Misfit { why } => {
            task.misfit = Some(why.clone());
            task.state = TaskState::PausedForReplan { since: step.now, why };
            ledger.put_task(&task)?;
            let command = require_command(ledger, task.command)?;
            send_digest(ledger, step, command.id, command.priority, Some(result))?;
        }
    }
    require_task(ledger, task.id)
}

/// The task goes to its worker once more, to be mended.
fn send_again<L: Ledger>(ledger: &mut L, step: &mut Step<'_>, task: &Task) -> Result<(), L::Error> {
    let Some(worker) = task.doer.worker() else { return Ok(()) };
    let command = require_command(ledger, task.command)?;
    let is_free = command.is_workable();
    let delivery = if is_free { Delivery::Pending { not_before: None } } else { Delivery::Held };
    let kind = MessageKind::Task { command: command.id, task: task.id };
    let key = format!("task:{}:{}", task.id, task.repairs);
    let mut message = new_message(step, worker, kind, command.priority, key, delivery);
    // Epochs of a task rise over its messages: a report on the work that did not fit in is not one on its repair.
    if let Some(before) = ledger.message_by_key(&format!("task:{}:{}", task.id, task.repairs.saturating_sub(1)))? {
        message.epoch = before.epoch;
    }
    ledger.put_message(&message)?;
    if is_free {
        step.effect(Effect::Wake { agent: worker });
    }
    Ok(())
}

/// The planner has not decided about it in time.
pub(super) fn give_up<L: Ledger>(ledger: &mut L, step: &mut Step<'_>, task: &Task) -> Result<(), L::Error> {
    let why = task.misfit.clone().unwrap_or_default();
    let result = stand_in(ledger, step, task, Outcome::Failed, &why)?;
    end_task(ledger, step, task.id, result, End::Failed)
}
