//! Pull requests: on GitHub when the remote is there, in the store when it is not.

use camino::Utf8Path;
use dandori_config::{Config, ForgeChoice};
use dandori_domain::pull::{LocalPull, PullDraft, PullState};
use dandori_domain::run::{Fact, RunFacts, Status};
use dandori_domain::{Problem, RunId};
use dandori_forge::{
    Chosen, ForgeSetting, GitHub, GitHubConfig, PullEdit, PullFilter, PullSummary, Tempo, Url, api_base, choose, token,
};
use dandori_host::now;
use jiff::Timestamp;

use crate::Engine;
use crate::repos::Known;
use crate::trouble::store_problem;

/// A pull request of either forge.
#[derive(Clone, Debug)]
pub struct PullRecord {
    pub number: u64,
    pub url: String,
    pub draft: PullDraft,
    pub state: PullState,
    pub commit: Option<String>,
    pub forge: &'static str,
    pub run: Option<RunId>,
    pub created_at: Timestamp,
}

enum Forge {
    GitHub(GitHub),
    Local,
}

impl Engine {
    /// Opens the run's pull request, or brings the open one of its branch up to date.
    pub(crate) async fn ensure_pull(&self, run: &RunFacts, title: &str, body: &str) -> Result<PullRecord, Problem> {
        let known = self.known(run.spec.repo).await?;
        let config = self.config_of(&known.repo)?;
        let nothing = || Problem::NothingToPull {
            run: run.spec.id.key().to_string(),
            status: run.status().as_str().to_owned(),
        };
        let workspace = run.workspace.as_ref().ok_or_else(nothing)?;
        let head_oid = run.pushed.clone().ok_or_else(nothing)?;
        let draft = PullDraft {
            title: title.to_owned(),
            body: body.to_owned(),
            head: workspace.branch.clone(),
            base: workspace.base.strip_prefix("origin/").unwrap_or(&workspace.base).to_owned(),
        };
        match self.forge(&known, &config).await? {
            Forge::GitHub(github) => {
                let pull = github.ensure_pull(&draft).await.map_err(|e| e.to_problem())?;
                Ok(of_github(pull))
            }
            Forge::Local => self
                .0
                .store
                .open_pull(run.spec.repo, Some(run.spec.id), draft, head_oid, now())
                .await
                .map(of_local)
                .map_err(|e| store_problem(&e)),
        }
    }

    /// `dandori pr create`: for a run that ended without one, or whose one failed.
    pub async fn create_pull(
        &self,
        run: &RunFacts,
        title: Option<String>,
        body: Option<String>,
    ) -> Result<PullRecord, Problem> {
        if run.status() != Status::Succeeded || run.pushed.is_none() {
            return Err(Problem::NothingToPull {
                run: run.spec.id.key().to_string(),
                status: run.status().as_str().to_owned(),
            });
        }
        let text = crate::plan::pull_words(run);
        let (title, body) = (title.unwrap_or(text.title), body.unwrap_or(text.body));
        let pull = self.ensure_pull(run, &title, &body).await?;
        let fact = Fact::PullLinked { number: pull.number, url: pull.url.clone() };
        let facts = vec![fact.clone()];
        self.0.store.record(self.0.fence, run.spec.id, facts, now()).await.map_err(|e| store_problem(&e))?;
        crate::fault::recorded(&fact);
        Ok(pull)
    }

    pub async fn pulls(&self, path: &Utf8Path) -> Result<Vec<PullRecord>, Problem> {
        let known = self.know(path).await?;
        let config = self.config_of(&known.repo)?;
        match self.forge(&known, &config).await? {
            Forge::GitHub(github) => {
                let pulls = github.list_pulls(PullFilter::All, 200).await.map_err(|e| e.to_problem())?;
                Ok(pulls.into_iter().map(of_github).collect())
            }
            Forge::Local => {
                let pulls = self.0.store.pulls(known.repo.id).await.map_err(|e| store_problem(&e))?;
                Ok(pulls.into_iter().map(of_local).collect())
            }
        }
    }

