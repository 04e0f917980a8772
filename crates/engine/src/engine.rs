//! The engine itself: what it holds, how it starts, how it stops.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_config::Config;
use dandori_domain::machine::{Machine, SubjectRef};
use dandori_domain::pull::Pull;
use dandori_domain::run::{Run, Sandbox};
use dandori_domain::{HostId, Problem, RepoId, RunId};
use dandori_host::layout::Layout;
use dandori_host::{Env, now, random};
use dandori_store::{Life, Location, OpenReport, Store, StoreError};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::doors::Doors;
use crate::edges::{Edges, HostEdge, RealGit, RealHost, RealNotify};
use crate::formation::ToTell;
use crate::kernel::fault::{CrashPlan, Faults};
use crate::kernel::{Clock, Ids, Kernel, Notice, SystemClock, SystemIds};
use crate::needs::Inbox;
use crate::notices::{Attendance, News, NewsWords};
use crate::pull::PullWalker;
use crate::repos::Opener;
use crate::run::{Callers, RunWalker};
use crate::trouble::store_problem;

/// How often what is under way is looked for.
const SCAN: Duration = Duration::from_secs(30);

/// What a daemon is started with.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    pub layout: Layout,
    pub env: Env,
    /// The user's own configuration file.
    pub user_config: Utf8PathBuf,
    /// This program: the shim is started from it.
    pub dandori: Utf8PathBuf,
    /// News in words, for the language that is configured.
    pub words: fn(&Env, Option<&str>, &News) -> NewsWords,
    /// What a formation says to its agents, in the same way.
    pub formation_words: fn(&Env, Option<&str>, &ToTell) -> String,
}

/// A cheap handle; all clones are the same engine.
#[derive(Clone)]
pub struct Engine(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) kernel: Kernel,
    pub(crate) edges: Edges,
    pub(crate) options: EngineOptions,
    pub(crate) config: Config,
    pub(crate) opener: Opener,
    pub(crate) sandbox: Sandbox,
    /// Rung when a place may have become free or a run wants one.
    pub(crate) admission: Notify,
    /// Rung when a formation may have something to do.
    pub(crate) formations: Notify,
    pub(crate) formation_callers: Mutex<HashMap<RepoId, Arc<Env>>>,
    /// Why the last who asked to be admitted could not be: the store did not write it down.
    pub(crate) not_admitted: Mutex<Option<Problem>>,
    /// Rung when something was thrown into the trash or a slot was taken.
    pub(crate) housekeeping: Notify,
    /// Held while warm worktrees are made; `true` once no more are wanted.
    pub(crate) leaving: tokio::sync::Mutex<bool>,
    pub(crate) guards: tokio::sync::Mutex<crate::guard_records::Intake>,
    pub(crate) callers: Callers,
    pub(crate) doors: Doors,
    /// What the daemon's own commands are made from.
    pub(crate) own: Env,
    /// Worktrees that are recorded and whose directories are just being made.
    pub(crate) making: crate::worktrees::Making,
    pub(crate) inbox: Inbox,
    pub(crate) attendance: Arc<Attendance>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// What a story brings in place of the world: its store outlives the engine that is killed in it.
pub struct Stand {
    pub store: Store,
    pub host: HostId,
    pub edges: Edges,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    pub crashes: Arc<dyn CrashPlan>,
}

#[derive(Serialize, Deserialize)]
struct HostFile {
    host: HostId,
}

