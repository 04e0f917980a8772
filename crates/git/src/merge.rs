//! Merging a branch into its base: looked at first, worked out in memory, then done where the base is.
//!
//! The base stands where everybody has it: at the remote, if there is one that has it, else here. A merge is one commit
//! that the base goes to, made before anything moves, so that doing it twice does the same. At the remote it arrives by
//! a push that never forces; here by a compare-and-swap, and a checkout of the base moves with it.

use dandori_domain::Oid;
use dandori_domain::pull::MergeRule;
use jiff::Timestamp;

use crate::base::Fetch;
use crate::commit::{Draft, Signature, git_date};
use crate::error::GitError;
use crate::push::PushAnswer;
use crate::rebase::Merged;
use crate::refs::Branch;
use crate::repository::Repository;
use crate::tree::Tree;

/// Where a base is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BaseStanding {
    pub oid: Oid,
    /// The remote has it: it is merged there, and here as far as that goes.
    pub at_remote: bool,
    /// The branch of this clone.
    pub local: Option<Oid>,
}

/// How two sides stand to each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sides {
    /// Commits of the head that the base has not.
    pub ahead: u32,
    /// Commits of the base that the head has not.
    pub behind: u32,
    /// The files in which they contradict each other.
    pub conflicts: Vec<String>,
}

/// What a merge would be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MergePlan {
    /// The commit the base goes to. It is there, and nothing points to it yet.
    Ready {
        to: Oid,
    },
    Conflict {
        files: Vec<String>,
    },
    /// Only a fast-forward was wanted, and there is none.
    Diverged,
}

/// What came of a merge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MergeAnswer {
    /// The base has it, now or before.
    Merged { here: LocalBase },
    /// The base is no longer where the merge was worked out from.
    BaseMoved,
    /// The remote would not take it.
    Refused { reason: String },
}

/// What became of the base's branch in this clone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LocalBase {
    /// It has the merge.
    Current,
    Absent,
    /// It has commits of its own, or edits in the way: it stays where it was.
    Left,
}

/// A commit as a list shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommitLine {
    pub oid: Oid,
    pub author: String,
    pub at: Option<Timestamp>,
    pub subject: String,
}

impl Repository {
    /// Where a base is; `None` when neither the remote nor this clone has it. The inner error is one line for people: the
    /// remote could not be asked.
    pub fn base_standing(&self, base: &str, fetch: Fetch) -> Result<Result<Option<BaseStanding>, String>, GitError> {
        let local = self.branch_oid(base)?;
        let theirs = match (fetch, self.remote()?) {
            (Fetch::Never, _) => self.remote_branch_oid(base)?,
            (Fetch::First | Fetch::WhenMoved, None) => None,
            (Fetch::First | Fetch::WhenMoved, Some(remote)) => match self.fetch_branch(&remote, base) {
                Ok(theirs) => theirs,
                Err(reason) => return Ok(Err(reason)),
            },
        };
        let (oid, at_remote) = match (theirs, &local) {
            (Some(theirs), _) => (theirs, true),
            (None, Some(local)) => (local.clone(), false),
            (None, None) => return Ok(Ok(None)),
        };
        Ok(Ok(Some(BaseStanding { oid, at_remote, local })))
    }

    /// How a head stands to a base.
    pub fn sides(&self, base: &Oid, head: &Oid) -> Result<Sides, GitError> {
        let range = format!("{}...{}", base.as_str(), head.as_str());
        let counted = self.cmd().reading().args(["rev-list", "--left-right", "--count", &range]).run()?.text();
        let (behind, ahead) = counted.split_once('\t').unwrap_or_default();
        let (behind, ahead) = (behind.parse().unwrap_or(0), ahead.parse().unwrap_or(0));
        let conflicts = match behind {
            0 => Vec::new(),
            _ => match self.merge_heads(base, head)? {
                Merged::Clean { .. } => Vec::new(),
                Merged::Conflict { files, .. } => files,
            },
        };
        Ok(Sides { ahead, behind, conflicts })
    }

