//! The formation of a repository: what people and agents ask of it, and the loop that keeps its work going.

mod kept;
mod orders;
mod plans;
mod reports;
mod seen;
mod sound;
mod stand;

use dandori_config::{Config, FormationSettings};
use dandori_domain::agent::AgentName;
use dandori_domain::task::Repo;
use dandori_domain::{Problem, RepoId};
use dandori_formation::plan::PlanError;
use dandori_formation::protocol::Step;
use dandori_formation::{AgentId, Crew, Refused, Rules};
use dandori_store::{Book, Done, FormationStep, Scope, StoreError};

use crate::Engine;
use crate::trouble::store_problem;

pub use kept::Restored;
pub use orders::{Asker, NewOrder};
pub use plans::{GivenPlan, GivenRetry, TakenPlan};
pub use reports::Reported;
pub use seen::{SeenAgent, SeenFormation, SeenOrder};
pub use sound::{Repair, Soundness};
pub use stand::Raise;

/// Why something asked of a formation was not done.
#[derive(Clone, PartialEq, Debug)]
pub enum FormationTrouble {
    /// The protocol says no.
    Refused(Refused),
    /// Everything that is wrong with a plan.
    Plan(Vec<PlanError>),
    Problem(Problem),
}

impl From<Problem> for FormationTrouble {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<Refused> for FormationTrouble {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<FormationTrouble> for Problem {
    fn from(trouble: FormationTrouble) -> Self {
        match trouble {
            FormationTrouble::Refused(refused) => store_problem(&StoreError::Formation(refused)),
            FormationTrouble::Plan(errors) => {
                let errors = errors.iter().filter_map(|error| serde_json::to_value(error).ok()).collect();
                Self::BadPlan { errors }
            }
            FormationTrouble::Problem(problem) => problem,
        }
    }
}

impl From<StoreError> for FormationTrouble {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Formation(refused) => Self::Refused(refused),
            other => Self::Problem(store_problem(&other)),
        }
    }
}

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
    pub fn agent_of(&self, who: AgentId) -> &AgentName {
        self.config.formation.agent_of(who, &self.config.agent)
    }

    /// Takes a step of the protocol: all of it is written, or nothing. Whoever keeps the formation is woken by what came of it.
    pub async fn step<T, F>(&self, scope: Scope, work: F) -> Result<Done<T>, FormationTrouble>
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
    pub async fn look<T, F>(&self, work: F) -> Result<T, FormationTrouble>
    where
        T: Send + 'static,
        F: FnMut(&mut Book<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        Ok(self.engine.store().formation_look(self.repo.id, self.engine.now(), work).await?)
    }
}
