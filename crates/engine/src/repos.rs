//! Repositories: which one a folder belongs to, how it is opened, and how it is configured.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_config::{Config, Powers, TrustFile};
use dandori_domain::run::Sandbox;
use dandori_domain::task::Repo;
use dandori_domain::{Problem, RepoId, RunId};
use dandori_git::{Fence, Git, Pool, Repository};
use dandori_host::Env;
use dandori_host::layout::Layout;

use crate::edges::Site;
use crate::engine::private_folder;
use crate::trouble::store_problem;
use crate::{Engine, fence};

/// A repository the store knows, opened.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) repo: Repo,
    pub(crate) git: Repository,
}

/// Opens repositories: whatever of git touches a work tree then does it behind the fence, where there is one.
#[derive(Clone)]
pub(crate) struct Opener {
    git: Git,
    layout: Layout,
    sandbox: Sandbox,
    dandori: Utf8PathBuf,
    env: Env,
    /// What the daemon's own commands are marked with.
    mark: String,
}

impl Opener {
    pub(crate) fn new(
        own: &Env,
        env: &Env,
        layout: &Layout,
        sandbox: &Sandbox,
        dandori: &Utf8Path,
        mark: String,
    ) -> Self {
        Self {
            git: Git::new(own, &mark),
            layout: layout.clone(),
            sandbox: sandbox.clone(),
            dandori: dandori.to_owned(),
            env: env.clone(),
            mark,
        }
    }

    pub(crate) fn git(&self) -> &Git {
        &self.git
    }

    pub(crate) fn open(&self, repo: Repo) -> Known {
        self.fenced(self.git.clone(), repo, &self.env)
    }

    /// With git called for somebody, see [`crate::run::callers`].
    pub(crate) fn open_as(&self, repo: Repo, env: &Env) -> Known {
        self.fenced(self.git.called_with(env, &self.mark), repo, env)
    }

    fn fenced(&self, program: Git, repo: Repo, env: &Env) -> Known {
        let program = if self.sandbox.holds_files() {
            let (layout, machine) = (self.layout.clone(), self.sandbox.clone());
            let (repo, env) = (repo.clone(), env.clone());
            let policy = Box::new(move || fence::around_git(&layout, &machine, &repo, &env));
            program.behind(Fence { program: self.dandori.clone(), policy })
        } else {
            program
        };
        let git = Repository::open(&program, &repo.root, &repo.git_dir);
        Known { repo, git }
    }

    pub(crate) fn pool(&self, known: &Known) -> Pool {
        let layout = self.layout.repo(known.repo.id);
        Pool::new(&known.git, &layout.pool(), &layout.trash())
    }
}

impl Engine {
    /// The repository a user stands in, taken up when it is new.
    pub async fn repo_at(&self, path: &Utf8Path) -> Result<Repo, Problem> {
        let repo = match self.repo_rooted_at(path).await? {
            Some(repo) => repo,
            None => self.get_to_know(path).await?,
        };
        let layout = self.layout().repo(repo.id);
        for folder in [layout.worktrees(), layout.pool(), layout.trash()] {
            private_folder(&folder).map_err(|e| Problem::Io { path: folder.clone(), reason: e.to_string() })?;
        }
        Ok(repo)
    }

    async fn get_to_know(&self, path: &Utf8Path) -> Result<Repo, Problem> {
        let from = path.to_owned();
        let (root, git_dir) = self.blocking(move |engine| engine.0.edges.git.discover(&from)).await??;
        let candidate = Repo {
            id: RepoId::mint(self.now(), self.random()),
            host: self.life().host,
            root,
            git_dir,
            created_at: self.now(),
        };
        self.store().know_repo(candidate).await.map_err(|e| store_problem(&e))
    }

    /// The one whose main checkout this very folder is, as long as it is there: known without asking git.
    async fn repo_rooted_at(&self, path: &Utf8Path) -> Result<Option<Repo>, Problem> {
        let known = self.store().repos(self.life().host).await.map_err(|e| store_problem(&e))?;
        let is_it = |repo: &Repo| repo.root == path && !self.0.edges.git.is_gone(repo);
        Ok(known.into_iter().find(is_it))
    }

