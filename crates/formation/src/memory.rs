//! The ledger in memory: for the simulation, and for a dry run.

use std::collections::{BTreeMap, BTreeSet};

use dandori_domain::{CommandId, MessageId, PhaseId, ResultId, TaskId};
use jiff::Timestamp;

use crate::agent::AgentId;
use crate::command::{Command, CommandState};
use crate::continuous::Continuous;
use crate::ledger::{Ledger, Untold};
use crate::message::{Delivery, Message};
use crate::phase::Phase;
use crate::protocol::Refused;
use crate::result::{LateReport, Of, Outcome, ResultRow, Told};
use crate::task::{Brief, Task, TaskState};

/// Cloned before a step, it is what a transaction is rolled back to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Memory {
    pub commands: BTreeMap<CommandId, Command>,
    pub phases: BTreeMap<PhaseId, Phase>,
    pub tasks: BTreeMap<TaskId, Task>,
    pub briefs: BTreeMap<TaskId, Brief>,
    pub messages: BTreeMap<MessageId, Message>,
    pub results: BTreeMap<ResultId, ResultRow>,
    pub late: Vec<LateReport>,
    pub continuous: Continuous,
    numbers: u32,
    keys: BTreeMap<String, MessageId>,
    dependents: BTreeMap<TaskId, BTreeSet<TaskId>>,
}

impl Memory {
    /// Rows of a command that is over, when nobody needs them any more.
    pub fn forget(&mut self, command: CommandId) {
        self.commands.remove(&command);
        self.phases.retain(|_, phase| phase.command != command);
        let gone: BTreeSet<TaskId> = self.tasks.values().filter(|t| t.command == command).map(|t| t.id).collect();
        self.tasks.retain(|id, _| !gone.contains(id));
        self.briefs.retain(|id, _| !gone.contains(id));
        self.dependents.retain(|id, _| !gone.contains(id));
        self.results.retain(|_, result| result.command != command);
        self.late.retain(|late| late.command != command);
        self.messages.retain(|_, message| message.kind.command() != Some(command));
        let messages = &self.messages;
        self.keys.retain(|_, id| messages.contains_key(id));
    }
}

impl Ledger for Memory {
    type Error = Refused;

    fn command(&mut self, id: CommandId) -> Result<Option<Command>, Refused> {
        Ok(self.commands.get(&id).cloned())
    }

    fn put_command(&mut self, command: &Command) -> Result<(), Refused> {
        self.numbers = self.numbers.max(command.number);
        self.commands.insert(command.id, command.clone());
        Ok(())
    }

    fn queued_commands(&mut self) -> Result<usize, Refused> {
        Ok(self.commands.values().filter(|command| command.state == CommandState::Queued).count())
    }

    fn next_command_number(&mut self) -> Result<u32, Refused> {
        Ok(self.numbers + 1)
    }

    fn open_commands(&mut self) -> Result<Vec<CommandId>, Refused> {
        Ok(self.commands.values().filter(|command| !command.is_over()).map(|command| command.id).collect())
    }

    fn phase(&mut self, id: PhaseId) -> Result<Option<Phase>, Refused> {
        Ok(self.phases.get(&id).cloned())
    }

    fn put_phase(&mut self, phase: &Phase) -> Result<(), Refused> {
        self.phases.insert(phase.id, phase.clone());
        Ok(())
    }

    fn phases(&mut self, command: CommandId) -> Result<Vec<Phase>, Refused> {
        let mut phases: Vec<Phase> = self.phases.values().filter(|phase| phase.command == command).cloned().collect();
        phases.sort_by_key(|phase| phase.ordinal);
        Ok(phases)
    }

    fn task(&mut self, id: TaskId) -> Result<Option<Task>, Refused> {
        Ok(self.tasks.get(&id).cloned())
    }

    fn put_task(&mut self, task: &Task) -> Result<(), Refused> {
        for of in &task.blocked_by {
            self.dependents.entry(*of).or_default().insert(task.id);
        }
        self.tasks.insert(task.id, task.clone());
        Ok(())
    }

    fn brief(&mut self, task: TaskId) -> Result<Brief, Refused> {
        self.briefs.get(&task).cloned().ok_or(Refused::UnknownTask { task })
    }

    fn put_brief(&mut self, task: TaskId, brief: &Brief) -> Result<(), Refused> {
        self.briefs.insert(task, brief.clone());
        Ok(())
    }

    fn tasks(&mut self, command: CommandId) -> Result<Vec<Task>, Refused> {
        let mut tasks: Vec<Task> = self.tasks.values().filter(|task| task.command == command).cloned().collect();
        tasks.sort_by_key(|task| (task.ordinal, task.id));
        Ok(tasks)
    }

