//! What the engine has done for it by the world: git, the host's processes, the forge, the ways to tell people. Each can be replaced, so that a
//! story of the engine runs in one process and in simulated time (so can [`crate::kernel::Clock`]).
//!
//! The cut is at what a step wants, not at what a program offers: a stand-in has to keep a promise, not to imitate git.

mod git;
mod host;
mod notify;

use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_config::{Config, NotifySettings};
use dandori_domain::Problem;
use dandori_domain::id::Oid;
use dandori_domain::pull::{MergeLook, MergeObstacle, MergeRule, MergeWay, PlannedMerge, PullState, PutPull};
use dandori_domain::run::{
    BranchFate, Commit, Fact, Here, PlannedCommit, PlannedWorktree, Preserved, ProcessRef, Run, Sandbox, Work,
    Workspace,
};
use dandori_domain::task::Repo;
use dandori_git::Conflict;
use dandori_host::Env;
use dandori_host::shim::{LaunchError, LaunchOrder, Probe, Started};
use futures_util::future::BoxFuture;
use jiff::Timestamp;

use crate::notices::NewsWords;
use crate::pull::PullRecord;
use crate::run::StepError;

pub(crate) use git::{
    NO_BRANCH, RealGit, beginning, config_changed, free_branch_for, lock_reason, preserved_ref_at, preserved_ref_of,
    refuse_unsupported,
};
pub(crate) use host::RealHost;
pub(crate) use notify::RealNotify;

#[derive(Clone)]
pub struct Edges {
    pub git: Arc<dyn GitEdge>,
    pub host: Arc<dyn HostEdge>,
    pub forge: Arc<dyn ForgeEdge>,
    pub notify: Arc<dyn NotifyEdge>,
}

/// Where something is done, and as whom.
#[derive(Clone)]
pub struct Site {
    pub repo: Repo,
    /// The base that is configured; only where a run is planned.
    pub base: Option<String>,
    /// What the daemon's own commands run with.
    pub own: Env,
}

/// Where whoever asks for a run stands, and what it is to start from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Footing {
    /// The top of the checkout he stands in; `None` when it is none of this repository's.
    pub checkout: Option<Utf8PathBuf>,
    /// A branch, tag or commit; `None`: the configured base or the remote's default branch.
    pub base: Option<String>,
    pub here: Option<Here>,
}

/// Work of an earlier run that is kept, and belongs into the place of a run that goes on from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kept {
    /// When its user removed the worktree.
    ByHand(String),
    /// When the run that is gone on from was canceled.
    ByCancel(String),
}

impl Kept {
    pub fn reference(&self) -> &str {
        match self {
            Self::ByHand(reference) | Self::ByCancel(reference) => reference,
        }
    }
}

/// What came of making a worktree.
#[derive(Clone, PartialEq, Debug)]
pub enum MakeAnswer {
    Made {
        workspace: Workspace,
        from_pool: bool,
        /// It was there already, as an earlier run left it.
        was_there: bool,
        /// What the user should know.
        facts: Vec<Fact>,
    },
    /// Somebody was faster with the name: it is to be another.
    Planned(Vec<Fact>),
}

/// What came of a commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CommitOutcome {
    /// There is a remote to push it to.
    ToPush(Oid),
    /// There is none: it stays on its branch.
    Local(Oid),
}

/// What came of a push.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PushOutcome {
    Pushed,
    /// There is nowhere to push to any more.
    NoRemote,
    /// Somebody else had pushed: our commits now stand on theirs, and are to be pushed again.
    Rebased {
        onto: Oid,
        oid: Oid,
    },
}

/// A head and the base it is to be merged into.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MergeQuestion {
    pub state: PullState,
    /// Its branch.
    pub head: String,
    pub head_oid: Oid,
    pub base: String,
    /// The remote is asked where the base is now; else what was last seen counts.
    pub ask_remote: bool,
    /// The forge merges: no checkout of ours has to move.
    pub by_forge: bool,
}

