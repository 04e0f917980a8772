//! A person changes an order. Before anybody works on it, the order is given anew with what was added; after that, the planner is
//! told, who decides what follows for the tasks.

use dandori_domain::{CommandId, MessageId};
use serde::{Deserialize, Serialize};

use super::cancel::cancel;
use super::order::{NewCommand, order, say};
use super::{Refused, Step, require_command};
use crate::agent::AgentId;
use crate::command::{Command, CommandState, Review};
use crate::ledger::Ledger;
use crate::plan::demand::demands;

/// What became of an amendment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "amended", rename_all = "snake_case")]
pub enum Amended {
    /// Nobody had begun: this order stands in place of the other.
    Replaced { by: Box<Command> },
    /// It is being worked on: the planner is told.
    Told { message: MessageId },
}

pub fn amend<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    command: CommandId,
    by: &str,
    words: &str,
) -> Result<Amended, L::Error> {
    ledger.lock(command)?;
    let old = require_command(ledger, command)?;
    match &old.state {
        over @ CommandState::Over { .. } => {
            return Err(Refused::Over { command, state: over.name().to_owned() }.into());
        }
        _ if old.cancel.is_some() => return Err(Refused::Cancelling { command }.into()),
        CommandState::Sealed { .. } if old.review != Review::Wanted => {
            let message = say(ledger, step, AgentId::Planner, Some(command), words.to_owned())?;
            return Ok(Amended::Told { message });
        }
        CommandState::Queued | CommandState::Sealed { .. } => {}
    }
    if words.trim().is_empty() {
        return Err(Refused::Empty.into());
    }
    cancel(ledger, step, command, by, "amended")?;
    let content = format!("{}\n\n{}", old.content.trim_end(), words.trim());
    let new = NewCommand {
        demands: if old.demands.is_empty() { Vec::new() } else { demands(&content) },
        content,
        priority: old.priority,
        review: old.review,
    };
    Ok(Amended::Replaced { by: Box::new(order(ledger, step, new)?) })
}
