//! Clearing up: only what is proved to be nobody's, and never a thing that could not be kept.

use camino::Utf8Path;
use dandori_domain::run::{BranchFate, Removal, Run};
use dandori_domain::worktree::{Keepsake, LeftoverReason};
use dandori_domain::{Problem, WorktreeKey};
use dandori_host::now;

use super::{Collected, CollectedThing, WorktreeReport, WorktreeState};
use crate::Engine;
use crate::edges::preserved_ref_at;
use crate::repos::Known;
use crate::trouble::store_problem;

impl Engine {
    /// What is left over: orphans, records of nothing, merged and stale trees, branches without a run.
    pub async fn collect_worktrees(&self, path: &Utf8Path, dry_run: bool) -> Result<Collected, Problem> {
        let known = self.open_at(path).await?;
        let mut collected = Collected::default();
        for report in self.list_worktrees(path, false).await? {
            self.collect_worktree(&known, &report, dry_run, &mut collected).await?;
        }
        self.collect_branches(&known, dry_run, &mut collected).await?;
        Ok(collected)
    }

    async fn collect_worktree(
        &self,
        known: &Known,
        report: &WorktreeReport,
        dry_run: bool,
        into: &mut Collected,
    ) -> Result<(), Problem> {
        let why = match report.state {
            WorktreeState::Live | WorktreeState::Idle => return Ok(()),
            WorktreeState::Merged => LeftoverReason::Merged,
            WorktreeState::Stale => LeftoverReason::Stale,
            WorktreeState::Orphaned => LeftoverReason::Orphaned,
            WorktreeState::Missing => LeftoverReason::Missing,
            WorktreeState::Unknown => LeftoverReason::Unknown,
            WorktreeState::Unrecorded => LeftoverReason::Unrecorded,
        };
        let mut thing = CollectedThing {
            kind: if report.state == WorktreeState::Missing { "record" } else { "worktree" },
            name: report.worktree.path.to_string(),
            why,
            preserved: None,
        };
        if matches!(report.state, WorktreeState::Unknown | WorktreeState::Unrecorded) {
            into.left.push(thing);
            return Ok(());
        }
        let done = if dry_run {
            self.require_free(known, &report.worktree, None).await.map(|()| None)
        } else {
            let is_merged = report.state == WorktreeState::Merged;
            self.keep_and_remove(known, &report.worktree, None, is_merged).await.map(|gone| gone.preserved)
        };
        match done {
            Ok(preserved) => {
                thing.preserved = preserved;
                into.removed += u32::from(!dry_run);
                into.found.push(thing);
                Ok(())
            }
            // One that cannot go does not keep the others.
            Err(problem) => {
                thing.why = match problem {
                    Problem::WorktreeHeld { owner, .. } => LeftoverReason::Held { owner },
                    Problem::WorktreeLocked { reason, .. } => LeftoverReason::Locked { reason },
                    Problem::WorktreeUnrecorded { .. } => LeftoverReason::Unknown,
                    other => return Err(other),
                };
                into.left.push(thing);
                Ok(())
            }
        }
    }

    /// Branches under our prefix that no worktree and no run has. Each is kept before it goes.
    async fn collect_branches(&self, known: &Known, dry_run: bool, into: &mut Collected) -> Result<(), Problem> {
        let git = known.git.clone();
        let (branches, listed) = self
            .blocking(move |_| Ok::<_, dandori_git::GitError>((git.branches("dandori/")?, git.list()?)))
            .await?
            .map_err(|e| e.problem())?;
        let stored = self.stored(known).await?;
        let claims = self.claims(known).await?;
        let is_used = |name: &str| {
            stored.iter().any(|w| w.branch == name)
                || listed.iter().any(|l| l.branch.as_deref() == Some(name))
                || claims.on_branch(name)
        };
        for (name, oid) in branches.into_iter().filter(|(name, _)| !is_used(name)) {
            if self.is_kept_branch(&name).await? {
                continue;
            }
            let mut thing =
                CollectedThing { kind: "branch", name: name.clone(), why: LeftoverReason::Orphaned, preserved: None };
            if self.is_lost(name.trim_start_matches("dandori/")).await {
                into.left.push(CollectedThing { why: LeftoverReason::Unrecorded, ..thing });
                continue;
            }
            if !dry_run {
                let at = now();
                // With the time in it: a branch of the same name may have been kept before.
                let reference = preserved_ref_at(&name.replace('/', "-"), at);
                let git = known.git.clone();
                let (kept, gone, tip) = (reference.clone(), name.clone(), oid.clone());
                let in_use = self
                    .blocking(move |_| {
                        git.set_own_ref(&kept, &tip)?;
                        let in_use = git.delete_branch(&gone)?;
                        if in_use.is_some() {
                            git.delete_own_ref(&kept)?;
                        }
                        Ok::<_, dandori_git::GitError>(in_use)
                    })
                    .await?
                    .map_err(|e| e.problem())?;
                if in_use.is_some() {
                    continue;
                }
                let keepsake = Keepsake {
                    key: WorktreeKey::new(name.trim_start_matches("dandori/")),
                    reference: reference.clone(),
                    oid,
                    branch: name,
                    path: "".into(),
                    at,
                };
                self.store().keep(known.repo.id, keepsake).await.map_err(|e| store_problem(&e))?;
                thing.preserved = Some(reference);
                into.removed += 1;
            }
            into.found.push(thing);
        }
        Ok(())
    }

    /// The branch of a worktree that went and left it behind on purpose: a run's pushed work, or a user's wish.
    async fn is_kept_branch(&self, name: &str) -> Result<bool, Problem> {
        let Some(key) = name.strip_prefix("dandori/") else { return Ok(false) };
        let buried = self.store().worktree(WorktreeKey::new(key)).await.map_err(|e| store_problem(&e))?;
        if buried.is_none_or(|w| w.branch != name) {
            return Ok(false);
        }
        let meant_to_go = |run: &Run| run.removal == Removal::Done(BranchFate::Delete);
        Ok(!self.find_run(key).await.is_ok_and(|run| meant_to_go(&run)))
    }
}
