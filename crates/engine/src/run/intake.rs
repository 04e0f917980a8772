//! Taking work on: every request is checked whole before anything is written.

use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_config::Config;
use dandori_domain::agent::AgentName;
use dandori_domain::plain;
use dandori_domain::run::{Brings, CustomAgent, Errand, Limits, Run, RunKind, RunSettings, SandboxMode};
use dandori_domain::task::{MAX_INSTRUCTION_BYTES, Repo, Task};
use dandori_domain::wording::title;
use dandori_domain::{Problem, RunId, TaskId, Usd};
use dandori_host::Env;
use dandori_store::{Again, NewRun, NewTask, StoreError};
use jiff::Timestamp;

use crate::Engine;
use crate::edges::{Footing, NO_BRANCH, Site};
use crate::trouble::store_problem;

/// How long a follow-up waits for the worktree of the run before it to be removed.
const CLEAN_UP_PATIENCE: Duration = Duration::from_secs(30);

/// `dandori run`
#[derive(Clone)]
pub struct NewTaskRequest {
    /// Where the task has an id before it is created.
    pub id: Option<TaskId>,
    pub path: Utf8PathBuf,
    pub instruction: String,
    pub agents: Vec<String>,
    pub base: Option<String>,
    pub choice: RunChoice,
}

/// What may be said for one run over the configuration.
#[derive(Clone, Default)]
pub struct RunChoice {
    /// The environment of whoever asks; the daemon's own without it.
    pub caller: Option<Arc<Env>>,
    /// The folder he stands in, when it is not said otherwise.
    pub from: Option<Utf8PathBuf>,
    pub pr: Option<bool>,
    pub budget: Option<f64>,
    pub model: Option<String>,
    /// What is merged into its branch before anybody works.
    pub brings: Option<Brings>,
    /// Decides about a merge that may be given back.
    pub check: Option<String>,
    /// It changes nothing.
    pub read_only: bool,
    /// Whom the run works for; its id follows from that.
    pub errand: Option<Errand>,
}

impl Engine {
    pub async fn create_task(&self, request: NewTaskRequest) -> Result<(Task, Vec<Run>), Problem> {
        self.require_open()?;
        if let Some(run) = self.begun_before(&request.choice).await? {
            let task = self.store().task(run.spec.task).await.map_err(|e| store_problem(&e))?;
            return Ok((task, vec![run]));
        }
        check_instruction(&request.instruction)?;
        check_line("base", request.base.as_deref())?;
        check_line("model", request.choice.model.as_deref())?;
        for agent in &request.agents {
            check_words("agent", agent)?;
        }
        let repo = self.repo_at(&request.path).await?;
        let config = self.config_of(&repo)?;
        self.require_trust_to_run(&repo).await?;
        let agents = self.agents(&config, &request.agents, request.choice.caller.as_ref())?;
        let site = self.site_for(repo, &config, request.choice.caller.as_ref());
        let footing = self.footing(&site, request.path, request.base).await?;
        let mut choice = request.choice;
        if agents.len() > 1 {
            // Of several that work side by side one is picked for the pull request.
            choice.pr = Some(false);
        }
        self.require_ready(&site, &footing, choice.pr.unwrap_or(config.pr)).await?;
        self.require_identity(&site).await?;
        self.require_disk()?;
        let created_at = self.now();
        let task = NewTask {
            id: request.id.unwrap_or_else(|| TaskId::mint(created_at, self.random())),
            repo: site.repo.id,
            title: title(choice.errand.as_ref().map_or(&request.instruction, |errand| &errand.about)),
            created_at,
        };
        let mut runs = Vec::with_capacity(agents.len());
        for agent in agents {
            runs.push(NewRun {
                id: self.run_id(&choice, created_at),
                host: self.life().host,
                settings: settings(&config, &agent, &choice)?,
                agent,
                kind: RunKind::First,
                instruction: request.instruction.clone(),
                base: footing.base.clone(),
                here: footing.here.clone(),
                checkout: footing.checkout.clone(),
                brings: choice.brings.clone(),
                errand: choice.errand.clone(),
                again: None,
                created_at,
            });
        }
        for run in &runs {
            self.remember_caller(run.id, choice.caller.as_ref());
        }
        let created = self.store().create_task(task, runs).await.map_err(|e| store_problem(&e))?;
        self.0.admission.notify_one();
        Ok(created)
    }

