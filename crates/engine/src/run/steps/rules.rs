//! The guards of a run: its rules, written down before the agent starts.

#![deny(clippy::wildcard_enum_match_arm)]

use camino::Utf8PathBuf;
use dandori_agent::Guards;
use dandori_domain::AgentName;
use dandori_domain::run::{Run, Workspace};
use dandori_domain::task::Repo;
use dandori_host::Env;
use dandori_policy::{AgentHomes, PolicyPaths, RunRules};

use crate::engine::private_folder;
use crate::{Engine, RunLayout};

/// The files through which the guards of one run work.
pub(super) struct RunGuards {
    files: RunLayout,
    settings: Utf8PathBuf,
    program: Utf8PathBuf,
}

impl RunGuards {
    pub(super) fn for_agent(&self) -> Guards<'_> {
        Guards { folder: self.files.root(), settings: &self.settings }
    }

    /// What they need to read behind the agent's fence. They write where the agent may.
    pub(super) fn reads(&self) -> Vec<Utf8PathBuf> {
        vec![self.files.rules(), self.settings.clone(), self.program.clone()]
    }
}

impl Engine {
    /// Writes the rules down, and makes the folder for what the guards write. `None` for a program without a protocol: it
    /// has no events to judge. Not synced: after a power cut no agent reads it, and the next launch writes its own.
    pub(super) fn write_rules(
        &self,
        repo: &Repo,
        run: &Run,
        workspace: &Workspace,
        user_env: &Env,
    ) -> std::io::Result<Option<RunGuards>> {
        let has_events = match &run.worker() {
            AgentName::Client(client) => client.hooks().is_some(),
            // One that speaks ACP has no hooks: its requests are judged for it.
            AgentName::Exec(_) | AgentName::Custom(_) | AgentName::Rehearsal => run.is_acp(),
        };
        if !has_events {
            return Ok(None);
        }
        let folders = self.layout().repo(run.spec.repo);
        let files = folders.run(run.spec.id);
        private_folder(&files.guards())?;
        let place = PolicyPaths {
            folder: files.root().to_owned(),
            user_config: self.0.options.user_config.clone(),
            trust: self.layout().trust(),
            state_root: self.layout().root().to_owned(),
            binary: Some(self.0.options.dandori.clone()),
            homes: AgentHomes::of(user_env),
            checkout: Some(workspace.path.clone()),
            main_checkout: Some(repo.root.clone()),
            git_dir: Some(repo.git_dir.clone()),
            is_run: true,
            was_disciplined: false,
        };
        let rules = RunRules::compile(
            &place,
            &dandori_policy::Run {
                folder: files.root(),
                guards: &files.guards(),
                worktree: &workspace.path,
                tmp: &files.tmp(),
                home: &folders.agent_home(run.spec.task, &run.spec.agent),
                forbidden: &run.spec.settings.forbidden_paths,
                read_only: run.spec.settings.read_only,
            },
        );
        let bytes = serde_json::to_vec(&rules)?;
        // The same stay: a shim of the life before may have let an agent see just this file.
        if !std::fs::read(files.rules()).is_ok_and(|there| there == bytes) {
            dandori_host::put_file(&files.rules(), &bytes, 0o600)?;
        }
        let program = self.0.options.dandori.clone();
        Ok(Some(RunGuards { settings: files.agent_settings(), files, program }))
    }
}
