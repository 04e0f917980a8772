//! Commit, Push, OpenPull: the result leaves the worktree.

use dandori_domain::run::{Fact, Intent, RunFacts};
use dandori_domain::{Failure, Problem};
use dandori_git::{GitError, PushAnswer, RebaseAnswer, Tree};

use crate::Engine;
use crate::drive::StepError;
use crate::fault;
use crate::pulls::PullWords;
use crate::repos::Known;
use crate::trouble::git_reason;

impl Engine {
    pub(crate) async fn commit(&self, run: &RunFacts) -> Result<Vec<Fact>, StepError> {
        let Some(intent @ Intent::Commit { .. }) = run.open_intent.clone() else { return Err(StepError::LookAgain) };
        let known = self.known_for(run).await?;
        let run = run.clone();
        self.blocking(move |_| {
            let failed = |e: &GitError| StepError::from(Failure::Commit { reason: git_reason(e) });
            let Intent::Commit { tree, parent, message, at } = &intent else { return Err(StepError::LookAgain) };
            let (worktree, branch) = worktree_of(&known, &run).map_err(|e| failed(&e))?;
            let oid = worktree.commit(tree, parent, message, *at, &branch).map_err(|e| failed(&e))?;
            fault::done(&intent);
            Ok(vec![Fact::Committed { oid }])
        })
        .await?
    }

    /// Pushed; overtaken → rebased and pushed again, a bounded number of times; anything else fails at once.
    pub(crate) async fn push(&self, run: &RunFacts) -> Result<Vec<Fact>, StepError> {
        let Some(intent @ Intent::Push { .. }) = run.open_intent.clone() else { return Err(StepError::LookAgain) };
        let known = self.known_for(run).await?;
        let run = run.clone();
        self.blocking(move |_| {
            let failed = |e: &GitError| StepError::from(Failure::PushRefused { reason: git_reason(e) });
            let Some(ours) = &run.commit else { return Err(StepError::LookAgain) };
            let Some(workspace) = &run.workspace else { return Err(StepError::LookAgain) };
            let (worktree, branch) = worktree_of(&known, &run).map_err(|e| failed(&e))?;
            let answer = worktree.push(ours, &branch).map_err(|e| failed(&e))?;
            fault::done(&intent);
            match answer {
                PushAnswer::Pushed => Ok(vec![Fact::Pushed { oid: ours.clone() }]),
                PushAnswer::Refused { reason } => Err(Failure::PushRefused { reason }.into()),
                PushAnswer::Overtaken { .. } if run.rebased >= run.spec.settings.push_retries => {
                    Err(Failure::PushOvertaken { retries: run.rebased }.into())
                }
                PushAnswer::Overtaken { theirs } => {
                    let from = run.rebased_onto.as_ref().unwrap_or(&workspace.ours_after);
                    let rebased = worktree.rebase(&branch, ours, from, &theirs).map_err(|e| failed(&e))?;
                    fault::done(&intent);
                    match rebased {
                        RebaseAnswer::Rebased { oid } => Ok(vec![Fact::Rebased { onto: theirs, oid }]),
                        RebaseAnswer::Conflict { files } => Err(Failure::PushConflict { files }.into()),
                    }
                }
            }
        })
        .await?
    }

    /// A pull request that cannot be opened does not undo the push: the run stays what it is, and says so.
    pub(crate) async fn open_pull(&self, run: &RunFacts) -> Result<Vec<Fact>, StepError> {
        let Some(intent @ Intent::Pull { .. }) = run.open_intent.clone() else { return Err(StepError::LookAgain) };
        let Intent::Pull { title, body } = &intent else { return Err(StepError::LookAgain) };
        let words = PullWords { title: title.clone(), body: body.clone(), by_hand: false };
        let opened = self.ensure_pull(run, words).await;
        fault::done(&intent);
        match opened {
            Ok(pull) => Ok(vec![Fact::PullOpened { number: pull.number, url: pull.url }]),
            Err(problem @ (Problem::StoreUnavailable { .. } | Problem::StoreFull)) => Err(StepError::Trouble(problem)),
            Err(problem) => Ok(vec![Fact::PullFailed { problem }]),
        }
    }
}

fn worktree_of(known: &Known, run: &RunFacts) -> Result<(Tree, String), GitError> {
    let missing = || GitError::NotOurs { path: run.workspace.as_ref().map(|w| w.path.clone()).unwrap_or_default() };
    let workspace = run.workspace.as_ref().ok_or_else(missing)?;
    let tree = known.git.worktree(&workspace.path)?.ok_or_else(missing)?;
    Ok((tree, workspace.branch.clone()))
}