    pub async fn pull(&self, path: &Utf8Path, number: u64) -> Result<PullRecord, Problem> {
        let known = self.know(path).await?;
        let config = self.config_of(&known.repo)?;
        match self.forge(&known, &config).await? {
            Forge::GitHub(github) => github.pull(number).await.map(of_github).map_err(|e| e.to_problem()),
            Forge::Local => {
                self.0.store.pull(known.repo.id, number).await.map(of_local).map_err(|e| store_problem(&e))
            }
        }
    }

    /// Gives an existing pull request other words.
    pub async fn edit_pull(
        &self,
        path: &Utf8Path,
        number: u64,
        title: Option<String>,
        body: Option<String>,
    ) -> Result<PullRecord, Problem> {
        let known = self.know(path).await?;
        let config = self.config_of(&known.repo)?;
        match self.forge(&known, &config).await? {
            Forge::GitHub(github) => {
                let edit = PullEdit { title, body };
                github.update_pull(number, &edit).await.map(of_github).map_err(|e| e.to_problem())
            }
            Forge::Local => {
                let pull = self.0.store.pull(known.repo.id, number).await.map_err(|e| store_problem(&e))?;
                let mut draft = pull.draft.clone();
                draft.title = title.unwrap_or(draft.title);
                draft.body = body.unwrap_or(draft.body);
                self.0
                    .store
                    .open_pull(known.repo.id, pull.run, draft, pull.head_oid, now())
                    .await
                    .map(of_local)
                    .map_err(|e| store_problem(&e))
            }
        }
    }

    async fn forge(&self, known: &Known, config: &Config) -> Result<Forge, Problem> {
        let setting = match config.forge {
            ForgeChoice::Auto => ForgeSetting::Auto,
            ForgeChoice::Github => ForgeSetting::GitHub,
            ForgeChoice::Local => ForgeSetting::Local,
        };
        let git = known.git.clone();
        let (host, api) = (config.github_host.clone(), config.github_api.clone());
        let found = self
            .blocking(move |engine| {
                let remote = git.remote_url().map_err(|e| e.problem())?;
                match choose(remote.as_deref(), setting, Some(&host))
                    .map_err(|e| Problem::ForgeRefused { reason: e.to_string() })?
                {
                    Chosen::Local => Ok::<_, Problem>(None),
                    Chosen::GitHub { host, owner, repo } => {
                        let (token, _) = token::find(engine.env(), &host).map_err(|e| e.to_problem())?;
                        Ok(Some((host, owner, repo, token)))
                    }
                }
            })
            .await??;
        let Some((host, owner, repo, token)) = found else { return Ok(Forge::Local) };
        let api_base = match api {
            Some(text) => Url::parse(&text).map_err(|e| Problem::ForgeRefused { reason: format!("github.api: {e}") })?,
            None => api_base(&host).map_err(|e| e.to_problem())?,
        };
        let github = GitHub::new(GitHubConfig { api_base, owner, repo }, token, Tempo::default(), None);
        github.map(Forge::GitHub).map_err(|e| e.to_problem())
    }
}

fn of_local(pull: LocalPull) -> PullRecord {
    PullRecord {
        number: pull.number,
        url: format!("dandori:{}/pulls/{}", pull.repo.folder(), pull.number),
        draft: pull.draft,
        state: pull.state,
        commit: Some(pull.head_oid.to_string()),
        forge: "local",
        run: pull.run,
        created_at: pull.created_at,
    }
}

fn of_github(pull: PullSummary) -> PullRecord {
    PullRecord {
        number: pull.number,
        url: pull.url,
        draft: PullDraft { title: pull.title, body: pull.body, head: pull.head, base: pull.base },
        state: pull.state,
        commit: Some(pull.head_sha.to_string()),
        forge: "github",
        run: None,
        created_at: pull.created_at,
    }
}

/// What is stored as the reason of a failed pull request: the forge's own words, in English as it sent them.
pub(crate) fn reason(problem: &Problem) -> String {
    match problem {
        Problem::ForgeRefused { reason } | Problem::ForgeUnreachable { reason } | Problem::BadRequest { reason } => {
            reason.clone()
        }
        Problem::NoForgeToken { host } => format!("there is no token for {host}: `gh auth login`, or GH_TOKEN"),
        other => format!("{other:?}"),
    }
}
