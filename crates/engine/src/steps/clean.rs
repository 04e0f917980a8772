//! Stop, Preserve, Remove: the end of a run, in this order. Nothing is removed before it is kept.

use std::time::Duration;

use dandori_domain::run::{BranchFate, Fact, Intent, RunFacts};
use dandori_domain::{Problem, WorktreeKey};
use dandori_git::PRESERVED_PREFIX;
use dandori_host::now;
use dandori_host::shim::{self, Probe};
use jiff::Timestamp;

use super::watch::{Stream, ended, trouble};
use crate::Engine;
use crate::drive::StepError;
use crate::fault;
use crate::trouble::git_reason;

impl Engine {
    /// Ends the whole process tree, set-up commands included, and takes down how far the agent had come.
    pub(crate) async fn stop_run(&self, run: &RunFacts) -> Result<Vec<Fact>, StepError> {
        let layout = self.layout().repo(run.spec.repo).run(run.spec.id);
        let grace = Duration::from_secs(run.spec.settings.limits.grace_seconds);
        let folders = self.shim_folders(run);
        let reason = if run.cancel_requested_at.is_some() { "canceled" } else { "over a limit" };
        self.blocking(move |_| {
            for folder in &folders {
                // Also seals it: a launch that has not begun will not begin any more.
                shim::stop(folder, reason, grace).map_err(|e| e.to_string())?;
            }
            Ok::<(), String>(())
        })
        .await?
        .map_err(|reason: String| trouble(&layout, &reason))?;
        self.end_leftovers(run).await?;
        // First of all: an agent that was ended says that it failed, and a canceled run has not.
        let mut facts = vec![Fact::Stopped];
        if run.launched_at.is_some()
            && run.ended.is_none()
            && let Ok(Probe::Ended(record)) = shim::probe(layout.root())
        {
            let mut stream = Stream::of(run, layout, self.baseline(run).await);
            facts.extend(ended(run, &mut stream, &record).into_iter().filter(|f| !matches!(f, Fact::Failed { .. })));
        }
        Ok(facts)
    }

    fn shim_folders(&self, run: &RunFacts) -> Vec<camino::Utf8PathBuf> {
        let layout = self.layout().repo(run.spec.repo).run(run.spec.id);
        let set_up = (0..16).map(|i| layout.set_up(i)).filter(|folder| folder.is_dir());
        set_up.chain([layout.root().to_owned()].into_iter().filter(|folder| folder.is_dir())).collect()
    }

    /// Whatever still carries the run's mark and has no shim any more.
    pub(crate) async fn end_leftovers(&self, run: &RunFacts) -> Result<(), StepError> {
        let layout = self.layout().repo(run.spec.repo).run(run.spec.id);
        let id = run.spec.id.to_string();
        let tree = run.workspace.as_ref().map(|w| w.path.clone()).unwrap_or_default();
        let folder = layout.root().to_owned();
        self.blocking(move |_| shim::end_leftovers(&id, &folder, &tree))
            .await?
            .map(drop)
            .map_err(|e| trouble(&layout, &e))
    }

    pub(crate) async fn preserve(&self, run: &RunFacts, fate: BranchFate) -> Result<Vec<Fact>, StepError> {
        let Some(workspace) = run.workspace.clone() else { return Err(StepError::LookAgain) };
        let known = self.known_for(run).await?;
        // By the run's own key: a follow-up in the same worktree keeps beside what an earlier run kept.
        let key = WorktreeKey::from(run.spec.id.key());
        let message = format!("kept from {}\n\n{}", run.spec.id, dandori_domain::message::title(&run.spec.instruction));
        let kept = self
            .blocking(move |_| {
                let Some(tree) = known.git.worktree(&workspace.path)? else { return Ok(None) };
                let reference = preserved_ref_of(&key);
                let kept = known.git.preserve(&tree, Some(&workspace.branch), &reference, &message, now())?;
                Ok(kept.map(|oid| (reference, oid)))
            })
            .await?
            .map_err(|e: dandori_git::GitError| StepError::Trouble(e.problem()))?;
        let mut facts = Vec::new();
        if let Some((reference, oid)) = kept {
            facts.push(Fact::Preserved { reference, oid });
        }
        facts.push(Fact::Intended { intent: Intent::Remove { branch: fate } });
        Ok(facts)
    }

    pub(crate) async fn remove(&self, run: &RunFacts, fate: BranchFate) -> Result<Vec<Fact>, StepError> {
        let intent = Intent::Remove { branch: fate };
        if run.open_intent.as_ref() != Some(&intent) {
            return Ok(vec![Fact::Intended { intent }]);
        }
        let Some(workspace) = run.workspace.clone() else { return Err(StepError::LookAgain) };
        let known = self.known_for(run).await?;
        let trash = self.layout().repo(run.spec.repo).trash();
        self.blocking(move |_| {
            let delete = (fate == BranchFate::Delete).then_some(workspace.branch.as_str());
            known.git.remove_worktree(&workspace.path, &trash, delete)
        })
        .await?
        .map_err(|e| StepError::Trouble(Problem::Git { command: "git worktree".to_owned(), reason: git_reason(&e) }))?;
        fault::done(&intent);
        self.0.housekeeping.notify_one();
        Ok(vec![Fact::Removed { branch: fate }])
    }
}

/// Where work is kept.
pub(crate) fn preserved_ref_of(key: &WorktreeKey) -> String {
    format!("{PRESERVED_PREFIX}{key}")
}

/// Where work is kept that may be kept again under the same name. The time is to the millisecond and of one width, so
/// that the names come in the order they were made in, and two removals in a row do not meet.
pub(crate) fn preserved_ref_at(name: &str, at: Timestamp) -> String {
    format!("{PRESERVED_PREFIX}{name}-{:013}", at.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_twice_in_a_second_has_two_names_in_the_order_of_time() {
        let at = |millis| Timestamp::from_millisecond(millis).unwrap_or_default();
        let names = [9_999_999_998, 9_999_999_999, 10_000_000_000, 1_700_000_000_001, 1_700_000_000_002]
            .map(|millis| preserved_ref_at("key", at(millis)));
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
        assert!(names.iter().all(|name| name.starts_with("refs/dandori/preserved/key-")), "{names:?}");
    }
}
