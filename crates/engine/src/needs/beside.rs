//! How pull requests that wait stand to their bases. A base moves without an event: it is looked at each time, and what was
//! worked out for two commits is kept.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use dandori_domain::need::{Need, NeedKind, beside_base};
use dandori_domain::task::Repo;
use dandori_domain::{Oid, RepoId};
use dandori_git::{Fetch, Repository, Sides};

use crate::Engine;
use crate::repos::is_gone;

/// So many are worked out in one look; the others wait for the next.
const MOST_WORKED_OUT: usize = 20;
/// So many are kept.
const MOST_KEPT: usize = 1_000;

/// By base and head.
#[derive(Default)]
pub(super) struct KnownSides(Mutex<HashMap<(Oid, Oid), Sides>>);

impl Engine {
    /// The same needs, those of pull requests with how they stand to their bases as far as that is known here.
    pub(super) async fn beside_bases(&self, needs: Vec<Need>, repos: &[Repo]) -> Vec<Need> {
        if !needs.iter().any(|need| matches!(need.kind, NeedKind::PullReady { .. })) {
            return needs;
        }
        let (repos, as_they_were) = (repos.to_vec(), needs.clone());
        let looked = self.blocking(move |engine| {
            let mut look = Look { engine, repos, opened: HashMap::new(), tips: HashMap::new(), worked_out: 0 };
            needs.into_iter().map(|need| look.at(need)).collect()
        });
        looked.await.unwrap_or(as_they_were)
    }
}

/// One look at all of them: each repository is opened once, and each base is asked for once.
struct Look<'e> {
    engine: &'e Engine,
    repos: Vec<Repo>,
    opened: HashMap<RepoId, Option<Repository>>,
    tips: HashMap<(RepoId, String), Option<Oid>>,
    worked_out: usize,
}

impl Look<'_> {
    fn at(&mut self, need: Need) -> Need {
        match self.sides(&need) {
            Some(Sides { behind, conflicts, .. }) => beside_base(need, behind, &conflicts),
            None => need,
        }
    }

    fn sides(&mut self, need: &Need) -> Option<Sides> {
        let (NeedKind::PullReady { base, commit, .. }, Some(id)) = (&need.kind, need.subject.repo) else { return None };
        let (engine, repos) = (self.engine, &self.repos);
        let git = self.opened.entry(id).or_insert_with(|| {
            let repo = repos.iter().find(|repo| repo.id == id).filter(|repo| !is_gone(repo))?;
            Some(engine.0.opener.open_as(repo.clone(), &engine.0.own).git)
        });
        let git = git.as_ref()?;
        let tip = self.tips.entry((id, base.clone()));
        let tip = tip.or_insert_with(|| Some(git.base_standing(base, Fetch::Never).ok()?.ok()??.oid)).clone()?;
        let key = (tip, commit.clone());
        let known = &self.engine.0.inbox.sides.0;
        if let Some(sides) = known.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Some(sides.clone());
        }
        if self.worked_out == MOST_WORKED_OUT {
            return None;
        }
        self.worked_out += 1;
        let sides = git.sides(&key.0, &key.1).ok()?;
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_KEPT {
            known.clear();
        }
        known.insert(key, sides.clone());
        Some(sides)
    }
}
