//! Pull requests in GitHub's shape, and in ours. Only what is used is read, so that a new field breaks nothing.

use dandori_domain::Oid;
use dandori_domain::pull::PullState;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

/// A pull request on GitHub.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PullSummary {
    pub number: u64,
    /// The page people open.
    pub url: String,
    pub state: PullState,
    pub head: String,
    pub base: String,
    pub title: String,
    pub body: String,
    pub draft: bool,
    pub head_sha: Oid,
    pub created_at: Timestamp,
}

impl PullSummary {
    pub fn merged(&self) -> bool {
        self.state == PullState::Merged
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PullFilter {
    Open,
    /// Merged ones too.
    Closed,
    All,
}

impl PullFilter {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::All => "all",
        }
    }
}

/// What to change of a pull request; `None` stays.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PullEdit {
    pub title: Option<String>,
    pub body: Option<String>,
    pub state: Option<PullOpenness>,
}

/// What a pull request can be made to be, other than merged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PullOpenness {
    Open,
    Closed,
}

impl PullOpenness {
    pub(crate) fn state(self) -> PullState {
        match self {
            Self::Open => PullState::Open,
            Self::Closed => PullState::Closed,
        }
    }
}

impl PullEdit {
    pub(crate) fn to_json(&self) -> Value {
        let state = self.state.map(|state| state.state().as_str().to_owned());
        let fields = [("title", &self.title), ("body", &self.body), ("state", &state)];
        fields.into_iter().filter_map(|(name, text)| Some((name.to_owned(), json!(text.as_ref()?)))).collect()
    }
}

/// A remark below a pull request.
#[derive(Deserialize)]
pub(crate) struct CommentJson {
    #[serde(default)]
    pub(crate) body: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct PullJson {
    number: u64,
    html_url: String,
    state: StateJson,
    title: String,
    body: Option<String>,
    #[serde(default)]
    draft: Option<bool>,
    merged_at: Option<String>,
    created_at: Timestamp,
    pub(crate) head: EndJson,
    base: EndJson,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum StateJson {
    Open,
    Closed,
}

#[derive(Deserialize)]
pub(crate) struct EndJson {
    #[serde(rename = "ref")]
    pub(crate) name: String,
    sha: Oid,
    /// Gone when a fork was deleted.
    repo: Option<RepoJson>,
}

#[derive(Deserialize)]
struct RepoJson {
    id: u64,
}

impl PullJson {
    /// Not from a fork that happens to have a branch of the same name.
    pub(crate) fn is_from_its_own_repository(&self) -> bool {
        match (&self.head.repo, &self.base.repo) {
            (Some(head), Some(base)) => head.id == base.id,
            _ => false,
        }
    }
}

impl From<PullJson> for PullSummary {
    fn from(pull: PullJson) -> Self {
        let state = match (pull.state, pull.merged_at) {
            (StateJson::Open, _) => PullState::Open,
            (StateJson::Closed, Some(_)) => PullState::Merged,
            (StateJson::Closed, None) => PullState::Closed,
        };
        Self {
            number: pull.number,
            url: pull.html_url,
            state,
            head: pull.head.name,
            base: pull.base.name,
            title: pull.title,
            body: pull.body.unwrap_or_default(),
            draft: pull.draft.unwrap_or_default(),
            head_sha: pull.head.sha,
            created_at: pull.created_at,
        }
    }
}