    /// A new run of the same task on the same branch, worktree and conversation. One that was canceled is gone on with from the
    /// work that was kept of it.
    pub async fn follow_up(
        &self,
        task: &Task,
        earlier: &Run,
        instruction: String,
        choice: RunChoice,
    ) -> Result<Run, Problem> {
        if let Some(run) = self.begun_before(&choice).await? {
            return Ok(run);
        }
        check_instruction(&instruction)?;
        let earlier = &self.put_away(earlier).await?;
        if let Some(worktree) = self.restored_to(earlier).await? {
            let (key, path) = (worktree.key.to_string(), worktree.path);
            return Err(Problem::WorkRestored { task: task.number.to_string(), worktree: key, path });
        }
        let kind = match earlier.next_workspace() {
            // When nothing was left of it but the conversation, the worktree is made again at its place.
            Some(workspace) => {
                RunKind::FollowUp { after: earlier.spec.id, workspace, session: earlier.conversation().cloned() }
            }
            None => RunKind::First,
        };
        self.add_run(task, earlier, kind, instruction, choice, None).await
    }

    /// A run of the same task that has nothing of those before: from the base, with a new conversation.
    pub(crate) async fn begin_anew(
        &self,
        task: &Task,
        earlier: &Run,
        instruction: String,
        choice: RunChoice,
    ) -> Result<Run, Problem> {
        check_instruction(&instruction)?;
        self.add_run(task, earlier, RunKind::First, instruction, choice, None).await
    }

    /// The run once nothing of it is under way any more. One that is over is waited for: its worktree may just be being
    /// removed, because its pull request was merged or closed.
    async fn put_away(&self, run: &Run) -> Result<Run, Problem> {
        let mut events = self.store().watch_events();
        let waited = async {
            loop {
                events.borrow_and_update();
                let now: Run = self.store().subject(run.spec.id).await.map_err(|e| store_problem(&e))?;
                if now.is_settled() {
                    return Ok(now);
                }
                if !now.status().is_terminal() {
                    return Err(Problem::TaskIsBusy { run: now.spec.id.key().to_string(), status: now.status() });
                }
                // The log is the truth; the bell may be lost.
                let _ = tokio::time::timeout(Duration::from_secs(1), events.changed()).await;
            }
        };
        let late = Problem::TaskIsBusy { run: run.spec.id.key().to_string(), status: run.status() };
        tokio::time::timeout(CLEAN_UP_PATIENCE, waited).await.unwrap_or(Err(late))
    }

    /// The same instruction once more: from the base, or, when it was a follow-up, from where that began.
    pub(crate) async fn run_again(
        &self,
        task: &Task,
        earlier: &Run,
        again: Again,
        caller: Option<Arc<Env>>,
    ) -> Result<Run, Problem> {
        let choice = RunChoice {
            caller,
            from: None,
            pr: Some(earlier.spec.settings.wants_pull),
            budget: earlier.spec.settings.budget.map(Usd::dollars),
            model: earlier.spec.settings.model.clone(),
            brings: earlier.spec.brings.clone(),
            check: earlier.spec.settings.check.clone(),
            read_only: earlier.spec.settings.read_only,
            errand: None,
        };
        let (mut kind, instruction) = (earlier.spec.kind.clone(), earlier.spec.instruction.clone());
        if let RunKind::FollowUp { workspace, .. } = &mut kind {
            // The merge that it began is still in the files; it is finished and not begun again.
            workspace.merges = earlier.next_workspace().and_then(|next| next.merges);
        }
        self.add_run(task, earlier, kind, instruction, choice, Some(again)).await
    }

    /// One more run of a task, by the agent of an earlier one.
    async fn add_run(
        &self,
        task: &Task,
        earlier: &Run,
        kind: RunKind,
        instruction: String,
        choice: RunChoice,
        again: Option<Again>,
    ) -> Result<Run, Problem> {
        self.require_open()?;
        let repo = self.present_repo(task.repo).await?;
        let config = self.config_of(&repo)?;
        self.require_trust_to_run(&repo).await?;
        self.require_disk()?;
        let agent = earlier.spec.agent.clone();
        self.agents(&config, &[agent.to_string()], choice.caller.as_ref())?;
        let site = self.site_for(repo, &config, choice.caller.as_ref());
        let footing = Footing {
            checkout: match &choice.from {
                Some(from) => self.checkout(&site, from).await?,
                None => earlier.spec.checkout.clone(),
            },
            base: earlier.spec.base.clone(),
            here: earlier.spec.here.clone(),
        };
        if kind == RunKind::First {
            self.require_ready(&site, &footing, choice.pr.unwrap_or(config.pr)).await?;
        }
        self.require_identity(&site).await?;
        let settings = settings(&config, &agent, &choice)?;
        let mut kind = kind;
        if let RunKind::FollowUp { workspace, .. } = &mut kind
            && settings.wants_pull
            && workspace.base == NO_BRANCH
        {
            let began = footing.here.as_ref().map_or(&workspace.base_oid, |here| &here.commit);
            workspace.base = self.branch_to_pull_to(&site, began.clone()).await?;
        }
        let created_at = self.now();
        let run = NewRun {
            id: self.run_id(&choice, created_at),
            host: self.life().host,
            settings,
            agent,
            kind,
            instruction,
            base: footing.base,
            here: footing.here,
            checkout: footing.checkout,
            brings: choice.brings.clone(),
            errand: choice.errand.clone(),
            again,
            created_at,
        };
        self.remember_caller(run.id, choice.caller.as_ref());
        let id = run.id;
        let added = self.store().add_run(task.id, run).await;
        if added.is_err() {
            self.forget_caller(id);
        }
        let run = added.map_err(|e| store_problem(&e))?;
        self.0.admission.notify_one();
        Ok(run)
    }

