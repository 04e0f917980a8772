//! What comes back: a worker's report on its task, and the sign that it lives.
//!
//! Whoever reports from within a run has not committed its work yet: what it says is noted, and counts when its run has settled
//! and is reported together with the work. Where there is no such run, a report counts at once.

use dandori_domain::{CommandId, Epoch, Problem, TaskId};
use dandori_formation::protocol::{self, Accepted, ReportIn, Step};
use dandori_formation::{AgentId, Ledger, Message, Refused};
use dandori_store::{Book, KeptKind, Scope, StoreError};

use super::{Asker, Formation, refusal};

impl Formation {
    pub async fn write_result(
        &self,
        new: ReportIn,
        command: Option<CommandId>,
        asker: Asker,
    ) -> Result<Accepted, Problem> {
        let (task, epoch) = (new.task, new.epoch);
        require_own(asker, new.by, task)?;
        let content = serde_json::to_string_pretty(&new.report).unwrap_or_default();
        let is_running = asker.agent().is_some() || self.has_run(task, epoch).await?;
        let report = move |book: &mut Book<'_>, step: &mut Step<'_>| {
            let found = book.task(new.task)?.ok_or(Refused::UnknownTask { task: new.task })?;
            if let Some(command) = command.filter(|command| *command != found.command) {
                return Err(StoreError::Formation(Refused::UnknownCommand { command }));
            }
            if is_running { protocol::note(book, step, &new) } else { protocol::report(book, step, &new) }
        };
        match self.step(Scope::Task(task), report).await {
            Ok(done) => Ok(done.value),
            Err(e) => {
                let problem = Problem::from(e);
                self.keep_refused(KeptKind::Result, command, Some(task), asker, &problem, None, content).await;
                Err(problem)
            }
        }
    }

    /// A run works on this task under this epoch, and its work is still to come.
    async fn has_run(&self, task: TaskId, epoch: Epoch) -> Result<bool, Problem> {
        let message = self.look(move |book| book.open_message_of(task)).await?;
        let Some(message) = message.filter(|message| message.is_held_under(epoch)) else { return Ok(false) };
        Ok(self.run_of(&message).await?.is_some_and(|run| !run.is_settled()))
    }

    /// Whoever has the task is alive.
    pub async fn is_alive(
        &self,
        task: TaskId,
        worker: Option<AgentId>,
        epoch: Epoch,
        asker: Asker,
    ) -> Result<Message, Problem> {
        let worker = worker.or(asker.agent());
        if let Some(worker) = worker {
            require_own(asker, worker, task)?;
        }
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

/// An agent speaks for itself alone.
fn require_own(asker: Asker, named: AgentId, task: TaskId) -> Result<(), Problem> {
    match asker.agent() {
        Some(agent) if agent != named => Err(refusal(Refused::NotYours { task, agent })),
        _ => Ok(()),
    }
}
