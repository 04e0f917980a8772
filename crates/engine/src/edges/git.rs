//! Git itself, each step with its probe: what is already done is found, not done again.

mod again;
mod footing;
mod merge;
mod publish;
mod stage;
mod workspace;

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::pull::{MergeLook, MergeObstacle, MergeWay, PlannedMerge};
use dandori_domain::run::{
    BranchFate, Commit, Fact, PlannedCommit, PlannedWorktree, Preserved, Run, RunKind, Work, Workspace,
};
use dandori_domain::task::Repo;
use dandori_domain::worktree::Owner;
use dandori_domain::{AgentFailure, Failure, Oid, Problem, WorktreeKey};
use dandori_git::{Conflict, GitError, PRESERVED_PREFIX, Repository};
use dandori_host::layout::Layout;
use dandori_host::replace_file;
use jiff::Timestamp;

pub(crate) use stage::config_changed;

use super::{
    CommitOutcome, Containment, Footing, GitEdge, Kept, MakeAnswer, MergeOutcome, MergeQuestion, MergeWords,
    PushOutcome, Site,
};
use crate::kernel::Clock;
use crate::repos::{Known, Opener, is_gone};
use crate::run::StepError;
use crate::trouble::git_reason;

pub(crate) use footing::{NO_BRANCH, beginning};

pub(crate) struct RealGit {
    opener: Opener,
    layout: Layout,
    clock: Arc<dyn Clock>,
}

impl RealGit {
    pub(crate) fn new(opener: Opener, layout: Layout, clock: Arc<dyn Clock>) -> Self {
        Self { opener, layout, clock }
    }

    fn open(&self, site: &Site) -> Known {
        self.opener.open_as(site.repo.clone(), &site.own)
    }
}

impl GitEdge for RealGit {
    fn discover(&self, path: &Utf8Path) -> Result<(Utf8PathBuf, Utf8PathBuf), Problem> {
        // Discovery is safe here: it is the user's own folder, not an agent's.
        let found = Repository::discover(self.opener.git(), path).map_err(|e| e.problem())?;
        Ok((found.root().to_owned(), found.common_dir().to_owned()))
    }

    fn checkout(&self, site: &Site, from: &Utf8Path) -> Option<Utf8PathBuf> {
        self.open(site).git.checkout_of(from).ok().flatten()
    }

    fn footing(&self, site: &Site, from: &Utf8Path, base: Option<&str>) -> Result<Footing, Problem> {
        footing::of(site, &self.open(site).git, from, base)
    }

    fn require_ready(&self, site: &Site, footing: &Footing, wants_pull: bool) -> Result<(), Problem> {
        footing::require_ready(site, &self.open(site).git, footing, wants_pull)
    }

    fn require_identity(&self, site: &Site) -> Result<(), Problem> {
        self.open(site).git.require_identity().map_err(|e| e.problem())
    }

    fn is_gone(&self, repo: &Repo) -> bool {
        is_gone(repo)
    }

    fn plan(&self, site: &Site, run: &Run, kept: Option<&Kept>) -> Result<Vec<Fact>, StepError> {
        let known = self.open(site);
        match &run.spec.kind {
            RunKind::First => self.plan_first(site, &known, run),
            RunKind::FollowUp { workspace, .. } => again::plan(site, &known, run, workspace.clone(), kept),
        }
    }

    fn make(&self, site: &Site, run: &Run, planned: &PlannedWorktree) -> Result<MakeAnswer, StepError> {
        self.make_worktree(site, &self.open(site), run, planned)
    }

    fn conflict(&self, site: &Site, workspace: &Workspace) -> Result<Option<Conflict>, StepError> {
        let trouble = |e: GitError| not_started(git_reason(&e));
        let Some(tree) = self.open(site).git.worktree(&workspace.path).map_err(trouble)? else { return Ok(None) };
        tree.conflict().map_err(trouble)
    }

    fn remember_config(&self, site: &Site, run: &Run) -> Result<(), StepError> {
        let path = self.layout.repo(run.spec.repo).run(run.spec.id).config_fingerprint();
        let print = self.open(site).git.exec_config_fingerprint().map_err(|e| not_started(git_reason(&e)))?;
        let bytes = serde_json::to_vec(&print).map_err(|e| not_started(e.to_string()))?;
        replace_file(&path, &bytes, 0o600).map_err(|e| not_started(e.to_string()))
    }

