//! A message is given to its agent, who shows that it has it and, while it works, that it lives.

use dandori_domain::{Epoch, MessageId};
use serde::{Deserialize, Serialize};

use super::{Step, require_lease, require_task};
use crate::agent::AgentId;
use crate::ledger::Ledger;
use crate::message::{Delivery, Lease, Message, MessageKind};
use crate::result::Told;
use crate::rules::after;
use crate::task::TaskState;

/// A message somebody has now.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Claim {
    pub message: Message,
    pub lease: Lease,
}

/// The agent's next message, when it has none: the most urgent, the oldest of those.
pub fn claim<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    agent: AgentId,
    holder: &str,
) -> Result<Option<Claim>, L::Error> {
    if ledger.in_flight(agent)?.is_some() {
        return Ok(None);
    }
    let heads = ledger.heads(agent, step.now)?;
    let urgency = |message: &Message| {
        let priority = step.rules.effective_priority(message.priority, message.created_at, step.now);
        (priority, message.created_at, message.id)
    };
    let Some(chosen) = heads.into_iter().min_by_key(urgency) else { return Ok(None) };
    if let Some(command) = chosen.kind.command() {
        ledger.lock(command)?;
    }
    // Its command may have been called off while the lock was waited for: the next look finds another.
    let Some(mut message) = ledger.message(chosen.id)?.filter(|message| message.is_due(step.now)) else {
        return Ok(None);
    };
    let lease = Lease {
        holder: holder.to_owned(),
        epoch: Epoch(message.epoch.0 + 1),
        since: step.now,
        until: step.rules.lease_until(step.now),
        accepted_at: None,
        has_progress: false,
        is_resume: message.resume_next,
        said: None,
    };
    message.epoch = lease.epoch;
    message.attempts += 1;
    message.resumes += u32::from(message.resume_next);
    message.resume_next = false;
    message.delivery = Delivery::InProgress { lease: lease.clone() };
    if let MessageKind::Digest { command, results } = &mut message.kind {
        *results = ledger.untold(*command)?.into_iter().map(|result| result.id).collect();
    }
    if let Some(task) = message.kind.task() {
        let mut task = require_task(ledger, task)?;
        task.state = TaskState::Dispatched { epoch: lease.epoch };
        ledger.put_task(&task)?;
    }
    ledger.put_message(&message)?;
    Ok(Some(Claim { message, lease }))
}

/// The agent's own event has shown that it has the message.
pub fn accepted<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    message: MessageId,
    epoch: Epoch,
) -> Result<Message, L::Error> {
    let mut message = require_lease(ledger, message, epoch)?;
    if message.kind.ends_with_delivery() {
        message.delivery = Delivery::Completed { at: step.now };
        if let MessageKind::Digest { results, .. } = &message.kind {
            for id in results {
                if let Some(mut result) = ledger.result(*id)? {
                    result.told = Told::Told;
                    ledger.put_result(&result)?;
                }
            }
        }
    } else if let Delivery::InProgress { lease } = &mut message.delivery {
        lease.accepted_at.get_or_insert(step.now);
        lease.until = extended(lease, step);
        if let Some(task) = message.kind.task() {
            let mut task = require_task(ledger, task)?;
            task.state = TaskState::Running { epoch };
            ledger.put_task(&task)?;
        }
    }
    ledger.put_message(&message)?;
    Ok(message)
}

/// Whoever has it is alive.
pub fn heartbeat<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    message: MessageId,
    epoch: Epoch,
) -> Result<Message, L::Error> {
    let mut message = require_lease(ledger, message, epoch)?;
    if let Delivery::InProgress { lease } = &mut message.delivery {
        lease.until = extended(lease, step);
    }
    ledger.put_message(&message)?;
    Ok(message)
}

/// Something came of it: an interruption from now on does not count as a failed attempt.
pub fn progress<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    message: MessageId,
    epoch: Epoch,
) -> Result<Message, L::Error> {
    let mut message = require_lease(ledger, message, epoch)?;
    if let Delivery::InProgress { lease } = &mut message.delivery {
        lease.has_progress = true;
        lease.until = extended(lease, step);
    }
    ledger.put_message(&message)?;
    Ok(message)
}

/// Never shorter than it was, never longer than anybody may have a message.
pub(super) fn extended(lease: &Lease, step: &Step<'_>) -> jiff::Timestamp {
    let longest = after(lease.since, step.rules.longest_seconds);
    step.rules.lease_until(step.now).min(longest).max(lease.until)
}
