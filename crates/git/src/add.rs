//! Making a worktree, so that it can be made again after a kill at any point.
//!
//! It is made in steps, each of which sees whether it is already done: the record (locked as "being made"), the
//! branch, HEAD on it, the files, and last the lock taken away. A worktree with that lock is half there and is
//! finished by the next call; one without it is whole. Only the first three hold the repository's lock; writing the
//! files, the slow part, does not keep others waiting. Upstream tracking is never set up: writing it to the shared
//! configuration is what makes `git worktree add -b` fail under parallelism and leave its branch behind.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Oid;

use crate::error::GitError;
use crate::new_worktree_path;
use crate::refs::{head_ref, require_branch_name};
use crate::remove::remove_tree;
use crate::repository::{Repository, WorktreesLock};
use crate::tree::Tree;
use crate::worktrees::{MAKING, OURS, recorded_path};

/// A worktree that is to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewWorktree {
    pub path: Utf8PathBuf,
    /// The folder it must be inside of.
    pub root: Utf8PathBuf,
    pub branch: String,
    pub base: Oid,
    pub existing: ExistingBranch,
}

/// What to do when the branch is already there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExistingBranch {
    /// An error, unless it stands on the base and nobody has it checked out: then it is what was asked for.
    Refuse,
    /// Go on with it, wherever it stands, as long as nobody else has it checked out.
    Attach,
}

#[derive(Clone, Debug)]
pub struct Added {
    pub tree: Tree,
    /// Where the branch stands.
    pub tip: Oid,
    pub origin: Origin,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    Made,
    /// It was already there as asked.
    Found,
    /// A warm slot that stood on the base.
    WarmSlot,
    /// A warm slot that was brought from another base.
    MovedSlot,
}

/// What the branch means for a new worktree.
pub(crate) struct Plan {
    pub(crate) tip: Oid,
    /// The branch is still to be made.
    pub(crate) branch_is_new: bool,
    /// Nobody but this worktree has a use for the branch.
    pub(crate) branch_is_ours: bool,
}

impl Repository {
    /// Makes it, or finishes what an interrupted call began. A failure leaves neither branch nor directory behind.
    pub fn add_worktree(&self, new: &NewWorktree) -> Result<Added, GitError> {
        require_branch_name(&new.branch)?;
        let held = self.lock_worktrees()?;
        let (tree, plan) = match self.standing(new)? {
            Standing::Whole(tree) => {
                let tip = tree.head()?;
                return Ok(Added { tree, tip, origin: Origin::Found });
            }
            Standing::HalfMade(tree) => {
                let mut plan = self.plan_for(new, Some(tree.path()))?;
                // The interrupted call made the branch: if this one fails as well, it goes.
                plan.branch_is_ours |=
                    new.existing == ExistingBranch::Refuse && tree.branch()?.as_deref() == Some(new.branch.as_str());
                (tree, plan)
            }
            Standing::Nothing => {
                self.clear_stump(&new.path)?;
                new_worktree_path::check_new(&new.path, &new.root)?;
                let plan = self.plan_for(new, None)?;
                (self.make_record(&new.path, &plan.tip, MAKING)?, plan)
            }
        };
        self.finish(new, &tree, &plan, held).inspect_err(|error| {
            // The first error is the one to tell; what cannot be undone now is half made and locked as such.
            let _ = self.undo(new, &tree, &plan, error);
        })?;
        Ok(Added { tree, tip: plan.tip, origin: Origin::Made })
    }

    fn finish(&self, new: &NewWorktree, tree: &Tree, plan: &Plan, held: WorktreesLock) -> Result<(), GitError> {
        self.take_branch(tree, &new.branch, plan)?;
        drop(held);
        tree.check_out(&plan.tip)?;
        tree.drop_our_lock()
    }

    fn undo(&self, new: &NewWorktree, tree: &Tree, plan: &Plan, after: &GitError) -> Result<(), GitError> {
        let _held = self.lock_worktrees()?;
        remove_tree(tree.path())?;
        tree.remove_record()?;
        self.give_branch_back(&new.branch, plan, after)
    }

    /// Deletes the branch of a worktree that could not be made, when it was made for it and holds nothing.
    pub(crate) fn give_branch_back(&self, branch: &str, plan: &Plan, after: &GitError) -> Result<(), GitError> {
        let is_somebody_elses = matches!(after, GitError::BranchTaken { .. });
        if plan.branch_is_ours && !is_somebody_elses && self.branch_oid(branch)?.as_ref() == Some(&plan.tip) {
            self.delete_branch(branch)?;
        }
        Ok(())
    }

