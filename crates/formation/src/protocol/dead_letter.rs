//! A message that cannot be delivered is set aside, and whoever waits for what it was about is not left waiting.

use dandori_domain::{CommandId, MessageId, TaskId};
use serde::{Deserialize, Serialize};

use super::complete::end_command;
use super::phases::time_out;
use super::report::{adopt_late, newest_completed};
use super::retry::{NewRetry, add_retry};
use super::settle::{End, end_task, stand_in};
use super::{Effect, NoRequeue, Refused, Step, require_command, require_message, require_task};
use crate::assign::Crew;
use crate::command::CommandState;
use crate::ledger::Ledger;
use crate::message::{Delivery, Message, MessageKind};
use crate::result::{Author, Outcome, Told};

/// Sets a pending message aside, with its consequence upstream.
pub(super) fn bury<L: Ledger>(ledger: &mut L, step: &mut Step<'_>, mut message: Message) -> Result<Message, L::Error> {
    let why = message.last_error.clone().unwrap_or_default();
    if let MessageKind::Task { task, .. } = message.kind {
        let task = require_task(ledger, task)?;
        if let Some(late) = newest_completed(ledger, task.id)? {
            adopt_late(ledger, step, &task, message.clone(), late)?;
            return require_message(ledger, message.id);
        }
    }
    message.delivery = Delivery::DeadLetter { at: step.now, why: why.clone() };
    ledger.put_message(&message)?;
    match &message.kind {
        MessageKind::Task { task, .. } => {
            let task = require_task(ledger, *task)?;
            if !task.state.is_over() {
                let result = stand_in(ledger, step, &task, Outcome::Failed, &format!("not delivered: {why}"))?;
                end_task(ledger, step, task.id, result, End::Failed)?;
            }
        }
        MessageKind::Command { command } => {
            let mut command = require_command(ledger, *command)?;
            if command.state == CommandState::Queued {
                let summary = format!("no plan: {why}");
                end_command(ledger, step, &mut command, Outcome::Failed, &summary, Author::Engine)?;
            }
        }
        MessageKind::Fill { phase, .. } => {
            if let Some(phase) = ledger.phase(*phase)?.filter(|phase| !phase.state.is_over()) {
                time_out(ledger, step, phase)?;
            }
        }
        MessageKind::Digest { results, .. } => {
            for id in results {
                if let Some(mut result) = ledger.result(*id)? {
                    result.told = Told::DeadLettered;
                    ledger.put_result(&result)?;
                }
            }
        }
        MessageKind::Notice { .. } | MessageKind::Words { .. } => {}
    }
    require_message(ledger, message.id)
}

/// What a dead letter has become.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "requeued", rename_all = "snake_case")]
pub enum Requeued {
    /// The same message waits again.
    Message { message: MessageId },
    /// Its task had failed with it: this one stands in its place.
    Task { task: TaskId },
    /// Its command had failed with it: this is the same order once more.
    Command { command: CommandId },
}

/// A person has mended what was in the way.
pub fn requeue<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    message: MessageId,
    crew: &Crew,
) -> Result<Requeued, L::Error> {
    let mut message = require_message(ledger, message)?;
    let Delivery::DeadLetter { .. } = message.delivery else {
        let delivery = message.delivery.name().to_owned();
        return Err(Refused::NotDead { message: message.id, delivery }.into());
    };
    let no = |why| Refused::CannotRequeue { message: message.id, why };
    match &message.kind {
        MessageKind::Task { command, task } => {
            if require_command(ledger, *command)?.is_over() {
                return Err(no(NoRequeue::CommandOver).into());
            }
            let brief = ledger.brief(*task)?;
            let level = require_task(ledger, *task)?.bloom_level;
            let again = add_retry(ledger, step, *command, &NewRetry { of: *task, brief, bloom_level: level }, crew)?;
            Ok(Requeued::Task { task: again.task_id })
        }
        MessageKind::Command { command } => {
            let command = require_command(ledger, *command)?;
            let new = super::NewCommand {
                content: command.content,
                demands: command.demands,
                priority: command.priority,
                review: command.review,
            };
            Ok(Requeued::Command { command: super::order(ledger, step, new)?.id })
        }
        MessageKind::Fill { .. } => Err(no(NoRequeue::PhaseTimedOut).into()),
        MessageKind::Digest { command, .. } if require_command(ledger, *command)?.is_over() => {
            Err(no(NoRequeue::CommandOver).into())
        }
        MessageKind::Digest { .. } | MessageKind::Notice { .. } | MessageKind::Words { .. } => {
            message.attempts = 0;
            message.interrupts = 0;
            message.delivery = Delivery::Pending { not_before: None };
            ledger.put_message(&message)?;
            step.effect(Effect::Wake { agent: message.to });
            Ok(Requeued::Message { message: message.id })
        }
    }
}
