//! The steps of the protocol. Each is one transaction over a [`Ledger`]: it reads what it needs, refuses or writes, and says what
//! is worth doing soon ([`Effect`]). Effects are hints: a scan finds the same from the rows, so a lost one costs a little time.
//!
//! The rules, in one place:
//! - a write that belongs to a lease is accepted only under the epoch of the lease that stands, the reclaimer's too;
//! - a task is over with exactly one applied result, an agent's or one that stands for it;
//! - a report that came too late is kept; where nobody else has the task, it is adopted under an epoch of its own;
//! - nothing is given out or accepted for a command after its cancellation was asked for;
//! - what a command or a phase has come to is derived from its tasks, never said by anybody.

mod amend;
mod cancel;
mod claim;
mod commit;
mod complete;
mod dead_letter;
mod fill;
mod hold;
mod order;
mod phases;
mod release;
mod report;
mod retry;
mod scan;
mod settle;
mod submit;
mod tell;
mod verify;

use dandori_domain::{CommandId, Epoch, MessageId, PhaseId, TaskId};
use serde::{Deserialize, Serialize};

use crate::agent::AgentId;
use crate::command::Command;
use crate::ledger::Ledger;
use crate::message::Message;
use crate::mint::Mint;
use crate::rules::Rules;
use crate::task::Task;

pub use amend::{Amended, amend};
pub use cancel::{cancel, interrupted};
pub use claim::{Claim, accepted, claim, heartbeat, progress};
pub use commit::committed;
pub use complete::{Completed, Unfinished, can_complete, complete};
pub use dead_letter::{Requeued, requeue};
pub use fill::fill;
pub use hold::{approve, pause, resume};
pub use order::{NewCommand, order, say};
pub use release::{Released, Sight, expire, release};
pub use report::{Accepted, ReportIn, note, report};
pub use retry::{NewRetry, Retried, RetriedTask, add_retry};
pub use scan::scan;
pub use submit::{Submitted, SubmittedPhase, SubmittedTask, submit};
pub use verify::{Verdict, verified};

use jiff::Timestamp;

/// What every step is given: the rules, the moment, and ids.
#[derive(Debug)]
pub struct Step<'s> {
    pub rules: &'s Rules,
    pub now: Timestamp,
    pub mint: Mint,
    /// What came of it that somebody should know soon.
    pub effects: Vec<Effect>,
}

impl<'s> Step<'s> {
    pub fn new(rules: &'s Rules, now: Timestamp, seed: u128) -> Self {
        Self { rules, now, mint: Mint::new(now, seed), effects: Vec::new() }
    }

    fn effect(&mut self, effect: Effect) {
        if !self.effects.contains(&effect) {
            self.effects.push(effect);
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// Something waits in this agent's queue.
    Wake { agent: AgentId },
    /// An agent works on what nobody wants any more.
    Interrupt { task: TaskId, epoch: Epoch },
    /// Work waits to be merged.
    Integrate { command: CommandId },
    /// The commit step may be taken.
    Commit { task: TaskId },
    /// A command is over.
    Over { command: CommandId },
}

/// Why a step was not taken. Nothing was written, except where it says that something was kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "refused", rename_all = "snake_case")]
pub enum Refused {
    #[error("unknown command {command}")]
    UnknownCommand { command: CommandId },
    #[error("unknown task {task}")]
    UnknownTask { task: TaskId },
    #[error("unknown phase {name}")]
    UnknownPhase { name: String },
    #[error("unknown message {message}")]
    UnknownMessage { message: MessageId },
    #[error("the text is empty")]
    Empty,
    #[error("{bytes} bytes, the limit is {most}")]
    TooLong { bytes: usize, most: usize },
    #[error("{count} commands are queued, the limit is {most}")]
    TooManyCommands { count: usize, most: usize },
    #[error("{agent} would have {count} waiting tasks, the limit is {most}")]
    TooManyTasks { agent: AgentId, count: usize, most: usize },
    #[error("nobody can do {name}")]
    NobodyCan { name: String },
    #[error("{command} has a plan already")]
    Submitted { command: CommandId },
    #[error("{command} has no plan yet")]
    NotSubmitted { command: CommandId },
    #[error("{command} is being cancelled")]
    Cancelling { command: CommandId },
    #[error("{command} is {state}")]
    Over { command: CommandId, state: String },
    #[error("phase {phase} is {state}, not awaiting_fill")]
    NotAwaitingFill { phase: PhaseId, state: String },
    #[error("the deadline of phase {phase} has passed")]
    TooLate { phase: PhaseId },
    #[error("the name {name} is used in this plan already")]
    NameTaken { name: String },
    #[error("{task} is not {agent}'s")]
    NotYours { task: TaskId, agent: AgentId },
    /// Kept: a person can look at it, and it counts if nobody else finishes.
    #[error("lease epoch {given} is not current, it is {current}; the report was kept")]
    Stale { task: TaskId, given: i64, current: i64 },
    #[error("the lease epoch {given} was never given, the newest is {current}")]
    NeverGiven { given: i64, current: i64 },
    #[error("the lease epoch {given} is not current, it is {current}")]
    LeaseLost { given: i64, current: i64 },
    /// Kept.
    #[error("{task} is over already; the report was kept")]
    TaskOver { task: TaskId, state: String },
    /// Kept.
    #[error("{task} was replaced by {by}; the report was kept")]
    Replaced { task: TaskId, by: TaskId },
    #[error("the summary says too little")]
    SaysTooLittle,
    #[error("not complete: {} tasks and {} phases are open", .tasks.len(), .phases.len())]
    NotComplete { tasks: Vec<String>, phases: Vec<String> },
    #[error("{task} is {state}: only a failed task can be retried")]
    NotFailed { task: TaskId, state: String },
    #[error("the phase of {task} is {state}: nothing can be added to it")]
    PhaseClosed { task: TaskId, state: String },
    #[error("{message} is {delivery}, not a dead letter")]
    NotDead { message: MessageId, delivery: String },
    #[error("{message} cannot be queued again: {}", .why.as_str())]
    CannotRequeue { message: MessageId, why: NoRequeue },
    #[error("{command} waits for no approval")]
    NoReview { command: CommandId },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoRequeue {
    CommandOver,
    PhaseTimedOut,
}

impl NoRequeue {
    fn as_str(self) -> &'static str {
        match self {
            Self::CommandOver => "its command is over",
            Self::PhaseTimedOut => "its phase has timed out",
        }
    }
}

fn require_command<L: Ledger>(ledger: &mut L, command: CommandId) -> Result<Command, L::Error> {
    ledger.command(command)?.ok_or_else(|| Refused::UnknownCommand { command }.into())
}

fn require_task<L: Ledger>(ledger: &mut L, task: TaskId) -> Result<Task, L::Error> {
    ledger.task(task)?.ok_or_else(|| Refused::UnknownTask { task }.into())
}

fn require_message<L: Ledger>(ledger: &mut L, message: MessageId) -> Result<Message, L::Error> {
    ledger.message(message)?.ok_or_else(|| Refused::UnknownMessage { message }.into())
}

/// The message, if whoever writes under this epoch still has it.
fn require_lease<L: Ledger>(ledger: &mut L, message: MessageId, epoch: Epoch) -> Result<Message, L::Error> {
    let message = require_message(ledger, message)?;
    if message.is_held_under(epoch) {
        Ok(message)
    } else {
        Err(Refused::LeaseLost { given: epoch.0, current: message.epoch.0 }.into())
    }
}

#[cfg(test)]
mod tests;
