//! What comes back: a worker's report on its task, and the sign that it lives.
//!
//! A person's report counts at once. An agent reports from within its run, whose work is not committed yet: what it says is kept
//! as a handoff, and counts when its run has settled and whoever keeps the formation reports it together with the work.

use dandori_domain::{CommandId, Epoch, ResultId, TaskId};
use dandori_formation::protocol::{self, Accepted, ReportIn, Step};
use dandori_formation::result::says_too_little;
use dandori_formation::{AgentId, Ledger, Message, Refused};
use dandori_store::{Book, KeptKind, Scope, StoreError};

use super::{Asker, Formation, FormationTrouble};

/// What became of a report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reported {
    Now(ResultId),
    /// It was reported before: nothing has changed.
    Before(ResultId),
    /// It came late, but nobody else had taken the task.
    Adopted(ResultId),
    /// Kept until the run that it is about has settled.
    Noted,
    /// It came too late to count, and was kept.
    Kept(Refused),
}

impl From<Accepted> for Reported {
    fn from(accepted: Accepted) -> Self {
        match accepted {
            Accepted::Now { result } => Self::Now(result),
            Accepted::Before { result } => Self::Before(result),
            Accepted::Adopted { result } => Self::Adopted(result),
            Accepted::Kept { why } => Self::Kept(why),
        }
    }
}

impl Formation {
    pub async fn report(
        &self,
        new: ReportIn,
        command: Option<CommandId>,
        asker: Asker,
    ) -> Result<Reported, FormationTrouble> {
        let (task, content) = (new.task, serde_json::to_string_pretty(&new.report).unwrap_or_default());
        let is_agent = asker.agent().is_some();
        let report = move |book: &mut Book<'_>, step: &mut Step<'_>| {
            let found = book.task(new.task)?.ok_or(Refused::UnknownTask { task: new.task })?;
            if let Some(command) = command.filter(|command| *command != found.command) {
                return Err(StoreError::Formation(Refused::UnknownCommand { command }));
            }
            if is_agent { note(book, &new) } else { Ok(protocol::report(book, step, &new)?.into()) }
        };
        let reported = self.step(Scope::Task(task), report).await;
        match reported {
            Ok(done) => {
                if done.value == Reported::Noted {
                    self.engine.0.formations.notify_one();
                }
                Ok(done.value)
            }
            Err(trouble) => {
                self.keep(KeptKind::Result, command, Some(task), asker, &trouble, None, content).await;
                Err(trouble)
            }
        }
    }

    /// Whoever has the task is alive.
    pub async fn heartbeat(
        &self,
        task: TaskId,
        worker: Option<AgentId>,
        epoch: Epoch,
    ) -> Result<Message, FormationTrouble> {
        let beat = move |book: &mut Book<'_>, step: &mut Step<'_>| {
            let found = book.task(task)?.ok_or(Refused::UnknownTask { task })?;
            if let Some(agent) = worker.filter(|worker| found.doer.worker() != Some(*worker)) {
                return Err(StoreError::Formation(Refused::NotYours { task, agent }));
            }
            let lost = Refused::LeaseLost { given: epoch.0, current: 0 };
            let message = book.open_message_of(task)?.ok_or(lost)?;
            protocol::heartbeat(book, step, message.id, epoch)
        };
        Ok(self.step(Scope::Task(task), beat).await?.value)
    }
}

/// Said from within a run. The same is refused as when it counts, but whether it counts is seen when the run has settled.
fn note(book: &mut Book<'_>, new: &ReportIn) -> Result<Reported, StoreError> {
    let task = book.task(new.task)?.ok_or(Refused::UnknownTask { task: new.task })?;
    if task.doer.worker() != Some(new.by) {
        return Err(Refused::NotYours { task: task.id, agent: new.by }.into());
    }
    if says_too_little(&new.report.summary, new.report.outcome) {
        return Err(Refused::SaysTooLittle.into());
    }
    let message = book.open_message_of(task.id)?;
    let current = message.as_ref().map_or(Epoch(0), |message| message.epoch);
    if new.epoch.0 < 1 || message.is_some() && new.epoch > current {
        return Err(Refused::NeverGiven { given: new.epoch.0, current: current.0 }.into());
    }
    book.put_handoff(task.id, new.epoch, &new.report)?;
    Ok(match message {
        Some(message) if message.is_held_under(new.epoch) => Reported::Noted,
        Some(_) => Reported::Kept(Refused::Stale { task: task.id, given: new.epoch.0, current: current.0 }),
        None => Reported::Kept(Refused::TaskOver { task: task.id, state: task.state.name().to_owned() }),
    })
}
