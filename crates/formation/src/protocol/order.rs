//! An order is given: to the planner's queue, or, as plain words, to an agent.

use dandori_domain::{CommandId, Epoch, MessageId};

use super::{Effect, Refused, Step, require_command};
use crate::agent::AgentId;
use crate::command::{Command, CommandState, Review, Tally};
use crate::ledger::Ledger;
use crate::message::{Delivery, Message, MessageKind};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewCommand {
    pub content: String,
    pub demands: Vec<String>,
    pub priority: u32,
    pub review: Review,
}

pub fn order<L: Ledger>(ledger: &mut L, step: &mut Step<'_>, new: NewCommand) -> Result<Command, L::Error> {
    check_words(step, &new.content)?;
    let (count, most) = (ledger.queued_commands()?, step.rules.pending_commands);
    if count >= most {
        return Err(Refused::TooManyCommands { count, most }.into());
    }
    let command = Command {
        id: step.mint.command(),
        number: ledger.next_command_number()?,
        content: new.content,
        demands: new.demands,
        priority: new.priority,
        created_at: step.now,
        state: CommandState::Queued,
        cancel: None,
        review: new.review,
        paused: None,
        expected: 0,
        tally: Tally::default(),
        open: 0,
    };
    ledger.put_command(&command)?;
    let kind = MessageKind::Command { command: command.id };
    send(ledger, step, AgentId::Planner, kind, command.priority, format!("command:{}", command.id))?;
    Ok(command)
}

/// A person's words: to the orchestrator, or about a command to its planner.
pub fn say<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    to: AgentId,
    command: Option<CommandId>,
    words: String,
) -> Result<MessageId, L::Error> {
    check_words(step, &words)?;
    if let Some(command) = command {
        let command = require_command(ledger, command)?;
        if let CommandState::Over { .. } = command.state {
            return Err(Refused::Over { command: command.id, state: command.state.name().to_owned() }.into());
        }
    }
    let kind = MessageKind::Words { command, words };
    let key = format!("words:{}", step.mint.message());
    send(ledger, step, to, kind, 0, key)
}

fn check_words(step: &Step<'_>, words: &str) -> Result<(), Refused> {
    let most = step.rules.content_bytes;
    if words.trim().is_empty() {
        Err(Refused::Empty)
    } else if words.len() > most {
        Err(Refused::TooLong { bytes: words.len(), most })
    } else {
        Ok(())
    }
}

/// Puts a message into an agent's queue; one with the same key is there once.
pub(super) fn send<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    to: AgentId,
    kind: MessageKind,
    priority: u32,
    key: String,
) -> Result<MessageId, L::Error> {
    if let Some(there) = ledger.message_by_key(&key)? {
        return Ok(there.id);
    }
    let message = new_message(step, to, kind, priority, key, Delivery::Pending { not_before: None });
    ledger.put_message(&message)?;
    step.effect(Effect::Wake { agent: to });
    Ok(message.id)
}

pub(super) fn new_message(
    step: &mut Step<'_>,
    to: AgentId,
    kind: MessageKind,
    priority: u32,
    key: String,
    delivery: Delivery,
) -> Message {
    Message {
        id: step.mint.message(),
        to,
        kind,
        priority,
        created_at: step.now,
        delivery,
        epoch: Epoch(0),
        attempts: 0,
        interrupts: 0,
        resumes: 0,
        resume_next: false,
        last_error: None,
        key,
    }
}
