//! Where everything lives below the state root.
//!
//! ```text
//! <root>/                    0700
//!   private/                 what no agent may read: token, database, trust
//!     token  dandori.db  backups/  quarantine/  trust.json  host.json
//!   daemon.lock  daemon.log  dandori.sock
//!   repos/<folder>/
//!     worktrees/run_<key>/   pool/slot-*/   trash/
//!     runs/<run key>/        launch order, guards' rules, output, exit record, patch, tmp/, door/ (see `engine::doors`)
//!     agents/<task>/<agent>/ an agent's private state folder: the conversation is in it
//!   guards/<checkout>/       what is kept about one checkout without a daemon: earlier versions of its state.md, marks,
//!                            exceptions, logs and records of its guards (see dandori-journal), what its agents'
//!                            settings were before `init`; `guards/user/` the same of the user's own
//! ```
//! The whole root is hidden from a sandboxed agent; its worktree, temporary folder and private state folder are
//! granted one by one.

use crate::Env;
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use dandori_domain::{AgentName, RepoId, RunId, TaskId, WorktreeKey};

#[derive(Clone, Debug)]
pub struct Layout {
    root: Utf8PathBuf,
}

impl Layout {
    /// `DANDORI_STATE_DIR`, else the XDG state folder.
    pub fn from_env(env: &Env) -> Option<Self> {
        let root = env
            .path("DANDORI_STATE_DIR")
            .or_else(|| env.path("XDG_STATE_HOME").map(|x| x.join("dandori")))
            .or_else(|| env.home().map(|h| h.join(".local/state/dandori")))?;
        // The daemon stands elsewhere than the command that starts it: a relative path would mean another folder.
        let root = std::path::absolute(&root).ok().and_then(|path| Utf8PathBuf::try_from(path).ok()).unwrap_or(root);
        // Git names worktrees by their real paths: behind a link, none would be found again.
        let root = real(&without_dots(&root));
        Some(Self { root })
    }