    /// The repository this one was before it was moved: known at a place where it no longer is, and its worktrees are still
    /// written down in the git directory here.
    pub async fn moved_from(&self, path: &Utf8Path) -> Result<Option<Repo>, Problem> {
        let mut gone = self.store().repos(self.life().host).await.map_err(|e| store_problem(&e))?;
        gone.retain(|repo| self.0.edges.git.is_gone(repo));
        if gone.is_empty() {
            return Ok(None);
        }
        let from = path.to_owned();
        self.blocking(move |engine| {
            let (_, git_dir) = engine.0.edges.git.discover(&from)?;
            let places = worktrees_written_down(&git_dir);
            let is_it = |repo: &Repo| {
                let layout = engine.layout().repo(repo.id);
                places.iter().any(|place| place.starts_with(layout.worktrees()) || place.starts_with(layout.pool()))
            };
            Ok(gone.into_iter().rfind(is_it))
        })
        .await?
    }

    /// The same, when it is known already: a mere look takes none up.
    pub async fn known_repo_at(&self, path: &Utf8Path) -> Result<Option<Repo>, Problem> {
        if let Some(repo) = self.repo_rooted_at(path).await? {
            return Ok(Some(repo));
        }
        let from = path.to_owned();
        let (_, git_dir) = self.blocking(move |engine| engine.0.edges.git.discover(&from)).await??;
        self.store().repo_by_git_dir(self.life().host, git_dir).await.map_err(|e| store_problem(&e))
    }

    /// The same, opened.
    pub(crate) async fn open_at(&self, path: &Utf8Path) -> Result<Known, Problem> {
        Ok(self.0.opener.open(self.repo_at(path).await?))
    }

    /// A repository known before, opened: nothing is discovered, but it has to be there still.
    pub(crate) async fn open_known(&self, id: RepoId) -> Result<Known, Problem> {
        let repo = self.present_repo(id).await?;
        Ok(self.0.opener.open(repo))
    }

    /// One of this host's that is there.
    pub(crate) async fn present_repo(&self, id: RepoId) -> Result<Repo, Problem> {
        let repo = self.repo_here(id).await?;
        if self.0.edges.git.is_gone(&repo) {
            return Err(Problem::RepositoryGone { path: repo.root });
        }
        Ok(repo)
    }

    /// One of this host's, there or not.
    pub(crate) async fn repo_here(&self, id: RepoId) -> Result<Repo, Problem> {
        let repo = self.store().repo(id).await.map_err(|e| store_problem(&e))?;
        if repo.host == self.life().host { Ok(repo) } else { Err(Problem::Elsewhere { path: repo.root }) }
    }

    /// Where a run's steps are taken, with git called as whoever asked for the run would call it.
    pub(crate) async fn site_of(&self, repo: RepoId, run: RunId) -> Result<Site, Problem> {
        let repo = self.store().repo(repo).await.map_err(|e| store_problem(&e))?;
        Ok(Site { repo, base: None, own: self.own_env_of(run) })
    }

    /// The configuration: the user's and over it the repository's, from the main checkout only.
    pub(crate) fn config_of(&self, repo: &Repo) -> Result<Config, Problem> {
        let file = repo.root.join("dandori.toml");
        Config::load(&self.0.options.user_config, Some(&file)).map_err(|e| e.to_problem())
    }

    /// The same for a run: that it was refused is remembered until it is trusted.
    pub(crate) async fn require_trust_to_run(&self, repo: &Repo) -> Result<(), Problem> {
        let trusted = self.require_trust(repo);
        if trusted.is_err() {
            self.trust_was_wanted(repo).await;
        }
        trusted
    }

    /// Refuses what the user has not agreed to yet.
    pub(crate) fn require_trust(&self, repo: &Repo) -> Result<(), Problem> {
        let file = repo.root.join("dandori.toml");
        let powers = Powers::of_file(&file).map_err(|e| e.to_problem())?;
        if TrustFile::load(&self.layout().trust()).trusts(&repo.git_dir, &powers) {
            return Ok(());
        }
        Err(Problem::Untrusted { path: file, what: powers.0 })
    }
}

/// Moved or deleted since it was first used.
pub(crate) fn is_gone(repo: &Repo) -> bool {
    !repo.root.is_dir() || !repo.git_dir.is_dir()
}

/// Where git's records say that worktrees of a repository are.
fn worktrees_written_down(git_dir: &Utf8Path) -> Vec<Utf8PathBuf> {
    let Ok(records) = git_dir.join("worktrees").read_dir_utf8() else { return Vec::new() };
    let place = |record: camino::Utf8DirEntry| std::fs::read_to_string(record.path().join("gitdir")).ok();
    records.filter_map(|record| Some(Utf8PathBuf::from(place(record.ok()?)?.trim_end()))).collect()
}
