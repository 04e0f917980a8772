//! Where a run works: planned, made, and at the end kept and removed.

use dandori_domain::run::{BranchFate, Fact, Intent, Note, PlannedWorktree, Run, RunKind, Status, Workspace};

use super::StepError;
use crate::Engine;
use crate::edges::{Kept, MakeAnswer, Site, preserved_ref_of};
use crate::trouble::store_problem;

impl Engine {
    /// The site with the configured base in it.
    async fn site_to_plan(&self, run: &Run) -> Result<Site, StepError> {
        let mut site = self.site_of(run.spec.repo, run.spec.id).await?;
        if self.0.edges.git.is_gone(&site.repo) {
            return Err(dandori_domain::Failure::RepositoryGone { path: site.repo.root, during: None }.into());
        }
        site.base = self.config_of(&site.repo)?.base;
        Ok(site)
    }

    pub(super) async fn plan_worktree(&self, run: &Run) -> Result<Vec<Fact>, StepError> {
        let site = self.site_to_plan(run).await?;
        let kept = self.kept_before(run).await?;
        let run = run.clone();
        self.blocking(move |engine| engine.0.edges.git.plan(&site, &run, kept.as_ref())).await?
    }

    pub(super) async fn make_worktree(&self, run: &Run, planned: PlannedWorktree) -> Result<Vec<Fact>, StepError> {
        let site = self.site_to_plan(run).await?;
        let was_set_up = self.was_set_up(run).await?;
        let of = run.clone();
        let made = self.blocking(move |engine| engine.0.edges.git.make(&site, &of, &planned)).await??;
        self.0.housekeeping.notify_one();
        let (workspace, from_pool, was_there, mut facts) = match made {
            MakeAnswer::Planned(facts) => return Ok(facts),
            MakeAnswer::Made { workspace, from_pool, was_there, facts } => (workspace, from_pool, was_there, facts),
        };
        // A follow-up's tree has had its set-up, unless it had to be made again.
        let is_set_up = was_set_up && was_there;
        let needs_none = self.set_up_commands(run, &workspace.path).is_empty();
        if !is_set_up {
            let notes = Self::set_up_notes(&run.spec.settings.set_up, &workspace.path, &self.env_of(run.spec.id));
            facts.extend(notes.into_iter().map(|note| Fact::Noted { note }));
        }
        facts.push(Fact::WorktreeReady { workspace, from_pool });
        // One transaction less for the many projects that need no set-up.
        if needs_none || is_set_up {
            facts.push(Fact::SetUpDone { commands: 0 });
        }
        Ok(facts)
    }

    /// What the run goes on from, when that is not in its worktree any more: the work of a run that was canceled, or what was
    /// kept last when the worktree was removed by hand.
    async fn kept_before(&self, run: &Run) -> Result<Option<Kept>, StepError> {
        let RunKind::FollowUp { after, workspace, .. } = &run.spec.kind else { return Ok(None) };
        let trouble = |e| StepError::Trouble(store_problem(&e));
        let earlier = self.store().subject::<Run>(*after).await.map_err(trouble)?;
        if earlier.status() == Status::Canceled {
            return Ok(self.kept_last(&earlier).await?.map(|keepsake| Kept::ByCancel(keepsake.reference)));
        }
        let keepsakes = self.store().keepsakes(run.spec.repo).await.map_err(trouble)?;
        let by_hand = format!("{}-", preserved_ref_of(&workspace.key));
        let newest = keepsakes.into_iter().filter(|k| k.reference.starts_with(&by_hand)).max_by_key(|k| k.at);
        Ok(newest.map(|k| Kept::ByHand(k.reference)))
    }

    /// Whether the worktree has had its set-up before this run. One that had to be made again has not; that is
    /// known from when it was looked for, not from finding it there: a life before this one may have made it.
    async fn was_set_up(&self, run: &Run) -> Result<bool, StepError> {
        let RunKind::FollowUp { after, .. } = &run.spec.kind else { return Ok(false) };
        let earlier = self.store().subject::<Run>(*after).await.map_err(|e| StepError::Trouble(store_problem(&e)))?;
        Ok(earlier.progress.is_set_up() && !run.notes.contains(&Note::WorktreeRemade))
    }

    pub(super) async fn preserve(
        &self,
        run: &Run,
        workspace: Workspace,
        fate: BranchFate,
    ) -> Result<Vec<Fact>, StepError> {
        let site = self.site_of(run.spec.repo, run.spec.id).await?;
        let run = run.clone();
        let kept = self.blocking(move |engine| engine.0.edges.git.preserve(&site, &run, &workspace, fate)).await??;
        let mut facts: Vec<Fact> =
            kept.map(|kept| Fact::Preserved { reference: kept.reference, oid: kept.oid }).into_iter().collect();
        facts.push(Fact::Intended { intent: Intent::Remove { branch: fate } });
        Ok(facts)
    }

    pub(super) async fn remove(
        &self,
        run: &Run,
        workspace: Workspace,
        fate: BranchFate,
    ) -> Result<Vec<Fact>, StepError> {
        let site = self.site_of(run.spec.repo, run.spec.id).await?;
        self.blocking(move |engine| engine.0.edges.git.remove(&site, &workspace, fate)).await??;
        self.0.housekeeping.notify_one();
        Ok(vec![Fact::Removed { branch: fate }])
    }
}
