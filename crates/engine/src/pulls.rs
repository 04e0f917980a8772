//! Pull requests: on GitHub when the remote is there, in the store when it is not.

use std::sync::{Arc, PoisonError};

use camino::Utf8Path;
use dandori_config::{Config, ForgeChoice};
use dandori_domain::plain::{plain, plain_line};
use dandori_domain::pull::{LocalPull, PullDraft, PullState};
use dandori_domain::run::{Fact, RunFacts, Status};
use dandori_domain::{Problem, RunId};
use dandori_forge::{
    Chosen, ForgeSetting, GitHub, GitHubConfig, PullEdit, PullFilter, PullSummary, Tempo, Token, Url, api_base, choose,
    token,
};
use dandori_host::{Env, now};
use jiff::Timestamp;

use crate::Engine;
use crate::intake::check_words;
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

/// What a pull request is to say, and whether a person said it.
pub(crate) struct PullWords {
    pub(crate) title: String,
    pub(crate) body: String,
    pub(crate) by_hand: bool,
}

/// A client and whom it speaks for: a new login gets a new one.
pub(crate) struct Client {
    api_base: Url,
    token: Token,
    github: GitHub,
}

enum Forge {
    GitHub(GitHub),
    Local,
}

impl Engine {
    /// Opens the run's pull request, or brings the open one of its branch up to date.
    ///
    /// Words we made do not replace those of a pull request that is already open: a follow-up adds to it.
    pub(crate) async fn ensure_pull(&self, run: &RunFacts, words: PullWords) -> Result<PullRecord, Problem> {
        let known = self.known_for(run).await?;
        let config = self.config_of(&known.repo)?;
        let nothing =
            || Problem::NothingToPull { run: run.spec.id.key().to_string(), status: run.status().as_str().to_owned() };
        let workspace = run.workspace.as_ref().ok_or_else(nothing)?;
        let head_oid = run.pushed.clone().ok_or_else(nothing)?;
        let PullWords { title, body, by_hand } = words;
        let mut draft = PullDraft {
            title,
            body,
            head: workspace.branch.clone(),
            base: workspace.base.strip_prefix("origin/").unwrap_or(&workspace.base).to_owned(),
        };
        match self.forge(&known, &config, self.own_env_of(run.spec.id)).await? {
            Forge::GitHub(github) => {
                let mut pull = github.ensure_pull(&draft).await.map_err(|e| e.to_problem())?;
                if by_hand && (pull.title != draft.title || pull.body != draft.body) {
                    let edit = PullEdit { title: Some(draft.title), body: Some(draft.body) };
                    pull = github.update_pull(pull.number, &edit).await.map_err(|e| e.to_problem())?;
                }
                Ok(of_github(pull))
            }
            Forge::Local => {
                let pulls = self.0.store.pulls(run.spec.repo).await.map_err(|e| store_problem(&e))?;
                let open = pulls.into_iter().find(|p| p.state == PullState::Open && p.draft.head == draft.head);
                if let Some(open) = open.filter(|_| !by_hand) {
                    draft = open.draft;
                }
                let opened = self.0.store.open_pull(run.spec.repo, Some(run.spec.id), draft, head_oid, now()).await;
                opened.map(of_local).map_err(|e| store_problem(&e))
            }
        }
    }

    /// `dandori pr create`: for a run that ended without one, or whose one failed.
    pub async fn create_pull(
        &self,
        run: &RunFacts,
        title: Option<String>,
        body: Option<String>,
        caller: Option<Arc<Env>>,
    ) -> Result<PullRecord, Problem> {
        if run.status() != Status::Succeeded || run.pushed.is_none() {
            return Err(Problem::NothingToPull {
                run: run.spec.id.key().to_string(),
                status: run.status().as_str().to_owned(),
            });
        }
        if let Some(title) = &title {
            check_words("title", title)?;
        }
        if let Some(body) = &body {
            check_words("body", body)?;
        }
        let text = crate::plan::pull_words(run);
        let title = title.map(|title| plain_line(&title));
        let body = body.map(|body| plain(&body));
        let by_hand = title.is_some() || body.is_some();
        let words = PullWords { title: title.unwrap_or(text.title), body: body.unwrap_or(text.body), by_hand };
        self.remember_caller(run.spec.id, caller.as_ref());
        let pull = self.ensure_pull(run, words).await;
        self.forget_caller(run.spec.id);
        let pull = pull?;
        let fact = Fact::PullLinked { number: pull.number, url: pull.url.clone() };
        let facts = vec![fact.clone()];
        self.0.store.record(self.0.fence, run.spec.id, facts, now()).await.map_err(|e| store_problem(&e))?;
        crate::fault::recorded(&fact);
        Ok(pull)
    }

    pub async fn pulls(&self, path: &Utf8Path) -> Result<Vec<PullRecord>, Problem> {
        let known = self.know(path).await?;
        let config = self.config_of(&known.repo)?;
        match self.forge(&known, &config, self.0.own.clone()).await? {
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
        match self.forge(&known, &config, self.0.own.clone()).await? {
            Forge::GitHub(github) => github.pull(number).await.map(of_github).map_err(|e| e.to_problem()),
            Forge::Local => self.0.store.pull(known.repo.id, number).await.map(of_local).map_err(|e| store_problem(&e)),
        }
    }

    /// One client per API for all repositories and runs: it keeps the pace GitHub asks for, and what it has read.
    async fn forge(&self, known: &Known, config: &Config, env: Env) -> Result<Forge, Problem> {
        let setting = match config.forge {
            ForgeChoice::Auto => ForgeSetting::Auto,
            ForgeChoice::Github => ForgeSetting::GitHub,
            ForgeChoice::Local => ForgeSetting::Local,
        };
        let git = known.git.clone();
        let github_host = config.github_host.clone();
        let remote = self.blocking(move |_| git.remote_url()).await?.map_err(|e| e.problem())?;
        let chosen = choose(remote.as_deref(), setting, Some(&github_host))
            .map_err(|e| Problem::ForgeRefused { reason: e.to_string() })?;
        let Chosen::GitHub { host, owner, repo } = chosen else { return Ok(Forge::Local) };
        let api_base = match &config.github_api {
            Some(text) => Url::parse(text).map_err(|e| Problem::ForgeRefused { reason: format!("github.api: {e}") })?,
            None => api_base(&host).map_err(|e| e.to_problem())?,
        };
        let found = self.blocking(move |_| token::find(&env, &host)).await?;
        let (token, _) = found.map_err(|e| e.to_problem())?;
        let mut clients = self.0.github.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.iter().find(|c| c.api_base == api_base && c.token == token) {
            return Ok(Forge::GitHub(client.github.for_repo(&owner, &repo)));
        }
        let api = GitHubConfig { api_base: api_base.clone(), owner, repo };
        let github = GitHub::new(api, token.clone(), Tempo::default(), None).map_err(|e| e.to_problem())?;
        clients.push(Client { api_base, token, github: github.clone() });
        Ok(Forge::GitHub(github))
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
