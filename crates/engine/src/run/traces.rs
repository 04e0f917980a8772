//! What is still there of what a run made: it may have been removed by hand, by `worktree gc`, or with the repository.

use std::collections::HashSet;

use dandori_domain::run::{BranchFate, Removal, Run};

use crate::Engine;

/// What of a run can still be found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Traces {
    pub worktree: bool,
    /// Here, or on the remote it was pushed to.
    pub branch: bool,
    /// The work that was kept.
    pub preserved: bool,
}

impl Engine {
    /// In the order of the runs, which are of one repository.
    pub async fn traces(&self, runs: &[Run]) -> Vec<Traces> {
        let wanted: Vec<String> = runs.iter().flat_map(refs_of).collect();
        let found = match runs.first().filter(|_| !wanted.is_empty()) {
            Some(run) => self.refs_found(run, wanted).await,
            None => Some(HashSet::new()),
        };
        let is_here = |run: &Run| run.spec.host == self.life().host;
        let trace = |run: &Run| {
            let has = |name: Option<String>| match (&found, name) {
                (Some(found), Some(name)) => found.contains(&name),
                (None, Some(_)) => false,
                (_, None) => true,
            };
            if !is_here(run) {
                // Another host's: what it has written down is all there is to know.
                return Traces { worktree: true, branch: true, preserved: true };
            }
            let place = run.progress.ready_workspace().map(|workspace| &workspace.path);
            Traces {
                worktree: place.is_some_and(|path| path.symlink_metadata().is_ok()),
                branch: has(branch_to_look_for(run)),
                preserved: has(run.preserved.as_ref().map(|kept| kept.reference.clone())),
            }
        };
        runs.iter().map(trace).collect()
    }

    /// `None` when the repository cannot be looked at.
    async fn refs_found(&self, run: &Run, wanted: Vec<String>) -> Option<HashSet<String>> {
        let known = self.open_known(run.spec.repo).await.ok()?;
        self.blocking(move |_| known.git.existing_refs(&wanted)).await.ok()?.ok()
    }
}

fn refs_of(run: &Run) -> Vec<String> {
    let kept = run.preserved.as_ref().map(|kept| kept.reference.clone());
    branch_to_look_for(run).into_iter().chain(kept).collect()
}

/// One that was pushed is on the remote; one that went with its worktree is known to be gone.
fn branch_to_look_for(run: &Run) -> Option<String> {
    if run.progress.pushed().is_some() || run.removal == Removal::Done(BranchFate::Delete) {
        return None;
    }
    Some(format!("refs/heads/{}", run.progress.ready_workspace()?.branch))
}