    /// The commit that a merge of `head` into a base at `base` is.
    pub fn plan_merge(
        &self,
        base: &Oid,
        head: &Oid,
        rule: MergeRule,
        message: &str,
        at: Timestamp,
    ) -> Result<MergePlan, GitError> {
        let forward = self.is_ancestor(base, head)?;
        match rule {
            MergeRule::Usual | MergeRule::FastForwardOnly if forward => {
                return Ok(MergePlan::Ready { to: head.clone() });
            }
            MergeRule::FastForwardOnly => return Ok(MergePlan::Diverged),
            MergeRule::Usual | MergeRule::MergeCommit => {}
        }
        let tree = match self.merge_heads(base, head)? {
            Merged::Clean { tree } => tree,
            Merged::Conflict { files, .. } => return Ok(MergePlan::Conflict { files }),
        };
        let user = Signature::of_user(git_date(at));
        let to = self.make_commit(&Draft {
            tree: &tree,
            parents: &[base.clone(), head.clone()],
            message: message.as_bytes(),
            author: &user,
            committer: &user,
        })?;
        Ok(MergePlan::Ready { to })
    }

    /// Brings a base from one commit to another that has it in it. Whatever of this has happened already is found.
    pub fn merge(&self, base: &str, from: &Oid, to: &Oid, at_remote: bool) -> Result<MergeAnswer, GitError> {
        if !at_remote {
            let _held = self.lock_worktrees()?;
            return match self.branch_oid(base)? {
                Some(there) if there == *from || self.is_ancestor(to, &there)? => self.forward_here(base, to),
                _ => Ok(MergeAnswer::BaseMoved),
            };
        }
        let Some(remote) = self.remote()? else { return Ok(MergeAnswer::BaseMoved) };
        // Before anything is shared: a checkout that cannot follow is the user's to clear first.
        let edits = self.edits_before(base, to)?;
        if let Some((tree, files)) = edits.filter(|(_, files)| !files.is_empty()) {
            // After it, it is not: whoever edits now has the merge at the remote all the same.
            let is_there = self.fetch_branch(&remote, base).ok().flatten().is_some_and(|tip| tip == *to);
            if !is_there {
                return Err(GitError::EditsInTheWay { path: tree.path().to_owned(), files });
            }
        }
        match self.push(to, base)? {
            PushAnswer::Pushed => {}
            // Gone since it was planned: it is worked out again.
            PushAnswer::Overtaken { .. } | PushAnswer::NoRemote => return Ok(MergeAnswer::BaseMoved),
            PushAnswer::Refused { reason } => return Ok(MergeAnswer::Refused { reason }),
        }
        // A clone that does not follow every branch has not noted it by itself.
        if self.remote_branch_oid(base)?.as_ref() != Some(to) {
            let _ = self.fetch_branch(&remote, base);
        }
        let _held = self.lock_worktrees()?;
        match self.forward_here(base, to) {
            // It is merged where everybody has it: the branch here is behind, and no more than that.
            Err(GitError::EditsInTheWay { .. } | GitError::RefMoved { .. }) | Ok(MergeAnswer::BaseMoved) => {
                Ok(MergeAnswer::Merged { here: LocalBase::Left })
            }
            answer => answer,
        }
    }

    /// The base's checkout here, and the edits that keep it from going to `to`; `None` when none has to move.
    pub fn edits_before(&self, base: &str, to: &Oid) -> Result<Option<(Tree, Vec<String>)>, GitError> {
        let Some(Branch { oid, used_at: Some(path) }) = self.branch(base)? else { return Ok(None) };
        if oid == *to || !self.is_ancestor(&oid, to)? {
            return Ok(None);
        }
        let tree = self.checkout_tree(&path)?;
        let files = tree.edits_in_the_way(&oid, to)?;
        Ok(Some((tree, files)))
    }

