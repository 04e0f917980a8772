//! A pull request as a page: what it says, what is in it, and whether it can be merged.

use camino::Utf8Path;
use dandori_domain::candidate::candidates;
use dandori_domain::pull::{MergeAsked, MergeLook, MergeObstacle, MergeRule, PullState, may_merge};
use dandori_domain::{Oid, Problem};
use dandori_git::{Colours, Fetch, Form, GitError, Repository};
use jiff::Timestamp;

use super::PullEntry;
use super::find::Found;
use crate::Engine;
use crate::edges::MergeQuestion;
use crate::trouble::store_problem;

/// How many commits a page names.
const SHOWN_COMMITS: u32 = 50;

#[derive(Clone, Debug)]
pub struct PullPage {
    pub entry: PullEntry,
    /// `None` where its commits are not in this clone.
    pub contents: Option<PullContents>,
    /// `None` for one that is over, or whose commits are not here.
    pub look: Option<MergeLook>,
    /// When the remote last said where its base is; `None` where there is no remote.
    pub base_fetched_at: Option<Timestamp>,
    /// What stands against merging it as it is shown.
    pub obstacles: Vec<MergeObstacle>,
    /// It is one of ours: it can be merged, closed and reopened from here.
    pub is_ours: bool,
}

#[derive(Clone, Debug)]
pub struct PullContents {
    /// Newest first, no more than a page takes.
    pub commits: Vec<PageCommit>,
    pub commit_count: u32,
    pub files: Vec<PageFile>,
}

#[derive(Clone, Debug)]
pub struct PageCommit {
    pub oid: Oid,
    pub author: String,
    pub at: Option<Timestamp>,
    pub subject: String,
}

#[derive(Clone, Debug)]
pub struct PageFile {
    pub path: String,
    pub insertions: u64,
    pub deletions: u64,
    pub is_binary: bool,
}

impl Engine {
    /// With `fresh` the remote is asked where its base and its branch are now.
    pub async fn show_pull(&self, path: &Utf8Path, text: &str, fresh: bool) -> Result<PullPage, Problem> {
        let mut found = self.find_pull(path, text).await?;
        if fresh && found.record.state == PullState::Open {
            self.merge_look(&found, true).await?;
        }
        self.notice_merged(&found.site.repo).await;
        if let Some(pull) = found.pull.clone()
            && self.follow_branch(&found.site, &pull).await?
        {
            found = self.find_pull(path, text).await?;
        }
        let config = self.config_of(&found.site.repo)?;
        found.record = self.0.edges.forge.show(&found.site, &config, found.record.number).await?;
        let seen = std::slice::from_ref(&found.record);
        self.notice_ends(&found.site, &config, seen, None).await;
        let contents = self.contents(&found).await?;
        let look = match found.record.state {
            PullState::Open if contents.is_some() => self.merge_look(&found, false).await.ok(),
            _ => None,
        };
        let rule = MergeRule::Usual;
        let obstacles = look.as_ref().map(|look| {
            let head_oid = look.head_oid.clone();
            may_merge(look, &MergeAsked { head_oid, rule })
        });
        let base_fetched_at = match &look {
            Some(look) if look.at_remote && fresh => Some(self.now()),
            Some(look) if look.at_remote => self.fetched_at(&found, look.base.clone()).await,
            _ => None,
        };
        let is_ours = found.pull.is_some();
        let entry = self.entry(&found.site.repo, found.record).await;
        let obstacles = obstacles.unwrap_or_default();
        Ok(PullPage { entry, contents, look, base_fetched_at, obstacles, is_ours })
    }

    /// What it changes, as it is to be shown.
    pub async fn pull_patch(
        &self,
        path: &Utf8Path,
        text: &str,
        form: Form,
        colours: Colours,
    ) -> Result<Vec<u8>, Problem> {
        let found = self.find_pull(path, text).await?;
        let span = self.span(&found).await?;
        let git = self.0.opener.open_as(found.site.repo.clone(), &found.site.own).git;
        let missing = found.missing();
        let patch = self
            .blocking(move |_| {
                let Some(fork) = fork(&git, &span)? else { return Ok(None) };
                git.shown_between(&fork, &span.head, form, colours).map(Some)
            })
            .await?;
        patch.map_err(|e: GitError| e.problem())?.ok_or(missing)
    }

