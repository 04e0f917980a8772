//! Kept work brought back: a worktree as it was, the edits uncommitted again.

use camino::Utf8Path;
use dandori_domain::Problem;
use dandori_domain::run::{Run, Status};
use dandori_domain::worktree::{Keepsake, Owner, Worktree};
use dandori_git::{ExistingBranch, GitError, NewWorktree, PRESERVED_PREFIX};
use dandori_host::now;

use super::{fresh_key, owned_by};
use crate::Engine;
use crate::edges::lock_reason;
use crate::trouble::store_problem;

impl Engine {
    pub async fn restore_worktree(
        &self,
        path: &Utf8Path,
        text: &str,
        session: Option<String>,
    ) -> Result<Worktree, Problem> {
        let known = self.open_at(path).await?;
        let keepsakes = self.store().keepsakes(known.repo.id).await.map_err(|e| store_problem(&e))?;
        // A task's name means all its runs: the work may be of an earlier one than the newest.
        let runs = self.store().find_runs(text).await.unwrap_or_default();
        let keepsake = keepsakes
            .into_iter()
            .filter(|k| fits(k, text, &runs))
            .max_by_key(|k| k.at)
            .ok_or_else(|| Problem::NothingPreserved { text: text.to_owned() })?;
        let run = runs.into_iter().find(|run| is_of(&keepsake, run));
        let key = fresh_key();
        let folder = self.layout().repo(known.repo.id).worktrees();
        let worktree = Worktree {
            path: folder.join(format!("wt_{key}")),
            key: key.clone(),
            repo: known.repo.id,
            branch: keepsake.branch.clone(),
            // Not before it is known which one it gets.
            branch_is_ours: false,
            base: keepsake.branch.clone(),
            base_oid: keepsake.oid.clone(),
            owner: owned_by(session),
            created_at: now(),
            removed_at: None,
        };
        let being_made = self.0.making.begin(&key);
        self.store().put_worktree(worktree.clone(), now()).await.map_err(|e| store_problem(&e))?;
        let (git, mut made) = (known.git.clone(), worktree.clone());
        let restored = self
            .blocking(move |_| {
                let _being_made = being_made;
                let new = NewWorktree {
                    path: made.path.clone(),
                    root: folder,
                    branch: keepsake.branch,
                    base: keepsake.oid,
                    existing: ExistingBranch::Refuse,
                };
                let before = git.branches("")?;
                let added = git.restore(&keepsake.reference, &new)?;
                made.branch = added.tree.branch()?.unwrap_or_default();
                made.branch_is_ours = !before.iter().any(|(name, _)| *name == made.branch);
                made.base_oid = added.tip;
                if made.owner != Owner::Nobody {
                    git.lock(&made.path, &lock_reason(&made.owner))?;
                }
                Ok::<_, GitError>(made)
            })
            .await?;
        match restored {
            Ok(made) => {
                self.store().put_worktree(made.clone(), now()).await.map_err(|e| store_problem(&e))?;
                if let Some(run) = &run {
                    self.seen_kept_work(run).await;
                }
                Ok(made)
            }
            Err(error) => {
                if worktree.path.symlink_metadata().is_err() {
                    self.store().mark_removed(key, now()).await.map_err(|e| store_problem(&e))?;
                }
                Err(error.problem())
            }
        }
    }

    /// The worktree that the kept work of a canceled run was restored to, while it is there.
    pub(crate) async fn restored_to(&self, run: &Run) -> Result<Option<Worktree>, Problem> {
        let Some(kept) = self.kept_by_cancel(run).await? else { return Ok(None) };
        let stored = self.store().worktrees(Some(run.spec.repo)).await.map_err(|e| store_problem(&e))?;
        Ok(stored.into_iter().rfind(|worktree| holds(worktree, &kept) && worktree.path.exists()))
    }

    /// The kept work of a canceled run as it was last: a worktree that it was restored to may have been kept again.
    pub(crate) async fn kept_last(&self, run: &Run) -> Result<Option<Keepsake>, Problem> {
        let Some(kept) = self.kept_by_cancel(run).await? else { return Ok(None) };
        let keepsakes = self.store().keepsakes(run.spec.repo).await.map_err(|e| store_problem(&e))?;
        for later in keepsakes.into_iter().filter(|keepsake| keepsake.at > kept.at) {
            let from = self.store().worktree(later.key.clone()).await.map_err(|e| store_problem(&e))?;
            if from.is_some_and(|worktree| holds(&worktree, &kept)) {
                return Ok(Some(later));
            }
        }
        Ok(Some(kept))
    }

    async fn kept_by_cancel(&self, run: &Run) -> Result<Option<Keepsake>, Problem> {
        let Some(preserved) = run.preserved.as_ref().filter(|_| run.status() == Status::Canceled) else {
            return Ok(None);
        };
        let keepsakes = self.store().keepsakes(run.spec.repo).await.map_err(|e| store_problem(&e))?;
        Ok(keepsakes.into_iter().find(|keepsake| keepsake.reference == preserved.reference))
    }
}

/// Whether a worktree was made of this kept work: it has its branch as its base.
fn holds(worktree: &Worktree, kept: &Keepsake) -> bool {
    worktree.base == kept.branch && worktree.created_at >= kept.at
}

fn is_of(keepsake: &Keepsake, run: &Run) -> bool {
    run.preserved.as_ref().is_some_and(|preserved| preserved.reference == keepsake.reference)
}

fn fits(keepsake: &Keepsake, text: &str, runs: &[Run]) -> bool {
    keepsake.key.as_str() == text
        || keepsake.reference == text
        || keepsake.branch == text
        || keepsake.reference.strip_prefix(PRESERVED_PREFIX) == Some(text)
        || runs.iter().any(|run| is_of(keepsake, run))
}
