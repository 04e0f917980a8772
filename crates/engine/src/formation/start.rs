//! A message becomes a run: with the same message and epoch it is the same run, however often it is asked for.

use dandori_domain::Problem;
use dandori_domain::run::{Brings, Errand, OnConflict, Purpose, Run};
use dandori_domain::task::Task as RunTask;
use dandori_formation::{AgentId, Message, Role, Task};
use dandori_store::StoreError;

use super::Formation;
use super::ids::{orchestrator_task, order_task, planning_task};
use super::tell::{MessageToTell, ToTell, gather};
use crate::run::{NewTaskRequest, RunChoice};
use crate::trouble::store_problem;

impl Formation {
    /// `None`: something of an earlier attempt has to end first.
    pub(super) async fn start(&self, message: &Message) -> Result<Option<Run>, Problem> {
        let boost = self.look(|book| Ok(book.standing()?.boost)).await?;
        let (crew, rules) = (self.crew(boost), self.rules().clone());
        let about = message.clone();
        let told = self.look(move |book| gather(book, &about, &crew, &rules)).await?;
        let Some(told) = told else {
            return Err(Problem::Internal { reason: "what this message is about is gone".to_owned() });
        };
        match told {
            MessageToTell::Task { ref task, .. } => {
                let task = task.clone();
                self.start_worker(message, &task, told).await
            }
            MessageToTell::Over { command, result, continuous, .. } => {
                let pull = self.pull_of_order(&command, &result).await?;
                let told = MessageToTell::Over { command, result, continuous, pull };
                self.start_conversation(message, orchestrator_task(self.repo.id), Role::Orchestrator, told).await
            }
            MessageToTell::Words { command: None, .. } => {
                self.start_conversation(message, orchestrator_task(self.repo.id), Role::Orchestrator, told).await
            }
            MessageToTell::Words { command: Some(ref command), .. }
            | MessageToTell::Order { ref command, .. }
            | MessageToTell::Fill { ref command, .. }
            | MessageToTell::Digest { ref command, .. } => {
                let task = planning_task(command.id);
                self.start_conversation(message, task, Role::Planner, told).await
            }
        }
    }

    /// Planner and orchestrator: one conversation, which reads and does not write.
    async fn start_conversation(
        &self,
        message: &Message,
        task: dandori_domain::TaskId,
        role: Role,
        told: MessageToTell,
    ) -> Result<Option<Run>, Problem> {
        let about = about(&told);
        let words = self.engine.put_in_words(&ToTell::Message(Box::new(told)));
        let choice = RunChoice { read_only: true, ..self.choice(message, about) };
        let Some((task, newest)) = self.task_with_runs(task).await? else {
            let instruction = format!("{}\n\n{words}", self.engine.put_in_words(&ToTell::Role(role)));
            return self.new_task(task, message.to, instruction, None, choice).await.map(Some);
        };
        match newest {
            Some(run) if !run.is_settled() => Ok(None),
            Some(run) => self.engine.follow_up(&task, &run, words, choice).await.map(Some),
            None => Ok(None),
        }
    }

    async fn start_worker(&self, message: &Message, task: &Task, told: MessageToTell) -> Result<Option<Run>, Problem> {
        let about = about(&told);
        let is_resume = message.lease().is_some_and(|lease| lease.is_resume);
        let words = self.engine.put_in_words(&ToTell::Message(Box::new(told)));
        let mut choice = self.choice(message, about);
        choice.model.clone_from(&task.model);
        choice.budget = self.settings().budget.task.map(dandori_domain::Usd::dollars);
        let integration = self.integration_tip(task.command).await?;
        let whole = format!("{}\n\n{words}", self.engine.put_in_words(&ToTell::Role(Role::Worker)));
        let Some((run_task, newest)) = self.task_with_runs(task.id).await? else {
            let base = integration.map(|(branch, _)| branch);
            return self.new_task(task.id, message.to, whole, base, choice).await.map(Some);
        };
        let Some(newest) = newest else { return Ok(None) };
        if !newest.is_settled() {
            // Whoever had it before does not have it any more.
            self.cancel(&newest).await?;
            return Ok(None);
        }
        if task.misfit.is_some() {
            choice.brings =
                integration.map(|(name, oid)| Brings::Commit { oid, name, on_conflict: OnConflict::Resolve });
            return self.engine.follow_up(&run_task, &newest, words, choice).await.map(Some);
        }
        if is_resume {
            return self.engine.follow_up(&run_task, &newest, words, choice).await.map(Some);
        }
        self.engine.begin_anew(&run_task, &newest, whole, choice).await.map(Some)
    }

    async fn new_task(
        &self,
        id: dandori_domain::TaskId,
        agent: AgentId,
        instruction: String,
        base: Option<String>,
        choice: RunChoice,
    ) -> Result<Run, Problem> {
        let request = NewTaskRequest {
            id: Some(id),
            path: self.repo.root.clone(),
            instruction,
            agents: vec![self.agent_of(agent).to_string()],
            base,
            choice,
        };
        let (_, runs) = self.engine.create_task(request).await?;
        runs.into_iter().next().ok_or_else(|| Problem::Internal { reason: "a task without a run".to_owned() })
    }

    fn choice(&self, message: &Message, about: String) -> RunChoice {
        RunChoice {
            pr: Some(false),
            caller: self.engine.formation_caller(self.repo.id),
            errand: Some(errand(message, about)),
            ..RunChoice::default()
        }
    }

    /// A task of runs and its newest run, when it has begun.
    pub(super) async fn task_with_runs(
        &self,
        id: dandori_domain::TaskId,
    ) -> Result<Option<(RunTask, Option<Run>)>, Problem> {
        match self.engine.store().whole_task(id).await {
            Ok(found) => Ok(Some((found.task, found.runs.into_iter().next_back()))),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(e) => Err(store_problem(&e)),
        }
    }

    /// Where the work of an order has come together: its branch and what is on it.
    pub(super) async fn integration_tip(
        &self,
        command: dandori_domain::CommandId,
    ) -> Result<Option<(String, dandori_domain::Oid)>, Problem> {
        let runs = self.engine.store().runs_of(order_task(command)).await.map_err(|e| store_problem(&e))?;
        let delivered = runs.iter().rev().find_map(|run| Some((run.branch()?.to_owned(), run.delivered()?.clone())));
        Ok(delivered)
    }
}

/// In one line, for lists and commit messages.
fn about(told: &MessageToTell) -> String {
    match told {
        MessageToTell::Task { task, brief, .. } if brief.purpose.trim().is_empty() => task.name.clone(),
        MessageToTell::Task { brief, .. } => dandori_domain::wording::title(&brief.purpose),
        MessageToTell::Order { command, .. }
        | MessageToTell::Fill { command, .. }
        | MessageToTell::Digest { command, .. }
        | MessageToTell::Over { command, .. } => dandori_domain::wording::title(&command.content),
        MessageToTell::Words { words, .. } => dandori_domain::wording::title(words),
    }
}

/// Whom its run works for. Its id follows from that.
pub(super) fn errand(message: &Message, about: String) -> Errand {
    let (role, purpose) = match message.to.role() {
        Role::Orchestrator => (dandori_domain::run::Role::Orchestrator, Purpose::Plan),
        Role::Planner => (dandori_domain::run::Role::Planner, Purpose::Plan),
        Role::Worker => (dandori_domain::run::Role::Worker, Purpose::Work),
    };
    Errand {
        command: message.kind.command(),
        message: message.id,
        epoch: message.epoch,
        purpose,
        agent: message.to.to_string(),
        role,
        about,
    }
}