    /// The same for a merge that is not worked out yet: `base_oid` is where the base is. `None` also where it would conflict.
    pub fn edits_before_merge(
        &self,
        base: &str,
        base_oid: &Oid,
        head: &Oid,
    ) -> Result<Option<(Tree, Vec<String>)>, GitError> {
        let Some(Branch { oid, used_at: Some(path) }) = self.branch(base)? else { return Ok(None) };
        if !self.is_ancestor(&oid, base_oid)? {
            return Ok(None);
        }
        let to = if self.is_ancestor(base_oid, head)? {
            head.clone()
        } else {
            match self.merge_heads(base_oid, head)? {
                Merged::Clean { tree } => tree,
                Merged::Conflict { .. } => return Ok(None),
            }
        };
        let tree = self.checkout_tree(&path)?;
        let files = tree.edits_in_the_way(&oid, &to)?;
        Ok(Some((tree, files)))
    }

    /// The commits of `head` that `base` has not, newest first, no more than `limit`.
    pub fn commits_between(&self, base: &Oid, head: &Oid, limit: u32) -> Result<Vec<CommitLine>, GitError> {
        let range = format!("{}..{}", base.as_str(), head.as_str());
        let format = "--format=%H%x1f%an%x1f%cI%x1f%s";
        let call =
            self.cmd().reading().args(["log", "-z", "--no-show-signature", format, &format!("-{limit}"), &range]);
        let output = call.arg("--").run()?;
        let line = |field: &String| {
            let mut parts = field.split('\u{1f}');
            let (oid, author, at) = (parts.next()?, parts.next()?, parts.next()?);
            let subject = parts.next().unwrap_or_default().to_owned();
            Some(CommitLine { oid: Oid::new(oid), author: author.to_owned(), at: at.parse().ok(), subject })
        };
        Ok(output.fields().iter().filter_map(line).collect())
    }

    /// Where two histories parted.
    pub fn merge_base(&self, one: &Oid, other: &Oid) -> Result<Option<Oid>, GitError> {
        Ok(self.cmd().reading().args(["merge-base", one.as_str(), other.as_str()]).answer()?.map(Oid::new))
    }

    /// Whether a commit is here.
    pub fn has_object(&self, oid: &Oid) -> Result<bool, GitError> {
        let wanted = format!("{}^{{commit}}", oid.as_str());
        Ok(self.cmd().reading().args(["cat-file", "-e", &wanted]).run_any()?.status.success())
    }

    /// The branch of this clone goes to `to`, its checkout first: killed in between, the same call finishes it.
    fn forward_here(&self, base: &str, to: &Oid) -> Result<MergeAnswer, GitError> {
        let merged = |here| Ok(MergeAnswer::Merged { here });
        let Some(Branch { oid, used_at }) = self.branch(base)? else { return merged(LocalBase::Absent) };
        if self.is_ancestor(to, &oid)? {
            return merged(LocalBase::Current);
        }
        if !self.is_ancestor(&oid, to)? {
            return merged(LocalBase::Left);
        }
        if let Some(path) = used_at {
            self.checkout_tree(&path)?.bring_checkout(&oid, to)?;
        }
        match self.move_branch(base, to, &oid, "dandori: merge") {
            Ok(()) => merged(LocalBase::Current),
            Err(GitError::RefMoved { .. }) => Ok(MergeAnswer::BaseMoved),
            Err(error) => Err(error),
        }
    }

    /// A checkout by its path: the main one, or a worktree that git has a record of.
    fn checkout_tree(&self, path: &camino::Utf8Path) -> Result<Tree, GitError> {
        if path == self.root() {
            return Ok(Tree::new(self, self.root(), self.common_dir()));
        }
        self.worktree(path)?.ok_or_else(|| GitError::NotOurs { path: path.to_owned() })
    }

    /// As `git merge` finds them: with what the two have in common, however often they were merged before.
    fn merge_heads(&self, base: &Oid, head: &Oid) -> Result<Merged, GitError> {
        self.merge_trees_of(None, base, head)
    }
}