    pub fn at(root: impl Into<Utf8PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    pub fn private(&self) -> Utf8PathBuf {
        self.root.join("private")
    }

    pub fn database(&self) -> Utf8PathBuf {
        self.private().join("dandori.db")
    }

    pub fn token(&self) -> Utf8PathBuf {
        self.private().join("token")
    }

    pub fn trust(&self) -> Utf8PathBuf {
        self.private().join("trust.json")
    }

    pub fn host(&self) -> Utf8PathBuf {
        self.private().join("host.json")
    }

    /// Room for the store, when the disk is full.
    pub fn reserve(&self) -> Utf8PathBuf {
        self.private().join("reserve")
    }

    /// Where the daemon also listens on loopback, when it was asked to.
    pub fn address(&self) -> Utf8PathBuf {
        self.private().join("address")
    }

    /// By the checkout's path alone, so that it is found without asking anybody.
    pub fn guard(&self, checkout: &Utf8Path) -> Utf8PathBuf {
        let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let hash = real(checkout).as_str().bytes().fold(0xcbf2_9ce4_8422_2325, fnv);
        let name = checkout.file_name().unwrap_or("root");
        self.guards().join(format!("{name}-{hash:016x}"))
    }

    /// A folder for each checkout, see [`Self::guard`].
    pub fn guards(&self) -> Utf8PathBuf {
        self.root.join("guards")
    }

    pub fn lock(&self) -> Utf8PathBuf {
        self.root.join("daemon.lock")
    }

    pub fn log(&self) -> Utf8PathBuf {
        self.root.join("daemon.log")
    }

    /// The socket, as people name it. It may be longer than a socket's path: see [`crate::state_root`].
    pub fn socket(&self) -> Utf8PathBuf {
        self.root.join("dandori.sock")
    }

    pub fn repo(&self, repo: RepoId) -> RepoLayout {
        RepoLayout { root: self.repos().join(repo.folder()) }
    }

    /// A folder for each repository, see [`Self::repo`].
    pub fn repos(&self) -> Utf8PathBuf {
        self.root.join("repos")
    }
}

/// The user's own configuration: `DANDORI_CONFIG`, else the XDG configuration folder.
pub fn user_config(env: &Env) -> Utf8PathBuf {
    env.path("DANDORI_CONFIG")
        .or_else(|| env.path("XDG_CONFIG_HOME").map(|x| x.join("dandori/config.toml")))
        .or_else(|| env.home().map(|h| h.join(".config/dandori/config.toml")))
        .unwrap_or_else(|| "/nonexistent/config.toml".into())
}

/// `/a/b/../c` is `/a/c`: worktrees are only made at plain paths.
pub fn without_dots(path: &Utf8Path) -> Utf8PathBuf {
    path.components().fold(Utf8PathBuf::new(), |mut plain, part| {
        match part {
            Utf8Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
        plain
    })
}

/// The path with every symbolic link in what exists of it followed.
pub fn real(path: &Utf8Path) -> Utf8PathBuf {
    // From the top: below the first part that is missing nothing is there.
    let ancestors: Vec<&Utf8Path> = path.ancestors().filter(|part| !part.as_str().is_empty()).collect();
    let existing = ancestors.iter().rev().take_while(|part| part.metadata().is_ok()).count();
    for ancestor in ancestors.iter().rev().take(existing).rev() {
        if let (Ok(found), Ok(rest)) = (ancestor.canonicalize_utf8(), path.strip_prefix(ancestor)) {
            return if rest.as_str().is_empty() { found } else { found.join(rest) };
        }
    }
    path.to_owned()
}

/// One repository's folder.
#[derive(Clone, Debug)]
pub struct RepoLayout {
    root: Utf8PathBuf,
}

impl RepoLayout {
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    pub fn worktrees(&self) -> Utf8PathBuf {
        self.root.join("worktrees")
    }

    pub fn worktree(&self, key: &WorktreeKey) -> Utf8PathBuf {
        self.worktrees().join(format!("run_{key}"))
    }

    pub fn pool(&self) -> Utf8PathBuf {
        self.root.join("pool")
    }

    pub fn trash(&self) -> Utf8PathBuf {
        self.root.join("trash")
    }

    /// Layers over the caches of tools: what runs of this repository have put there.
    pub fn caches(&self) -> Utf8PathBuf {
        self.root.join("caches")
    }

    /// Files of the user's as runs see them: without their logins.
    pub fn copies(&self) -> Utf8PathBuf {
        self.root.join("copies")
    }

    pub fn run(&self, run: RunId) -> RunLayout {
        RunLayout { root: self.root.join("runs").join(run.key().as_str()) }
    }

    pub fn agent_home(&self, task: TaskId, agent: &AgentName) -> Utf8PathBuf {
        let name = match agent {
            AgentName::Exec(_) => "exec".to_owned(),
            other => other.to_string(),
        };
        self.root.join("agents").join(task.to_string()).join(name)
    }
}

/// One run's folder.
#[derive(Clone, Debug)]
pub struct RunLayout {
    root: Utf8PathBuf,
}

impl RunLayout {
    pub fn at(root: impl Into<Utf8PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder of a run that works at `path`, in one of the worktrees of its repository.
    pub fn of_worktree(path: &Utf8Path, run: RunId) -> Option<Self> {
        let is_worktrees = |folder: &&Utf8Path| folder.file_name() == Some("worktrees");
        let repo = path.ancestors().skip(1).find(is_worktrees)?.parent()?;
        Some(RepoLayout { root: repo.to_owned() }.run(run))
    }

    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    pub fn tmp(&self) -> Utf8PathBuf {
        self.root.join("tmp")
    }

    /// What `/tmp` is behind the run's fence.
    pub fn shared_tmp(&self) -> Utf8PathBuf {
        self.root.join("system-tmp")
    }

    pub fn instruction(&self) -> Utf8PathBuf {
        self.tmp().join("instruction.txt")
    }

    /// What the guards of this run go by. The agent can read it, not write it.
    pub fn rules(&self) -> Utf8PathBuf {
        self.root.join("rules.json")
    }

    /// The settings that call the guards, for a client that takes them by path. As the rules.
    pub fn agent_settings(&self) -> Utf8PathBuf {
        self.root.join("agent-settings.json")
    }

    /// What the guards write down. They work behind the agent's fence: what they can write, it can.
    pub fn guards(&self) -> Utf8PathBuf {
        self.tmp().join("guards")
    }

    /// Where an agent of a formation reaches dandori: alone in its folder, which is all of the state root that it is shown.
    pub fn door(&self) -> Utf8PathBuf {
        self.root.join("door").join("socket")
    }

    pub fn output(&self) -> Utf8PathBuf {
        self.root.join("output")
    }

    pub fn stderr(&self) -> Utf8PathBuf {
        self.root.join("stderr")
    }

    pub fn patch(&self) -> Utf8PathBuf {
        self.root.join("patch.diff")
    }

    /// What git's configuration could execute before the agent began, when no sandbox keeps it from changing.
    pub fn config_fingerprint(&self) -> Utf8PathBuf {
        self.root.join("git-config.json")
    }

    pub fn set_up(&self, index: usize) -> Utf8PathBuf {
        self.root.join(format!("set-up-{index}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_s_folder_is_found_from_where_it_works() {
        let run = RunId::mint(jiff::Timestamp::UNIX_EPOCH, 7);
        let repo = Layout::at("/s").repo(RepoId::mint(jiff::Timestamp::UNIX_EPOCH, 1));
        let tree = repo.worktree(&WorktreeKey::new("another"));
        let found = RunLayout::of_worktree(&tree.join("src"), run).unwrap();
        assert_eq!(found.root(), repo.run(run).root());
        assert!(RunLayout::of_worktree(Utf8Path::new("/home/u/repo"), run).is_none());
        assert!(RunLayout::of_worktree(&repo.worktrees(), run).is_none());
    }

    #[test]
    fn the_state_root_follows_the_environment() {
        let env = Env::from_pairs([("HOME", "/h")]);
        assert_eq!(Layout::from_env(&env).unwrap().root(), "/h/.local/state/dandori");
        let env = Env::from_pairs([("HOME", "/h"), ("DANDORI_STATE_DIR", "/x")]);
        assert_eq!(Layout::from_env(&env).unwrap().root(), "/x");
        let env = Env::from_pairs([("DANDORI_STATE_DIR", "/x/./y/../z")]);
        assert_eq!(Layout::from_env(&env).unwrap().root(), "/x/z");
        let env = Env::from_pairs([("DANDORI_STATE_DIR", "here")]);
        assert!(Layout::from_env(&env).unwrap().root().is_absolute());
        assert!(Layout::from_env(&Env::default()).is_none());
    }

    #[test]
    fn a_state_root_behind_a_link_is_named_by_its_real_path() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::try_from(dir.path().canonicalize().unwrap()).unwrap();
        std::fs::create_dir(folder.join("disk")).unwrap();
        std::os::unix::fs::symlink(folder.join("disk"), folder.join("link")).unwrap();
        let env = Env::from_pairs([("DANDORI_STATE_DIR", folder.join("link/not/yet").into_string())]);
        assert_eq!(Layout::from_env(&env).unwrap().root(), folder.join("disk/not/yet"));
    }
}
