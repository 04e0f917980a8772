//! Taking a worktree away: what is in it is kept first, and only what is ours goes with it.

use camino::Utf8Path;
use dandori_domain::Problem;
use dandori_domain::worktree::{Keepsake, Worktree};
use dandori_git::{BranchEnd, GitError, Repository};
use dandori_host::now;

use super::{Removal, WorktreeState};
use crate::Engine;
use crate::edges::preserved_ref_at;
use crate::repos::Known;
use crate::trouble::store_problem;

/// What became of the work and the branch.
pub(super) struct Gone {
    pub(super) preserved: Option<String>,
    pub(super) branch_deleted: bool,
}

impl Engine {
    /// Another's lock refuses, uncommitted and unpushed work is named, kept, and only then removed.
    pub async fn remove_worktree(
        &self,
        path: &Utf8Path,
        text: &str,
        session: Option<&str>,
        force: bool,
        keep_branch: bool,
    ) -> Result<Removal, Problem> {
        let known = self.open_at(path).await?;
        let report = match self.one(path, text).await {
            Err(Problem::NoSuchWorktree { .. }) => self.one(path, &self.only_worktree_of(&known, text).await?).await?,
            found => found?,
        };
        let worktree = report.worktree.clone();
        self.require_free(&known, &worktree, session).await?;
        if report.state == WorktreeState::Unknown {
            return Err(Problem::WorktreeUnrecorded { path: worktree.path });
        }
        // One that cannot be looked at has nothing to be named; what is in it is kept all the same.
        let (files, unpushed) = (report.dirty.unwrap_or(0), report.unpushed.unwrap_or(0));
        if (files > 0 || unpushed > 0) && !force {
            return Err(Problem::WorktreeDirty { key: worktree.key.to_string(), files, unpushed });
        }
        let gone = self.keep_and_remove(&known, &worktree, session, !keep_branch).await?;
        Ok(Removal { worktree, preserved: gone.preserved, branch_deleted: gone.branch_deleted, dirty: files, unpushed })
    }

    /// The worktree of a task, if its agents work in no other: nobody's is removed by guessing.
    async fn only_worktree_of(&self, known: &Known, text: &str) -> Result<String, Problem> {
        let nothing = || Problem::NoSuchWorktree { text: text.to_owned() };
        let runs = match self.find_task(text).await {
            Ok((task, runs)) if task.repo == known.repo.id => runs,
            Ok(_) | Err(Problem::NoSuchTask { .. }) => return Err(nothing()),
            Err(problem) => return Err(problem),
        };
        let mut keys: Vec<String> = runs.iter().filter_map(|run| Some(run.workspace()?.key.to_string())).collect();
        keys.sort_unstable();
        keys.dedup();
        match keys.as_slice() {
            [] => Err(nothing()),
            [one] => Ok(one.clone()),
            _ => Err(Problem::AmbiguousReference { text: text.to_owned(), matches: keys }),
        }
    }

    /// Keeps what is in it, takes it away, tells the store. A branch that was not made for it stays in any case, and so does,
    /// without a remote, one whose commits no other branch has.
    pub(super) async fn keep_and_remove(
        &self,
        known: &Known,
        worktree: &Worktree,
        session: Option<&str>,
        delete_branch: bool,
    ) -> Result<Gone, Problem> {
        self.require_free(known, worktree, session).await?;
        let reference = preserved_ref_at(worktree.key.as_str(), now());
        let (git, tree, kept_as) = (known.git.clone(), worktree.clone(), reference.clone());
        let kept = self
            .blocking(move |_| {
                let message = format!("kept from {}", tree.branch);
                let branch = Some(tree.branch.as_str()).filter(|b| !b.is_empty());
                let goes = delete_branch && goes_with(&git, &tree).map_err(|e| e.problem())?;
                match git.worktree(&tree.path).map_err(|e| e.problem())? {
                    Some(there) => match branch.filter(|_| !goes) {
                        Some(stays) => git.preserve_beside(&there, stays, &kept_as, &message, now()),
                        None => git.preserve(&there, branch, &kept_as, &message, now()),
                    }
                    .map_err(|e| e.problem()),
                    // Without git's record nothing of it could be kept.
                    None if tree.path.symlink_metadata().is_ok() => {
                        Err(Problem::WorktreeUnrecorded { path: tree.path.clone() })
                    }
                    None => Ok(None),
                }
            })
            .await??;
        // Keeping takes its time: somebody may have begun to work there meanwhile.
        if let Err(problem) = self.require_free(known, worktree, session).await {
            let git = known.git.clone();
            self.blocking(move |_| git.delete_own_ref(&reference)).await?.map_err(|e| e.problem())?;
            return Err(problem);
        }
        let preserved = kept.is_some().then(|| reference.clone());
        if let Some(oid) = kept {
            let branch = Some(worktree.branch.clone()).filter(|b| !b.is_empty());
            let keepsake = Keepsake {
                key: worktree.key.clone(),
                reference,
                oid,
                branch: branch.unwrap_or_else(|| format!("dandori/{}", worktree.key)),
                path: worktree.path.clone(),
                at: now(),
            };
            self.store().keep(known.repo.id, keepsake).await.map_err(|e| store_problem(&e))?;
        }
        let trash = self.layout().repo(known.repo.id).trash();
        let (git, tree) = (known.git.clone(), worktree.clone());
        let branch_deleted = self
            .blocking(move |_| {
                let goes = delete_branch && goes_with(&git, &tree)?;
                let was_there = goes && git.branch_exists(&tree.branch)?;
                let end = git.remove_worktree(&tree.path, &trash, goes.then_some(tree.branch.as_str()))?;
                Ok::<_, GitError>(was_there && end == BranchEnd::Deleted)
            })
            .await?
            .map_err(|e| e.problem())?;
        if self.store().worktree(worktree.key.clone()).await.map_err(|e| store_problem(&e))?.is_some() {
            self.store().mark_removed(worktree.key.clone(), now()).await.map_err(|e| store_problem(&e))?;
        }
        self.0.housekeeping.notify_one();
        Ok(Gone { preserved, branch_deleted })
    }
}

/// Whether its branch may go with a worktree.
fn goes_with(git: &Repository, worktree: &Worktree) -> Result<bool, GitError> {
    Ok(worktree.branch_is_ours && !worktree.branch.is_empty() && git.is_spare(&worktree.branch)?)
}
