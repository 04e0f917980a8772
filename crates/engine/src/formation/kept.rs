//! Quarantine: plans and reports that were refused, kept as they came. A person can look at them, and give them once more.

use dandori_domain::{Epoch, Problem, TaskId};
use dandori_formation::protocol::{self, Accepted, ReportIn};
use dandori_formation::{AgentId, Ledger, Refused, Report};
use dandori_store::{KeptInput, KeptKind, Scope};

use super::{Formation, GivenPlan, TakenPlan, refusal};

/// What became of refused input that was given once more.
#[derive(Clone, PartialEq, Debug)]
pub enum Restored {
    Plan(TakenPlan),
    Result(Accepted),
}

impl Formation {
    /// The newest first, each with its number.
    pub async fn quarantine(&self) -> Result<Vec<(i64, KeptInput)>, Problem> {
        Ok(self.engine.store().kept_inputs(self.repo.id).await?)
    }

    pub async fn kept(&self, number: i64) -> Result<KeptInput, Problem> {
        let found = self.engine.store().kept_input(self.repo.id, number).await?;
        found.ok_or_else(|| Problem::NoSuchKept { text: number.to_string() })
    }

    /// Given once more as it is, by a person who has mended what was in its way. What is refused again stays where it is.
    pub async fn restore(&self, number: i64) -> Result<Restored, Problem> {
        let kept = self.kept(number).await?;
        let gone = || Problem::NoSuchKept { text: number.to_string() };
        let restored = match kept.kind {
            KeptKind::Plan => {
                let command = kept.command.ok_or_else(gone)?;
                let row = self.look(move |book| book.command(command)).await?;
                let row = row.ok_or_else(|| refusal(Refused::UnknownCommand { command }))?;
                let given = GivenPlan { yaml: kept.content.clone(), phase: kept.phase.clone(), is_dry_run: false };
                Restored::Plan(self.check_and_submit(&row, &given).await?)
            }
            KeptKind::Result => {
                let task = kept.task.ok_or_else(gone)?;
                let report: Report = serde_json::from_str(&kept.content)
                    .map_err(|e| Problem::Internal { reason: format!("kept input {number}: {e}") })?;
                let (worker, epoch) = self.holder_of(task).await?;
                let new = ReportIn { task, by: worker, epoch, report };
                let accepted =
                    self.step(Scope::Task(task), move |book, step| protocol::report(book, step, &new)).await?.value;
                Restored::Result(accepted)
            }
        };
        let kept = KeptInput { restored_at: Some(self.now()), ..kept };
        self.engine.store().input_was_restored(self.repo.id, number, kept).await?;
        Ok(restored)
    }

    /// Whose task it is, and under which epoch it was given out last.
    async fn holder_of(&self, task: TaskId) -> Result<(AgentId, Epoch), Problem> {
        let found = self
            .look(move |book| {
                let Some(row) = book.task(task)? else { return Ok(None) };
                let epoch = book.open_message_of(task)?.map_or(Epoch(0), |message| message.epoch);
                Ok(row.doer.worker().map(|worker| (worker, epoch)))
            })
            .await?;
        found.ok_or_else(|| refusal(Refused::UnknownTask { task }))
    }
}
