//! Launch: the agent in its shim, once, whatever happens in between.

use std::borrow::Cow;

use camino::Utf8PathBuf;
use dandori_agent::{Order, PrepareError};
use dandori_domain::message::with_conflict;
use dandori_domain::run::{Fact, Intent, Note, ProcessRef, RunFacts, RunKind, Sandbox, SandboxMode};
use dandori_domain::{AgentFailure, Failure};
use dandori_git::GitError;
use dandori_host::shim::{self, LaunchError, LaunchOrder, Probe, Started};
use dandori_host::{now, random, replace_file};

use super::guard::RunGuards;
use crate::Engine;
use crate::drive::StepError;
use crate::engine::private_folder;
use crate::fault;
use crate::fence::{self, Wanted};
use crate::repos::Known;
use crate::trouble::git_reason;

/// Of both outputs together; an agent that prints more is stopped.
const MAX_OUTPUT_BYTES: u64 = 512 << 20;

impl Engine {
    pub(crate) async fn launch(&self, run: &RunFacts) -> Result<Vec<Fact>, StepError> {
        let Some(intent @ Intent::Launch) = run.open_intent.clone() else {
            return Ok(vec![Fact::Intended { intent: Intent::Launch }]);
        };
        let known = self.known_for(run).await?;
        let run = run.clone();
        self.blocking(move |engine| {
            let folder = engine.layout().repo(run.spec.repo).run(run.spec.id).root().to_owned();
            private_folder(&folder).map_err(|e| not_started(e.to_string()))?;
            let started = match shim::probe(&folder).map_err(|e| not_started(e.to_string()))? {
                Probe::NeverStarted => engine.start_agent(&known, &run)?,
                Probe::Alive(started) => Some(started),
                Probe::Ended(_) | Probe::Lost(_) => shim::started(&folder),
            };
            fault::done(&intent);
            let mut facts = Vec::new();
            if run.spec.settings.budget.is_some()
                && !run.spec.agent.client().is_some_and(|client| client.describe().tells_cost)
            {
                let agent = run.spec.agent.to_string();
                facts.push(Fact::Noted { note: Note::BudgetNotKept { agent } });
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

    fn start_agent(&self, known: &Known, run: &RunFacts) -> Result<Option<Started>, StepError> {
        let Some(workspace) = &run.workspace else { return Err(StepError::LookAgain) };
        let repo = self.layout().repo(run.spec.repo);
        let files = repo.run(run.spec.id);
        let home = repo.agent_home(run.spec.task, &run.spec.agent);
        for folder in [files.tmp(), home.clone()] {
            private_folder(&folder).map_err(|e| not_started(e.to_string()))?;
        }
        let settings = &run.spec.settings;
        let sandboxed = settings.sandbox.mode != SandboxMode::Off && self.0.sandbox.holds_files();
        if !sandboxed {
            remember_config(known, &files.config_fingerprint())?;
        }
        let session = match &run.spec.kind {
            RunKind::FollowUp { session, .. } => session.as_ref(),
            RunKind::First => None,
        };
        let instruction = instruction_of(known, run)?;
        let user_env = self.env_of(run.spec.id);
        let guards = self.write_rules(known, run, workspace, &user_env).map_err(|e| not_started(e.to_string()))?;
        let launch = dandori_agent::prepare(&Order {
            agent: &run.spec.agent,
            run: run.spec.id,
            task: run.spec.task,
            instruction: &instruction,
            instruction_file: &files.instruction(),
            workdir: &workspace.path,
            tmp: &files.tmp(),
            home: &home,
            session,
            new_session: uuid::Builder::from_random_bytes(random().to_be_bytes()).into_uuid(),
            model: settings.model.as_deref(),
            budget: settings.budget,
            limits: &settings.limits,
            user_env: &user_env,
            pass_env: &settings.pass_env,
            sandboxed,
            custom_command: settings.custom_command.as_deref(),
            forbidden_paths: &settings.forbidden_paths,
            guards: guards.as_ref().map(RunGuards::for_agent),
            dandori: &self.0.options.dandori,
            now: now(),
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
        let wanted =
            Wanted { run, known, worktree: &workspace.path, env: &user_env, write: &launch.write, read: &reads };
        let sandbox = fence::policy(self.layout(), &self.0.sandbox, &wanted).map_err(|e| not_started(e.to_string()))?;
        let order = LaunchOrder {
            version: shim::VERSION,
            run: run.spec.id.to_string(),
            argv: launch.argv,
            env: launch.env,
            cwd: workspace.path.clone(),
            stdin: launch.stdin,
            sandbox,
            stores: fence::stores(self.layout(), run, &user_env),
            deadline_seconds: settings.limits.run_seconds,
            grace_seconds: settings.limits.grace_seconds,
            max_output_bytes: MAX_OUTPUT_BYTES,
        };
        fault::launch_prepared();
        match shim::launch(files.root(), &order, &self.0.options.dandori, self.env()) {
            Ok(started) => Ok(Some(started)),
            // A shim of the life before got there first.
            Err(LaunchError::AlreadyStarted) => Ok(shim::started(files.root())),
            Err(LaunchError::ProgramGone { program }) => Err(Failure::DandoriGone { program }.into()),
            Err(e) => Err(not_started(e.to_string())),
        }
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

/// What the user asked, and what the agent finds in its files that it cannot know of.
fn instruction_of<'r>(known: &Known, run: &'r RunFacts) -> Result<Cow<'r, str>, StepError> {
    let asked = Cow::Borrowed(run.spec.instruction.as_str());
    let RunKind::FollowUp { workspace, .. } = &run.spec.kind else { return Ok(asked) };
    let git_trouble = |e: GitError| not_started(git_reason(&e));
    let Some(tree) = known.git.worktree(&workspace.path).map_err(git_trouble)? else { return Ok(asked) };
    let Some(conflict) = tree.conflict().map_err(git_trouble)? else { return Ok(asked) };
    Ok(with_conflict(&asked, &conflict.files(), &conflict.theirs, &conflict.ours).into())
}

/// Without a sandbox an agent could make git run a program of its choice: what git would run is written down.
fn remember_config(known: &Known, path: &camino::Utf8Path) -> Result<(), StepError> {
    let print = known.git.exec_config_fingerprint().map_err(|e| not_started(git_reason(&e)))?;
    let bytes = serde_json::to_vec(&print).map_err(|e| not_started(e.to_string()))?;
    replace_file(path, &bytes, 0o600).map_err(|e| not_started(e.to_string()))
}

fn not_started(detail: String) -> StepError {
    Failure::Agent { failure: AgentFailure::NotStarted { detail } }.into()
}
