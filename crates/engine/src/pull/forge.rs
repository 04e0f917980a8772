//! The real forges: GitHub when the remote is there, the store when it is not.

use std::sync::{Arc, Mutex, PoisonError};

use dandori_config::{Config, ForgeChoice};
use dandori_domain::Problem;
use dandori_domain::pull::{EMBEDDED, LocalPull, PlannedMerge, PullDraft, PullState, PutPull, WantedBy};
use dandori_forge::{
    Chosen, ForgeSetting, GitHub, GitHubConfig, PullEdit, PullFilter, PullOpenness, PullSummary, Tempo, Token, Url,
    api_base, choose, token,
};
use dandori_store::Store;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::{EMBEDDED_FORGE, PullRecord};
use crate::edges::{ForgeEdge, Site};
use crate::kernel::Clock;
use crate::repos::Opener;
use crate::trouble::store_problem;

pub(crate) struct RealForge {
    opener: Opener,
    store: Store,
    clock: Arc<dyn Clock>,
    clients: Mutex<Vec<Client>>,
}

/// A client and whom it speaks for: a new login gets a new one.
struct Client {
    api_base: Url,
    token: Token,
    github: GitHub,
}

enum Forge {
    GitHub(GitHub),
    Local,
}

impl ForgeEdge for RealForge {
    fn put<'a>(
        &'a self,
        site: &'a Site,
        config: &'a Config,
        step: &'a PutPull,
    ) -> BoxFuture<'a, Result<PullRecord, Problem>> {
        self.put_now(site, config, step).boxed()
    }

    fn make<'a>(
        &'a self,
        site: &'a Site,
        config: &'a Config,
        number: u64,
        state: PullState,
    ) -> BoxFuture<'a, Result<PullRecord, Problem>> {
        self.make_now(site, config, number, state).boxed()
    }

    fn merge<'a>(
        &'a self,
        site: &'a Site,
        config: &'a Config,
        number: u64,
        planned: &'a PlannedMerge,
    ) -> BoxFuture<'a, Result<PullRecord, Problem>> {
        self.merge_now(site, config, number, planned).boxed()
    }

    fn list<'a>(
        &'a self,
        site: &'a Site,
        config: &'a Config,
        state: Option<PullState>,
    ) -> BoxFuture<'a, Result<Vec<PullRecord>, Problem>> {
        self.list_now(site, config, state).boxed()
    }

    fn show<'a>(
        &'a self,
        site: &'a Site,
        config: &'a Config,
        number: u64,
    ) -> BoxFuture<'a, Result<PullRecord, Problem>> {
        self.show_now(site, config, number).boxed()
    }
}

impl RealForge {
    pub(crate) fn new(opener: Opener, store: Store, clock: Arc<dyn Clock>) -> Self {
        Self { opener, store, clock, clients: Mutex::default() }
    }

    /// Words we made do not replace those of a pull request that is already open: a follow-up adds to it. One that is open
    /// for another branch moves; where a forge cannot change a head, it is closed and another is opened.
    async fn put_now(&self, site: &Site, config: &Config, step: &PutPull) -> Result<PullRecord, Problem> {
        let PutPull { wanted, link } = step;
        let mut draft = wanted.draft();
        let by_hand = wanted.wanted_by == WantedBy::Hand;
        match self.choose(site, config).await? {
            Forge::GitHub(github) => {
                if let Some(link) = link {
                    let head = &draft.head;
                    let why = format!("Another candidate of this task was picked: its branch is `{head}`.");
                    github.close_unless_of(link.number, head, &why).await.map_err(|e| e.to_problem())?;
                }
                let mut pull = github.ensure_pull(&draft).await.map_err(|e| e.to_problem())?;
                if by_hand && (pull.title != draft.title || pull.body != draft.body) {
                    let edit = PullEdit { title: Some(draft.title), body: Some(draft.body), state: None };
                    pull = github.update_pull(pull.number, &edit).await.map_err(|e| e.to_problem())?;
                }
                Ok(of_github(pull))
            }
            Forge::Local => {
                let pulls = self.store.local_pulls(wanted.repo).await.map_err(|e| store_problem(&e))?;
                let open = pulls.into_iter().find(|p| p.state == PullState::Open && p.draft.head == draft.head);
                if let Some(open) = open.filter(|_| !by_hand) {
                    draft = open.draft;
                }
                let now = self.clock.now();
                let (known, run) = (link.as_ref().map(|link| link.number), Some(wanted.run));
                let opened = self.store.open_local_pull(wanted.repo, known, run, draft, wanted.head_oid.clone(), now);
                opened.await.map(of_local).map_err(|e| store_problem(&e))
            }
        }
    }

