//! `doctor --formation`: what must always hold is held against the rows, and what only time and a look can mend is mended.
//!
//! Steps of the protocol are one transaction each, so rows never contradict each other half way (R0 to R5 of a queue of files).
//! What is left to mend follows from time: a phase nobody filled (R6), a planner that does not decide (R10), a lease nobody
//! extends. Work that waits to be merged (R7 to R9) is looked after by whoever keeps the formation, who is woken.

use dandori_domain::{CommandId, MessageId, Problem};
use dandori_formation::invariant::{self, Violation};
use dandori_formation::protocol::{self, Effect};
use dandori_formation::{Ledger, TaskState};
use dandori_store::{Book, Scope};

use super::{Formation, everything};

#[derive(Clone, PartialEq, Debug)]
pub struct Soundness {
    /// Held against the rows.
    pub commands: usize,
    pub tasks: usize,
    pub messages: usize,
    pub violations: Vec<Violation>,
    pub repairs: Vec<Repair>,
}

/// What was done about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Repair {
    /// R6: its deadline had passed.
    TimedOut { command: CommandId, phase: String },
    /// R10: its planner had not decided in time.
    GivenUp { command: CommandId, task: String },
    /// R7 to R9: work that waits to be merged; the formation's keeper was woken.
    WokenToMerge { command: CommandId, task: String },
    /// A lease that ran out is looked at by the keeper, who was woken.
    LeaseExpired { message: MessageId },
    /// The planner is told what it had not been told.
    Told { command: CommandId },
}

impl Formation {
    pub async fn check_sound(&self) -> Result<Soundness, Problem> {
        let rows = self.look(everything).await?;
        let violations = invariant::check(&rows, self.rules());
        let mut repairs = Vec::new();
        for command in self.look(|book| book.open_commands()).await? {
            repairs.extend(self.mend(command).await?);
        }
        let now = self.now();
        let expired = self.look(move |book| book.expired(now)).await?;
        repairs.extend(expired.into_iter().map(|message| Repair::LeaseExpired { message: message.id }));
        if !repairs.is_empty() {
            self.engine.0.formations.notify_one();
        }
        let (commands, tasks, messages) = (rows.commands.len(), rows.tasks.len(), rows.messages.len());
        Ok(Soundness { commands, tasks, messages, violations, repairs })
    }

    /// The same scan that the keeper makes, and what came of it.
    async fn mend(&self, command: CommandId) -> Result<Vec<Repair>, Problem> {
        let scan = move |book: &mut Book<'_>, step: &mut protocol::Step<'_>| {
            let (phases, tasks) = (book.phases(command)?, book.tasks(command)?);
            protocol::scan(book, step, command)?;
            let mut repairs = Vec::new();
            for before in phases {
                let after = book.phase(before.id)?;
                if !before.state.is_over() && after.is_some_and(|after| after.state.name() == "timed_out") {
                    repairs.push(Repair::TimedOut { command, phase: before.name });
                }
            }
            for before in tasks {
                let after = book.task(before.id)?.map(|task| task.state);
                match (&before.state, after) {
                    (TaskState::PausedForReplan { .. }, Some(TaskState::Failed { .. })) => {
                        repairs.push(Repair::GivenUp { command, task: before.name });
                    }
                    (TaskState::VerifyPending { .. }, Some(TaskState::VerifyPending { .. })) => {
                        repairs.push(Repair::WokenToMerge { command, task: before.name });
                    }
                    _ => {}
                }
            }
            let is_told = step.effects.iter().any(|effect| matches!(effect, Effect::Wake { .. }));
            if is_told && repairs.is_empty() {
                repairs.push(Repair::Told { command });
            }
            Ok(repairs)
        };
        Ok(self.step(Scope::Command(command), scan).await?.value)
    }
}
