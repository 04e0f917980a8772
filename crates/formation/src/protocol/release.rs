//! A lease ends without a result: the message could not be delivered, its agent died, or nobody has heard of it for too long.

use dandori_domain::{Epoch, MessageId};
use serde::{Deserialize, Serialize};

use super::cancel::interrupted;
use super::claim::extended;
use super::dead_letter::bury;
use super::{Effect, Step, require_command, require_lease, require_message, require_task};
use crate::ledger::Ledger;
use crate::message::{Delivery, Message};
use crate::rules::after;
use crate::task::{Task, TaskState};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "released", rename_all = "snake_case")]
pub enum Released {
    /// The agent did not get it.
    NotDelivered { why: String },
    /// The agent was ended in the middle, and not for anything it did.
    Interrupted { why: String },
    /// The agent had it, and stopped without a result.
    CameToNothing { why: String },
}

impl Released {
    fn why(&self) -> &str {
        match self {
            Self::NotDelivered { why } | Self::Interrupted { why } | Self::CameToNothing { why } => why,
        }
    }
}

/// What is seen of an agent whose lease has run out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sight {
    Busy,
    Idle,
    /// Its process is gone.
    Gone,
}

/// Gives a message back to the queue, or, after too many attempts, to the dead letters.
pub fn release<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    message: MessageId,
    epoch: Epoch,
    released: &Released,
) -> Result<Message, L::Error> {
    let message = require_lease(ledger, message, epoch)?;
    give_back(ledger, step, message, released)
}

/// The lease has run out. A busy agent keeps its message for as long as one may; otherwise it goes back. Nothing is done when it
/// was extended or given to somebody else in between.
pub fn expire<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    message: MessageId,
    epoch: Epoch,
    sight: Sight,
) -> Result<Message, L::Error> {
    let mut message = require_lease(ledger, message, epoch)?;
    let Delivery::InProgress { lease } = &mut message.delivery else { return Ok(message) };
    if lease.until > step.now {
        return Ok(message);
    }
    let is_too_long = step.now >= after(lease.since, step.rules.longest_seconds);
    if sight == Sight::Busy && !is_too_long {
        lease.until = extended(lease, step);
        ledger.put_message(&message)?;
        return Ok(message);
    }
    if sight != Sight::Gone
        && let Some(task) = message.kind.task()
    {
        // It may go on for all we know: it is stopped before anybody else begins.
        step.effect(Effect::Interrupt { task, epoch });
    }
    let why = match sight {
        Sight::Busy => "it took too long",
        Sight::Idle => "nothing came of it",
        Sight::Gone => "the agent is gone",
    };
    let released = match sight {
        Sight::Gone => Released::Interrupted { why: why.to_owned() },
        Sight::Busy | Sight::Idle => Released::CameToNothing { why: why.to_owned() },
    };
    give_back(ledger, step, message, &released)
}

fn give_back<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    mut message: Message,
    released: &Released,
) -> Result<Message, L::Error> {
    let had_progress = message.lease().is_some_and(|lease| lease.has_progress);
    message.last_error = Some(released.why().to_owned());
    if had_progress && matches!(released, Released::Interrupted { .. }) {
        message.attempts = message.attempts.saturating_sub(1);
        message.interrupts += 1;
        message.resume_next = message.resumes < step.rules.resumes;
    }
    message.delivery = Delivery::Pending {
        not_before: match released {
            Released::NotDelivered { .. } => Some(step.rules.try_again_at(step.now, message.attempts)),
            Released::Interrupted { .. } | Released::CameToNothing { .. } => None,
        },
    };
    let task = message.kind.task().map(|task| require_task(ledger, task)).transpose()?;
    if let Some(mut task) = task {
        let command = require_command(ledger, task.command)?;
        if command.cancel.is_some() {
            // Nobody wants it any more, and now nobody has it.
            interrupted(ledger, step, task.id, message.epoch)?;
            return require_message(ledger, message.id);
        }
        task.state = before_dispatch(&task);
        ledger.put_task(&task)?;
        if !command.is_workable() {
            message.delivery = Delivery::Held;
        }
    }
    let is_used_up =
        message.attempts >= step.rules.attempts_for(&message.kind) || message.interrupts > step.rules.interrupts;
    ledger.put_message(&message)?;
    if is_used_up {
        return bury(ledger, step, message);
    }
    step.effect(Effect::Wake { agent: message.to });
    Ok(message)
}

/// What a task is that nobody has and that could be given out.
pub(super) fn before_dispatch(task: &Task) -> TaskState {
    if task.misfit.is_some() { TaskState::RepairPending } else { TaskState::Ready }
}
