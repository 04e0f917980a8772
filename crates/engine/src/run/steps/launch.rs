//! Launch: the agent in its shim, once, whatever happens in between.

use std::borrow::Cow;

use camino::Utf8PathBuf;
use dandori_agent::{Door, Order, PrepareError};
use dandori_domain::run::{Brings, Fact, Note, ProcessRef, Run, RunKind, Sandbox, SandboxMode, Workspace};
use dandori_domain::wording::{self, with_conflict, with_merge_conflict};
use dandori_domain::{AgentFailure, Failure};
use dandori_host::shim::{self, LaunchError, LaunchOrder, Probe, Started};

use super::StepError;
use super::rules::RunGuards;
use crate::Engine;
use crate::doors::has_door;
use crate::edges::Site;
use crate::engine::private_folder;
use crate::fence::{self, Wanted};
use crate::kernel::fault::end_process_at;

/// The guards' rules and the agent's private folder are there, and no agent yet: a crash point.
pub(crate) const PREPARED_LAUNCH: &str = "run:prepared:launch";

/// Of both outputs together; an agent that prints more is stopped.
const MAX_OUTPUT_BYTES: u64 = 512 << 20;

/// Of what came before; the newest of it counts.
const MAX_EARLIER_BYTES: usize = 64 * 1024;

impl Engine {
    pub(super) async fn launch(&self, run: &Run, workspace: Workspace) -> Result<Vec<Fact>, StepError> {
        let site = self.site_of(run.spec.repo, run.spec.id).await?;
        let earlier = self.earlier(run).await;
        let run = run.clone();
        self.blocking(move |engine| {
            let folder = engine.layout().repo(run.spec.repo).run(run.spec.id).root().to_owned();
            private_folder(&folder).map_err(|e| not_started(e.to_string()))?;
            let started = match engine.0.edges.host.probe(&folder).map_err(not_started)? {
                Probe::NeverStarted => engine.start_agent(&site, &run, &workspace, earlier.as_deref())?,
                Probe::Alive(started) => Some(started),
                Probe::Ended(_) | Probe::Lost(_) => engine.0.edges.host.started(&folder),
            };
            let mut facts = Vec::new();
            if run.spec.settings.budget.is_some()
                && !run.spec.agent.client().is_some_and(|client| client.describe().tells_cost)
            {
                let agent = run.spec.agent.to_string();
                facts.push(Fact::Noted { note: Note::BudgetNotKept { agent } });
            }
            if run.is_acp() {
                facts.push(Fact::Noted { note: Note::AsksItself { agent: run.spec.agent.to_string() } });
            }
            facts.extend(started.as_ref().and_then(|s| fence_note(&s.sandbox)).map(|note| Fact::Noted { note }));
            facts.push(match started {
                Some(started) => Fact::Launched { shim: started.shim, sandbox: started.sandbox },
                // The shim was killed before it had written a word: watching will say so.
                None => Fact::Launched {
                    shim: ProcessRef { pid: 0, started: 0, boot: String::new() },
                    sandbox: engine.0.sandbox.clone(),
                },
            });
            Ok(facts)
        })
        .await?
    }

    /// What was asked and said in the runs before, for an agent that may have lost its conversation.
    async fn earlier(&self, run: &Run) -> Option<String> {
        if !run.is_acp() {
            return None;
        }
        let mut told = Vec::new();
        let mut bytes = 0;
        let mut next = run.spec.kind.after();
        while let Some(id) = next {
            let Ok(before) = self.store().subject::<Run>(id).await else { break };
            let told_of = wording::earlier(&before.spec.instruction, before.summary());
            bytes += told_of.len();
            if bytes > MAX_EARLIER_BYTES {
                break;
            }
            told.push(told_of);
            next = before.spec.kind.after();
        }
        told.reverse();
        (!told.is_empty()).then(|| told.join("\n\n"))
    }

