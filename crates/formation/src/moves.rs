//! Every step of the protocol as a value: what the simulation plays, and what the stores' contract plays after it.

use dandori_domain::{CommandId, Epoch, MessageId, ResultId, TaskId};

use crate::agent::AgentId;
use crate::assign::Crew;
use crate::command::Command;
use crate::ledger::Ledger;
use crate::message::Message;
use crate::plan::{Plan, PlannedTask};
use crate::protocol::{
    self, Accepted, Claim, Completed, NewCommand, NewRetry, Released, ReportIn, Requeued, Retried, Sight, Step,
    Submitted, Verdict,
};
use crate::result::Author;
use crate::task::Task;

#[derive(Clone, PartialEq, Debug)]
pub enum Move {
    Order(NewCommand),
    Say { to: AgentId, words: String },
    Submit { command: CommandId, plan: Plan },
    Fill { command: CommandId, phase: String, tasks: Vec<PlannedTask> },
    Claim { agent: AgentId, holder: String },
    Accepted { message: MessageId, epoch: Epoch },
    Heartbeat { message: MessageId, epoch: Epoch },
    Progress { message: MessageId, epoch: Epoch },
    Release { message: MessageId, epoch: Epoch, released: Released },
    Expire { message: MessageId, epoch: Epoch, sight: Sight },
    Report(ReportIn),
    Verified { task: TaskId, result: ResultId, verdict: Verdict },
    Committed { task: TaskId, summary: String },
    Complete { command: CommandId, summary: String, by: Author },
    Cancel { command: CommandId, by: String, reason: String },
    Interrupted { task: TaskId, epoch: Epoch },
    Pause { command: CommandId, reason: String },
    Resume { command: CommandId },
    Approve { command: CommandId },
    Retry { command: CommandId, new: NewRetry },
    Requeue { message: MessageId },
    Scan { command: CommandId },
}

/// What a step has answered.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    Command(Box<Command>),
    Sent(MessageId),
    Plan(Submitted),
    Claim(Option<Box<Claim>>),
    Message(Box<Message>),
    Report(Accepted),
    Task(Box<Task>),
    Complete(Completed),
    Retry(Retried),
    Requeued(Requeued),
    Done,
}

impl Move {
    pub fn play<L: Ledger>(&self, ledger: &mut L, step: &mut Step<'_>, crew: &Crew) -> Result<Answer, L::Error> {
        let message = |message: Message| Answer::Message(Box::new(message));
        let command = |command: Command| Answer::Command(Box::new(command));
        Ok(match self {
            Self::Order(new) => command(protocol::order(ledger, step, new.clone())?),
            Self::Say { to, words } => Answer::Sent(protocol::say(ledger, step, *to, None, words.clone())?),
            Self::Submit { command, plan } => Answer::Plan(protocol::submit(ledger, step, *command, plan, crew)?),
            Self::Fill { command, phase, tasks } => {
                Answer::Plan(protocol::fill(ledger, step, *command, phase, tasks, crew)?)
            }
            Self::Claim { agent, holder } => {
                Answer::Claim(protocol::claim(ledger, step, *agent, holder)?.map(Box::new))
            }
            Self::Accepted { message: id, epoch } => message(protocol::accepted(ledger, step, *id, *epoch)?),
            Self::Heartbeat { message: id, epoch } => message(protocol::heartbeat(ledger, step, *id, *epoch)?),
            Self::Progress { message: id, epoch } => message(protocol::progress(ledger, step, *id, *epoch)?),
            Self::Release { message: id, epoch, released } => {
                message(protocol::release(ledger, step, *id, *epoch, released)?)
            }
            Self::Expire { message: id, epoch, sight } => message(protocol::expire(ledger, step, *id, *epoch, *sight)?),
            Self::Report(new) => Answer::Report(protocol::report(ledger, step, new)?),
            Self::Verified { task, result, verdict } => {
                Answer::Task(Box::new(protocol::verified(ledger, step, *task, *result, verdict.clone())?))
            }
            Self::Committed { task, summary } => {
                protocol::committed(ledger, step, *task, summary)?;
                Answer::Done
            }
            Self::Complete { command, summary, by } => {
                Answer::Complete(protocol::complete(ledger, step, *command, summary, *by)?)
            }
            Self::Cancel { command: id, by, reason } => command(protocol::cancel(ledger, step, *id, by, reason)?),
            Self::Interrupted { task, epoch } => {
                protocol::interrupted(ledger, step, *task, *epoch)?;
                Answer::Done
            }
            Self::Pause { command: id, reason } => command(protocol::pause(ledger, step, *id, reason)?),
            Self::Resume { command: id } => command(protocol::resume(ledger, step, *id)?),
            Self::Approve { command: id } => command(protocol::approve(ledger, step, *id)?),
            Self::Retry { command, new } => Answer::Retry(protocol::add_retry(ledger, step, *command, new, crew)?),
            Self::Requeue { message } => Answer::Requeued(protocol::requeue(ledger, step, *message, crew)?),
            Self::Scan { command } => {
                protocol::scan(ledger, step, *command)?;
                Answer::Done
            }
        })
    }
}
