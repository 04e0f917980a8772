//! A formation as it is at one moment: everything that is shown of it, from one look at the rows.

use camino::Utf8PathBuf;
use dandori_config::{FormationBudget, FormationMode};
use dandori_domain::pull::Pull;
use dandori_domain::run::Run;
use dandori_domain::{CommandId, PhaseId, Problem, RepoId};
use dandori_formation::continuous::Continuous;
use dandori_formation::result::LateReport;
use dandori_formation::{
    AgentId, Command, CommandState, Ledger, Message, MessageKind, Phase, ResultRow, Standing, Task,
};
use dandori_store::{Book, FormationCounts, StoreError};
use jiff::Timestamp;

use super::Formation;
use crate::Engine;

/// Those that are over are shown as far back as this.
const PAST: u32 = 5;

#[derive(Clone, Debug)]
pub struct SeenFormation {
    pub root: Utf8PathBuf,
    /// Its agents have panes that a person can type into.
    pub is_tmux: bool,
    pub budget: FormationBudget,
    pub coordination_limit: Option<u8>,
    pub standing: Standing,
    pub at: Timestamp,
    /// Orchestrator, planner, then the workers.
    pub agents: Vec<SeenAgent>,
    /// Not over, the oldest first, then the last few that are.
    pub commands: Vec<(Command, Vec<Phase>)>,
    pub continuous: Continuous,
    pub counts: FormationCounts,
}

#[derive(Clone, Debug)]
pub struct SeenAgent {
    pub agent: AgentId,
    pub client: String,
    pub model: Option<String>,
    pub waiting: u64,
    /// What it has.
    pub message: Option<Message>,
    /// The number of the order it is about.
    pub number: Option<u32>,
    /// The name of its task or phase.
    pub name: Option<String>,
    /// The run that works on it.
    pub run: Option<Box<Run>>,
}

/// An order with everything that has come of it.
#[derive(Clone, Debug)]
pub struct SeenOrder {
    pub is_up: bool,
    pub command: Command,
    pub phases: Vec<Phase>,
    pub tasks: Vec<Task>,
    pub results: Vec<ResultRow>,
    pub late: Vec<LateReport>,
    /// Of its branch, the newest.
    pub pull: Option<Pull>,
    /// The orchestrator is still to be told that it is over, and the pull request to be asked for with that.
    pub is_untold: bool,
}

impl Engine {
    /// The formation of a repository, if it was ever up or given an order.
    pub async fn seen_formation(&self, repo: RepoId) -> Result<Option<SeenFormation>, Problem> {
        if !self.store().formations().await?.contains(&repo) {
            return Ok(None);
        }
        Ok(Some(self.formation_in(repo).await?.seen().await?))
    }

    /// Every formation of this host that was ever up or given an order. One whose repository or configuration cannot be read now
    /// is passed over: what is wrong with it is told to whoever stands in it.
    pub async fn formations(&self) -> Result<Vec<Formation>, Problem> {
        let mut found = Vec::new();
        for repo in self.store().formations().await? {
            if let Ok(formation) = self.formation_in(repo).await {
                found.push(formation);
            }
        }
        Ok(found)
    }
}

impl Formation {
    pub async fn seen(&self) -> Result<SeenFormation, Problem> {
        let (formation, at) = (self.clone(), self.now());
        let mut seen = self.look(move |book| formation.see(book, at)).await?;
        for agent in &mut seen.agents {
            if let Some(message) = &agent.message {
                agent.run = self.run_of(message).await?.map(Box::new);
            }
        }
        Ok(seen)
    }

