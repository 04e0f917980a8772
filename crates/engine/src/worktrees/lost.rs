//! Runs that the store does not know any more: it was restored from a backup that is older than they are.
//!
//! Their folder below the state root says that they were ours, and nothing else does. What they left is shown and left
//! alone; only a user takes it up again, or away.

use std::collections::HashSet;

use camino::Utf8PathBuf;
use dandori_domain::{Problem, RepoId};
use dandori_host::shim::{self, Probe};
use dandori_store::StoreError;

use crate::Engine;
use crate::repos::is_gone;
use crate::trouble::store_problem;

impl Engine {
    /// Whether a run of ours had this key, and the store has never heard of it.
    pub(super) async fn is_lost(&self, key: &str) -> bool {
        let is_unknown = || async { matches!(self.store().find_runs(key).await, Err(StoreError::NotFound { .. })) };
        self.run_folder(key).is_some() && is_unknown().await
    }

    /// Whether its agent is still at work: nobody told it that it was forgotten.
    pub(super) fn is_alive(&self, key: &str) -> bool {
        let probe = self.run_folder(key).map(|folder| shim::probe(&folder));
        !matches!(probe, None | Some(Ok(Probe::Ended(_) | Probe::Lost(_) | Probe::NeverStarted)))
    }

    /// How many such runs have left a branch that nobody has taken up; a worktree has one.
    pub(crate) async fn lost_runs(&self, repo: RepoId) -> Result<u32, Problem> {
        let there = self.repo_here(repo).await?;
        if is_gone(&there) {
            return Ok(0);
        }
        let known = self.open_known(repo).await?;
        let git = known.git.clone();
        let branches = self.blocking(move |_| git.branches("dandori/")).await?.map_err(|e| e.problem())?;
        let keys: Vec<&str> = branches.iter().filter_map(|(name, _)| name.strip_prefix("dandori/")).collect();
        let recorded = self.store().run_keys(repo).await.map_err(|e| store_problem(&e))?;
        let stored = self.stored(&known).await?;
        let taken_up: HashSet<&str> = stored.iter().map(|worktree| worktree.branch.as_str()).collect();
        let is_nobody_s =
            |key: &&str| !recorded.contains(plain_key(key)) && !taken_up.contains(&*format!("dandori/{key}"));
        let mut lost = 0;
        for key in keys.into_iter().filter(is_nobody_s) {
            // The store may know it as a run of the same repository in another place.
            lost += u32::from(self.is_lost(plain_key(key)).await);
        }
        Ok(lost)
    }

    /// In whichever repository's folder: one that the store was restored without has got a new one since.
    fn run_folder(&self, key: &str) -> Option<Utf8PathBuf> {
        let repos = self.layout().repos().read_dir_utf8().ok()?;
        repos.flatten().map(|repo| repo.path().join("runs").join(plain_key(key))).find(|folder| folder.is_dir())
    }
}

/// A branch or worktree whose name was taken has a number behind the key.
fn plain_key(key: &str) -> &str {
    key.split('-').next().unwrap_or(key)
}
