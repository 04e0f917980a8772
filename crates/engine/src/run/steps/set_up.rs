//! SetUp: the project's own dependency install, each command in a shim of its own, behind the agent's fence.

use camino::Utf8Path;
use dandori_config::set_up::{SetUpCommand, commands, without_program};
use dandori_domain::Failure;
use dandori_domain::run::{Fact, Intent, Note, Run, SetUpChoice, Workspace};
use dandori_domain::task::Repo;
use dandori_host::Env;
use dandori_host::cmd::last_lines;
use dandori_host::shim::{self, LaunchError, LaunchOrder, Probe, RUN_MARKER, Why};
use tokio::sync::Notify;

use super::StepError;
use super::watch::tail_of;
use crate::Engine;
use crate::engine::private_folder;
use crate::fence::{self, Wanted};

impl Engine {
    pub(crate) fn set_up_commands(&self, run: &Run, tree: &Utf8Path) -> Vec<SetUpCommand> {
        if run.spec.settings.read_only {
            return Vec::new();
        }
        commands(
            &run.spec.settings.set_up,
            |file| tree.join(file).is_file(),
            |program| self.env_of(run.spec.id).find_program(program).is_some(),
        )
    }

    /// What detection found and cannot do.
    pub(crate) fn set_up_notes(choice: &SetUpChoice, tree: &Utf8Path, env: &Env) -> Vec<Note> {
        let has = |file: &str| tree.join(file).is_file();
        let missing = without_program(choice, has, |program| env.find_program(program).is_some());
        let note =
            |(file, program): (&str, &str)| Note::SetUpToolMissing { file: file.into(), program: program.into() };
        missing.into_iter().map(note).collect()
    }

    /// What the project's set-up takes, as an intent; nothing, for the many that need none.
    pub(super) fn plan_set_up(&self, run: &Run, workspace: &Workspace) -> Vec<Fact> {
        if self.set_up_commands(run, &workspace.path).is_empty() {
            return vec![Fact::SetUpDone { commands: 0 }];
        }
        vec![Fact::Intended { intent: Intent::SetUp }]
    }

    pub(super) async fn set_up(&self, run: &Run, workspace: &Workspace, bell: &Notify) -> Result<Vec<Fact>, StepError> {
        let commands = self.set_up_commands(run, &workspace.path);
        let mut facts = Vec::new();
        for (index, command) in commands.iter().enumerate() {
            if let Err(tail) = self.set_up_one(run, workspace, index, command, bell).await? {
                if command.required {
                    return Err(Failure::SetUp { command: command.line.clone(), tail }.into());
                }
                facts.push(Fact::Noted { note: Note::SetUpFailed { command: command.line.clone(), tail } });
            }
        }
        facts.push(Fact::SetUpDone { commands: u32::try_from(commands.len()).unwrap_or(u32::MAX) });
        Ok(facts)
    }

    /// `Err` holds the end of what a failed command said.
    async fn set_up_one(
        &self,
        run: &Run,
        workspace: &Workspace,
        index: usize,
        command: &SetUpCommand,
        bell: &Notify,
    ) -> Result<Result<(), String>, StepError> {
        let layout = self.layout().repo(run.spec.repo).run(run.spec.id);
        let folder = layout.set_up(index);
        let repo = self.site_of(run.spec.repo, run.spec.id).await?.repo;
        let order = match self.set_up_order(run, &repo, &workspace.path, command) {
            Ok(order) => order,
            Err(e) => return Ok(Err(e.to_string())),
        };
        let (dir, tmp) = (folder.clone(), layout.tmp());
        let started = self
            .blocking(move |engine| {
                for folder in [&dir, &tmp] {
                    if let Err(e) = private_folder(folder) {
                        return Ok(Err(e.to_string()));
                    }
                }
                match engine.0.edges.host.launch(&dir, &order) {
                    // Launched before a crash: looked at below.
                    Ok(_) | Err(LaunchError::AlreadyStarted) => Ok(Ok(())),
                    // No fault of the command's: the agent could not be started either.
                    Err(LaunchError::ProgramGone { program }) => Err(Failure::DandoriGone { program }),
                    Err(e) => Ok(Err(e.to_string())),
                }
            })
            .await??;
        if let Err(reason) = started {
            return Ok(Err(reason));
        }
        loop {
            match self
                .0
                .edges
                .host
                .probe(&folder)
                .map_err(|tail| Failure::SetUp { command: command.line.clone(), tail })?
            {
                Probe::Ended(record) if record.code == Some(0) && record.why == Why::Ended => return Ok(Ok(())),
                Probe::Ended(_) => return Ok(Err(tail(&folder))),
                // Its shim was killed: half a set-up is none, and what it had started has nobody to end it but us.
                Probe::Lost(_) | Probe::NeverStarted => {
                    self.end_leftovers(run).await?;
                    return Ok(Err("it was killed".to_owned()));
                }
                Probe::Alive(started) => {
                    tokio::select! {
                        () = self.0.edges.host.watch(started.shim) => {}
                        () = bell.notified() => {
                            if self.is_canceled(run).await {
                                return Err(StepError::LookAgain);
                            }
                        }
                        () = self.stopping().cancelled() => return Err(StepError::Stopping),
                    }
                }
            }
        }
    }

    fn set_up_order(
        &self,
        run: &Run,
        repo: &Repo,
        tree: &Utf8Path,
        command: &SetUpCommand,
    ) -> std::io::Result<LaunchOrder> {
        let settings = &run.spec.settings;
        let user_env = self.env_of(run.spec.id);
        let files = self.layout().repo(run.spec.repo).run(run.spec.id);
        let mut env: Vec<(String, String)> = user_env
            .filtered(|name| {
                dandori_agent::is_passed(&run.spec.agent, name) || settings.pass_env.iter().any(|p| p == name)
            })
            .iter()
            .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned())))
            .collect();
        env.push((RUN_MARKER.to_owned(), run.spec.id.to_string()));
        env.push(("TMPDIR".to_owned(), files.tmp().to_string()));
        let wanted = Wanted { run, repo, worktree: tree, env: &user_env, write: &[], read: &[], reach: &[] };
        Ok(LaunchOrder {
            version: shim::VERSION,
            run: run.spec.id.to_string(),
            argv: vec!["/bin/sh".into(), "-c".into(), command.line.clone()],
            env,
            cwd: tree.to_owned(),
            stdin: None,
            streams: shim::Streams::Own,
            sandbox: fence::policy(self.layout(), &self.0.sandbox, &wanted)?,
            stores: fence::stores(self.layout(), run, &user_env),
            deadline_seconds: settings.limits.run_seconds,
            grace_seconds: settings.limits.grace_seconds,
            max_output_bytes: 64 << 20,
        })
    }

    /// Whether a cancel has come since `run` was read.
    pub(crate) async fn is_canceled(&self, run: &Run) -> bool {
        self.store().subject::<Run>(run.spec.id).await.is_ok_and(|now| now.is_canceling())
    }
}

fn tail(folder: &Utf8Path) -> String {
    let read = |name: &str| tail_of(&folder.join(name), 12);
    last_lines(format!("{}\n{}", read(shim::OUTPUT), read(shim::STDERR)).trim(), 12)
}
