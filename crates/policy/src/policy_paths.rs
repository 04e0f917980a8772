//! Where the rules of one checkout come from, and what must not be written so that they stay in force.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Client;
use dandori_host::layout::real;

/// Everything the rules of one checkout depend on that is not in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicyPaths {
    /// Where the compiled rules are kept.
    pub folder: Utf8PathBuf,
    pub user_config: Utf8PathBuf,
    pub trust: Utf8PathBuf,
    pub state_root: Utf8PathBuf,
    /// The program the hooks call.
    pub binary: Option<Utf8PathBuf>,
    pub homes: AgentHomes,
    /// The checkout's top folder; `None` outside of every repository.
    pub checkout: Option<Utf8PathBuf>,
    /// The repository's main checkout. Its files count, never those of a linked worktree: an agent can write there.
    pub main_checkout: Option<Utf8PathBuf>,
    /// The repository's git folder, shared by all its worktrees: trust is kept by it.
    pub git_dir: Option<Utf8PathBuf>,
    /// In a run nobody is there for the whole discipline.
    pub is_run: bool,
    /// The session has worked by a playbook: that does not end because state.md is gone.
    pub was_disciplined: bool,
}

/// Where the clients keep the user's own settings.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AgentHomes(Vec<(Client, Utf8PathBuf)>);

impl AgentHomes {
    /// As the user's variables say, else in the home folder.
    pub fn of(env: &dandori_host::Env) -> Self {
        let folder = |client: Client| {
            let settings = &client.describe().settings;
            let moved = env.path(settings.moved_by.variable()).map(|path| joined(&path, settings.below_variable()));
            Some((client, moved.or_else(|| Some(env.home()?.join(settings.folder)))?))
        };
        Self(Client::ALL.into_iter().filter_map(folder).collect())
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &Utf8PathBuf> {
        self.0.iter().map(|(_, path)| path)
    }
}

/// `path/name`, or the path itself.
fn joined(path: &Utf8Path, name: &str) -> Utf8PathBuf {
    if name.is_empty() { path.to_owned() } else { path.join(name) }
}

/// What decides about the client's hooks in its folder.
fn settings_of(client: Client, folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    client.describe().settings.files.iter().map(|file| folder.join(file.name)).collect()
}

impl PolicyPaths {
    pub(crate) fn repository_config(&self) -> Option<Utf8PathBuf> {
        Some(self.main_checkout.as_ref()?.join("dandori.toml"))
    }

    pub(crate) fn protected_files(&self) -> Option<Utf8PathBuf> {
        Some(self.main_checkout.as_ref()?.join(".claude/protected-files.txt"))
    }

    /// Either one makes the work go by a playbook: deleting the worktree's own must not end that.
    pub(crate) fn state_files(&self) -> Vec<Utf8PathBuf> {
        let mut found: Vec<Utf8PathBuf> =
            [&self.main_checkout, &self.checkout].into_iter().flatten().map(|root| root.join("state.md")).collect();
        found.dedup();
        found
    }

    /// Whether the work goes by a playbook unless the configuration says otherwise.
    pub(crate) fn is_disciplined(&self) -> bool {
        self.was_disciplined || self.has_state()
    }

    pub fn has_state(&self) -> bool {
        // A link that leads nowhere is a state.md that is broken, not none.
        self.state_files().iter().any(|path| path.symlink_metadata().is_ok())
    }

    pub fn snapshot(&self) -> Utf8PathBuf {
        self.folder.join("rules.json")
    }

    /// Where runs work, below the state root.
    pub(crate) fn worktrees(&self) -> Vec<Utf8PathBuf> {
        both_names([self.state_root.join("repos")])
    }

    /// What makes the guards work, by the name it is called and by where that leads.
    pub(crate) fn control(&self) -> Vec<Utf8PathBuf> {
        let mut paths = vec![self.state_root.clone(), self.user_config.clone()];
        paths.extend(self.binary.clone());
        paths.extend(self.repository_config());
        paths.extend(self.protected_files());
        for root in [&self.main_checkout, &self.checkout].into_iter().flatten() {
            let of = |client: Client| settings_of(client, &root.join(client.describe().settings.folder));
            paths.extend(Client::ALL.into_iter().flat_map(of));
        }
        paths.extend(self.homes.0.iter().flat_map(|(client, home)| settings_of(*client, home)));
        both_names(paths)
    }
}

/// Settings of whichever client has its private state folder here.
pub(crate) fn settings_in(home: &Utf8Path) -> Vec<Utf8PathBuf> {
    let of = |client: Client| settings_of(client, &joined(home, client.describe().settings.below_variable()));
    Client::ALL.into_iter().flat_map(of).collect()
}

pub(crate) fn both_names(paths: impl IntoIterator<Item = Utf8PathBuf>) -> Vec<Utf8PathBuf> {
    let mut all = Vec::new();
    for path in paths {
        for name in [real(&path), path] {
            if !all.contains(&name) {
                all.push(name);
            }
        }
    }
    all
}