    async fn make_now(
        &self,
        site: &Site,
        config: &Config,
        number: u64,
        state: PullState,
    ) -> Result<PullRecord, Problem> {
        match self.choose(site, config).await? {
            Forge::GitHub(github) => {
                let made = match state {
                    PullState::Open => github.make_pull(number, PullOpenness::Open).await,
                    PullState::Closed => github.make_pull(number, PullOpenness::Closed).await,
                    // Only GitHub says what is merged there.
                    PullState::Merged => github.pull(number).await,
                };
                made.map(of_github).map_err(|e| e.to_problem())
            }
            Forge::Local => {
                let repo = site.repo.id;
                let there = self.store.local_pull(repo, number).await.map_err(|e| store_problem(&e))?;
                if there.state == state || there.state == PullState::Merged {
                    return Ok(of_local(there));
                }
                let made = self.store.set_local_pull_state(repo, number, state, self.clock.now()).await;
                made.map(of_local).map_err(|e| store_problem(&e))
            }
        }
    }

    async fn merge_now(
        &self,
        site: &Site,
        config: &Config,
        number: u64,
        planned: &PlannedMerge,
    ) -> Result<PullRecord, Problem> {
        let Forge::GitHub(github) = self.choose(site, config).await? else {
            return Err(Problem::Internal { reason: "the embedded forge does not merge, git does".to_owned() });
        };
        let (title, body) = planned.message.split_once("\n\n").unwrap_or((planned.message.as_str(), ""));
        let merged = github.merge_pull(number, &planned.head_oid, title.trim(), body.trim()).await;
        merged.map(of_github).map_err(|e| e.to_problem())
    }

    async fn list_now(
        &self,
        site: &Site,
        config: &Config,
        state: Option<PullState>,
    ) -> Result<Vec<PullRecord>, Problem> {
        let is_meant = |record: &PullRecord| state.is_none_or(|state| record.state == state);
        match self.choose(site, config).await? {
            Forge::GitHub(github) => {
                let filter = match state {
                    None => PullFilter::All,
                    Some(PullState::Open) => PullFilter::Open,
                    Some(PullState::Closed | PullState::Merged) => PullFilter::Closed,
                };
                let pulls = github.list_pulls(filter, 200).await.map_err(|e| e.to_problem())?;
                Ok(pulls.into_iter().map(of_github).filter(is_meant).collect())
            }
            Forge::Local => {
                let pulls = self.store.local_pulls(site.repo.id).await.map_err(|e| store_problem(&e))?;
                Ok(pulls.into_iter().map(of_local).filter(is_meant).collect())
            }
        }
    }

    async fn show_now(&self, site: &Site, config: &Config, number: u64) -> Result<PullRecord, Problem> {
        match self.choose(site, config).await? {
            Forge::GitHub(github) => github.pull(number).await.map(of_github).map_err(|e| e.to_problem()),
            Forge::Local => {
                self.store.local_pull(site.repo.id, number).await.map(of_local).map_err(|e| store_problem(&e))
            }
        }
    }

    /// One client per API for all repositories and runs: it keeps the pace GitHub asks for, and what it has read.
    async fn choose(&self, site: &Site, config: &Config) -> Result<Forge, Problem> {
        let setting = match config.forge {
            ForgeChoice::Auto => ForgeSetting::Auto,
            ForgeChoice::Github => ForgeSetting::GitHub,
            ForgeChoice::Local => ForgeSetting::Local,
        };
        let git = self.opener.open_as(site.repo.clone(), &site.own).git;
        let env = site.own.clone();
        let github_host = config.github_host.clone();
        let remote = blocking(move || git.remote()).await?.map_err(|e| e.problem())?;
        let chosen = choose(remote.as_ref().map(|remote| remote.url.as_str()), setting, Some(&github_host))
            .map_err(|e| Problem::ForgeRefused { reason: e.to_string() })?;
        let Chosen::GitHub { host, owner, repo } = chosen else { return Ok(Forge::Local) };
        let api_base = match &config.github_api {
            Some(text) => Url::parse(text).map_err(|e| Problem::ForgeRefused { reason: format!("github.api: {e}") })?,
            None => api_base(&host).map_err(|e| e.to_problem())?,
        };
        let found = blocking(move || token::find(&env, &host)).await?;
        let (token, _) = found.map_err(|e| e.to_problem())?;
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.iter().find(|c| c.api_base == api_base && c.token == token) {
            return Ok(Forge::GitHub(client.github.for_repo(&owner, &repo)));
        }
        let api = GitHubConfig { api_base: api_base.clone(), owner, repo };
        let github = GitHub::new(api, token.clone(), Tempo::default(), None).map_err(|e| e.to_problem())?;
        clients.push(Client { api_base, token, github: github.clone() });
        Ok(Forge::GitHub(github))
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.map_err(|e| Problem::Internal { reason: format!("a look panicked: {e}") })
}

fn of_local(pull: LocalPull) -> PullRecord {
    PullRecord {
        number: pull.number,
        url: format!("{EMBEDDED}{}/pulls/{}", pull.repo.folder(), pull.number),
        draft: pull.draft,
        state: pull.state,
        commit: Some(pull.head_oid.to_string()),
        forge: EMBEDDED_FORGE,
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
