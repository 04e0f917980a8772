//! A thin client for GitHub's REST API, typed for the calls dandori makes.
//!
//! Promises: every request has a deadline; only reading is ever repeated, a change never; a change whose answer was
//! lost is looked for, not sent again; limits are obeyed; changes are at least a second apart; the token goes to one
//! host and into no error, log or recording. Reading is conditional (ETag), so that looking often costs no budget.
//!
//! `wire` moves requests, `pace` decides when and how often, `etags` remembers answers, `refusal` reads error bodies,
//! `pulls` holds GitHub's shapes, `endings` how a pull request ends. New calls are new methods beside the ones here; nothing below them knows any call.

mod endings;
mod etags;
mod pace;
mod pulls;
mod refusal;
mod wire;

use std::fmt;
use std::sync::Arc;

use dandori_domain::pull::PullDraft;
use reqwest::{Method, Url};
use serde_json::json;

pub use pace::Tempo;
pub use pulls::{PullEdit, PullFilter, PullOpenness, PullSummary};
pub use wire::Exchange;

use crate::{ForgeError, Token};
use pulls::PullJson;
use wire::{Answer, Wire};

/// Gets every exchange, bodies scrubbed, headers left out: conformance tests check them against GitHub's description.
pub type Recorder = Arc<dyn Fn(&Exchange) + Send + Sync>;

/// Items of a page; GitHub's greatest.
const PER_PAGE: &str = "100";

/// More than any branch has; a list without end must end somewhere.
const MAX_FOUND: usize = 1000;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GitHubConfig {
    /// `https://api.github.com`, `https://<host>/api/v3` for Enterprise, or a test server on loopback.
    pub api_base: Url,
    pub owner: String,
    pub repo: String,
}

/// One repository on GitHub. Clones, and siblings made by `for_repo`, share connections, pace and cache.
#[derive(Clone)]
pub struct GitHub {
    wire: Arc<Wire>,
    owner: String,
    repo: String,
}

impl fmt::Debug for GitHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = self.wire.base().as_str();
        f.debug_struct("GitHub").field("base", &base).field("repository", &self.repository()).finish_non_exhaustive()
    }
}

impl GitHub {
    pub fn new(
        config: GitHubConfig,
        token: Token,
        tempo: Tempo,
        recorder: Option<Recorder>,
    ) -> Result<Self, ForgeError> {
        let wire = Arc::new(Wire::new(config.api_base, token, tempo, recorder)?);
        Ok(Self { wire, owner: config.owner, repo: config.repo })
    }

    /// Another repository of the same host: the limits are the token's, so the pace must be shared.
    pub fn for_repo(&self, owner: &str, repo: &str) -> Self {
        Self { wire: Arc::clone(&self.wire), owner: owner.to_owned(), repo: repo.to_owned() }
    }

    pub fn repository(&self) -> String {
        format!("{}/{}", self.owner, self.repo)
    }

    /// Sends one creation, once. `UnknownOutcome` means: look before sending again, or use `ensure_pull`.
    pub async fn create_pull(&self, draft: &PullDraft) -> Result<PullSummary, ForgeError> {
        let body = json!({ "title": draft.title, "body": draft.body, "head": draft.head, "base": draft.base });
        let url = self.url(&["pulls"], &[])?;
        let answer = self.wire.change(&Method::POST, url, &body).await.map_err(|e| self.named(e, None))?;
        // It was created, whatever the answer looks like: an unreadable one leaves only the number unknown.
        self.summary(&answer).map_err(|e| self.wire.unknown_outcome(&e))
    }

    /// The pull requests whose head is this branch of this repository, newest first.
    pub async fn find_pulls(&self, head: &str, filter: PullFilter) -> Result<Vec<PullSummary>, ForgeError> {
        let from = format!("{}:{head}", self.owner);
        let query = [("state", filter.as_str()), ("head", from.as_str()), ("per_page", PER_PAGE)];
        let mut pulls = self.pages(&query, MAX_FOUND).await?;
        // GitHub drops a head filter it cannot read and answers with every pull request.
        pulls.retain(|p| p.head.name == head && p.is_from_its_own_repository());
        Ok(pulls.into_iter().map(PullSummary::from).collect())
    }