    /// What is at the path already, by git's records.
    fn standing(&self, new: &NewWorktree) -> Result<Standing, GitError> {
        let Some(tree) = self.worktree(&new.path)? else { return Ok(Standing::Nothing) };
        let reason = tree.lock_reason()?;
        if !tree.is_there() {
            // Gone, or a slot that was never moved here: the record is all there is of it.
            if let Some(reason) = reason.filter(|r| !r.starts_with(OURS)) {
                return Err(GitError::Locked { path: new.path.clone(), reason });
            }
            tree.remove_record()?;
            return Ok(Standing::Nothing);
        }
        if reason.as_deref() == Some(MAKING) {
            if tree.has_whole_record()? {
                return Ok(Standing::HalfMade(tree));
            }
            // git itself was killed while it wrote the record: nobody can have worked there.
            remove_tree(tree.path())?;
            tree.remove_record()?;
            return Ok(Standing::Nothing);
        }
        if tree.branch()?.as_deref() == Some(new.branch.as_str()) {
            return Ok(Standing::Whole(tree));
        }
        Err(GitError::PathTaken { path: new.path.clone() })
    }

    /// What git left when it was killed in its first moments: a record that does not say yet where its worktree is,
    /// and perhaps the empty folder. The caller holds the lock: nobody is just making it.
    pub(crate) fn clear_stump(&self, path: &Utf8Path) -> Result<(), GitError> {
        let record = self.common_dir().join("worktrees").join(path.file_name().unwrap_or_default());
        if record.symlink_metadata().is_err() || recorded_path(&record).is_some() {
            return Ok(());
        }
        let stump = Tree::new(self, path, &record);
        if stump.lock_reason()?.is_some_and(|reason| !reason.is_empty() && !reason.starts_with(OURS)) {
            return Ok(());
        }
        // Only an empty folder goes; any other stays, and is in the way.
        let _ = std::fs::remove_dir(path);
        stump.remove_record()
    }

    /// Whether the branch can be had, and from where it starts. `own` is the path of a half-made worktree that may
    /// already have it.
    pub(crate) fn plan_for(&self, new: &NewWorktree, own: Option<&Utf8Path>) -> Result<Plan, GitError> {
        let Some(branch) = self.branch(&new.branch)? else {
            return Ok(Plan { tip: new.base.clone(), branch_is_new: true, branch_is_ours: true });
        };
        let used_at = branch.used_at.filter(|at| own != Some(at.as_path()));
        let fits = new.existing == ExistingBranch::Attach || branch.oid == new.base;
        if used_at.is_none() && fits {
            return Ok(Plan { tip: branch.oid, branch_is_new: false, branch_is_ours: false });
        }
        let suggestion = self.free_branch_like(&new.branch)?;
        Err(GitError::BranchTaken { branch: new.branch.clone(), suggestion, used_at })
    }

    /// Git's record of a worktree and its empty directory, HEAD detached. The caller holds the lock.
    pub(crate) fn make_record(&self, path: &Utf8Path, tip: &Oid, reason: &str) -> Result<Tree, GitError> {
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(GitError::io(parent))?;
        }
        let made = self
            .cmd()
            .args(["worktree", "add", "--quiet", "--detach", "--no-checkout", "--lock", "--reason", reason])
            .args(["--", path.as_str(), tip.as_str()])
            .run_patiently();
        let tree = self.worktree(path)?;
        match (made, tree) {
            (Ok(_), Some(tree)) => Ok(tree),
            (Ok(_), None) => Err(GitError::unexpected(format!("{path} was created but git has no record of it"))),
            (Err(error), tree) => {
                if let Some(tree) = tree {
                    tree.remove_record()?;
                }
                match std::fs::remove_dir(path) {
                    Err(e) if e.kind() != io::ErrorKind::NotFound => remove_tree(path)?,
                    _ => {}
                }
                Err(error.into())
            }
        }
    }

    /// The branch at its tip, and HEAD on it.
    pub(crate) fn take_branch(&self, tree: &Tree, branch: &str, plan: &Plan) -> Result<(), GitError> {
        let reference = head_ref(branch);
        if plan.branch_is_new {
            // An empty old value: it must not be there. Somebody may have made it since it was looked for.
            let made = self.cmd().args(["update-ref", &reference, plan.tip.as_str(), ""]).run_patiently();
            if let Err(error) = made {
                if self.is_free(branch)? {
                    return Err(error.into());
                }
                let suggestion = self.free_branch_like(branch)?;
                return Err(GitError::BranchTaken { branch: branch.to_owned(), suggestion, used_at: None });
            }
        }
        tree.cmd().args(["symbolic-ref", "-m", "dandori: new worktree", "HEAD", &reference]).run_patiently()?;
        Ok(())
    }
}

impl Tree {
    /// git takes its record for a repository.
    fn has_whole_record(&self) -> Result<bool, GitError> {
        Ok(self.cmd().reading().args(["rev-parse", "--git-dir"]).run_any()?.status.success())
    }
}

enum Standing {
    Nothing,
    HalfMade(Tree),
    Whole(Tree),
}
