//! Runs: taken on, admitted, walked from fact to fact, and what can be asked about them.

mod admission;
pub(crate) mod callers;
mod diff;
mod intake;
mod log;
mod set_up_log;
mod steps;
mod tasks;
mod traces;

use dandori_domain::run::{Fact, Note, Run, Step};
use dandori_domain::{Failure, Problem, Stage};
use dandori_store::Recorded;
use tokio::sync::Notify;

use crate::Engine;
use crate::kernel::{Kernel, WalkError, Walker};

pub(crate) use callers::{Callers, own};
pub use diff::WorkDiff;
pub use intake::{NewTaskRequest, RunChoice};
pub(crate) use intake::{check_line, check_words};
pub use log::{LogChunk, LogFollower};
pub(crate) use steps::PREPARED_LAUNCH;
pub use tasks::{ComparedFile, ComparedRun, Comparison, WhichRun};
pub use traces::Traces;

/// How often a clean-up is tried before it is left for later.
const CLEAN_UP_TRIES: u32 = 5;

/// A step of a run was not taken, and why.
#[derive(Debug)]
pub enum StepError {
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

/// How runs are walked.
#[derive(Clone)]
pub(crate) struct RunWalker(pub(crate) Engine);

impl Walker for RunWalker {
    type Machine = Run;

    fn kernel(&self) -> &Kernel {
        &self.0.0.kernel
    }

    async fn take(&self, step: Step, run: &Run, bell: &Notify) -> Result<Vec<Fact>, WalkError> {
        let needed_for = NeededFor::of(&step);
        match self.0.take_step(step, run, bell).await {
            Ok(facts) => Ok(facts),
            Err(StepError::Failed(failure)) => {
                let failure = self.0.explained(needed_for, run, failure).await;
                Ok(vec![Fact::Failed { failure }])
            }
            Err(StepError::LookAgain) => Err(WalkError::LookAgain),
            Err(StepError::Trouble(problem)) => Err(WalkError::Trouble(problem)),
            Err(StepError::Stopping) => Err(WalkError::Stopping),
        }
    }

    /// The run is over; what could not be cleaned up is left as it is, for `worktree remove` or, in time, `gc`.
    fn gives_up(&self, step: &Step, tries: u32, problem: &Problem) -> Option<Vec<Fact>> {
        let is_clean_up = matches!(step, Step::Preserve { .. } | Step::Remove { .. });
        let note = Note::NotCleanedUp { problem: problem.clone() };
        (is_clean_up && tries >= CLEAN_UP_TRIES).then(|| vec![Fact::Noted { note }])
    }

    fn recorded(&self, recorded: &Recorded<Run>) {
        if recorded.subject.status().is_terminal() {
            self.0.0.admission.notify_one();
        }
        recorded.touched.iter().for_each(|touched| self.0.wake(&touched.subject));
    }

    fn rests(&self, run: &Run) {
        self.0.close_door(run);
        // Its pull request still speaks for whoever asked for the run.
        if run.is_settled() && !(run.spec.settings.wants_pull && run.progress.delivered().is_some()) {
            self.0.forget_caller(run.spec.id);
        }
        self.0.0.admission.notify_one();
    }

    fn makes_room(&self) -> bool {
        self.0.store_reserve().give()
    }
}

/// What a failed step needed the repository for.
enum NeededFor {
    /// Nothing, or it is looked at by the step itself.
    Nothing,
    Workspace,
    Publishing(Stage),
}

impl NeededFor {
    fn of(step: &Step) -> Self {
        match step {
            Step::PlanSetUp(_) | Step::SetUp(_) | Step::Launch(_) => Self::Workspace,
            Step::Stage(_) => Self::Publishing(Stage::Staging),
            Step::Commit { .. } => Self::Publishing(Stage::Commit),
            Step::Push { .. } => Self::Publishing(Stage::Push),
            Step::PlanWorktree
            | Step::MakeWorktree(_)
            | Step::Watch(_)
            | Step::Stop { .. }
            | Step::Preserve { .. }
            | Step::Remove { .. } => Self::Nothing,
        }
    }
}

impl Engine {
    /// Where the repository itself is away, that is why a step in it failed, whatever the step met first.
    async fn explained(&self, needed_for: NeededFor, run: &Run, failure: Failure) -> Failure {
        let during = match needed_for {
            NeededFor::Nothing => return failure,
            NeededFor::Workspace => None,
            NeededFor::Publishing(stage) => Some(stage),
        };
        match self.store().repo(run.spec.repo).await {
            Ok(repo) if self.0.edges.git.is_gone(&repo) => Failure::RepositoryGone { path: repo.root, during },
            _ => failure,
        }
    }
}
