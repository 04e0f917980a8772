//! Where the rules of one checkout come from, and what must not be written so that they stay in force.

use camino::{Utf8Path, Utf8PathBuf};
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

/// Where the agents keep the user's own settings.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AgentHomes {
    pub claude: Option<Utf8PathBuf>,
    pub codex: Option<Utf8PathBuf>,
    pub gemini: Option<Utf8PathBuf>,
}

const CLAUDE: &[&str] = &["settings.json", "settings.local.json"];
const CODEX: &[&str] = &["hooks.json", "config.toml"];
/// Hooks of a project that is not trusted do not run at all.
const GEMINI: &[&str] = &["settings.json", "trustedFolders.json"];

impl AgentHomes {
    /// `CLAUDE_CONFIG_DIR`, `CODEX_HOME`, `GEMINI_CLI_HOME`, else the home folder.
    pub fn of(env: &dandori_host::Env) -> Self {
        let home = env.home();
        let of = |variable: &str, name: &str| env.path(variable).or_else(|| home.as_ref().map(|home| home.join(name)));
        let gemini = env.path("GEMINI_CLI_HOME").or_else(|| home.clone()).map(|home| home.join(".gemini"));
        Self { claude: of("CLAUDE_CONFIG_DIR", ".claude"), codex: of("CODEX_HOME", ".codex"), gemini }
    }
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
        let below = |folder: &Utf8Path, names: &[&str]| names.iter().map(|n| folder.join(n)).collect::<Vec<_>>();
        for root in [&self.main_checkout, &self.checkout].into_iter().flatten() {
            paths.extend(below(&root.join(".claude"), CLAUDE));
            paths.extend(below(&root.join(".codex"), CODEX));
            paths.extend(below(&root.join(".gemini"), GEMINI));
        }
        let homes = [(&self.homes.claude, CLAUDE), (&self.homes.codex, CODEX), (&self.homes.gemini, GEMINI)];
        for (home, names) in homes {
            paths.extend(home.iter().flat_map(|home| below(home, names)));
        }
        both_names(paths)
    }
}

/// Settings of whichever agent has its private state folder here.
pub(crate) fn settings_in(home: &Utf8Path) -> Vec<Utf8PathBuf> {
    let gemini = home.join(".gemini");
    let of = |folder: &Utf8Path, names: &[&str]| names.iter().map(|n| folder.join(n)).collect::<Vec<_>>();
    [of(home, CLAUDE), of(home, CODEX), of(&gemini, GEMINI)].concat()
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
