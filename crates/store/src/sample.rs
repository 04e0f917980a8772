//! Tasks, runs and facts for the tests of this crate, and the two databases they run on.

use std::sync::atomic::{AtomicU64, Ordering};

use dandori_domain::agent::{AgentFailure, AgentName, Usage, Verdict};
use dandori_domain::id::{HostId, Oid, RepoId, RunId, TaskId, WorktreeKey};
use dandori_domain::run::{Changes, PlannedWorktree, ProcessRef, RunSettings, Sandbox, Workspace};
use dandori_domain::task::{Repo, Task};
use dandori_domain::{Fact, Failure, Intent, Run, RunKind};
use dandori_testkit::postgres::Postgres;
use jiff::Timestamp;

use crate::{Life, Location, NewRun, NewTask, Store};

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

/// Different every time and in every process: a store outlives those that write it.
pub(crate) fn random() -> u128 {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    let count = u128::from(COUNT.fetch_add(1, Ordering::Relaxed)) | u128::from(std::process::id()) << 64;
    count.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
}

/// A store of one of the two kinds, with a repository and a life begun.
pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) location: Location,
    pub(crate) repo: RepoId,
    pub(crate) life: Life,
    folder: tempfile::TempDir,
}

impl World {
    pub(crate) async fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = camino::Utf8Path::from_path(folder.path()).unwrap().join("state/dandori.db");
        Self::at(Location::Sqlite(path), folder).await
    }

    pub(crate) async fn memory() -> Self {
        Self::at(Location::Memory, tempfile::tempdir().unwrap()).await
    }

    pub(crate) async fn postgres() -> Self {
        let address = tokio::task::spawn_blocking(|| Postgres::shared().database()).await.unwrap();
        Self::at(Location::Postgres(address), tempfile::tempdir().unwrap()).await
    }

    /// In a folder that somebody else looks after.
    pub(crate) async fn sqlite_in(path: &camino::Utf8Path) -> Self {
        Self::at(Location::Sqlite(path.to_owned()), tempfile::tempdir().unwrap()).await
    }

    /// Closes the store and keeps its files.
    pub(crate) fn close(self) -> tempfile::TempDir {
        self.folder
    }

    async fn at(location: Location, folder: tempfile::TempDir) -> Self {
        let (store, report) = Store::open(location.clone(), at(0)).await.unwrap();
        assert_eq!(report.rescue, None);
        let host = HostId::mint(at(0), random());
        let repo = store.know_repo(repo(host, "/src/project/.git")).await.unwrap().id;
        let epoch = store.begin_life(host, at(0)).await.unwrap();
        Self { store, location, repo, life: Life { host, epoch }, folder }
    }

    pub(crate) async fn reopen(&self) -> Store {
        Store::open(self.location.clone(), at(0)).await.unwrap().0
    }

    pub(crate) fn new_task(&self, title: &str) -> NewTask {
        NewTask { id: TaskId::mint(at(0), random()), repo: self.repo, title: title.into(), created_at: at(0) }
    }

    pub(crate) fn new_run(&self) -> NewRun {
        new_run(self.life.host, RunKind::First)
    }

    pub(crate) fn follow_up(&self, of: &Run) -> NewRun {
        let workspace = of.workspace().cloned().unwrap();
        new_run(self.life.host, RunKind::FollowUp { after: of.spec.id, workspace, session: None })
    }

    /// A task with one run that waits.
    pub(crate) async fn task(&self) -> (Task, Run) {
        let (task, mut runs) = self.store.create_task(self.new_task("a task"), vec![self.new_run()]).await.unwrap();
        (task, runs.remove(0))
    }

    pub(crate) async fn record(&self, run: RunId, facts: Vec<Fact>) -> crate::Result<Run> {
        self.store.record(self.life, run, facts, at(1)).await.map(|recorded| recorded.subject)
    }

    /// A task whose run has pushed and is settled.
    pub(crate) async fn finished_task(&self) -> (Task, Run) {
        let (task, run) = self.task().await;
        let run = self.record(run.spec.id, path_to_pushed(&run)).await.unwrap();
        let run = self.record(run.spec.id, vec![Fact::Settled]).await.unwrap();
        (task, run)
    }
}

pub(crate) fn repo(host: HostId, git_dir: &str) -> Repo {
    Repo {
        id: RepoId::mint(at(0), random()),
        host,
        root: git_dir.trim_end_matches("/.git").into(),
        git_dir: git_dir.into(),
        created_at: at(0),
    }
}

fn new_run(host: HostId, kind: RunKind) -> NewRun {
    NewRun {
        again: None,
        id: RunId::mint(at(0), random()),
        host,
        agent: AgentName::Exec("true".into()),
        kind,
        instruction: "do it".into(),
        base: None,
        here: None,
        checkout: None,
        brings: None,
        errand: None,
        settings: RunSettings::default(),
        created_at: at(0),
    }
}

pub(crate) fn workspace(run: &Run) -> Workspace {
    let key = run.spec.id.key();
    Workspace {
        key: WorktreeKey::new(key.as_str()),
        path: format!("/state/worktrees/run_{key}").into(),
        branch: format!("dandori/{key}"),
        base: "main".into(),
        base_oid: Oid::new("aaaa"),
        ours_after: Oid::new("aaaa"),
        merges: None,
    }
}

pub(crate) fn path_to_ready(run: &Run) -> Vec<Fact> {
    vec![
        Fact::Admitted,
        Fact::Intended {
            intent: Intent::Worktree(PlannedWorktree { workspace: workspace(run), arrival: None, kept: None }),
        },
        Fact::WorktreeReady { workspace: workspace(run), from_pool: false },
    ]
}

pub(crate) fn path_to_committed(run: &Run) -> Vec<Fact> {
    let mut facts = path_to_ready(run);
    facts.extend([
        Fact::SetUpDone { commands: 0 },
        Fact::Intended { intent: Intent::Launch },
        Fact::Launched {
            shim: ProcessRef { pid: 42, started: 1, boot: "b".into() },
            sandbox: Sandbox::Landlock { abi: 7 },
        },
        Fact::AgentEnded {
            verdict: Verdict::Done { summary: "done".into() },
            exit: Some(0),
            signal: None,
            usage: Usage::default(),
        },
        Fact::Staged {
            tree: Oid::new("7777"),
            parent: Oid::new("aaaa"),
            changes: Some(Changes { files: 1, insertions: 2, deletions: 0 }),
        },
        Fact::Committed { oid: Oid::new("cccc") },
    ]);
    facts
}

pub(crate) fn path_to_pushed(run: &Run) -> Vec<Fact> {
    let mut facts = path_to_committed(run);
    facts.push(Fact::Pushed { oid: Oid::new("cccc") });
    facts
}

pub(crate) fn push_refused() -> Fact {
    Fact::Failed { failure: Failure::PushRefused { reason: "no".into() } }
}

pub(crate) fn not_started() -> Fact {
    let failure = AgentFailure::NotStarted { detail: "no such program".into() };
    Fact::Failed { failure: Failure::Agent { failure } }
}
