//! The formation of a repository: what people and agents ask of it, and the loop that keeps its work going.

mod attend;
mod ids;
mod integrate;
mod keeper;
mod kept;
mod orders;
mod page;
mod plans;
mod point;
mod reports;
mod seen;
mod sound;
mod stand;
mod start;
mod tell;

use std::sync::{Arc, PoisonError};

use dandori_config::{Config, FormationSettings};
use dandori_domain::agent::AgentName;
use dandori_domain::task::Repo;
use dandori_domain::{Problem, RepoId};
use dandori_formation::memory::Memory;
use dandori_formation::protocol::Step;
use dandori_formation::{AgentId, Crew, Refused, Rules};
use dandori_host::Env;
use dandori_store::{Book, Done, FormationStep, Scope, StoreError};

use crate::Engine;
use crate::trouble::store_problem;

use point::Point;

pub(crate) use point::points;

pub use ids::{order_task, planning_task};
pub use kept::Restored;
pub use orders::{Asker, NewOrder};
pub use plans::{GivenPlan, GivenRetry, TakenPlan};
pub use seen::{SeenAgent, SeenFormation, SeenOrder};
pub use sound::{Repair, Soundness};
pub use stand::Raise;
pub use tell::{HandedOver, MessageToTell, PullToTell, ToTell};

/// One repository's formation, as it is configured now.
#[derive(Clone)]
pub struct Formation {
    engine: Engine,
    pub(crate) repo: Repo,
    config: Config,
}

impl Engine {
    /// Of the repository somebody stands in.
    pub async fn formation_at(&self, path: &camino::Utf8Path) -> Result<Formation, Problem> {
        let repo = self.repo_at(path).await?;
        self.formation_of(repo)
    }

    pub async fn formation_in(&self, repo: RepoId) -> Result<Formation, Problem> {
        let repo = self.present_repo(repo).await?;
        self.formation_of(repo)
    }

    fn formation_of(&self, repo: Repo) -> Result<Formation, Problem> {
        let config = self.config_of(&repo)?;
        Ok(Formation { engine: self.clone(), repo, config })
    }
}

impl Formation {
    fn now(&self) -> jiff::Timestamp {
        self.engine.now()
    }

    fn random(&self) -> u128 {
        self.engine.random()
    }

    /// The main checkout.
    pub fn root(&self) -> &camino::Utf8Path {
        &self.repo.root
    }

    pub fn settings(&self) -> &FormationSettings {
        &self.config.formation
    }

    pub fn rules(&self) -> &Rules {
        &self.config.formation.rules
    }

    pub fn crew(&self, boost: bool) -> Crew {
        self.config.formation.crew(&self.config.agent, boost)
    }

    /// What somebody in the formation runs.
    pub(crate) fn agent_of(&self, who: AgentId) -> &AgentName {
        self.config.formation.agent_of(who, &self.config.agent)
    }

    /// Takes a step of the protocol: all of it is written, or nothing. Whoever keeps the formation is woken by what came of it.
    pub async fn step<T, F>(&self, scope: Scope, work: F) -> Result<Done<T>, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut Book<'_>, &mut Step<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let step = FormationStep {
            repo: self.repo.id,
            life: Some(self.engine.life()),
            rules: self.rules().clone(),
            now: self.engine.now(),
            is_simulated: self.engine.is_simulated(),
            seed: self.engine.random(),
        };
        let done = self.engine.store().formation_step(step, scope, work).await?;
        if !done.effects.is_empty() {
            self.engine.0.formations.notify_one();
        }
        Ok(done)
    }

    /// Looks at the rows at one moment.
    pub async fn look<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut Book<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        self.engine.store().formation_look(self.repo.id, self.engine.now(), work).await
    }

    /// The keeper's own step. `None`: somebody else was first, or the lease has been given to another; what was to be written is
    /// out of date, and the next look shows why.
    async fn take<T, F>(&self, point: Point, scope: Scope, work: F) -> Result<Option<T>, Problem>
    where
        T: Send + 'static,
        F: FnMut(&mut Book<'_>, &mut Step<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        match self.step(scope, work).await {
            Ok(done) => {
                self.engine.0.kernel.point(&point.name()).await;
                Ok(Some(done.value))
            }
            Err(StoreError::Formation(refused)) => {
                tracing::debug!("not taken: {refused}");
                Ok(None)
            }
            Err(other) => Err(store_problem(&other)),
        }
    }
}

/// Every row, for what looks at all of them together.
fn everything(book: &mut Book<'_>) -> Result<Memory, StoreError> {
    book.everything()
}

/// The protocol says no, as the problem people are told.
fn refusal(refused: Refused) -> Problem {
    store_problem(&StoreError::Formation(refused))
}

impl Engine {
    /// In the words of the language that is configured.
    pub(crate) fn put_in_words(&self, what: &ToTell) -> String {
        (self.0.options.formation_words)(self.env(), self.0.config.language.as_deref(), what)
    }

    /// The environment of the person who brought the formation up or gave it its last order; the daemon's own after a restart.
    pub(crate) fn formation_caller(&self, repo: RepoId) -> Option<Arc<Env>> {
        self.0.formation_callers.lock().unwrap_or_else(PoisonError::into_inner).get(&repo).cloned()
    }

    pub(crate) fn remember_formation_caller(&self, repo: RepoId, caller: Option<Arc<Env>>) {
        let mut callers = self.0.formation_callers.lock().unwrap_or_else(PoisonError::into_inner);
        match caller {
            Some(caller) => callers.insert(repo, caller),
            None => callers.remove(&repo),
        };
    }
}