    /// The newest pull requests, page after page, up to `limit`.
    pub async fn list_pulls(&self, filter: PullFilter, limit: usize) -> Result<Vec<PullSummary>, ForgeError> {
        let query = [("state", filter.as_str()), ("per_page", PER_PAGE)];
        Ok(self.pages(&query, limit).await?.into_iter().map(PullSummary::from).collect())
    }

    pub async fn pull(&self, number: u64) -> Result<PullSummary, ForgeError> {
        let url = self.url(&["pulls", &number.to_string()], &[])?;
        let answer = self.wire.read(url).await.map_err(|e| self.named(e, Some(number)))?;
        self.summary(&answer)
    }

    pub async fn update_pull(&self, number: u64, edit: &PullEdit) -> Result<PullSummary, ForgeError> {
        let url = self.url(&["pulls", &number.to_string()], &[])?;
        let body = edit.to_json();
        let answer = self.wire.change(&Method::PATCH, url, &body).await.map_err(|e| self.named(e, Some(number)))?;
        self.summary(&answer)
    }

    /// The open pull request of this head: the one that is there, or a new one. Safe to call again after anything:
    /// it looks first, and when the answer to the creation is lost it looks again instead of creating a second one.
    pub async fn ensure_pull(&self, draft: &PullDraft) -> Result<PullSummary, ForgeError> {
        if let Some(pull) = self.open_pull_of(&draft.head).await? {
            return Ok(pull);
        }
        match self.create_pull(draft).await {
            Err(lost) if lost.may_have_happened() => self.look_for_lost(draft, lost).await,
            // "A pull request already exists": somebody was faster between our look and our creation.
            Err(refused @ ForgeError::Invalid { .. }) => match self.open_pull_of(&draft.head).await {
                Ok(Some(pull)) => Ok(pull),
                _ => Err(refused),
            },
            outcome => outcome,
        }
    }

    async fn open_pull_of(&self, head: &str) -> Result<Option<PullSummary>, ForgeError> {
        Ok(self.find_pulls(head, PullFilter::Open).await?.into_iter().next())
    }

    /// Looks a few times: GitHub's lists may lag a little behind its writes.
    async fn look_for_lost(&self, draft: &PullDraft, lost: ForgeError) -> Result<PullSummary, ForgeError> {
        for attempt in 0..=self.wire.tempo().retries {
            if attempt > 0 {
                self.wire.tempo().pause_before_retry(attempt - 1).await;
            }
            match self.open_pull_of(&draft.head).await {
                Ok(Some(pull)) => return Ok(pull),
                Ok(None) => {}
                Err(_) => break,
            }
        }
        Err(lost)
    }

    async fn pages(&self, query: &[(&str, &str)], limit: usize) -> Result<Vec<PullJson>, ForgeError> {
        let mut next = Some(self.url(&["pulls"], query)?);
        let mut pulls = Vec::new();
        while let Some(url) = next.filter(|_| pulls.len() < limit) {
            let answer = self.wire.read(url).await.map_err(|e| self.named(e, None))?;
            let page: Vec<PullJson> = self.wire.parse(&answer)?;
            // An empty page that names a next one would go on for ever.
            next = answer.next.filter(|_| !page.is_empty());
            pulls.extend(page);
        }
        pulls.truncate(limit);
        Ok(pulls)
    }

    fn summary(&self, answer: &Answer) -> Result<PullSummary, ForgeError> {
        self.wire.parse::<PullJson>(answer).map(PullSummary::from)
    }

    fn url(&self, path: &[&str], query: &[(&str, &str)]) -> Result<Url, ForgeError> {
        let mut segments = vec!["repos", &self.owner, &self.repo];
        segments.extend(path);
        self.wire.url(&segments, query)
    }

    /// The wire knows no words for what it asked after; a 404 gets them here.
    fn named(&self, error: ForgeError, pull: Option<u64>) -> ForgeError {
        match (error, pull) {
            (ForgeError::NoSuchRepository { .. }, Some(number)) => {
                ForgeError::NoSuchPull { repository: self.repository(), number }
            }
            (ForgeError::NoSuchRepository { .. }, None) => {
                ForgeError::NoSuchRepository { repository: self.repository() }
            }
            (error, _) => error,
        }
    }
}
