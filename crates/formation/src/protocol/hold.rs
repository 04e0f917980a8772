//! A command is held up, or goes on: by a person who pauses it, or who approves of its plan.

use dandori_domain::CommandId;

use super::{Effect, Refused, Step, require_command};
use crate::command::{Command, Pause, Review};
use crate::ledger::Ledger;
use crate::message::{Delivery, MessageKind};
use crate::task::TaskState;

/// What agents have goes on; nothing more is given out.
pub fn pause<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    command: CommandId,
    reason: &str,
) -> Result<Command, L::Error> {
    let mut command = require_open(ledger, command)?;
    if command.paused.is_none() {
        command.paused = Some(Pause { reason: reason.to_owned(), at: step.now });
        ledger.put_command(&command)?;
        settle_messages(ledger, step, &command)?;
    }
    Ok(command)
}

pub fn resume<L: Ledger>(ledger: &mut L, step: &mut Step<'_>, command: CommandId) -> Result<Command, L::Error> {
    let mut command = require_open(ledger, command)?;
    if command.paused.take().is_some() {
        ledger.put_command(&command)?;
        settle_messages(ledger, step, &command)?;
    }
    Ok(command)
}

/// A person has looked at the plan and wants it done.
pub fn approve<L: Ledger>(ledger: &mut L, step: &mut Step<'_>, command: CommandId) -> Result<Command, L::Error> {
    let mut command = require_open(ledger, command)?;
    match command.review {
        Review::NotWanted => return Err(Refused::NoReview { command: command.id }.into()),
        Review::Approved => return Ok(command),
        Review::Wanted if !command.is_sealed() => return Err(Refused::NotSubmitted { command: command.id }.into()),
        Review::Wanted => command.review = Review::Approved,
    }
    ledger.put_command(&command)?;
    settle_messages(ledger, step, &command)?;
    Ok(command)
}

fn require_open<L: Ledger>(ledger: &mut L, command: CommandId) -> Result<Command, L::Error> {
    let command = require_command(ledger, command)?;
    if command.is_over() {
        return Err(Refused::Over { command: command.id, state: command.state.name().to_owned() }.into());
    }
    if command.cancel.is_some() {
        return Err(Refused::Cancelling { command: command.id }.into());
    }
    Ok(command)
}

/// Tasks that could be worked on wait to be delivered while their command may be worked on, and are held back while not.
fn settle_messages<L: Ledger>(ledger: &mut L, step: &mut Step<'_>, command: &Command) -> Result<(), L::Error> {
    let is_workable = command.is_workable();
    for mut message in ledger.open_messages(command.id)? {
        let MessageKind::Task { task, .. } = message.kind else { continue };
        let may_be_given =
            ledger.task(task)?.is_some_and(|task| matches!(task.state, TaskState::Ready | TaskState::RepairPending));
        let wanted = match (&message.delivery, is_workable && may_be_given) {
            (Delivery::Held, true) => Delivery::Pending { not_before: None },
            (Delivery::Pending { .. }, false) => Delivery::Held,
            _ => continue,
        };
        message.delivery = wanted;
        ledger.put_message(&message)?;
        if is_workable {
            step.effect(Effect::Wake { agent: message.to });
        }
    }
    Ok(())
}
