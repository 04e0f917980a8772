//! Commit and push: the result leaves the worktree.

use dandori_domain::Failure;
use dandori_domain::run::{Commit, PlannedCommit, Run, Workspace};
use dandori_git::{GitError, PushAnswer, RebaseAnswer, Tree};

use crate::edges::{CommitOutcome, PushOutcome};
use crate::repos::Known;
use crate::run::StepError;
use crate::trouble::git_reason;

pub(super) fn commit(
    known: &Known,
    workspace: &Workspace,
    planned: &PlannedCommit,
) -> Result<CommitOutcome, StepError> {
    let failed = |e: GitError| StepError::from(Failure::Commit { reason: git_reason(&e) });
    let PlannedCommit { tree, parent, merges, message, at } = planned;
    let worktree = worktree_of(known, workspace).map_err(failed)?;
    let parents: Vec<_> = std::iter::once(parent).chain(merges).cloned().collect();
    let oid = worktree.commit(tree, &parents, message, *at, &workspace.branch).map_err(failed)?;
    // Looked at now and not when the run was asked for: somebody may have added one while the agent worked. Which of several
    // is meant is for the push to say.
    Ok(match known.git.remote() {
        Ok(None) => CommitOutcome::Local(oid),
        Ok(Some(_)) | Err(_) => CommitOutcome::ToPush(oid),
    })
}

/// Pushed; overtaken → put on the others' commits, to be pushed again, a bounded number of times; anything else fails at
/// once.
pub(super) fn push(known: &Known, run: &Run, workspace: &Workspace, commit: &Commit) -> Result<PushOutcome, StepError> {
    let failed = |e: GitError| {
        StepError::from(match e {
            GitError::RemoteUnreachable { reason } => Failure::RemoteUnreachable { reason },
            other => Failure::PushRefused { reason: git_reason(&other) },
        })
    };
    let branch = &workspace.branch;
    let worktree = worktree_of(known, workspace).map_err(failed)?;
    match worktree.push(&commit.oid, branch).map_err(failed)? {
        PushAnswer::Pushed => Ok(PushOutcome::Pushed),
        PushAnswer::NoRemote => Ok(PushOutcome::NoRemote),
        PushAnswer::Refused { reason } => Err(Failure::PushRefused { reason }.into()),
        PushAnswer::Overtaken { .. } if commit.rebased >= run.spec.settings.push_retries => {
            Err(Failure::PushOvertaken { retries: commit.rebased }.into())
        }
        PushAnswer::Overtaken { theirs } => {
            let from = commit.rebased_onto.as_ref().unwrap_or(&workspace.ours_after);
            match worktree.rebase(branch, &commit.oid, from, &theirs).map_err(failed)? {
                RebaseAnswer::Rebased { oid } => Ok(PushOutcome::Rebased { onto: theirs, oid }),
                RebaseAnswer::Conflict { files } => Err(Failure::PushConflict { files }.into()),
            }
        }
    }
}

fn worktree_of(known: &Known, workspace: &Workspace) -> Result<Tree, GitError> {
    let missing = || GitError::NotOurs { path: workspace.path.clone() };
    known.git.worktree(&workspace.path)?.ok_or_else(missing)
}