impl Engine {
    /// Opens the store, takes up where the last life ended, and begins to admit.
    pub async fn start(options: EngineOptions) -> Result<Self, Problem> {
        let config = Config::load(&options.user_config, None).map_err(|e| e.to_problem())?;
        let host = host_id(&options.layout)?;
        end_orphans(host).await;
        let location = match &config.store {
            Some(url) => Location::Postgres(url.clone()),
            None => Location::Sqlite(options.layout.database()),
        };
        let (store, report) = Store::open(location, dandori_host::now()).await.map_err(|e| store_problem(&e))?;
        let real: Arc<dyn HostEdge> = Arc::new(RealHost::new(&options.dandori, &options.env));
        let probed = Arc::clone(&real);
        let sandbox = tokio::task::spawn_blocking(move || probed.sandbox()).await;
        let sandbox = sandbox.unwrap_or_else(|e| Sandbox::None { reason: e.to_string() });
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let opener = opener_of(&options, &sandbox, host);
        let git = RealGit::new(opener.clone(), options.layout.clone(), Arc::clone(&clock));
        let forge = crate::pull::RealForge::new(opener.clone(), store.clone(), Arc::clone(&clock));
        let notify = RealNotify::new(&crate::run::own(&options.env));
        let edges = Edges { git: Arc::new(git), host: real, forge: Arc::new(forge), notify: Arc::new(notify) };
        let life = begin_life(&store, host, clock.now()).await?;
        let kernel = Kernel::new(store, life, Arc::clone(&clock), Arc::new(SystemIds), Faults::Process);
        for notice in notices_of(&report) {
            kernel.notice(notice.0);
        }
        let engine = Self::assemble(kernel, clock, edges, options, config, opener, sandbox);
        engine.begin().await?;
        engine.spawn(engine.clone().keep_house());
        engine.spawn(engine.clone().back_up_for_ever());
        Ok(engine)
    }

    /// The same on a stand-in for the world, without what is kept up in the background.
    pub async fn start_on(stand: Stand, options: EngineOptions) -> Result<Self, Problem> {
        let config = Config::load(&options.user_config, None).map_err(|e| e.to_problem())?;
        let sandbox = stand.edges.host.sandbox();
        let opener = opener_of(&options, &sandbox, stand.host);
        let life = begin_life(&stand.store, stand.host, stand.clock.now()).await?;
        let clock = Arc::clone(&stand.clock);
        let kernel = Kernel::new(stand.store, life, stand.clock, stand.ids, Faults::Story(stand.crashes));
        let engine = Self::assemble(kernel, clock, stand.edges, options, config, opener, sandbox);
        engine.begin().await?;
        Ok(engine)
    }

    fn assemble(
        kernel: Kernel,
        clock: Arc<dyn Clock>,
        edges: Edges,
        options: EngineOptions,
        config: Config,
        opener: Opener,
        sandbox: Sandbox,
    ) -> Self {
        let own = crate::run::own(&options.env);
        Self(Arc::new(Inner {
            kernel,
            edges,
            config,
            opener,
            sandbox,
            admission: Notify::new(),
            formations: Notify::new(),
            formation_callers: Mutex::default(),
            not_admitted: Mutex::default(),
            housekeeping: Notify::new(),
            leaving: tokio::sync::Mutex::new(false),
            guards: tokio::sync::Mutex::default(),
            callers: Callers::default(),
            doors: Doors::default(),
            own,
            making: crate::worktrees::Making::default(),
            inbox: Inbox::default(),
            attendance: Arc::default(),
            clock,
            options,
        }))
    }

    async fn begin(&self) -> Result<(), Problem> {
        self.take_up().await.map_err(|e| store_problem(&e))?;
        self.spawn(self.clone().admit_for_ever());
        self.spawn(self.clone().scan_for_ever());
        self.spawn(self.clone().tell_for_ever());
        self.spawn(self.clone().keep_formations());
        Ok(())
    }

    /// Every machine's subjects that are under way are walked on from their facts.
    async fn take_up(&self) -> Result<(), StoreError> {
        let kernel = &self.0.kernel;
        kernel.take_up(&self.runs()).await?;
        kernel.take_up(&self.pulls()).await
    }

    /// Level, not edge: whoever was not woken, because nobody knew whether a commit had happened, is found by looking.
    async fn scan_for_ever(self) {
        loop {
            tokio::select! {
                () = tokio::time::sleep(SCAN) => {}
                () = self.stopping().cancelled() => return,
            }
            if let Err(e) = self.take_up().await {
                tracing::warn!("cannot look for work in progress: {e}");
            }
            self.forget_callers_of_what_is_over().await;
        }
    }

    pub(crate) fn runs(&self) -> RunWalker {
        RunWalker(self.clone())
    }

    pub(crate) fn pulls(&self) -> PullWalker {
        PullWalker(self.clone())
    }

    /// Something was recorded about this subject from outside its walk.
    pub(crate) fn wake(&self, subject: &SubjectRef) {
        let kernel = &self.0.kernel;
        let woken = match subject.machine {
            Run::NAME => subject.id.parse().map(|id| kernel.walk(&self.runs(), id)).is_ok(),
            Pull::NAME => subject.id.parse().map(|id| kernel.walk(&self.pulls(), id)).is_ok(),
            _ => false,
        };
        debug_assert!(woken, "nobody walks {subject:?}");
    }