    fn stage(&self, site: &Site, run: &Run, work: &Work) -> Result<Vec<Fact>, StepError> {
        stage::stage(&self.layout, &self.open(site), run, work)
    }

    fn commit(&self, site: &Site, workspace: &Workspace, planned: &PlannedCommit) -> Result<CommitOutcome, StepError> {
        publish::commit(&self.open(site), workspace, planned)
    }

    fn push(&self, site: &Site, run: &Run, workspace: &Workspace, commit: &Commit) -> Result<PushOutcome, StepError> {
        publish::push(&self.open(site), run, workspace, commit)
    }

    fn preserve(
        &self,
        site: &Site,
        run: &Run,
        workspace: &Workspace,
        fate: BranchFate,
    ) -> Result<Option<Preserved>, Problem> {
        let git = self.open(site).git;
        // By the run's own key: a follow-up in the same worktree keeps beside what an earlier run kept.
        let reference = preserved_ref_of(&WorktreeKey::from(run.spec.id.key()));
        let title = dandori_domain::wording::title(&run.spec.instruction);
        let message = format!("preserved from {}\n\n{title}", run.spec.id);
        let Some(tree) = git.worktree(&workspace.path).map_err(|e| e.problem())? else { return Ok(None) };
        let (branch, now) = (workspace.branch.as_str(), self.clock.now());
        let kept = match fate {
            BranchFate::Delete => git.preserve(&tree, Some(branch), &reference, &message, now),
            BranchFate::Keep => git.preserve_beside(&tree, branch, &reference, &message, now),
        };
        Ok(kept.map_err(|e| e.problem())?.map(|oid| Preserved { reference, oid }))
    }

    fn remove(&self, site: &Site, workspace: &Workspace, fate: BranchFate) -> Result<(), Problem> {
        let trash = self.layout.repo(site.repo.id).trash();
        let delete = (fate == BranchFate::Delete).then_some(workspace.branch.as_str());
        let removed = self.open(site).git.remove_worktree(&workspace.path, &trash, delete);
        removed.map(drop).map_err(|e| Problem::Git { command: "git worktree".to_owned(), reason: git_reason(&e) })
    }

    fn merge_look(&self, site: &Site, question: &MergeQuestion) -> Result<MergeLook, Problem> {
        merge::look(&self.open(site).git, question)
    }

    fn plan_merge(
        &self,
        site: &Site,
        look: &MergeLook,
        words: &MergeWords,
    ) -> Result<Result<MergeWay, MergeObstacle>, Problem> {
        merge::plan(&self.open(site).git, look, words)
    }

    fn merge(&self, site: &Site, planned: &PlannedMerge) -> Result<MergeOutcome, Problem> {
        merge::merge(&self.open(site).git, planned)
    }

    fn contained(&self, site: &Site, asked: &[Containment]) -> Result<Vec<bool>, Problem> {
        merge::contained(&self.open(site).git, asked)
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

/// The branch of a new worktree: `dandori/<key>`, or `dandori-<key>` where a branch named `dandori` is in the way of the
/// first; `None` when somebody has it.
pub(crate) fn free_branch_for(git: &Repository, key: &WorktreeKey) -> Result<Option<String>, GitError> {
    if git.is_free(&format!("dandori/{key}"))? {
        return Ok(Some(format!("dandori/{key}")));
    }
    let flat = format!("dandori-{key}");
    Ok(if git.branch_exists("dandori")? && git.is_free(&flat)? { Some(flat) } else { None })
}

/// What git shows others as the reason of the lock.
pub(crate) fn lock_reason(owner: &Owner) -> String {
    match owner {
        Owner::Run { run } => format!("dandori {run}"),
        Owner::Session { session } => format!("dandori session {session}"),
        Owner::Nobody => "dandori".to_owned(),
    }
}

fn worktree_failure(error: &GitError) -> StepError {
    Failure::Worktree { reason: git_reason(error) }.into()
}

pub(crate) fn refuse_unsupported(git: &Repository, base: &Oid) -> Result<(), Problem> {
    match git.unsupported(base).map_err(|e| e.problem())?.first() {
        None => Ok(()),
        Some(found) => Err(found.problem()),
    }
}

fn not_started(detail: String) -> StepError {
    Failure::Agent { failure: AgentFailure::NotStarted { detail } }.into()
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