    fn see(&self, book: &mut Book<'_>, at: Timestamp) -> Result<SeenFormation, StoreError> {
        let standing = book.standing()?;
        let crew = self.crew(standing.boost);
        let mut agents = Vec::new();
        for agent in AgentId::all(self.settings().workers) {
            let model = crew.seats.iter().find(|seat| seat.agent == agent).and_then(|seat| seat.model.clone());
            let message = book.in_flight(agent)?;
            let (number, name) = match &message {
                Some(message) => about(book, &message.kind)?,
                None => (None, None),
            };
            agents.push(SeenAgent {
                agent,
                client: self.agent_of(agent).to_string(),
                model,
                waiting: book.waiting(agent)? as u64,
                message,
                number,
                name,
                run: None,
            });
        }
        let mut commands = book.open_command_rows()?;
        commands.extend(book.past_commands(PAST)?);
        let mut seen = Vec::with_capacity(commands.len());
        for command in commands {
            let phases = book.phases(command.id)?;
            seen.push((command, phases));
        }
        Ok(SeenFormation {
            root: self.repo.root.clone(),
            is_tmux: self.settings().mode == FormationMode::Tmux,
            budget: self.settings().budget,
            coordination_limit: self.settings().coordination_limit,
            standing,
            at,
            agents,
            commands: seen,
            continuous: book.continuous()?,
            counts: book.counts()?,
        })
    }

    pub async fn seen_order(&self, command: Command) -> Result<SeenOrder, Problem> {
        let id = command.id;
        let seen = self.look(move |book| {
            let tasks = book.tasks(id)?;
            let mut late = Vec::new();
            for task in &tasks {
                late.extend(book.late(task.id)?);
            }
            let row = book.command(id)?.unwrap_or_else(|| command.clone());
            let notice = match &row.state {
                CommandState::Over { result: Some(result), .. } => book.message_by_key(&format!("notice:{result}"))?,
                _ => None,
            };
            Ok(SeenOrder {
                is_up: book.standing()?.is_up,
                command: row,
                phases: book.phases(id)?,
                tasks,
                results: book.results(id)?,
                late,
                pull: None,
                is_untold: notice.is_some_and(|notice| !notice.delivery.is_over()),
            })
        });
        let seen = seen.await?;
        Ok(SeenOrder { pull: self.pull_of(id).await?, ..seen })
    }

    /// The pull request of an order's branch.
    pub async fn pull_of(&self, command: CommandId) -> Result<Option<Pull>, Problem> {
        Ok(self.engine.store().pulls_of(super::order_task(command)).await?.pop())
    }

    /// Those that are not over, then, the newest first, as many that are; and how many there are in all.
    pub async fn orders(&self, past: u32) -> Result<(Vec<(Command, Vec<Phase>)>, u64), Problem> {
        let listed = self.look(move |book| {
            let mut commands = book.open_command_rows()?;
            commands.extend(book.past_commands(past)?);
            let total = book.command_count()?;
            let with_phases = |command: Command| Ok((command.clone(), book.phases(command.id)?));
            Ok((commands.into_iter().map(with_phases).collect::<Result<_, StoreError>>()?, total))
        });
        Ok(listed.await?)
    }

    /// What a message is about: the number of its order, the name of its task or phase.
    pub async fn subject_of(&self, kind: MessageKind) -> Result<(Option<u32>, Option<String>), Problem> {
        Ok(self.look(move |book| about(book, &kind)).await?)
    }
}

fn about(book: &mut Book<'_>, kind: &MessageKind) -> Result<(Option<u32>, Option<String>), StoreError> {
    let number = |book: &mut Book<'_>, id: CommandId| Ok::<_, StoreError>(book.command(id)?.map(|row| row.number));
    let phase = |book: &mut Book<'_>, id: PhaseId| Ok::<_, StoreError>(book.phase(id)?.map(|row| row.name));
    let name = match kind {
        MessageKind::Task { task, .. } => book.task(*task)?.map(|task| task.name),
        MessageKind::Fill { phase: id, .. } => phase(book, *id)?,
        _ => None,
    };
    let number = match kind.command() {
        Some(command) => number(book, command)?,
        None => None,
    };
    Ok((number, name))
}