    fn start_agent(
        &self,
        site: &Site,
        run: &Run,
        workspace: &Workspace,
        earlier: Option<&str>,
    ) -> Result<Option<Started>, StepError> {
        let repo = self.layout().repo(run.spec.repo);
        let files = repo.run(run.spec.id);
        let home = repo.agent_home(run.spec.task, &run.spec.agent);
        for folder in [files.tmp(), home.clone()] {
            private_folder(&folder).map_err(|e| not_started(e.to_string()))?;
        }
        let settings = &run.spec.settings;
        let sandboxed = settings.sandbox.mode != SandboxMode::Off && self.0.sandbox.holds_files();
        if !sandboxed {
            self.0.edges.git.remember_config(site, run)?;
        }
        let session = match &run.spec.kind {
            RunKind::FollowUp { session, .. } => session.as_ref(),
            RunKind::First => None,
        };
        let instruction = self.instruction_of(site, run)?;
        let user_env = self.env_of(run.spec.id);
        let guards = self.write_rules(&site.repo, run, workspace, &user_env).map_err(|e| not_started(e.to_string()))?;
        let door = files.door();
        let errand = has_door(run);
        let launch = dandori_agent::prepare(&Order {
            agent: &run.worker(),
            run: run.spec.id,
            task: run.spec.task,
            instruction: &instruction,
            instruction_file: &files.instruction(),
            workdir: &workspace.path,
            tmp: &files.tmp(),
            home: &home,
            session,
            new_session: uuid::Builder::from_random_bytes(self.random().to_be_bytes()).into_uuid(),
            model: settings.model.as_deref(),
            budget: settings.budget,
            limits: &settings.limits,
            user_env: &user_env,
            pass_env: &settings.pass_env,
            sandboxed,
            custom: settings.custom.as_ref(),
            earlier,
            forbidden_paths: &settings.forbidden_paths,
            guards: guards.as_ref().map(RunGuards::for_agent),
            door: errand.map(|errand| Door { socket: &door, agent: &errand.agent }),
            dandori: &self.0.options.dandori,
            now: self.now(),
        })
        .map_err(|e| match &e {
            PrepareError::Missing(missing) => {
                Failure::AgentMissing { agent: missing.agent.clone(), program: missing.program.clone() }
            }
            other => Failure::Agent { failure: other.failure() },
        })?;
        let mut reads = guards.map(|guards| guards.reads()).unwrap_or_default();
        reads.extend(launch.read);
        // It may be the agent itself, or be in a folder that the run has for itself.
        reads.push(self.0.options.dandori.clone());
        reads.extend(launch.argv.first().map(Utf8PathBuf::from).filter(|program| program.is_absolute()));
        let wanted = Wanted {
            run,
            repo: &site.repo,
            worktree: &workspace.path,
            env: &user_env,
            write: &launch.write,
            read: &reads,
            reach: &errand.and(door.parent()).map(|folder| vec![folder.to_owned()]).unwrap_or_default(),
        };
        let sandbox = fence::policy(self.layout(), &self.0.sandbox, &wanted).map_err(|e| not_started(e.to_string()))?;
        let order = LaunchOrder {
            version: shim::VERSION,
            run: run.spec.id.to_string(),
            argv: launch.argv,
            env: launch.env,
            cwd: workspace.path.clone(),
            stdin: launch.stdin,
            streams: shim::Streams::Own,
            sandbox,
            stores: fence::stores(self.layout(), run, &user_env),
            deadline_seconds: settings.limits.run_seconds,
            grace_seconds: settings.limits.grace_seconds,
            max_output_bytes: MAX_OUTPUT_BYTES,
        };
        end_process_at(PREPARED_LAUNCH);
        match self.0.edges.host.launch(files.root(), &order) {
            Ok(started) => Ok(Some(started)),
            // A shim of the life before got there first.
            Err(LaunchError::AlreadyStarted) => Ok(self.0.edges.host.started(files.root())),
            Err(LaunchError::ProgramGone { program }) => Err(Failure::DandoriGone { program }.into()),
            Err(e) => Err(not_started(e.to_string())),
        }
    }

    /// What the user asked, and what the agent finds in its files that it cannot know of.
    fn instruction_of<'r>(&self, site: &Site, run: &'r Run) -> Result<Cow<'r, str>, StepError> {
        let asked = Cow::Borrowed(run.spec.instruction.as_str());
        let Some(workspace) = run.workspace() else { return Ok(asked) };
        if run.spec.kind == RunKind::First && workspace.merges.is_none() {
            return Ok(asked);
        }
        let Some(conflict) = self.0.edges.git.conflict(site, workspace)? else { return Ok(asked) };
        let (files, theirs, ours) = (conflict.files(), &conflict.theirs, &conflict.ours);
        if workspace.merges.is_none() {
            return Ok(with_conflict(&asked, &files, theirs, ours).into());
        }
        let name = match &run.spec.brings {
            Some(Brings::Commit { name, .. }) => Some(name.as_str()),
            Some(Brings::Base) | None => None,
        };
        Ok(with_merge_conflict(&asked, name, &files, theirs, ours).into())
    }
}

/// What a fence that is not whole leaves open.
fn fence_note(sandbox: &Sandbox) -> Option<Note> {
    match sandbox {
        Sandbox::None { reason } => Some(Note::NoSandbox { reason: reason.clone() }),
        whole if whole.is_whole() => None,
        partial => Some(Note::FenceIsPartial { missing: partial.layers().missing, open: partial.gaps() }),
    }
}

fn not_started(detail: String) -> StepError {
    Failure::Agent { failure: AgentFailure::NotStarted { detail } }.into()
}
