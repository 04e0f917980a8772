//! Keeping work before its worktree goes, and bringing it back.
//!
//! What is kept is one commit on top of HEAD with everything uncommitted in it, under a private ref. Its message
//! names HEAD in a trailer; a ref that points at a commit without one keeps commits alone. A branch whose commits
//! HEAD does not have, and whatever the ref kept before, are further parents: nothing once kept is lost by keeping again.

use camino::Utf8Path;
use dandori_domain::Oid;
use dandori_domain::run::BranchFate;
use jiff::Timestamp;

use crate::add::{Added, ExistingBranch, NewWorktree, Origin};
use crate::commit::{Draft, Signature, git_date};
use crate::error::GitError;
use crate::gather::{Bounds, Lasting, Nested};
use crate::repository::Repository;
use crate::tree::Tree;

pub const PRESERVED_PREFIX: &str = "refs/dandori/preserved/";

const KEPT_ON: &str = "Dandori-Kept-On";

impl Repository {
    /// Keeps everything uncommitted (but for ignored files) and every unpushed commit of HEAD and of `branch` under
    /// `reference`. `None`: there was nothing to keep. The worktree's index and files are not touched. A repository
    /// inside the worktree is kept as its files, without its history.
    pub fn preserve(
        &self,
        tree: &Tree,
        branch: Option<&str>,
        reference: &str,
        message: &str,
        at: Timestamp,
    ) -> Result<Option<Oid>, GitError> {
        self.keep(tree, branch, BranchFate::Delete, reference, message, at)
    }

    /// The same for a worktree whose branch stays. Without a remote a commit on that branch is not lost, and nothing is kept
    /// beside it.
    pub fn preserve_beside(
        &self,
        tree: &Tree,
        branch: &str,
        reference: &str,
        message: &str,
        at: Timestamp,
    ) -> Result<Option<Oid>, GitError> {
        self.keep(tree, Some(branch), BranchFate::Keep, reference, message, at)
    }

    fn keep(
        &self,
        tree: &Tree,
        branch: Option<&str>,
        fate: BranchFate,
        reference: &str,
        message: &str,
        at: Timestamp,
    ) -> Result<Option<Oid>, GitError> {
        let is_safe_on_branch = fate == BranchFate::Keep && self.is_on_its_own();
        let head = tree.head_if_any()?;
        let earlier = self.reference(reference)?;
        let work = tree.work()?;
        let head_tree = match &head {
            Some(head) => Some(self.commit_object(head)?.tree),
            None => None,
        };
        let is_dirty = work.is_some() && work != head_tree;
        let mut further = if is_safe_on_branch { Vec::new() } else { self.stranded_commits(branch, head.as_ref())? };
        if !is_dirty && further.is_empty() {
            let own = tree.branch()?;
            let own = branch.or(own.as_deref()).filter(|_| !is_safe_on_branch);
            let unkept = self.unkept_head(head.as_ref(), own, earlier.as_ref())?;
            match (unkept, &earlier) {
                // Clean, perhaps because the directory is already gone: what was kept before is what there is.
                (None, _) => return Ok(earlier),
                (Some(head), None) => {
                    self.set_own_ref(reference, &head)?;
                    return Ok(Some(head));
                }
                // New commits beside what was kept before: one commit keeps both.
                (Some(_), Some(_)) => {}
            }
        }
        let kept_tree = match (work, head_tree) {
            (Some(work), _) => work,
            (None, Some(tree)) => tree,
            (None, None) => self.empty_tree()?,
        };
        if let Some(earlier) = earlier {
            let before = self.commit_object(&earlier)?;
            let same_head = before.trailer(KEPT_ON) == Some(named(head.as_ref()));
            if same_head && before.tree == kept_tree && further.iter().all(|f| before.parents.contains(f)) {
                return Ok(Some(earlier));
            }
            let is_in_head = match &head {
                Some(head) => self.is_ancestor(&earlier, head)?,
                None => false,
            };
            if !is_in_head {
                further.push(earlier);
            }
        }
        let parents: Vec<Oid> = head.iter().cloned().chain(further).collect();
        let text = format!("{}\n\n{KEPT_ON}: {}\n", message.trim_end(), named(head.as_ref()));
        let oid = self.make_kept_commit(&kept_tree, &parents, &text, at)?;
        self.set_own_ref(reference, &oid)?;
        Ok(Some(oid))
    }

    /// What is kept under this name.
    pub fn kept(&self, reference: &str) -> Result<Option<Oid>, GitError> {
        self.reference(reference)
    }

