//! Stage, commit, push: the result leaves the worktree.

use dandori_domain::Failure;
use dandori_domain::run::{Commit, Fact, PlannedCommit, Run, Work, Workspace};

use super::StepError;
use crate::Engine;
use crate::edges::{CommitOutcome, PushOutcome};

/// With less than this nothing can be staged.
const LITTLE: u64 = 8 << 20;

impl Engine {
    pub(super) async fn stage(&self, run: &Run, work: Work) -> Result<Vec<Fact>, StepError> {
        let site = self.site_of(run.spec.repo, run.spec.id).await?;
        let run = run.clone();
        self.blocking(move |engine| {
            engine.0.edges.git.stage(&site, &run, &work).map_err(|error| engine.or_disk_is_full(error))
        })
        .await?
    }

    /// What git says of a full disk helps nobody.
    fn or_disk_is_full(&self, error: StepError) -> StepError {
        let free = self.0.edges.host.free_disk(self.layout().root()).unwrap_or(u64::MAX);
        match error {
            StepError::Failed(Failure::Staging { .. }) if free < LITTLE => Failure::DiskFull { free }.into(),
            other => other,
        }
    }

    pub(super) async fn commit(
        &self,
        run: &Run,
        workspace: Workspace,
        planned: PlannedCommit,
    ) -> Result<Vec<Fact>, StepError> {
        let site = self.site_of(run.spec.repo, run.spec.id).await?;
        let made = self.blocking(move |engine| engine.0.edges.git.commit(&site, &workspace, &planned)).await??;
        Ok(vec![match made {
            CommitOutcome::ToPush(oid) => Fact::Committed { oid },
            CommitOutcome::Local(oid) => Fact::CommittedLocally { oid },
        }])
    }

    pub(super) async fn push(&self, run: &Run, workspace: Workspace, commit: Commit) -> Result<Vec<Fact>, StepError> {
        let site = self.site_of(run.spec.repo, run.spec.id).await?;
        let (run, ours) = (run.clone(), commit.oid.clone());
        let pushed = self.blocking(move |engine| engine.0.edges.git.push(&site, &run, &workspace, &commit)).await??;
        Ok(vec![match pushed {
            PushOutcome::Pushed => Fact::Pushed { oid: ours },
            PushOutcome::NoRemote => Fact::CommittedLocally { oid: ours },
            PushOutcome::Rebased { onto, oid } => Fact::Rebased { onto, oid },
        }])
    }
}