    fn dependents(&mut self, task: TaskId) -> Result<Vec<TaskId>, Refused> {
        let ids = self.dependents.get(&task).into_iter().flatten();
        let mut found: Vec<&Task> =
            ids.filter_map(|id| self.tasks.get(id)).filter(|other| other.blocked_by.contains(&task)).collect();
        found.sort_by_key(|task| (task.ordinal, task.id));
        Ok(found.into_iter().map(|task| task.id).collect())
    }

    fn paused_tasks(&mut self, command: CommandId) -> Result<Vec<TaskId>, Refused> {
        let paused = |task: &&Task| task.command == command && matches!(task.state, TaskState::PausedForReplan { .. });
        Ok(self.tasks.values().filter(paused).map(|task| task.id).collect())
    }

    fn message(&mut self, id: MessageId) -> Result<Option<Message>, Refused> {
        Ok(self.messages.get(&id).cloned())
    }

    fn put_message(&mut self, message: &Message) -> Result<(), Refused> {
        self.keys.insert(message.key.clone(), message.id);
        self.messages.insert(message.id, message.clone());
        Ok(())
    }

    fn message_by_key(&mut self, key: &str) -> Result<Option<Message>, Refused> {
        Ok(self.keys.get(key).and_then(|id| self.messages.get(id)).cloned())
    }

    fn in_flight(&mut self, agent: AgentId) -> Result<Option<Message>, Refused> {
        Ok(self.messages.values().find(|message| message.to == agent && message.lease().is_some()).cloned())
    }

    fn heads(&mut self, agent: AgentId, now: Timestamp) -> Result<Vec<Message>, Refused> {
        let mut heads: BTreeMap<u32, &Message> = BTreeMap::new();
        for message in self.messages.values().filter(|message| message.to == agent && message.is_due(now)) {
            let head = heads.entry(message.priority).or_insert(message);
            if (message.created_at, message.id) < (head.created_at, head.id) {
                *head = message;
            }
        }
        Ok(heads.into_values().cloned().collect())
    }

    fn open_message_of(&mut self, task: TaskId) -> Result<Option<Message>, Refused> {
        let is_of = |message: &&Message| message.kind.task() == Some(task) && !message.delivery.is_over();
        Ok(self.messages.values().find(is_of).cloned())
    }

    fn open_messages(&mut self, command: CommandId) -> Result<Vec<Message>, Refused> {
        // A notice is sent when its command is over, and outlives it.
        let is_of = |message: &&Message| message.kind.belongs_to(command) && !message.delivery.is_over();
        Ok(self.messages.values().filter(is_of).cloned().collect())
    }

    fn waiting(&mut self, agent: AgentId) -> Result<usize, Refused> {
        let waits = |message: &&Message| {
            message.to == agent && matches!(message.delivery, Delivery::Held | Delivery::Pending { .. })
        };
        Ok(self.messages.values().filter(waits).count())
    }

    fn expired(&mut self, now: Timestamp) -> Result<Vec<Message>, Refused> {
        let is_past = |message: &&Message| message.lease().is_some_and(|lease| lease.until <= now);
        Ok(self.messages.values().filter(is_past).cloned().collect())
    }

    fn result(&mut self, id: ResultId) -> Result<Option<ResultRow>, Refused> {
        Ok(self.results.get(&id).cloned())
    }

    fn put_result(&mut self, result: &ResultRow) -> Result<(), Refused> {
        self.results.insert(result.id, result.clone());
        Ok(())
    }

    fn untold(&mut self, command: CommandId) -> Result<Vec<ResultRow>, Refused> {
        let is_untold = |result: &&ResultRow| {
            result.command == command && result.told == Told::NotYet && result.applied && result.of != Of::Command
        };
        Ok(self.results.values().filter(is_untold).cloned().collect())
    }

    fn untold_glance(&mut self, command: CommandId) -> Result<Untold, Refused> {
        let untold = self.untold(command)?;
        Ok(Untold {
            oldest: untold.first().map(|result| result.at),
            newest: untold.last().map(|result| result.id),
            has_failed: untold.iter().any(|result| result.outcome == Outcome::Failed),
        })
    }

    fn put_late(&mut self, late: &LateReport) -> Result<(), Refused> {
        self.late.push(late.clone());
        Ok(())
    }

    fn late(&mut self, task: TaskId) -> Result<Vec<LateReport>, Refused> {
        Ok(self.late.iter().filter(|late| late.task == task).cloned().collect())
    }

    fn continuous(&mut self) -> Result<Continuous, Refused> {
        Ok(self.continuous.clone())
    }

    fn put_continuous(&mut self, continuous: &Continuous) -> Result<(), Refused> {
        self.continuous = continuous.clone();
        Ok(())
    }
}
