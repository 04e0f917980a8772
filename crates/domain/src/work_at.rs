//! Where the work of a run or of a whole branch is to be found: a commit, files nobody has committed yet, or what was kept.

use crate::candidate::Candidate;
use crate::id::Oid;
use crate::run::{Removal, Run, Status, Workspace};

/// One place to look. The first at which there is something counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WorkAt {
    Commit(Oid),
    /// Its worktree, as long as that is there.
    Files(Workspace),
    /// What was kept of it before its worktree went.
    Kept(Oid),
    /// What was staged of it: a tree.
    Staged(Oid),
}

/// What is to be compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Range {
    /// Where it begins; `None` when nothing has begun.
    pub from: Option<Oid>,
    pub at: Vec<WorkAt>,
}

impl Range {
    /// One run's own part of its branch.
    pub fn of_run(candidate: &Candidate, run: &Run) -> Self {
        let commit = run.progress.commit();
        let put_on = commit.and_then(|commit| commit.rebased_onto.as_ref());
        let own = run.progress.workspace().map(|workspace| &workspace.base_oid);
        Self { from: put_on.or(own).cloned(), at: places(candidate, run) }
    }

    /// The whole branch against its base. A run that was called off is passed over, unless there is nothing else.
    pub fn of_branch(candidate: &Candidate) -> Self {
        let counts = |run: &&Run| run.status() != Status::Canceled;
        let all_canceled = !candidate.runs().any(|run| counts(&run));
        let runs = candidate.runs().rev().filter(|run| all_canceled || counts(run));
        Self { from: candidate.base().cloned(), at: runs.flat_map(|run| places(candidate, run)).collect() }
    }
}

fn places(candidate: &Candidate, run: &Run) -> Vec<WorkAt> {
    if let Some(commit) = run.progress.commit() {
        return vec![WorkAt::Commit(commit.oid.clone())];
    }
    if run.status() == Status::Succeeded {
        return Vec::new();
    }
    // In one worktree work the runs of a branch one after the other: what is in the files is the newest one's.
    let is_newest =
        candidate.runs().rfind(|r| r.progress.ready_workspace().is_some()).map(|r| r.spec.id) == Some(run.spec.id);
    let is_there = is_newest && !matches!(run.removal, Removal::Done(_));
    let files = run.progress.ready_workspace().filter(|_| is_there).cloned().map(WorkAt::Files);
    let kept = run.preserved.as_ref().map(|kept| WorkAt::Kept(kept.oid.clone()));
    let staged = run.progress.staged().map(|staged| WorkAt::Staged(staged.tree.clone()));
    files.into_iter().chain(kept).chain(staged).collect()
}
