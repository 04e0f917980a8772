//! What the engine has done for it by the world: git, the host's processes, the forge. Each can be replaced, so that a
//! story of the engine runs in one process and in simulated time ([`crate::kernel::Clock`] is the fourth).
//!
//! The cut is at what a step wants, not at what a program offers: a stand-in has to keep a promise, not to imitate git.

mod git;
mod host;

use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_config::Config;
use dandori_domain::Problem;
use dandori_domain::id::Oid;
use dandori_domain::pull::PullWanted;
use dandori_domain::run::{
    BranchFate, Commit, Fact, PlannedCommit, PlannedWorktree, Preserved, ProcessRef, Run, Sandbox, Work, Workspace,
};
use dandori_domain::task::Repo;
use dandori_git::Conflict;
use dandori_host::Env;
use dandori_host::shim::{LaunchError, LaunchOrder, Probe, Started};
use futures_util::future::BoxFuture;

use crate::pull::PullRecord;
use crate::run::StepError;

pub(crate) use git::{RealGit, lock_reason, preserved_ref_at, preserved_ref_of, refuse_unsupported};
pub(crate) use host::RealHost;

#[derive(Clone)]
pub struct Edges {
    pub git: Arc<dyn GitEdge>,
    pub host: Arc<dyn HostEdge>,
    pub forge: Arc<dyn ForgeEdge>,
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

/// What is left of earlier runs in the place of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Earlier {
    /// Where the work is that was kept when the user removed the worktree.
    pub kept: Option<String>,
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

/// What came of a push.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PushOutcome {
    Pushed,
    /// Somebody else had pushed: our commits now stand on theirs, and are to be pushed again.
    Rebased {
        onto: Oid,
        oid: Oid,
    },
}

/// Git, behind the fence where it touches a work tree. Calls block.
pub trait GitEdge: Send + Sync {
    /// Root and common directory of the repository a user stands in.
    fn discover(&self, path: &Utf8Path) -> Result<(Utf8PathBuf, Utf8PathBuf), Problem>;
    /// Everything a run needs of the repository is there.
    fn require_ready(&self, site: &Site, base: Option<&str>) -> Result<(), Problem>;
    /// Without a name and an address no commit can be made.
    fn require_identity(&self, site: &Site) -> Result<(), Problem>;
    fn is_gone(&self, repo: &Repo) -> bool;

    /// Where a run will work, as an intent, with what the user should know. Nothing is touched.
    fn plan(&self, site: &Site, run: &Run) -> Result<Vec<Fact>, StepError>;
    fn make(&self, site: &Site, run: &Run, planned: &PlannedWorktree, left: &Earlier) -> Result<MakeAnswer, StepError>;
    /// Both sides of a conflict that an agent finds in its files.
    fn conflict(&self, site: &Site, workspace: &Workspace) -> Result<Option<Conflict>, StepError>;
    /// Without a sandbox an agent could make git run a program of its choice: what git would run is written down.
    fn remember_config(&self, site: &Site, run: &Run) -> Result<(), StepError>;
    fn stage(&self, site: &Site, run: &Run, work: &Work) -> Result<Vec<Fact>, StepError>;
    fn commit(&self, site: &Site, workspace: &Workspace, planned: &PlannedCommit) -> Result<Oid, StepError>;
    fn push(&self, site: &Site, run: &Run, workspace: &Workspace, commit: &Commit) -> Result<PushOutcome, StepError>;
    /// Keeps uncommitted and unpushed work; `None`: there is none.
    fn preserve(&self, site: &Site, run: &Run, workspace: &Workspace) -> Result<Option<Preserved>, Problem>;
    fn remove(&self, site: &Site, workspace: &Workspace, fate: BranchFate) -> Result<(), Problem>;
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
        wanted: &'a PullWanted,
    ) -> BoxFuture<'a, Result<PullRecord, Problem>>;
    fn list<'a>(&'a self, site: &'a Site, config: &'a Config) -> BoxFuture<'a, Result<Vec<PullRecord>, Problem>>;
    fn show<'a>(
        &'a self,
        site: &'a Site,
        config: &'a Config,
        number: u64,
    ) -> BoxFuture<'a, Result<PullRecord, Problem>>;
}
