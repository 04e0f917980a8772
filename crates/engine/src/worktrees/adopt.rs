//! A worktree that somebody else made, taken into the store's knowledge. Its branch stays its user's.

use camino::Utf8Path;
use dandori_domain::worktree::{Owner, Worktree};
use dandori_domain::{Oid, Problem};
use dandori_host::now;

use super::{fresh_key, owned_by};
use crate::Engine;
use crate::edges::lock_reason;
use crate::repos::Known;
use crate::trouble::store_problem;
use dandori_host::layout::real;

impl Engine {
    pub async fn adopt_worktree(
        &self,
        path: &Utf8Path,
        text: &str,
        session: Option<String>,
    ) -> Result<Worktree, Problem> {
        let known = self.open_at(path).await?;
        let wanted = real(&path.join(text));
        let git = known.git.clone();
        let listed = self.blocking(move |_| git.list()).await?.map_err(|e| e.problem())?;
        let stored = self.stored(&known).await?;
        if let Some(known_already) = stored.into_iter().find(|w| real(&w.path) == wanted) {
            return self.adopt_known(&known, known_already, session).await;
        }
        let pool = real(&self.layout().repo(known.repo.id).pool());
        let found = listed
            .into_iter()
            .filter(|l| !l.is_main && !l.is_bare && !wanted.starts_with(&pool))
            .find(|l| real(&l.path) == wanted && wanted.is_dir())
            .ok_or_else(|| Problem::NotOurWorktree { path: wanted.clone() })?;
        let key = fresh_key();
        let held_by = |owner: String| Problem::WorktreeHeld { key: key.to_string(), owner };
        let branch = found.branch.clone().ok_or_else(|| Problem::WorktreeDetached { path: wanted.clone() })?;
        if let Some(run) = self.claims(&known).await?.on(&wanted, &branch, None) {
            return Err(held_by(run.to_string()));
        }
        let owner = owned_by(session);
        match self.lock_holder(&found).await {
            Owner::Run { run } => return Err(held_by(run.to_string())),
            Owner::Session { session } if owner != (Owner::Session { session: session.clone() }) => {
                return Err(held_by(session));
            }
            Owner::Session { .. } | Owner::Nobody => {}
        }
        // One that its user has locked stays locked by them.
        if found.foreign_lock().is_none() {
            self.lock_for(&known, &wanted, &owner).await?;
        }
        let worktree = Worktree {
            key,
            repo: known.repo.id,
            path: wanted,
            branch,
            branch_is_ours: false,
            base: String::new(),
            base_oid: found.head.unwrap_or_else(|| Oid::new("")),
            owner,
            created_at: now(),
            removed_at: None,
        };
        self.store().put_worktree(worktree.clone(), now()).await.map_err(|e| store_problem(&e))?;
        Ok(worktree)
    }

    /// One that the store knows: a session may take it when nobody has it.
    async fn adopt_known(
        &self,
        known: &Known,
        worktree: Worktree,
        session: Option<String>,
    ) -> Result<Worktree, Problem> {
        let wanted = owned_by(session);
        if wanted == Owner::Nobody || wanted == worktree.owner {
            return Ok(worktree);
        }
        self.require_free(known, &worktree, None).await?;
        self.lock_for(known, &worktree.path, &wanted).await?;
        let taken = self.store().set_owner(worktree.key, Owner::Nobody, wanted, now()).await;
        taken.map_err(|e| store_problem(&e))
    }

    /// The same lock as for a worktree that was made for its owner.
    async fn lock_for(&self, known: &Known, path: &Utf8Path, owner: &Owner) -> Result<(), Problem> {
        if *owner == Owner::Nobody {
            return Ok(());
        }
        let (git, path, reason) = (known.git.clone(), path.to_owned(), lock_reason(owner));
        self.blocking(move |_| git.lock(&path, &reason)).await?.map_err(|e| e.problem())
    }
}
