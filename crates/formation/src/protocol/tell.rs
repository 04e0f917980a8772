//! The planner is told what came back when there is something for it to decide, not each time somebody is done.

use dandori_domain::{CommandId, ResultId};

use super::complete::can_complete;
use super::complete::finish;
use super::order::send;
use super::{Step, require_command};
use crate::agent::AgentId;
use crate::ledger::Ledger;
use crate::message::{Message, MessageKind};
use crate::result::Author;
use crate::rules::after;

/// Something of a command has changed: whether its planner has to hear of it now.
pub(super) fn wake_planner<L: Ledger>(ledger: &mut L, step: &mut Step<'_>, command: CommandId) -> Result<(), L::Error> {
    let command = require_command(ledger, command)?;
    if !command.is_sealed() {
        return Ok(());
    }
    let is_complete = can_complete(ledger, &command)?.is_ok();
    if command.cancel.is_some() {
        // Nobody has to think about a command that was called off.
        if is_complete {
            finish(ledger, step, command, "cancelled", Author::Engine)?;
        }
        return Ok(());
    }
    let untold = ledger.untold_glance(command.id)?;
    let is_old = untold.oldest.is_some_and(|oldest| after(oldest, step.rules.digest_seconds) <= step.now);
    if is_complete || untold.has_failed || is_old {
        send_digest(ledger, step, command.id, command.priority, untold.newest)?;
    }
    Ok(())
}

/// A digest of what the planner has not been told, one at a time.
pub(super) fn send_digest<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    command: CommandId,
    priority: u32,
    newest: Option<ResultId>,
) -> Result<(), L::Error> {
    let is_digest = |message: &Message| matches!(message.kind, MessageKind::Digest { .. });
    let waits = ledger.open_messages(command)?.iter().any(|m| is_digest(m) && m.lease().is_none());
    if waits {
        return Ok(());
    }
    // What it is about gives it its name: told of the same state twice, it is sent once.
    let about = newest.map(|result| result.to_string()).unwrap_or_default();
    let kind = MessageKind::Digest { command, results: Vec::new() };
    send(ledger, step, AgentId::Planner, kind, priority, format!("digest:{command}:{about}"))?;
    Ok(())
}