    async fn contents(&self, found: &Found) -> Result<Option<PullContents>, Problem> {
        let span = self.span(found).await?;
        let git = self.0.opener.open_as(found.site.repo.clone(), &found.site.own).git;
        let contents = self.blocking(move |_| contents(&git, &span)).await?;
        contents.map_err(|e| e.problem())
    }

    async fn fetched_at(&self, found: &Found, branch: String) -> Option<Timestamp> {
        let git = self.0.opener.open_as(found.site.repo.clone(), &found.site.own).git;
        self.blocking(move |_| git.fetched_at(&branch)).await.ok()?.ok()?
    }

    async fn span(&self, found: &Found) -> Result<Span, Problem> {
        let began = match &found.pull {
            Some(pull) => {
                let runs = self.store().runs_of(pull.wanted.task).await.map_err(|e| store_problem(&e))?;
                let mine = candidates(&runs).into_iter().find(|candidate| candidate.has(pull.wanted.run));
                mine.and_then(|candidate| candidate.base().cloned())
            }
            None => None,
        };
        Ok(Span { base: found.record.draft.base.clone(), head: found.head_oid()?, began })
    }

    pub(super) async fn merge_look(&self, found: &Found, ask_remote: bool) -> Result<MergeLook, Problem> {
        let record = &found.record;
        let question = MergeQuestion {
            state: record.state,
            head: record.draft.head.clone(),
            head_oid: found.head_oid()?,
            base: record.draft.base.clone(),
            ask_remote,
            by_forge: !record.is_embedded(),
        };
        let site = found.site.clone();
        self.blocking(move |engine| engine.0.edges.git.merge_look(&site, &question)).await?
    }
}

impl Found {
    /// The commit it shows.
    pub(super) fn head_oid(&self) -> Result<Oid, Problem> {
        self.record.commit.as_deref().map(Oid::new).ok_or_else(|| self.missing())
    }

    fn missing(&self) -> Problem {
        Problem::NoPullOf { text: self.record.draft.head.clone() }
    }
}

/// A head and what it is compared with.
struct Span {
    base: String,
    head: Oid,
    /// Where the first run on its branch began.
    began: Option<Oid>,
}

/// Where its branch left the base; of one that is merged, where it had begun.
fn fork(git: &Repository, Span { base, head, began }: &Span) -> Result<Option<Oid>, GitError> {
    if !git.has_object(head)? {
        return Ok(None);
    }
    let met = match git.base_standing(base, Fetch::Never)? {
        Ok(Some(base)) => git.merge_base(&base.oid, head)?,
        _ => None,
    };
    match (met.filter(|met| met != head), began) {
        (Some(met), _) => Ok(Some(met)),
        (None, Some(began)) if git.is_ancestor(began, head)? => Ok(Some(began.clone())),
        (None, _) => Ok(None),
    }
}

fn contents(git: &Repository, span: &Span) -> Result<Option<PullContents>, GitError> {
    let (Some(fork), head) = (fork(git, span)?, &span.head) else { return Ok(None) };
    let lines = git.commits_between(&fork, head, SHOWN_COMMITS)?;
    let commit_count = git.sides(&fork, head)?.ahead;
    let commits = lines.into_iter().map(|line| PageCommit {
        oid: line.oid,
        author: line.author,
        at: line.at,
        subject: line.subject,
    });
    let files = git.diff_between(&fork, head)?.files.into_iter().map(|file| PageFile {
        path: file.path,
        insertions: file.added,
        deletions: file.deleted,
        is_binary: file.is_binary,
    });
    Ok(Some(PullContents { commits: commits.collect(), commit_count, files: files.collect() }))
}