    /// The run of an errand that was asked for before, whatever has changed since.
    async fn begun_before(&self, choice: &RunChoice) -> Result<Option<Run>, Problem> {
        let Some(errand) = &choice.errand else { return Ok(None) };
        match self.store().subject::<Run>(errand.run_id()).await {
            Ok(run) if run.spec.errand.as_ref().is_some_and(|known| known.is_same(errand)) => Ok(Some(run)),
            // The store says what is wrong with another's.
            Ok(_) | Err(StoreError::NotFound { .. }) => Ok(None),
            Err(e) => Err(store_problem(&e)),
        }
    }

    fn run_id(&self, choice: &RunChoice, at: Timestamp) -> RunId {
        choice.errand.as_ref().map_or_else(|| RunId::mint(at, self.random()), Errand::run_id)
    }

    fn require_open(&self) -> Result<(), Problem> {
        if self.stopping().is_cancelled() { Err(Problem::StopUnderWay) } else { Ok(()) }
    }

    /// New work needs room; what is under way keeps what is left.
    pub(crate) fn require_disk(&self) -> Result<(), Problem> {
        let needed = self.0.config.min_free_disk;
        let root = self.layout().root();
        let free = self
            .0
            .edges
            .host
            .free_disk(root)
            .map_err(|e| Problem::Io { path: root.to_owned(), reason: e.to_string() })?;
        if free >= needed {
            return Ok(());
        }
        Err(Problem::DiskFull { path: root.to_owned(), free_mib: free >> 20, needed_mib: needed >> 20 })
    }

    /// Which agents are meant, each of them installed.
    fn agents(&self, config: &Config, asked: &[String], caller: Option<&Arc<Env>>) -> Result<Vec<AgentName>, Problem> {
        let names: Vec<AgentName> = if asked.is_empty() {
            vec![config.agent.clone()]
        } else {
            let bad = |agent: &String| Problem::BadAgent { agent: agent.clone(), known: config.known_agents() };
            asked.iter().map(|name| name.parse().map_err(|_| bad(name))).collect::<Result<_, _>>()?
        };
        let env = caller.map_or(self.env(), |env| env);
        for agent in &names {
            if let AgentName::Custom(name) = agent
                && config.custom(agent).is_none()
            {
                return Err(Problem::BadAgent { agent: name.clone(), known: config.known_agents() });
            }
            let is_held = config.sandbox.mode != SandboxMode::Off && self.0.sandbox.holds_files();
            if matches!(config.custom(agent), Some(CustomAgent::Acp { .. })) && !is_held {
                return Err(Problem::AcpNeedsFence { agent: agent.to_string() });
            }
            if !matches!(agent, AgentName::Rehearsal) {
                dandori_agent::find_program(agent, env).map_err(|missing| Problem::AgentMissing {
                    agent: missing.agent.clone(),
                    program: missing.program.clone(),
                })?;
            }
        }
        Ok(names)
    }

    /// As whoever asks would call git.
    fn site_for(&self, repo: Repo, config: &Config, caller: Option<&Arc<Env>>) -> Site {
        Site { repo, base: config.base.clone(), own: self.own_env_for(caller) }
    }

    /// Without a name and an address no commit can be made: known before an agent has cost anything.
    async fn require_identity(&self, site: &Site) -> Result<(), Problem> {
        let site = site.clone();
        self.blocking(move |engine| engine.0.edges.git.require_identity(&site)).await?
    }

    /// Where whoever asks stands, and what he wants to start from.
    async fn footing(&self, site: &Site, from: Utf8PathBuf, base: Option<String>) -> Result<Footing, Problem> {
        let site = site.clone();
        self.blocking(move |engine| engine.0.edges.git.footing(&site, &from, base.as_deref())).await?
    }