    /// Stops taking steps; agents go on in their shims and are adopted by the next life.
    pub async fn stop(&self) {
        self.0.kernel.stop().await;
    }

    /// What `kill -9` does to a daemon, for a story on a stand-in for the world.
    pub async fn kill(&self) {
        self.0.kernel.kill().await;
    }

    pub fn store(&self) -> &Store {
        &self.0.kernel.store
    }

    pub fn layout(&self) -> &Layout {
        &self.0.options.layout
    }

    pub fn env(&self) -> &Env {
        &self.0.options.env
    }

    pub(crate) fn life(&self) -> Life {
        self.0.kernel.life
    }

    pub fn notices(&self) -> Vec<Notice> {
        self.0.kernel.notices()
    }

    pub(crate) fn notice(&self, problem: Problem) {
        self.0.kernel.notice(problem);
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.0.kernel.now()
    }

    pub(crate) fn random(&self) -> u128 {
        self.0.kernel.random()
    }

    /// Time is a story's: no other clock counts.
    pub(crate) fn is_simulated(&self) -> bool {
        self.0.kernel.is_simulated()
    }

    pub(crate) fn stopping(&self) -> &CancellationToken {
        &self.0.kernel.stopping
    }

    pub fn max_parallel(&self) -> u32 {
        self.0.config.max_parallel.unwrap_or_else(|| u32::try_from(dandori_host::machine::cores()).unwrap_or(2).max(2))
    }

    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.0.kernel.spawn(work);
    }

    /// Runs blocking work where it cannot hold up the rest.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let engine = self.clone();
        self.0.kernel.blocking(move || work(&engine)).await
    }

    /// The runs that are walked at this moment.
    pub(crate) fn live_runs(&self) -> Vec<RunId> {
        self.0.kernel.live::<Run>().iter().filter_map(|id| id.parse().ok()).collect()
    }

    /// How many runs are walked.
    pub fn live_count(&self) -> u32 {
        u32::try_from(self.0.kernel.live::<Run>().len()).unwrap_or(u32::MAX)
    }
}

fn opener_of(options: &EngineOptions, sandbox: &Sandbox, host: HostId) -> Opener {
    let own = crate::run::own(&options.env);
    Opener::new(&own, &options.env, &options.layout, sandbox, &options.dandori, host.to_string())
}

async fn begin_life(store: &Store, host: HostId, now: Timestamp) -> Result<Life, Problem> {
    let epoch = store.begin_life(host, now).await.map_err(|e| store_problem(&e))?;
    Ok(Life { host, epoch })
}

/// This state root's name in the store, made once.
fn host_id(layout: &Layout) -> Result<HostId, Problem> {
    let path = layout.host();
    let io = |e: std::io::Error| Problem::Io { path: path.clone(), reason: e.to_string() };
    match std::fs::read(&path) {
        Ok(bytes) => serde_json::from_slice::<HostFile>(&bytes)
            .map(|file| file.host)
            .map_err(|e| Problem::Io { path: path.clone(), reason: e.to_string() }),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            let host = HostId::mint(now(), random());
            let bytes = serde_json::to_vec(&HostFile { host }).unwrap_or_default();
            dandori_host::replace_file(&path, &bytes, 0o600).map_err(io)?;
            Ok(host)
        }
        Err(e) => Err(io(e)),
    }
}

/// Git commands of a daemon that was killed may still be at work: they end before we look at the world.
async fn end_orphans(host: HostId) {
    let _ = tokio::task::spawn_blocking(move || {
        dandori_host::process::end_marked(dandori_host::cmd::COMMAND_MARKER, &host.to_string())
    })
    .await;
}

fn notices_of(report: &OpenReport) -> Vec<Notice> {
    report
        .rescue
        .iter()
        .map(|rescue| {
            Notice(Problem::StoreDamaged { quarantine: rescue.quarantine.clone(), restored: rescue.restored.clone() })
        })
        .collect()
}

/// Makes a folder only this user can enter.
pub(crate) fn private_folder(path: &Utf8Path) -> std::io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    // A link would make somebody else's folder private, and ours.
    if path.symlink_metadata()?.is_symlink() {
        return Err(std::io::Error::other(format!("{path} is a symbolic link")));
    }
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))
}
