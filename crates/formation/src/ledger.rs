//! What the protocol reads and writes: the rows of one formation, within one transaction.
//!
//! `put_*` writes a row whole, new or not. The store implements this on SQL, [`crate::memory::Memory`] on maps.

use dandori_domain::{CommandId, MessageId, PhaseId, ResultId, TaskId};
use jiff::Timestamp;

use crate::agent::AgentId;
use crate::command::Command;
use crate::continuous::Continuous;
use crate::message::Message;
use crate::phase::Phase;
use crate::protocol::Refused;
use crate::result::{LateReport, ResultRow};
use crate::task::{Brief, Task};

/// What a planner has not been told, at a glance.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Untold {
    pub oldest: Option<Timestamp>,
    pub newest: Option<ResultId>,
    pub has_failed: bool,
}

pub trait Ledger {
    type Error: From<Refused>;

    /// Nobody else changes anything of this command until the step is over. Where one step is taken at a time there is nothing
    /// to do.
    fn lock(&mut self, _command: CommandId) -> Result<(), Self::Error> {
        Ok(())
    }

    fn command(&mut self, id: CommandId) -> Result<Option<Command>, Self::Error>;
    fn put_command(&mut self, command: &Command) -> Result<(), Self::Error>;
    /// Commands without a plan.
    fn queued_commands(&mut self) -> Result<usize, Self::Error>;
    fn next_command_number(&mut self) -> Result<u32, Self::Error>;
    /// Not over, the oldest first.
    fn open_commands(&mut self) -> Result<Vec<CommandId>, Self::Error>;

    fn phase(&mut self, id: PhaseId) -> Result<Option<Phase>, Self::Error>;
    fn put_phase(&mut self, phase: &Phase) -> Result<(), Self::Error>;
    /// In the order of the plan.
    fn phases(&mut self, command: CommandId) -> Result<Vec<Phase>, Self::Error>;

    fn task(&mut self, id: TaskId) -> Result<Option<Task>, Self::Error>;
    fn put_task(&mut self, task: &Task) -> Result<(), Self::Error>;
    fn brief(&mut self, task: TaskId) -> Result<Brief, Self::Error>;
    /// Written once, with its task.
    fn put_brief(&mut self, task: TaskId, brief: &Brief) -> Result<(), Self::Error>;
    /// In the order of the plan, replaced ones included.
    fn tasks(&mut self, command: CommandId) -> Result<Vec<Task>, Self::Error>;
    /// Those that wait for this one, in the order of the plan.
    fn dependents(&mut self, task: TaskId) -> Result<Vec<TaskId>, Self::Error>;
    /// Those the planner has to decide about.
    fn paused_tasks(&mut self, command: CommandId) -> Result<Vec<TaskId>, Self::Error>;

    fn message(&mut self, id: MessageId) -> Result<Option<Message>, Self::Error>;
    fn put_message(&mut self, message: &Message) -> Result<(), Self::Error>;
    fn message_by_key(&mut self, key: &str) -> Result<Option<Message>, Self::Error>;
    /// What this agent has.
    fn in_flight(&mut self, agent: AgentId) -> Result<Option<Message>, Self::Error>;
    /// Of each priority the oldest message for this agent that may be delivered now.
    fn heads(&mut self, agent: AgentId, now: Timestamp) -> Result<Vec<Message>, Self::Error>;
    /// The one that is not over.
    fn open_message_of(&mut self, task: TaskId) -> Result<Option<Message>, Self::Error>;
    /// Everything that ends with this command and is not over.
    fn open_messages(&mut self, command: CommandId) -> Result<Vec<Message>, Self::Error>;
    /// How many wait for this agent, held back or not.
    fn waiting(&mut self, agent: AgentId) -> Result<usize, Self::Error>;
    /// Leases that ended before now.
    fn expired(&mut self, now: Timestamp) -> Result<Vec<Message>, Self::Error>;

    fn result(&mut self, id: ResultId) -> Result<Option<ResultRow>, Self::Error>;
    fn put_result(&mut self, result: &ResultRow) -> Result<(), Self::Error>;
    /// Results of this command's tasks that its planner has not been told of, the oldest first.
    fn untold(&mut self, command: CommandId) -> Result<Vec<ResultRow>, Self::Error>;
    /// The same at a glance, however many there are.
    fn untold_glance(&mut self, command: CommandId) -> Result<Untold, Self::Error>;
    fn put_late(&mut self, late: &LateReport) -> Result<(), Self::Error>;
    /// The oldest first.
    fn late(&mut self, task: TaskId) -> Result<Vec<LateReport>, Self::Error>;

    fn continuous(&mut self) -> Result<Continuous, Self::Error>;
    fn put_continuous(&mut self, continuous: &Continuous) -> Result<(), Self::Error>;
}