    /// A worktree as it was when it was kept: at the commit it stood on, the edits back as uncommitted changes. The
    /// branch is the one named in `new` if that is free or stands there, else the nearest free name; `new.base` is
    /// used only when nothing had been committed yet. The ref stays.
    pub fn restore(&self, reference: &str, new: &NewWorktree) -> Result<Added, GitError> {
        let kept = self.reference(reference)?;
        let kept = kept.ok_or_else(|| GitError::NoSuchRef { reference: reference.to_owned() })?;
        let Kept { head, has_edits } = self.what_is_kept(&kept)?;
        let head = head.unwrap_or_else(|| new.base.clone());
        let wanted = NewWorktree { base: head.clone(), existing: ExistingBranch::Refuse, ..new.clone() };
        let added = match self.add_worktree(&wanted) {
            Err(GitError::BranchTaken { suggestion, .. }) => {
                self.add_worktree(&NewWorktree { branch: suggestion, ..wanted })?
            }
            Err(GitError::PathTaken { path }) => self.restored_before(&path, &head)?,
            other => other?,
        };
        if has_edits {
            let tip = added.tree.head()?;
            added.tree.bring(&tip, &kept)?;
            // The index alone: which files differ from it is seen when somebody looks.
            added.tree.cmd().args(["read-tree", tip.as_str()]).run_patiently()?;
        }
        Ok(added)
    }

    /// The commit a worktree stood on when it was kept; `None` when nothing is kept there, or nothing was committed yet.
    pub fn kept_on(&self, reference: &str) -> Result<Option<Oid>, GitError> {
        match self.reference(reference)? {
            Some(kept) => Ok(self.what_is_kept(&kept)?.head),
            None => Ok(None),
        }
    }

    fn what_is_kept(&self, kept: &Oid) -> Result<Kept, GitError> {
        let object = self.commit_object(kept)?;
        Ok(match object.trailer(KEPT_ON) {
            None => Kept { head: Some(kept.clone()), has_edits: false },
            Some(name) => {
                Kept { head: object.parents.first().filter(|p| p.as_str() == name).cloned(), has_edits: true }
            }
        })
    }

    /// An earlier call may have been killed after it chose another branch name.
    fn restored_before(&self, path: &Utf8Path, head: &Oid) -> Result<Added, GitError> {
        let taken = || GitError::PathTaken { path: path.to_owned() };
        let tree = self.worktree(path)?.ok_or_else(taken)?;
        let tip = tree.head()?;
        if tip != *head || tree.branch()?.is_none() {
            return Err(taken());
        }
        Ok(Added { tree, tip, origin: Origin::Found })
    }

    /// HEAD, when it has commits that are neither pushed nor in what was kept before.
    fn unkept_head(
        &self,
        head: Option<&Oid>,
        branch: Option<&str>,
        earlier: Option<&Oid>,
    ) -> Result<Option<Oid>, GitError> {
        let Some(head) = head else { return Ok(None) };
        let is_kept = match earlier {
            Some(earlier) => self.is_ancestor(head, earlier)?,
            None => false,
        };
        Ok((!is_kept && self.unpushed(head, branch)? > 0).then(|| head.clone()))
    }

    /// The tip of a branch that HEAD left behind with commits nobody else has.
    fn stranded_commits(&self, branch: Option<&str>, head: Option<&Oid>) -> Result<Vec<Oid>, GitError> {
        let Some(branch) = branch else { return Ok(Vec::new()) };
        let Some(tip) = self.branch_oid(branch)? else { return Ok(Vec::new()) };
        if let Some(head) = head
            && self.is_ancestor(&tip, head)?
        {
            return Ok(Vec::new());
        }
        Ok(if self.unpushed(&tip, Some(branch))? == 0 { Vec::new() } else { vec![tip] })
    }

    fn make_kept_commit(&self, tree: &Oid, parents: &[Oid], message: &str, at: Timestamp) -> Result<Oid, GitError> {
        // Not the user's commit and not to be signed as his: a missing key or name must not keep work from being kept.
        let us = Signature {
            name: Some("dandori".to_owned()),
            email: Some("dandori@localhost".to_owned()),
            date: git_date(at),
        };
        let draft = Draft { tree, parents, message: message.as_bytes(), author: &us, committer: &us };
        self.make_unsigned_commit(&draft)
    }

    fn empty_tree(&self) -> Result<Oid, GitError> {
        Ok(Oid::new(self.cmd().args(["hash-object", "-w", "-t", "tree", "/dev/null"]).run()?.text()))
    }
}

/// What a commit under a private ref keeps.
struct Kept {
    /// What HEAD stood on.
    head: Option<Oid>,
    has_edits: bool,
}

fn named(head: Option<&Oid>) -> String {
    head.map_or("nothing".to_owned(), |oid| oid.as_str().to_owned())
}

impl Tree {
    /// Everything in the directory as a tree; `None` when the directory is gone.
    fn work(&self) -> Result<Option<Oid>, GitError> {
        if !self.is_there() {
            return Ok(None);
        }
        Ok(Some(self.gather(Nested::AsFiles, Lasting::Durable, Bounds::default())?.tree))
    }
}
