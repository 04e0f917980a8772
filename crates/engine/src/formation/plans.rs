//! Plans: submitted, filled, completed, mended. A plan is checked whole before anything of it is stored.

use dandori_domain::problem::Class;
use dandori_domain::{CommandId, Problem, TaskId};
use dandori_formation::memory::Memory;
use dandori_formation::phase::PhaseKind;
use dandori_formation::plan::advice::{Advice, advise};
use dandori_formation::plan::{self, Body, Frame, Plan, PlanError};
use dandori_formation::protocol::{self, Completed, NewRetry, Retried, Step, Submitted};
use dandori_formation::result::Author;
use dandori_formation::{Brief, Command, Crew, Ledger, Refused};
use dandori_store::{Book, KeptInput, KeptKind, Scope};

use super::{Asker, Formation, everything, refusal};

/// A plan as somebody wrote it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GivenPlan {
    pub yaml: String,
    /// The deferred phase it fills; `None`: it is the command's plan.
    pub phase: Option<String>,
    /// Checked alone: nothing is stored.
    pub is_dry_run: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub struct TakenPlan {
    /// What it has become, or would.
    pub submitted: Submitted,
    pub advice: Vec<Advice>,
}

/// A task that stands in for one that failed. What is left out is as it was.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GivenRetry {
    pub purpose: Option<String>,
    pub content: Option<String>,
    pub acceptance_criteria: Option<String>,
    pub constraints: Option<Vec<String>>,
    pub expected_paths: Option<Vec<String>>,
    pub bloom_level: Option<u8>,
}

impl Formation {
    /// Refused whole, with everything that is wrong with it, or taken whole. What is refused is kept for a person to see.
    pub async fn submit(&self, command: &Command, given: GivenPlan, asker: Asker) -> Result<TakenPlan, Problem> {
        let taken = self.check_and_submit(command, &given).await;
        if let Err(problem) = &taken
            && !given.is_dry_run
        {
            self.keep_refused(KeptKind::Plan, Some(command.id), None, asker, problem, given.phase, given.yaml).await;
        }
        taken
    }

    pub(super) async fn check_and_submit(&self, command: &Command, given: &GivenPlan) -> Result<TakenPlan, Problem> {
        let crew = self.crew_now().await?;
        let plan = self.checked(command, given, &crew).await?;
        let (advice, id, phase) = (advise(&plan), command.id, given.phase.clone());
        if given.is_dry_run {
            let mut rows = self.look(everything).await?;
            let mut step = Step::new(self.rules(), self.now(), self.random());
            let submitted = put::<Memory>(&mut rows, &mut step, id, phase.as_deref(), &plan, &crew).map_err(refusal)?;
            return Ok(TakenPlan { submitted, advice });
        }
        let put = move |book: &mut Book<'_>, step: &mut Step<'_>| put(book, step, id, phase.as_deref(), &plan, &crew);
        let submitted = self.step(Scope::Command(id), put).await?.value;
        Ok(TakenPlan { submitted, advice })
    }

    async fn checked(&self, command: &Command, given: &GivenPlan, crew: &Crew) -> Result<Plan, Problem> {
        let (plan, mut wrong) = plan::read(&given.yaml);
        if let Some(plan) = &plan {
            let frame = Frame { rules: self.rules(), crew, demands: &command.demands };
            let found = match &given.phase {
                None => plan::check(plan, frame),
                Some(name) => plan::check_fill(plan, &self.constraints(command.id, name).await?, frame),
            };
            wrong.extend(found.into_iter().filter(|error| !wrong.contains(error)).collect::<Vec<PlanError>>());
        }
        match plan {
            Some(plan) if wrong.is_empty() => Ok(plan),
            _ => Err(Problem::BadPlan { errors: wrong.iter().filter_map(|e| serde_json::to_value(e).ok()).collect() }),
        }
    }

    async fn constraints(
        &self,
        command: CommandId,
        name: &str,
    ) -> Result<dandori_formation::phase::PhaseConstraints, Problem> {
        let phases = self.look(move |book| book.phases(command)).await?;
        let found = phases.into_iter().find(|phase| phase.name == name);
        let phase = found.ok_or_else(|| refusal(Refused::UnknownPhase { name: name.to_owned() }))?;
        match phase.kind {
            PhaseKind::Deferred { constraints, .. } => Ok(constraints),
            PhaseKind::Concrete => {
                Err(refusal(Refused::NotAwaitingFill { phase: phase.id, state: phase.state.name().to_owned() }))
            }
        }
    }

    pub async fn complete(&self, command: CommandId, summary: String, asker: Asker) -> Result<Completed, Problem> {
        let by = asker.agent().map_or(Author::Engine, Author::Agent);
        Ok(self
            .step(Scope::Command(command), move |book, step| protocol::complete(book, step, command, &summary, by))
            .await?
            .value)
    }

    /// What is not said anew is as it was in the task that failed.
    pub async fn add_retry(&self, command: CommandId, of: TaskId, given: GivenRetry) -> Result<Retried, Problem> {
        let crew = self.crew_now().await?;
        let add = move |book: &mut Book<'_>, step: &mut Step<'_>| {
            let task = book.task(of)?.ok_or(Refused::UnknownTask { task: of })?;
            let bloom_level = given.bloom_level.unwrap_or(task.bloom_level);
            let brief = given.clone().over(book.brief(of)?);
            protocol::add_retry(book, step, command, &NewRetry { of, brief, bloom_level }, &crew)
        };
        Ok(self.step(Scope::Command(command), add).await?.value)
    }

    /// Refused input, for a person to see. That it could not be kept is no reason to hide why it was refused.
    #[expect(clippy::too_many_arguments, reason = "a row, field by field")]
    pub(super) async fn keep_refused(
        &self,
        kind: KeptKind,
        command: Option<CommandId>,
        task: Option<TaskId>,
        asker: Asker,
        why: &Problem,
        phase: Option<String>,
        content: String,
    ) {
        if why.class() != Class::Refused {
            return;
        }
        let why = serde_json::to_value(why).unwrap_or_default();
        let (by, at) = (asker.agent(), self.now());
        let kept = KeptInput { kind, command, task, by, at, why, phase, content, restored_at: None };
        if let Err(e) = self.engine.store().keep_input(self.repo.id, kept).await {
            tracing::warn!("cannot keep what was refused: {e}");
        }
    }
}

fn put<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    command: CommandId,
    phase: Option<&str>,
    plan: &Plan,
    crew: &Crew,
) -> Result<Submitted, L::Error> {
    match (phase, &plan.body) {
        (None, _) => protocol::submit(ledger, step, command, plan, crew),
        (Some(phase), Body::Tasks(tasks)) => protocol::fill(ledger, step, command, phase, tasks, crew),
        // Checked before: a phase is filled with tasks.
        (Some(phase), Body::Phases(_)) => Err(Refused::UnknownPhase { name: phase.to_owned() }.into()),
    }
}

impl GivenRetry {
    fn over(self, before: Brief) -> Brief {
        Brief {
            purpose: self.purpose.unwrap_or(before.purpose),
            content: self.content.unwrap_or(before.content),
            acceptance_criteria: self.acceptance_criteria.unwrap_or(before.acceptance_criteria),
            constraints: self.constraints.unwrap_or(before.constraints),
            expected_paths: self.expected_paths.unwrap_or(before.expected_paths),
            ..before
        }
    }
}