    async fn checkout(&self, site: &Site, from: &Utf8Path) -> Result<Option<Utf8PathBuf>, Problem> {
        let (site, from) = (site.clone(), from.to_owned());
        self.blocking(move |engine| engine.0.edges.git.checkout(&site, &from)).await
    }

    /// Everything a run needs of the repository, looked at without the network where that is possible.
    async fn require_ready(&self, site: &Site, footing: &Footing, wants_pull: bool) -> Result<(), Problem> {
        let (site, footing) = (site.clone(), footing.clone());
        self.blocking(move |engine| engine.0.edges.git.require_ready(&site, &footing, wants_pull)).await?
    }
}

fn check_instruction(instruction: &str) -> Result<(), Problem> {
    if instruction.trim().is_empty() {
        return Err(Problem::EmptyInstruction);
    }
    if instruction.len() > MAX_INSTRUCTION_BYTES {
        return Err(Problem::InstructionTooLong { bytes: instruction.len(), limit: MAX_INSTRUCTION_BYTES });
    }
    check_words("instruction", instruction)
}

/// Refuses what would be taken on now and fail for ever at the agent's start or at the commit.
pub(crate) fn check_words(what: &str, text: &str) -> Result<(), Problem> {
    plain::unusable(text).map_or(Ok(()), |found| Err(unusable(what, found)))
}

/// The same for a name or a place, which is one line.
pub(crate) fn check_line(what: &str, text: Option<&str>) -> Result<(), Problem> {
    text.and_then(plain::unusable_in_line).map_or(Ok(()), |found| Err(unusable(what, found)))
}

fn unusable(what: &str, (character, line): (char, usize)) -> Problem {
    let character = format!("U+{:04X}", u32::from(character));
    Problem::UnusableCharacter { what: what.to_owned(), character, line }
}

/// A program without a protocol may be silent for as long as it likes, unless the user has said otherwise.
fn limits_of(config: &Config, agent: &AgentName, custom: Option<&CustomAgent>) -> Limits {
    let mut limits = config.limits;
    let usual = Config::default().limits;
    let speaks = matches!(custom, Some(CustomAgent::Acp { .. }));
    if matches!(agent, AgentName::Exec(_) | AgentName::Custom(_) | AgentName::Rehearsal) && !speaks {
        let unless_said = |limit, usual| if limit == usual { limits.run_seconds } else { limit };
        limits.start_seconds = unless_said(limits.start_seconds, usual.start_seconds);
        limits.silence_seconds = unless_said(limits.silence_seconds, usual.silence_seconds);
    }
    limits
}

/// The configuration as it stands now, with what was said for this run over it.
fn settings(config: &Config, agent: &AgentName, choice: &RunChoice) -> Result<RunSettings, Problem> {
    let budget = match choice.budget {
        Some(dollars) if dollars.is_finite() && dollars > 0.0 => Some(Usd::from_dollars(dollars)),
        Some(other) => return Err(Problem::BadBudget { text: other.to_string() }),
        None => config.budget,
    };
    let custom = config.custom(agent).filter(|_| matches!(agent, AgentName::Custom(_)));
    Ok(RunSettings {
        model: choice.model.clone().or_else(|| config.model(agent).map(str::to_owned)),
        wants_pull: choice.pr.unwrap_or(config.pr),
        budget,
        limits: if choice.brings.as_ref().is_some_and(Brings::gives_back) {
            limits_of(config, &AgentName::Exec(String::new()), None)
        } else {
            limits_of(config, agent, custom.as_ref())
        },
        cleanup: config.cleanup,
        forbidden_paths: config.forbidden_paths.clone(),
        set_up: config.set_up.choice(),
        commit_template: config.commit_template.clone(),
        push_retries: config.push_retries,
        sandbox: config.sandbox.clone(),
        pass_env: config.pass_env.clone(),
        read_only: choice.read_only,
        check: choice.check.clone(),
        custom,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_program_may_be_silent_unless_the_user_has_said_otherwise() {
        let exec = AgentName::Exec("make".to_owned());
        let mut config = Config::default();
        let limits = limits_of(&config, &exec, None);
        assert_eq!((limits.start_seconds, limits.silence_seconds), (limits.run_seconds, limits.run_seconds));
        assert_eq!(limits_of(&config, &AgentName::Client(dandori_domain::Client::Claude), None), config.limits);
        let acp = CustomAgent::Acp { acp: "a".to_owned(), auth: None };
        assert_eq!(limits_of(&config, &AgentName::Custom("mine".to_owned()), Some(&acp)), config.limits);
        config.limits.silence_seconds = 5;
        assert_eq!(limits_of(&config, &exec, None).silence_seconds, 5);
    }
}
