//! Runs that the store does not know any more: it was restored from a backup that is older than they are.
//!
//! Their folder below the state root says that they were ours, and nothing else does. What they left is shown and left
//! alone; only a user takes it up again, or away.

use std::collections::HashSet;

use dandori_domain::{Problem, RepoId};
use dandori_host::shim::{self, Probe};
use dandori_store::StoreError;

use crate::Engine;
use crate::repos::is_gone;
use crate::trouble::store_problem;

impl Engine {
    /// Whether a run of ours had this key, and the store has never heard of it.
    pub(super) async fn is_lost(&self, repo: RepoId, key: &str) -> bool {
        let is_unknown = || async { matches!(self.0.store.find_runs(key).await, Err(StoreError::NotFound { .. })) };
        self.run_folder(repo, key).is_dir() && is_unknown().await
    }

    /// Whether its agent is still at work: nobody told it that it was forgotten.
    pub(super) fn is_alive(&self, repo: RepoId, key: &str) -> bool {
        !matches!(shim::probe(&self.run_folder(repo, key)), Ok(Probe::Ended(_) | Probe::Lost(_) | Probe::NeverStarted))
    }

    /// How many such runs have left a worktree or a branch that nobody has taken up.
    pub(crate) async fn lost_runs(&self, repo: RepoId) -> Result<u32, Problem> {
        let there = self.repo_here(repo).await?;
        if is_gone(&there) {
            return Ok(0);
        }
        let known = self.known(repo).await?;
        let listing = self.layout().repo(repo).root().join("runs");
        let (folders, branches) = self
            .blocking(move |_| {
                let entries = listing.read_dir_utf8().into_iter().flatten().flatten();
                let folders: Vec<String> = entries.map(|entry| entry.file_name().to_owned()).collect();
                known.git.branches("dandori/").map(|branches| (folders, branches))
            })
            .await?
            .map_err(|e| e.problem())?;
        let recorded = self.0.store.run_keys(repo).await.map_err(|e| store_problem(&e))?;
        let stored = self.stored(repo).await?;
        let taken_up: HashSet<&str> = stored.iter().map(|worktree| worktree.branch.as_str()).collect();
        let branches: HashSet<&str> = branches.iter().map(|(name, _)| name.as_str()).collect();
        let has_left_something = |key: &&String| {
            let branch = format!("dandori/{key}");
            let tree = self.layout().repo(repo).worktrees().join(format!("run_{key}"));
            !taken_up.contains(branch.as_str()) && (branches.contains(branch.as_str()) || tree.is_dir())
        };
        let lost = folders.iter().filter(|key| !recorded.contains(*key)).filter(has_left_something).count();
        Ok(u32::try_from(lost).unwrap_or(u32::MAX))
    }

    fn run_folder(&self, repo: RepoId, key: &str) -> camino::Utf8PathBuf {
        // A branch or worktree whose name was taken has a number behind the key.
        let key = key.split('-').next().unwrap_or(key);
        self.layout().repo(repo).root().join("runs").join(key)
    }
}