/// What a merge commit is made with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MergeWords {
    pub rule: MergeRule,
    pub message: String,
    pub at: Timestamp,
}

/// What came of a merge by git.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MergeOutcome {
    Merged,
    /// The base is no longer where it was: look again.
    BaseMoved,
    /// The remote did not take it.
    Refused {
        reason: String,
    },
    /// Something came in the way.
    Blocked(MergeObstacle),
}

/// Whether a base has a head in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Containment {
    pub base: String,
    pub head_oid: Oid,
    /// The branch of this clone counts where the remote has none of this name.
    pub here_too: bool,
}

/// Git, behind the fence where it touches a work tree. Calls block.
pub trait GitEdge: Send + Sync {
    /// Root and common directory of the repository a user stands in.
    fn discover(&self, path: &Utf8Path) -> Result<(Utf8PathBuf, Utf8PathBuf), Problem>;
    /// The checkout that a folder is in; `None` when it is in none of this repository's.
    fn checkout(&self, site: &Site, from: &Utf8Path) -> Option<Utf8PathBuf>;
    /// What a request from this folder for this base means. `HEAD` is that of the checkout he stands in, now.
    fn footing(&self, site: &Site, from: &Utf8Path, base: Option<&str>) -> Result<Footing, Problem>;
    /// Everything a run needs of the repository is there; for a pull request also a branch that it can go to.
    fn require_ready(&self, site: &Site, footing: &Footing, wants_pull: bool) -> Result<(), Problem>;
    /// Without a name and an address no commit can be made.
    fn require_identity(&self, site: &Site) -> Result<(), Problem>;
    fn is_gone(&self, repo: &Repo) -> bool;

    /// Where a run will work, as an intent, with where it starts and what the user should know. Nothing is touched.
    fn plan(&self, site: &Site, run: &Run, kept: Option<&Kept>) -> Result<Vec<Fact>, StepError>;
    fn make(&self, site: &Site, run: &Run, planned: &PlannedWorktree) -> Result<MakeAnswer, StepError>;
    /// Both sides of a conflict that an agent finds in its files.
    fn conflict(&self, site: &Site, workspace: &Workspace) -> Result<Option<Conflict>, StepError>;
    /// Without a sandbox an agent could make git run a program of its choice: what git would run is written down.
    fn remember_config(&self, site: &Site, run: &Run) -> Result<(), StepError>;
    fn stage(&self, site: &Site, run: &Run, work: &Work) -> Result<Vec<Fact>, StepError>;
    fn commit(&self, site: &Site, workspace: &Workspace, planned: &PlannedCommit) -> Result<CommitOutcome, StepError>;
    fn push(&self, site: &Site, run: &Run, workspace: &Workspace, commit: &Commit) -> Result<PushOutcome, StepError>;
    /// Keeps uncommitted and unpushed work; `None`: there is none. Without a remote, commits on a branch that stays are safe
    /// where they are.
    fn preserve(
        &self,
        site: &Site,
        run: &Run,
        workspace: &Workspace,
        fate: BranchFate,
    ) -> Result<Option<Preserved>, Problem>;
    fn remove(&self, site: &Site, workspace: &Workspace, fate: BranchFate) -> Result<(), Problem>;

    /// How a head stands to its base. Nothing is touched.
    fn merge_look(&self, site: &Site, question: &MergeQuestion) -> Result<MergeLook, Problem>;
    /// The commit that the base is to go to, made and not yet pointed to; or why there is none.
    fn plan_merge(
        &self,
        site: &Site,
        look: &MergeLook,
        words: &MergeWords,
    ) -> Result<Result<MergeWay, MergeObstacle>, Problem>;
    /// Brings the base to the planned commit, and the checkout of it that there is.
    fn merge(&self, site: &Site, planned: &PlannedMerge) -> Result<MergeOutcome, Problem>;
    /// Whether the bases have the heads in them, in order. Nobody is asked but this clone.
    fn contained(&self, site: &Site, asked: &[Containment]) -> Result<Vec<bool>, Problem>;
}

