//! Our commits put on somebody else's, in memory: no conflict is ever left in the worktree.

use dandori_domain::Oid;

use crate::commit::{Draft, Signature};
use crate::error::GitError;
use crate::repository::Repository;
use crate::tree::Tree;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RebaseAnswer {
    /// Branch, index and files are at `oid`, which has `theirs` in it.
    Rebased { oid: Oid },
    /// Nothing was changed.
    Conflict { files: Vec<String> },
}

impl Tree {
    /// Puts the commits `base..ours` on top of `theirs` and brings the worktree there. The files move before the
    /// branch does: killed in between, the same call finishes it; the other way round the next commit would take
    /// their changes back.
    pub fn rebase(&self, branch: &str, ours: &Oid, base: &Oid, theirs: &Oid) -> Result<RebaseAnswer, GitError> {
        match self.repository.replay(ours, base, theirs)? {
            Replay::Conflict { files } => Ok(RebaseAnswer::Conflict { files }),
            Replay::Done { oid } => {
                self.bring(ours, &oid)?;
                match self.repository.move_branch(branch, &oid, ours, "dandori: rebase") {
                    Ok(()) => Ok(RebaseAnswer::Rebased { oid }),
                    Err(GitError::RefMoved { reference, expected, found }) => {
                        // A signature makes another commit of the same: one that an earlier call made, which was
                        // killed before it could tell.
                        let there = Oid::new(found.as_str());
                        if self.repository.is_same_work(&there, &oid)? {
                            return Ok(RebaseAnswer::Rebased { oid: there });
                        }
                        Err(GitError::RefMoved { reference, expected, found })
                    }
                    Err(error) => Err(error),
                }
            }
        }
    }
}

pub(crate) enum Replay {
    Done { oid: Oid },
    Conflict { files: Vec<String> },
}

impl Repository {
    /// The two commits differ in nothing but their signatures.
    fn is_same_work(&self, one: &Oid, other: &Oid) -> Result<bool, GitError> {
        let (one, other) = (self.commit_object(one)?, self.commit_object(other)?);
        let is_same = one.tree == other.tree && one.message == other.message && one.author == other.author;
        Ok(is_same && one.parents == other.parents)
    }

    pub(crate) fn replay(&self, ours: &Oid, base: &Oid, theirs: &Oid) -> Result<Replay, GitError> {
        let range = format!("{}..{}", base.as_str(), ours.as_str());
        let listed = self.cmd().reading().args(["rev-list", "--reverse", "--first-parent", &range]).run()?;
        let mut onto = theirs.clone();
        for oid in listed.text().lines().map(Oid::new) {
            if self.is_ancestor(&oid, &onto)? {
                continue;
            }
            let commit = self.commit_object(&oid)?;
            let Some(parent) = commit.parents.first() else { continue };
            let tree = match self.merge_trees(parent, &onto, &oid)? {
                Merged::Clean { tree } => tree,
                Merged::Conflict { files, .. } => return Ok(Replay::Conflict { files }),
            };
            if self.commit_object(&onto)?.tree == tree {
                // Theirs already says the same.
                continue;
            }
            // A merge stays one: what it brought in is still brought in.
            let others = commit.parents.iter().skip(1).cloned();
            let parents: Vec<Oid> = std::iter::once(onto).chain(others).collect();
            onto = self.make_commit(&Draft {
                tree: &tree,
                parents: &parents,
                message: &commit.message,
                author: &commit.author,
                committer: &Signature::of_user(commit.committer_date),
            })?;
        }
        Ok(Replay::Done { oid: onto })
    }

    pub(crate) fn merge_trees(&self, base: &Oid, ours: &Oid, theirs: &Oid) -> Result<Merged, GitError> {
        self.merge_trees_of(Some(base), ours, theirs)
    }

    /// Without a base git takes what the two histories have in common.
    pub(crate) fn merge_trees_of(&self, base: Option<&Oid>, ours: &Oid, theirs: &Oid) -> Result<Merged, GitError> {
        let call = self
            .cmd()
            .reading()
            .args(["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"])
            .args(base.map(|base| format!("--merge-base={}", base.as_str())))
            .args([ours.as_str(), theirs.as_str()]);
        let output = call.run_any()?;
        let mut fields = output.fields().into_iter();
        match (output.status.code(), fields.next()) {
            (Some(0), Some(tree)) => Ok(Merged::Clean { tree: Oid::new(tree.trim_end()) }),
            (Some(1), Some(tree)) => Ok(Merged::Conflict { tree: Oid::new(tree.trim_end()), files: fields.collect() }),
            _ => Err(GitError::unexpected(format!("merge-tree: {}", output.stderr.trim()))),
        }
    }
}

pub(crate) enum Merged {
    Clean {
        tree: Oid,
    },
    /// The tree has both sides in its files, between markers that name them.
    Conflict {
        tree: Oid,
        files: Vec<String>,
    },
}
