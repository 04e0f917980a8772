//! Who has a worktree: unsettled runs, sessions, whoever is just making it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use camino::Utf8Path;
use dandori_domain::run::Workspace;
use dandori_domain::worktree::{Owner, Worktree};
use dandori_domain::{Problem, RepoId, RunId, WorktreeKey};
use dandori_git::Listed;
use dandori_store::MadeFor;

use crate::Engine;
use crate::repos::Known;
use crate::trouble::store_problem;
use dandori_host::layout::real;

/// Worktrees that are recorded already and whose directories are still being made.
#[derive(Clone, Default)]
pub(crate) struct Making(Arc<Mutex<HashSet<WorktreeKey>>>);

/// As long as this lives, its worktree is not missing but on its way.
pub(super) struct BeingMade {
    all: Making,
    key: WorktreeKey,
}

impl Making {
    pub(super) fn begin(&self, key: &WorktreeKey) -> BeingMade {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone());
        BeingMade { all: self.clone(), key: key.clone() }
    }

    pub(super) fn has(&self, key: &WorktreeKey) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(key)
    }
}

impl Drop for BeingMade {
    fn drop(&mut self) {
        self.all.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

/// What unsettled runs work in, or have written down that they will.
pub(super) struct Claims(Vec<(RunId, Workspace)>);

impl Claims {
    pub(super) fn on(&self, path: &Utf8Path, branch: &str, key: Option<&WorktreeKey>) -> Option<RunId> {
        let is_meant = |w: &Workspace| {
            real(&w.path) == real(path) || (!branch.is_empty() && w.branch == branch) || Some(&w.key) == key
        };
        self.0.iter().find(|(_, workspace)| is_meant(workspace)).map(|(run, _)| *run)
    }

    pub(super) fn on_branch(&self, branch: &str) -> bool {
        self.0.iter().any(|(_, workspace)| workspace.branch == branch)
    }
}

impl Engine {
    pub(super) async fn claims(&self, known: &Known) -> Result<Claims, Problem> {
        let mut claims = Vec::new();
        for repo in self.names_of(known).await? {
            let runs = self.store().unsettled_runs(repo).await.map_err(|e| store_problem(&e))?;
            claims.extend(runs.into_iter().filter_map(|run| Some((run.spec.id, run.workspace()?.clone()))));
        }
        Ok(Claims(claims))
    }

    /// The worktrees of a repository that the store knows; also those it had at an earlier place and has still.
    pub(crate) async fn stored(&self, known: &Known) -> Result<Vec<Worktree>, Problem> {
        let mut stored = Vec::new();
        for repo in self.names_of(known).await? {
            let mut found = self.store().worktrees(Some(repo)).await.map_err(|e| store_problem(&e))?;
            if repo != known.repo.id {
                let git = known.git.clone();
                let has = move |worktree: &Worktree| git.worktree(&worktree.path).is_ok_and(|tree| tree.is_some());
                found = self.blocking(move |_| found.into_iter().filter(has).collect()).await?;
            }
            stored.extend(found);
        }
        Ok(stored)
    }

    pub(super) async fn made_for(&self, known: &Known) -> Result<HashMap<WorktreeKey, MadeFor>, Problem> {
        let mut made_for = HashMap::new();
        for repo in self.names_of(known).await? {
            made_for.extend(self.store().made_for(repo).await.map_err(|e| store_problem(&e))?);
        }
        Ok(made_for)
    }

    /// As what the store may know a repository: itself, and those that are no longer where they were. One of them may be this
    /// one, before it was moved here.
    async fn names_of(&self, known: &Known) -> Result<Vec<RepoId>, Problem> {
        let repos = self.store().repos(self.life().host).await.map_err(|e| store_problem(&e))?;
        let gone = repos.iter().filter(|repo| repo.id != known.repo.id && self.0.edges.git.is_gone(repo));
        Ok(std::iter::once(known.repo.id).chain(gone.map(|repo| repo.id)).collect())
    }

    /// Whom the lock of a worktree names that the store does not know. A run that is settled holds nothing any more;
    /// one the store has never heard of may be another daemon's.
    pub(super) async fn lock_holder(&self, listed: &Listed) -> Owner {
        let named = listed.our_lock().and_then(owner_in_lock).unwrap_or(Owner::Nobody);
        let Owner::Run { run } = &named else { return named };
        let is_over = match self.store().run(*run).await {
            Ok(run) => run.is_settled(),
            // One of ours that the store was restored without.
            Err(_) => self.is_lost(run.key().as_str()).await && !self.is_alive(run.key().as_str()),
        };
        if is_over { Owner::Nobody } else { named }
    }

    /// Looks once more, disk before store, whether this worktree is really nobody's but the caller's.
    pub(super) async fn require_free(
        &self,
        known: &Known,
        worktree: &Worktree,
        session: Option<&str>,
    ) -> Result<(), Problem> {
        let git = known.git.clone();
        let listed = self.blocking(move |_| git.list()).await?.map_err(|e| e.problem())?;
        let here = listed.iter().find(|l| real(&l.path) == real(&worktree.path));
        let stored = self.stored(known).await?;
        let claims = self.claims(known).await?;
        let held_by = |owner: String| Problem::WorktreeHeld { key: worktree.key.to_string(), owner };
        if let Some(run) = claims.on(&worktree.path, &worktree.branch, Some(&worktree.key)) {
            return Err(held_by(run.to_string()));
        }
        let record = stored.iter().find(|w| w.key == worktree.key || real(&w.path) == real(&worktree.path));
        if record.is_some_and(|w| self.0.making.has(&w.key)) {
            return Err(held_by("a command that is creating it".to_owned()));
        }
        let holder = match (record, here) {
            (Some(record), _) => record.owner.clone(),
            (None, Some(here)) => self.lock_holder(here).await,
            (None, None) => Owner::Nobody,
        };
        match holder {
            Owner::Run { run } => return Err(held_by(run.to_string())),
            Owner::Session { session: holder } if session != Some(holder.as_str()) => return Err(held_by(holder)),
            Owner::Session { .. } | Owner::Nobody => {}
        }
        match here.and_then(Listed::foreign_lock) {
            Some(reason) => Err(Problem::WorktreeLocked { path: worktree.path.clone(), reason: reason.to_owned() }),
            None => Ok(()),
        }
    }
}

/// The other way round of [`crate::edges::lock_reason`].
fn owner_in_lock(reason: &str) -> Option<Owner> {
    let name = reason.strip_prefix("dandori ")?;
    match name.strip_prefix("session ") {
        Some(session) => Some(Owner::Session { session: session.to_owned() }),
        None => name.parse().ok().map(|run| Owner::Run { run }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::lock_reason;

    #[test]
    fn a_lock_says_whose_it_is() {
        let run = dandori_domain::RunId::mint(dandori_host::now(), dandori_host::random());
        for owner in [Owner::Run { run }, Owner::Session { session: "a b".to_owned() }] {
            assert_eq!(owner_in_lock(&lock_reason(&owner)), Some(owner));
        }
        assert_eq!(owner_in_lock(&lock_reason(&Owner::Nobody)), None);
        assert_eq!(owner_in_lock("being made"), None);
    }
}
