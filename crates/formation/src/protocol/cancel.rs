//! A command is called off. That is never taken back: nothing of it is given out or accepted from then on.

use dandori_domain::{CommandId, Epoch, TaskId};

use super::phases::drop_fill;
use super::settle::{End, end_task, stand_in};
use super::tell::wake_planner;
use super::{Effect, Refused, Step, require_command, require_task};
use crate::command::{CancelRequest, Command, CommandState};
use crate::ledger::Ledger;
use crate::message::Delivery;
use crate::phase::PhaseState;
use crate::result::Outcome;
use crate::task::{CancelCause, TaskState};

/// What waits is cancelled at once; what an agent has is interrupted, and cancelled when that is done ([`interrupted`]).
pub fn cancel<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    command: CommandId,
    by: &str,
    reason: &str,
) -> Result<Command, L::Error> {
    let mut command = require_command(ledger, command)?;
    if command.is_over() {
        return Err(Refused::Over { command: command.id, state: command.state.name().to_owned() }.into());
    }
    if command.cancel.is_some() {
        return Ok(command);
    }
    command.cancel = Some(CancelRequest { by: by.to_owned(), reason: reason.to_owned(), at: step.now });
    if command.state == CommandState::Queued {
        command.state = CommandState::Over { at: step.now, outcome: Outcome::Cancelled, result: None };
        ledger.put_command(&command)?;
        for mut message in ledger.open_messages(command.id)? {
            message.delivery = Delivery::Cancelled { at: step.now };
            ledger.put_message(&message)?;
        }
        step.effect(Effect::Over { command: command.id });
        return Ok(command);
    }
    ledger.put_command(&command)?;
    // Phases first: one that is awaited must not be asked for by what is cancelled below.
    for mut phase in ledger.phases(command.id)? {
        if matches!(phase.state, PhaseState::Pending | PhaseState::AwaitingFill { .. }) {
            drop_fill(ledger, step, &phase)?;
            phase.state = PhaseState::Cancelled { because_of: None };
            ledger.put_phase(&phase)?;
        }
    }
    let open: Vec<TaskId> =
        ledger.tasks(command.id)?.iter().filter(|t| t.is_current() && !t.state.is_over()).map(|t| t.id).collect();
    for id in open {
        let task = require_task(ledger, id)?;
        match task.state {
            // Ended by one before it.
            _ if task.state.is_over() => {}
            TaskState::Dispatched { epoch } | TaskState::Running { epoch } => {
                step.effect(Effect::Interrupt { task: id, epoch });
            }
            _ => {
                let result = stand_in(ledger, step, &task, Outcome::Cancelled, reason)?;
                end_task(ledger, step, id, result, End::Cancelled(CancelCause::Requested))?;
            }
        }
    }
    wake_planner(ledger, step, command.id)?;
    require_command(ledger, command.id)
}

/// The agent that had this task has been stopped, because nobody wants it any more.
pub fn interrupted<L: Ledger>(ledger: &mut L, step: &mut Step<'_>, task: TaskId, epoch: Epoch) -> Result<(), L::Error> {
    let task = require_task(ledger, task)?;
    let is_meant = match task.state {
        TaskState::Dispatched { epoch: held } | TaskState::Running { epoch: held } => held == epoch,
        _ => false,
    };
    let command = require_command(ledger, task.command)?;
    let Some(request) = command.cancel.filter(|_| is_meant) else { return Ok(()) };
    let result = stand_in(ledger, step, &task, Outcome::Cancelled, &request.reason)?;
    end_task(ledger, step, task.id, result, End::Cancelled(CancelCause::Requested))?;
    if let Some(worker) = task.doer.worker() {
        step.effect(Effect::Wake { agent: worker });
    }
    Ok(())
}