/// Processes behind their fence, and what the machine has left.
pub trait HostEdge: Send + Sync {
    /// Which layers of the fence this machine has.
    fn sandbox(&self) -> Sandbox;
    fn free_disk(&self, path: &Utf8Path) -> std::io::Result<u64>;
    fn available_memory(&self) -> Option<u64>;

    fn launch(&self, folder: &Utf8Path, order: &LaunchOrder) -> Result<Started, LaunchError>;
    fn started(&self, folder: &Utf8Path) -> Option<Started>;
    fn probe(&self, folder: &Utf8Path) -> Result<Probe, String>;
    /// Ends everything of it; a launch that has not begun will not begin any more.
    fn stop(&self, folder: &Utf8Path, reason: &str, grace: Duration) -> Result<(), String>;
    /// Until the process has ended.
    fn watch(&self, process: ProcessRef) -> BoxFuture<'static, ()>;
    /// Ends whatever carries the run's mark and has no shim any more.
    fn end_leftovers(&self, run: &str, folder: &Utf8Path, tree: &Utf8Path) -> Result<(), String>;
}

/// Where pull requests live.
pub trait ForgeEdge: Send + Sync {
    /// Opens what is wanted, or brings the open one of its branch up to date.
    fn put<'a>(
        &'a self,
        site: &'a Site,
        config: &'a Config,
        step: &'a PutPull,
    ) -> BoxFuture<'a, Result<PullRecord, Problem>>;
    /// Makes it open, closed or merged, as far as that is a matter of the forge's own records. What it is already stays so;
    /// what is merged is answered as it is.
    fn make<'a>(
        &'a self,
        site: &'a Site,
        config: &'a Config,
        number: u64,
        state: PullState,
    ) -> BoxFuture<'a, Result<PullRecord, Problem>>;
    /// The forge merges it, if its head is still the planned one.
    fn merge<'a>(
        &'a self,
        site: &'a Site,
        config: &'a Config,
        number: u64,
        planned: &'a PlannedMerge,
    ) -> BoxFuture<'a, Result<PullRecord, Problem>>;
    /// Those in a state, or all, newest first.
    fn list<'a>(
        &'a self,
        site: &'a Site,
        config: &'a Config,
        state: Option<PullState>,
    ) -> BoxFuture<'a, Result<Vec<PullRecord>, Problem>>;
    fn show<'a>(
        &'a self,
        site: &'a Site,
        config: &'a Config,
        number: u64,
    ) -> BoxFuture<'a, Result<PullRecord, Problem>>;
}

/// How people are told.
pub trait NotifyEdge: Send + Sync {
    /// On every way that is configured; how it went on each.
    fn send<'a>(&'a self, sending: &'a Sending) -> BoxFuture<'a, Vec<WayResult>>;
}

/// A notice, and where it goes.
#[derive(Clone, Debug)]
pub struct Sending {
    pub words: NewsWords,
    pub body: serde_json::Value,
    pub settings: NotifySettings,
    /// Where the bell rings.
    pub terminal: Option<Utf8PathBuf>,
}

/// How a notice went on one way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WayResult {
    /// `desktop`, `bell`, `command`, `webhook`
    pub way: &'static str,
    pub outcome: WayOutcome,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WayOutcome {
    Sent,
    Failed {
        reason: String,
    },
    /// It is not there: `no_session`, `no_program`, `no_terminal`, `terminal_gone`.
    Skipped {
        reason: String,
    },
}

impl WayResult {
    pub fn error(&self) -> Option<String> {
        match &self.outcome {
            WayOutcome::Failed { reason } => Some(reason.clone()),
            WayOutcome::Sent | WayOutcome::Skipped { .. } => None,
        }
    }
}
