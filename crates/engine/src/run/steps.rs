//! The steps of a run, each with its probe: what is already done is found, not done again.

mod launch;
mod place;
mod publish;
mod rules;
mod set_up;
mod stop;
mod watch;

use dandori_domain::run::{Fact, Run, Step};
use dandori_domain::{AgentFailure, Failure};
use tokio::sync::Notify;

use super::StepError;
use crate::Engine;

pub(crate) use launch::PREPARED_LAUNCH;
pub(crate) use watch::Stream;

impl Engine {
    pub(super) async fn take_step(&self, step: Step, run: &Run, bell: &Notify) -> Result<Vec<Fact>, StepError> {
        self.see_to_door(&step, run)?;
        match step {
            Step::PlanWorktree => self.plan_worktree(run).await,
            Step::MakeWorktree(planned) => self.make_worktree(run, planned).await,
            Step::PlanSetUp(workspace) => Ok(self.plan_set_up(run, &workspace)),
            Step::SetUp(workspace) => self.set_up(run, &workspace, bell).await,
            Step::Launch(workspace) => self.launch(run, workspace).await,
            Step::Watch(_) => self.watch(run, bell).await,
            Step::Stage(work) => self.stage(run, work).await,
            Step::Commit { workspace, planned } => self.commit(run, workspace, planned).await,
            Step::Push { workspace, commit, .. } => self.push(run, workspace, commit).await,
            Step::Stop { launched, why } => self.stop_run(run, launched.as_ref(), why).await,
            Step::Preserve { workspace, fate } => self.preserve(run, workspace, fate).await,
            Step::Remove { workspace, fate } => self.remove(run, workspace, fate).await,
        }
    }

    /// An agent of a formation has a door for as long as it works.
    fn see_to_door(&self, step: &Step, run: &Run) -> Result<(), StepError> {
        match step {
            Step::Launch(_) => {
                let not_started =
                    |e: std::io::Error| AgentFailure::NotStarted { detail: format!("no door for it: {e}") };
                self.open_door(run).map_err(|e| Failure::Agent { failure: not_started(e) })?;
            }
            // It goes on working without one; what it would have said by it, its end says.
            Step::Watch(_) => {
                if let Err(e) = self.open_door(run) {
                    tracing::warn!(run = %run.spec.id, "no door for its agent: {e}");
                }
            }
            _ => self.close_door(run),
        }
        Ok(())
    }
}
