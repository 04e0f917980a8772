//! Repositories: which one a folder belongs to, and how it is configured.

use camino::Utf8Path;
use dandori_config::{Config, Powers, TrustFile};
use dandori_domain::run::RunFacts;
use dandori_domain::task::Repo;
use dandori_domain::{Problem, RepoId};
use dandori_git::{Fence, Git, Pool, Repository};
use dandori_host::{Env, now, random};

use crate::engine::private_folder;
use crate::trouble::store_problem;
use crate::{Engine, fence};

/// A repository the store knows, opened.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) repo: Repo,
    pub(crate) git: Repository,
}

impl Engine {
    /// The repository a user stands in. Discovery is safe here: it is the user's own folder, not an agent's.
    pub(crate) async fn know(&self, path: &Utf8Path) -> Result<Known, Problem> {
        let from = path.to_owned();
        let found = self
            .blocking(move |engine| {
                engine.0.git.version().map_err(|e| e.problem())?;
                Repository::discover(&engine.0.git, &from).map_err(|e| e.problem())
            })
            .await??;
        let candidate = Repo {
            id: RepoId::mint(now(), random()),
            host: self.0.fence.host,
            root: found.root().to_owned(),
            git_dir: found.common_dir().to_owned(),
            created_at: now(),
        };
        let repo = self.0.store.know_repo(candidate).await.map_err(|e| store_problem(&e))?;
        let layout = self.layout().repo(repo.id);
        for folder in [layout.worktrees(), layout.pool(), layout.trash()] {
            private_folder(&folder).map_err(|e| Problem::Io { path: folder.clone(), reason: e.to_string() })?;
        }
        Ok(self.opened(repo))
    }

    /// The repository a folder belongs to, for those who only want to know which.
    pub async fn repo_of(&self, path: &Utf8Path) -> Result<Repo, Problem> {
        Ok(self.know(path).await?.repo)
    }

    /// A repository known before: nothing is discovered, but it has to be there still.
    pub(crate) async fn known(&self, id: RepoId) -> Result<Known, Problem> {
        let repo = self.repo_here(id).await?;
        if is_gone(&repo) {
            return Err(Problem::RepositoryGone { path: repo.root });
        }
        Ok(self.opened(repo))
    }

    /// One of this host's, there or not.
    pub(crate) async fn repo_here(&self, id: RepoId) -> Result<Repo, Problem> {
        let repo = self.0.store.repo(id).await.map_err(|e| store_problem(&e))?;
        if repo.host == self.0.fence.host { Ok(repo) } else { Err(Problem::Elsewhere { path: repo.root }) }
    }

    /// The run's repository, with git called as whoever asked for the run would call it.
    pub(crate) async fn known_for(&self, run: &RunFacts) -> Result<Known, Problem> {
        let repo = self.0.store.repo(run.spec.repo).await.map_err(|e| store_problem(&e))?;
        Ok(self.opened_as(repo, &self.own_env_of(run.spec.id)))
    }

    /// With git called for somebody, see [`crate::callers`].
    pub(crate) fn opened_as(&self, repo: Repo, env: &Env) -> Known {
        let program = self.0.git.called_with(env, &self.0.fence.host.to_string());
        self.fenced(program, repo, env)
    }

    fn opened(&self, repo: Repo) -> Known {
        self.fenced(self.0.git.clone(), repo, self.env())
    }

    /// Whatever of git touches a work tree does it behind the fence, where there is one.
    fn fenced(&self, program: Git, repo: Repo, env: &Env) -> Known {
        let program = if self.0.sandbox.holds_files() {
            let (layout, machine) = (self.layout().clone(), self.0.sandbox.clone());
            let (repo, env) = (repo.clone(), env.clone());
            let policy = Box::new(move || fence::around_git(&layout, &machine, &repo, &env));
            program.behind(Fence { program: self.0.options.dandori.clone(), policy })
        } else {
            program
        };
        let git = Repository::open(&program, &repo.root, &repo.git_dir);
        Known { repo, git }
    }

    pub(crate) fn pool(&self, known: &Known) -> Pool {
        let layout = self.layout().repo(known.repo.id);
        Pool::new(&known.git, &layout.pool(), &layout.trash())
    }

    /// The configuration: the user's and over it the repository's, from the main checkout only.
    pub(crate) fn config_of(&self, repo: &Repo) -> Result<Config, Problem> {
        let file = repo.root.join("dandori.toml");
        Config::load(&self.0.options.user_config, Some(&file)).map_err(|e| e.to_problem())
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
