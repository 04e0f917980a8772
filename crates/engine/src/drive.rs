//! The walk of one run: look at its facts, take the next step, record what came of it, again.

use std::sync::Arc;
use std::time::Duration;

use dandori_domain::run::{Fact, Note, RunFacts};
use dandori_domain::{Failure, Problem, RunId, Stage, Step, next_step};
use dandori_store::StoreError;
use tokio::sync::Notify;
use tracing::{error, info, warn};

use crate::Engine;
use crate::repos::is_gone;

/// How long to wait before a store that does not answer is asked again.
const STORE_PAUSE: Duration = Duration::from_millis(500);

/// So that a mistake of ours costs a little patience, not a core.
const LOOK_AGAIN_PAUSE: Duration = Duration::from_millis(20);

/// How often a clean-up is tried before it is left for later.
const CLEAN_UP_TRIES: u32 = 5;

/// A step was taken, or it was not, and why.
pub(crate) enum StepError {
    /// The run fails.
    Failed(Failure),
    /// The world is not as the facts say (a cancel came in between): look again.
    LookAgain,
    /// Ours: shown, and tried again after a pause.
    Trouble(Problem),
    /// The daemon is stopping.
    Stopping,
}

impl From<Failure> for StepError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Problem> for StepError {
    fn from(problem: Problem) -> Self {
        Self::Trouble(problem)
    }
}

impl Engine {
    pub(crate) async fn drive(self, id: RunId, bell: Arc<Notify>) {
        let mut run: Option<RunFacts> = None;
        let mut troubles = 0;
        while !self.0.stopping.is_cancelled() {
            let facts = match run.take() {
                Some(facts) => facts,
                None => match self.0.store.run(id).await {
                    Ok(facts) => facts,
                    Err(e) => {
                        warn!(%id, "the store does not answer: {e}");
                        tokio::time::sleep(STORE_PAUSE).await;
                        continue;
                    }
                },
            };
            let step = next_step(&facts);
            if matches!(step, Step::Rest | Step::Admit) {
                if step == Step::Rest {
                    self.forget_caller(id);
                }
                break;
            }
            info!(%id, status = facts.status().as_str(), ?step);
            match self.take(step, &facts, &bell).await {
                Ok(outcome) => {
                    troubles = 0;
                    run = self.settle(&facts, outcome).await;
                }
                Err(StepError::Failed(failure)) => {
                    let failure = self.explained(step, &facts, failure).await;
                    run = self.settle(&facts, vec![Fact::Failed { failure }]).await;
                }
                Err(StepError::LookAgain) => tokio::time::sleep(LOOK_AGAIN_PAUSE).await,
                Err(StepError::Trouble(problem)) => {
                    error!(%id, ?step, ?problem, "a step could not be taken; it is tried again");
                    self.notice(problem.clone());
                    troubles += 1;
                    if troubles >= CLEAN_UP_TRIES && matches!(step, Step::Preserve(_) | Step::Remove(_)) {
                        // The run is over; what could not be cleaned up is left as it is, for `worktree remove` or, in time, `gc`.
                        let note = Note::NotCleanedUp { problem };
                        run = self.settle(&facts, vec![Fact::Noted { note }]).await;
                        continue;
                    }
                    tokio::time::sleep(STORE_PAUSE * troubles.min(60)).await;
                }
                Err(StepError::Stopping) => break,
            }
        }
        self.walked(id);
        self.0.admission.notify_one();
        // A cancel or a resumption may have come between the last look and now.
        if !self.0.stopping.is_cancelled()
            && let Ok(facts) = self.0.store.run(id).await
            && !matches!(next_step(&facts), Step::Rest | Step::Admit)
        {
            self.walk(id);
        }
    }

    /// Where the repository itself is away, that is why a step in it failed, whatever the step met first.
    async fn explained(&self, step: Step, run: &RunFacts, failure: Failure) -> Failure {
        let during = match step {
            Step::SetUp | Step::Launch => None,
            Step::Stage => Some(Stage::Staging),
            Step::Commit => Some(Stage::Commit),
            Step::Push => Some(Stage::Push),
            _ => return failure,
        };
        match self.0.store.repo(run.spec.repo).await {
            Ok(repo) if is_gone(&repo) => Failure::RepositoryGone { path: repo.root, during },
            _ => failure,
        }
    }

    /// Records an outcome. `None` means: read the facts again.
    async fn settle(&self, run: &RunFacts, outcome: Vec<Fact>) -> Option<RunFacts> {
        loop {
            match self.record(run, outcome.clone()).await {
                Ok(after) => return Some(after),
                Err(StoreError::Illegal(refused)) => {
                    info!(run = %run.spec.id, "{refused}: looking again");
                    return None;
                }
                Err(StoreError::Fenced { .. }) => {
                    error!("another daemon has taken over this state root: stopping");
                    self.0.stopping.cancel();
                    return None;
                }
                // The ends of runs, which free what they took, are worth the room that was kept back.
                Err(StoreError::Full) if self.store_reserve().give() => {
                    warn!(run = %run.spec.id, "the disk is full: the room kept back for the store is given");
                }
                Err(e) => {
                    // A failed commit is an unknown outcome: only a fresh look tells.
                    warn!(run = %run.spec.id, "not recorded: {e}");
                    self.notice(crate::trouble::store_problem(&e));
                    tokio::time::sleep(STORE_PAUSE).await;
                    if self.0.stopping.is_cancelled() || !self.still_as(run).await {
                        return None;
                    }
                }
            }
        }
    }

    /// Whether the stored facts are still the ones the outcome was made from.
    async fn still_as(&self, run: &RunFacts) -> bool {
        self.0.store.run(run.spec.id).await.is_ok_and(|stored| stored == *run)
    }

    async fn take(&self, step: Step, run: &RunFacts, bell: &Notify) -> Result<Vec<Fact>, StepError> {
        // Usually it came with the fact before; not when that fact came from outside the walk.
        if let Some(intent) = crate::plan::next_intent(run, dandori_host::now()) {
            return Ok(vec![Fact::Intended { intent }]);
        }
        match step {
            Step::MakeWorktree => self.make_worktree(run).await,
            Step::SetUp => self.set_up(run, bell).await,
            Step::Launch => self.launch(run).await,
            Step::Watch => self.watch(run, bell).await,
            Step::Stage => self.stage(run).await,
            Step::Commit => self.commit(run).await,
            Step::Push => self.push(run).await,
            Step::OpenPull => self.open_pull(run).await,
            Step::Stop => self.stop_run(run).await,
            Step::Preserve(fate) => self.preserve(run, fate).await,
            Step::Remove(fate) => self.remove(run, fate).await,
            Step::Settle => Ok(vec![Fact::Settled]),
            Step::Admit | Step::Rest => Err(StepError::LookAgain),
        }
    }
}
