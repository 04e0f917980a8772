//! The place an agent is tried in: a repository and a home of its own, with copies of the settings that concern hooks.
//!
//! Nothing of the user's login goes along, nobody else's hooks do anything there, and the agent knows no way but to the
//! built-in model. The state root of the hooks is below that home: what they write down is found there and goes with
//! it.

use std::os::unix::fs::DirBuilderExt;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::AgentName;
use dandori_domain::client::Trust;
use dandori_host::{Cmd, Env, Layout};
use dandori_install::{Client, Places, only_ours};

use super::super::hooks::{Look, Scope};
use super::actor::Actor;
use crate::cli::Context;

/// Removed when it is dropped.
pub(super) struct Stage {
    root: Utf8PathBuf,
}

const PROMPT: &str = "Do what the self-test asks for.\n";
/// Where programs are, beside the PATH: an agent may be started by a version manager.
const MANAGERS: &[&str] = &[
    "ASDF_DATA_DIR",
    "ASDF_DIR",
    "BUN_INSTALL",
    "FNM_DIR",
    "FNM_MULTISHELL_PATH",
    "LD_LIBRARY_PATH",
    "MISE_DATA_DIR",
    "N_PREFIX",
    "NODE_PATH",
    "NVM_BIN",
    "NVM_DIR",
    "PNPM_HOME",
    "VOLTA_HOME",
];

/// Whether a variable decides about hooks in a client's environment.
fn is_decisive(name: &str) -> bool {
    Client::with_hooks().any(|(client, hooks)| {
        let by_trust = match &hooks.trust {
            Trust::None | Trust::Hashes { .. } => false,
            Trust::Folder(trust) => name == trust.word || name == trust.restricted,
        };
        by_trust || client.describe().environment.disarms == Some(name)
    })
}

impl Stage {
    pub(super) fn set_up(context: &Context, look: &Look) -> Result<Self, String> {
        let name = format!("{PREFIX}{}", std::process::id());
        let stage = Self { root: context.layout.root().join(name).join(look.client.name()) };
        for folder in [stage.repository(), stage.home(), stage.temporary()] {
            make_folder(&folder)?;
        }
        let git = Cmd::new("git", &stage.bare(context)).args(["init", "--quiet", "-b", "self-test"]);
        git.cwd(&stage.repository()).run().map_err(|e| e.to_string())?;
        for file in &look.files {
            let copy = match file.text() {
                Some(text) => only_ours(look.client, text, &stage.places()).into_bytes(),
                None => file.bytes.clone(),
            };
            let name = file.path.file_name().unwrap_or(look.hooks.file);
            put(&stage.folder(look.client, file.scope).join(name), &copy)?;
        }
        Ok(stage)
    }

    pub(super) fn repository(&self) -> Utf8PathBuf {
        self.root.join("repository")
    }

    pub(super) fn home(&self) -> Utf8PathBuf {
        self.root.join("home")
    }

    /// Where the hooks of the copies have their own files.
    pub(super) fn places(&self) -> Places {
        let env = self.bare_home();
        let state = Layout::from_env(&env).map(|layout| layout.root().to_string());
        let config = Some(dandori_host::layout::user_config(&env).into_string());
        Places { state, config, home: Some(self.home().into_string()) }
    }

    /// Nothing is known but this home.
    fn bare_home(&self) -> Env {
        Env::from_pairs([("HOME", self.home().into_string())])
    }

    fn temporary(&self) -> Utf8PathBuf {
        self.root.join("tmp")
    }

    pub(super) fn folder(&self, client: Client, scope: Scope) -> Utf8PathBuf {
        match scope {
            Scope::User => self.home().join(client.describe().settings.folder),
            Scope::Project => self.repository().join(client.describe().settings.folder),
        }
    }

    /// Where the hooks have written down what they were asked.
    pub(super) fn guard_folders(&self) -> Vec<Utf8PathBuf> {
        let guards = Layout::from_env(&self.bare_home()).map(|layout| layout.guards()).unwrap_or_default();
        guards.read_dir_utf8().into_iter().flatten().flatten().map(|entry| entry.path().to_owned()).collect()
    }

    fn bare(&self, context: &Context) -> Env {
        let is_kept = |name: &str| name == "PATH" || MANAGERS.contains(&name) || is_decisive(name);
        let mut env = context.env.filtered(is_kept);
        env.set("HOME", self.home().into_string())
            .set("TMPDIR", self.temporary().into_string())
            .set("LANG", "C.UTF-8")
            .set("TERM", "dumb")
            .set("NO_PROXY", "127.0.0.1,localhost")
            .set("GIT_CONFIG_NOSYSTEM", "1");
        env
    }

    /// The agent, about to be started.
    pub(super) fn command(&self, context: &Context, look: &Look, url: &str) -> Result<Cmd, String> {
        let agent = (Actor::of(look.client).start)(self, context, look, url)?;
        let program =
            dandori_agent::find_program(&AgentName::Client(look.client), &context.env).map_err(|e| e.to_string())?;
        let mut env = self.bare(context);
        for (name, value) in look.client.describe().environment.quiet {
            env.set(*name, *value);
        }
        for (name, value) in agent.variables {
            env.set(name, value);
        }
        Ok(Cmd::new(program.as_str(), &env).args(agent.words).stdin(PROMPT).cwd(&self.repository()))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
        // The last of several takes the folder with it.
        if let Some(folder) = self.root.parent() {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

const PREFIX: &str = "doctor-";

/// Removes what a doctor that was killed has left.
pub(super) fn sweep(layout: &Layout) {
    for entry in layout.root().read_dir_utf8().into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().strip_prefix(PREFIX).and_then(|pid| pid.parse::<u32>().ok()) else {
            continue;
        };
        if !Utf8Path::new("/proc").join(pid.to_string()).exists() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

pub(super) fn make_folder(path: &Utf8Path) -> Result<(), String> {
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|e| format!("{path}: {e}"))
}

pub(super) fn put(path: &Utf8Path, bytes: &[u8]) -> Result<(), String> {
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    dandori_host::put_file(path, bytes, 0o600).map_err(|e| format!("{path}: {e}"))
}
