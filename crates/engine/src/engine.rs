//! The engine itself: what it holds, how it starts, how it stops.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_config::Config;
use dandori_domain::run::{Fact, RunFacts, Sandbox};
use dandori_domain::{HostId, Problem, RunId};
use dandori_git::Git;
use dandori_host::{Env, now, random};
use dandori_store::{Fence, Location, OpenReport, Store, StoreError};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::callers::Callers;
use crate::trouble::store_problem;
use crate::{fault, plan};
use dandori_host::layout::Layout;

/// What a daemon is started with.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    pub layout: Layout,
    pub env: Env,
    /// The user's own configuration file.
    pub user_config: Utf8PathBuf,
    /// This program: the shim is started from it.
    pub dandori: Utf8PathBuf,
}

/// Something the daemon has to say about itself, shown by `status` and `doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Notice(pub Problem);

/// A cheap handle; all clones are the same engine.
#[derive(Clone)]
pub struct Engine(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) options: EngineOptions,
    pub(crate) config: Config,
    pub(crate) store: Store,
    pub(crate) git: Git,
    pub(crate) fence: Fence,
    pub(crate) sandbox: Sandbox,
    pub(crate) notices: Mutex<Vec<Notice>>,
    /// Runs that a task of this process walks, each with the bell that wakes it.
    walked: Mutex<HashMap<RunId, Arc<Notify>>>,
    /// Rung when a place may have become free or a run wants one.
    pub(crate) admission: Notify,
    /// Why the last who asked to be admitted could not be: the store did not write it down.
    pub(crate) not_admitted: Mutex<Option<Problem>>,
    /// Rung when something was thrown into the trash or a slot was taken.
    pub(crate) housekeeping: Notify,
    pub(crate) guards: tokio::sync::Mutex<crate::guards::Intake>,
    pub(crate) callers: Callers,
    /// What the daemon's own commands are made from.
    pub(crate) own: Env,
    /// Worktrees that are recorded and whose directories are just being made.
    pub(crate) making: crate::worktrees::Making,
    pub(crate) github: Mutex<Vec<crate::pulls::Client>>,
    pub(crate) tracker: TaskTracker,
    pub(crate) stopping: CancellationToken,
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
        let own = crate::callers::own(&options.env);
        let git = Git::new(&own, &host.to_string());
        end_orphans(host).await;
        let location = match &config.store {
            Some(url) => Location::Postgres(url.clone()),
            None => Location::Sqlite(options.layout.database()),
        };
        let (store, report) = Store::open(location, now()).await.map_err(|e| store_problem(&e))?;
        let program = options.dandori.clone();
        let sandbox = tokio::task::spawn_blocking(move || dandori_host::fenced::probe(&program)).await;
        let sandbox = sandbox.unwrap_or_else(|e| Sandbox::None { reason: e.to_string() });
        let epoch = store.begin_life(host, now()).await.map_err(|e| store_problem(&e))?;
        let engine = Self(Arc::new(Inner {
            config,
            store,
            git,
            fence: Fence { host, epoch },
            sandbox,
            notices: Mutex::new(notices_of(&report)),
            walked: Mutex::default(),
            admission: Notify::new(),
            not_admitted: Mutex::default(),
            housekeeping: Notify::new(),
            guards: tokio::sync::Mutex::default(),
            callers: Callers::default(),
            own,
            making: crate::worktrees::Making::default(),
            github: Mutex::default(),
            tracker: TaskTracker::new(),
            stopping: CancellationToken::new(),
            options,
        }));
        engine.take_up().await?;
        engine.spawn(engine.clone().admit_for_ever());
        engine.spawn(engine.clone().keep_house());
        engine.spawn(engine.clone().back_up_for_ever());
        Ok(engine)
    }

    /// Every run that was under way is walked on from its facts.
    async fn take_up(&self) -> Result<(), Problem> {
        let open = self.0.store.open_runs(self.0.fence.host).await.map_err(|e| store_problem(&e))?;
        for run in open {
            self.walk(run.spec.id);
        }
        Ok(())
    }

    /// Stops taking steps; agents go on in their shims and are adopted by the next life.
    pub async fn stop(&self) {
        self.0.stopping.cancel();
        self.0.tracker.close();
        // A push under way gets its time; a step that does not end is ended by its own deadline or settled after
        // the restart.
        let _ = tokio::time::timeout(Duration::from_secs(30), self.0.tracker.wait()).await;
    }

    pub fn store(&self) -> &Store {
        &self.0.store
    }

    pub fn layout(&self) -> &Layout {
        &self.0.options.layout
    }

    pub fn env(&self) -> &Env {
        &self.0.options.env
    }

    pub fn fence(&self) -> Fence {
        self.0.fence
    }

    pub fn notices(&self) -> Vec<Notice> {
        self.0.notices.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn notice(&self, problem: Problem) {
        let mut notices = self.0.notices.lock().unwrap_or_else(PoisonError::into_inner);
        if !notices.iter().any(|n| n.0 == problem) {
            notices.push(Notice(problem));
        }
    }

    pub fn max_parallel(&self) -> u32 {
        self.0.config.max_parallel.unwrap_or_else(|| u32::try_from(dandori_host::machine::cores()).unwrap_or(2).max(2))
    }

    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.0.tracker.spawn(work);
    }

    /// Runs blocking work where it cannot hold up the rest.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let engine = self.clone();
        tokio::task::spawn_blocking(move || work(&engine))
            .await
            .map_err(|e| Problem::Internal { reason: format!("a step panicked: {e}") })
    }

    /// Records facts, and with them the intent that follows from them, in one transaction.
    pub(crate) async fn record(&self, run: &RunFacts, mut facts: Vec<Fact>) -> Result<RunFacts, StoreError> {
        let at = now();
        let mut after = run.clone();
        if facts.iter().all(|fact| after.apply(fact, at).is_ok()) {
            if let Some(intent) = plan::next_intent(&after, at) {
                facts.push(Fact::Intended { intent });
            } else if dandori_domain::next_step(&after) == dandori_domain::Step::Settle {
                facts.push(Fact::Settled);
            }
        }
        let recorded = self.0.store.record(self.0.fence, run.spec.id, facts.clone(), at).await?;
        facts.iter().for_each(fault::recorded);
        if recorded.status().is_terminal() {
            self.0.admission.notify_one();
        }
        Ok(recorded)
    }

    /// Begins to walk a run, or wakes the task that does.
    pub(crate) fn walk(&self, run: RunId) {
        let mut walked = self.0.walked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bell) = walked.get(&run) {
            bell.notify_one();
            return;
        }
        let bell = Arc::new(Notify::new());
        walked.insert(run, Arc::clone(&bell));
        drop(walked);
        self.spawn(self.clone().drive(run, bell));
    }

    /// The task that walked this run is done with it.
    pub(crate) fn walked(&self, run: RunId) {
        self.0.walked.lock().unwrap_or_else(PoisonError::into_inner).remove(&run);
    }

    pub(crate) fn walked_runs(&self) -> Vec<RunId> {
        self.0.walked.lock().unwrap_or_else(PoisonError::into_inner).keys().copied().collect()
    }

    pub(crate) fn live_count(&self) -> u32 {
        let walked = self.0.walked.lock().unwrap_or_else(PoisonError::into_inner);
        u32::try_from(walked.len()).unwrap_or(u32::MAX)
    }
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
        return Err(std::io::Error::other(format!("{path} is a link")));
    }
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))
}
