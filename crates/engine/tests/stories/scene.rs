//! A scene: an engine on a stand-in for the world, that can be killed and started again on the same store.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use camino::Utf8PathBuf;
use dandori_domain::pull::{MergeRule, Pull};
use dandori_domain::run::{Errand, Run, Status};
use dandori_domain::task::Task;
use dandori_domain::{HostId, Problem, TaskId};
use dandori_engine::edges::Edges;
use dandori_engine::{
    Clock, CrashPlan, Engine, EngineOptions, Ids, Layout, MergeRequest, NewTaskRequest, NewsWords, RunChoice, Stand,
    WhichRun,
};
use dandori_host::Env;
use dandori_store::{Location, Store};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::world::World;

/// More simulated time than any story takes.
const PATIENCE: Duration = Duration::from_hours(5);

pub(crate) struct Scene {
    pub(crate) world: Arc<World>,
    pub(crate) engine: Engine,
    pub(crate) crashes: Arc<Crashes>,
    pub(crate) store: Store,
    host: HostId,
    clock: Arc<SimulatedClock>,
    ids: Arc<CountedIds>,
    folder: tempfile::TempDir,
}

struct SimulatedClock {
    /// Of the beginning: files the story writes are dated by the real clock.
    began: (Timestamp, Instant),
}

impl Clock for SimulatedClock {
    fn now(&self) -> Timestamp {
        self.began.0 + SignedDuration::try_from(self.began.1.elapsed()).unwrap()
    }
}

#[derive(Default)]
struct CountedIds(AtomicU64);

impl Ids for CountedIds {
    fn random(&self) -> u128 {
        let count = u128::from(self.0.fetch_add(1, Ordering::SeqCst) + 1);
        count.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
    }
}

/// Which points were reached how often, and at which the engine is to end.
#[derive(Default)]
pub(crate) struct Crashes {
    pub(crate) reached: Mutex<BTreeMap<String, u32>>,
    /// The point, and which time it is reached.
    at: Mutex<Option<(String, u32)>>,
    bell: Notify,
}

impl CrashPlan for Crashes {
    fn ends_at(&self, point: &str) -> bool {
        let mut reached = self.reached.lock().unwrap();
        let count = reached.entry(point.to_owned()).or_default();
        *count += 1;
        let mut at = self.at.lock().unwrap();
        let ends = at.as_ref().is_some_and(|(name, time)| name == point && time == count);
        if ends {
            *at = None;
            self.bell.notify_one();
        }
        ends
    }
}

impl Crashes {
    /// It has not come to the point it was to end at.
    pub(crate) fn is_armed(&self) -> bool {
        self.at.lock().unwrap().is_some()
    }
}

impl Crashes {
    /// Steps that are only taken when a look comes at the right moment: another time there may be fewer of them.
    fn is_passed_by(&self) -> bool {
        let steps = ["accepted", "heartbeat", "progress", "expired"].map(|step| format!("formation:recorded:{step}"));
        self.at.lock().unwrap().as_ref().is_some_and(|(point, _)| steps.contains(point))
    }
}

impl Scene {
    pub(crate) async fn new(crash: Option<(String, u32)>, config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        std::fs::create_dir_all(root.join("repo/.git")).unwrap();
        std::fs::create_dir_all(root.join("home")).unwrap();
        std::fs::create_dir_all(root.join("bin")).unwrap();
        // Found, and never started.
        dandori_host::put_file(&root.join("bin/claude"), b"#!/bin/sh\n", 0o755).unwrap();
        std::fs::write(root.join("config.toml"), config).unwrap();
        let world = Arc::new(World::new(&root.join("repo")));
        let (store, _) = Store::open(Location::Memory, dandori_host::now()).await.unwrap();
        let host = HostId::mint(dandori_host::now(), 1);
        let clock = Arc::new(SimulatedClock { began: (dandori_host::now(), Instant::now()) });
        let crashes = Arc::new(Crashes { at: Mutex::new(crash), ..Crashes::default() });
        let ids = Arc::new(CountedIds::default());
        let engine = start(&store, host, &world, &clock, &ids, &crashes, &root).await;
        Self { world, engine, crashes, store, host, clock, ids, folder }
    }

    fn root(&self) -> Utf8PathBuf {
        Utf8PathBuf::from_path_buf(self.folder.path().to_owned()).unwrap()
    }

    /// `kill -9`, and the daemon again.
    pub(crate) async fn kill(&mut self) {
        self.engine.kill().await;
        let (world, clock, ids, crashes) = (&self.world, &self.clock, &self.ids, &self.crashes);
        self.engine = start(&self.store, self.host, world, clock, ids, crashes, &self.root()).await;
    }

    /// Gives an order until it is taken, as a user would whose daemon dies over it.
    async fn order<T>(
        &mut self,
        give: impl AsyncFn(&Engine) -> Result<T, Problem>,
        taken: impl AsyncFn(&Self) -> Option<T>,
    ) -> T {
        loop {
            let answer = {
                let engine = self.engine.clone();
                tokio::select! {
                    answer = give(&engine) => Some(answer),
                    () = self.crashes.bell.notified() => None,
                }
            };
            match answer {
                Some(Ok(done)) => return done,
                Some(Err(problem)) => panic!("refused: {problem:?}"),
                None => self.kill().await,
            }
            if let Some(done) = taken(self).await {
                return done;
            }
        }
    }

    /// So much time passes.
    pub(crate) async fn pass(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    pub(crate) async fn run(&mut self, instruction: &str, agent: &str, pr: bool) -> Task {
        self.run_with(instruction, &[agent], pr).await
    }

    pub(crate) async fn run_with(&mut self, instruction: &str, agents: &[&str], pr: bool) -> Task {
        let path = self.root().join("repo");
        let request = NewTaskRequest {
            id: None,
            path,
            instruction: instruction.to_owned(),
            agents: agents.iter().map(|agent| (*agent).to_owned()).collect(),
            base: None,
            choice: RunChoice { pr: Some(pr), ..RunChoice::default() },
        };
        let title = instruction.to_owned();
        self.order(
            async |engine| engine.create_task(request.clone()).await.map(|(task, _)| task),
            async |scene| {
                let tasks = scene.store.tasks(dandori_store::TaskFilter::default(), 100).await.unwrap();
                tasks.tasks.into_iter().map(|found| found.task).find(|task| task.title == title)
            },
        )
        .await
    }

    /// What a formation asks for, as often as it is not sure whether it did: a run of its own, or one more of the task's.
    pub(crate) async fn errand(&mut self, errand: &Errand, task: TaskId, after: Option<&Run>) -> Run {
        let choice = RunChoice { errand: Some(errand.clone()), pr: Some(false), ..RunChoice::default() };
        let (path, words) = (self.root().join("repo"), "an errand".to_owned());
        let (agents, id) = (vec!["exec:waits".to_owned()], Some(task));
        let request = NewTaskRequest { id, path, instruction: words.clone(), agents, base: None, choice };
        self.order(
            async |engine| match after {
                None => engine.create_task(request.clone()).await.map(|(_, mut runs)| runs.remove(0)),
                Some(earlier) => {
                    let (task, _) = engine.find_task(&task.to_string()).await?;
                    engine.follow_up(&task, earlier, words.clone(), request.choice.clone()).await
                }
            },
            async |_| None,
        )
        .await
    }

    pub(crate) fn repo_path(&self) -> Utf8PathBuf {
        self.root().join("repo")
    }

    pub(crate) async fn runs_of(&self, task: dandori_domain::TaskId) -> Vec<Run> {
        self.store.runs_of(task).await.unwrap()
    }

    pub(crate) async fn all_tasks(&self) -> Vec<dandori_store::TaskWithRuns> {
        self.store.tasks(dandori_store::TaskFilter::default(), 1000).await.unwrap().tasks
    }

    /// Nothing is under way.
    pub(crate) async fn is_quiet(&self) -> bool {
        let runs = self.store.walked::<Run>(self.host).await.unwrap();
        runs.is_empty() && self.store.walked::<Pull>(self.host).await.unwrap().is_empty()
    }

    pub(crate) async fn runs(&self, task: &Task) -> Vec<Run> {
        self.store.runs_of(task.id).await.unwrap()
    }

    pub(crate) async fn newest(&self, task: &Task) -> Run {
        self.runs(task).await.pop().unwrap()
    }

    pub(crate) async fn pulls(&self, task: &Task) -> Vec<Pull> {
        self.store.pulls_of(task.id).await.unwrap()
    }

    pub(crate) async fn follow_up(&mut self, task: &Task, instruction: &str, pr: bool) {
        let before = self.runs(task).await.len();
        let choice = RunChoice { pr: Some(pr), ..RunChoice::default() };
        self.order(
            async |engine| {
                let (task, runs) = engine.find_task(&task.id.to_string()).await?;
                let earlier = engine.run_to_go_on_with(&task, &runs, WhichRun::Chosen).await?;
                engine.follow_up(&task, &earlier, instruction.to_owned(), choice.clone()).await.map(drop)
            },
            async |scene| (scene.runs(task).await.len() > before).then_some(()),
        )
        .await;
        assert_eq!(self.runs(task).await.len(), before + 1, "one order, one run");
    }

    pub(crate) async fn cancel(&mut self, task: &Task) {
        self.order(
            async |engine| engine.cancel(&task.id.to_string()).await.map(drop),
            async |scene| scene.newest(task).await.is_canceling().then_some(()),
        )
        .await;
    }

    pub(crate) async fn retry(&mut self, task: &Task) {
        self.order(
            async |engine| engine.retry(&task.id.to_string(), None).await.map(drop),
            async |scene| (scene.newest(task).await.status() != Status::Failed).then_some(()),
        )
        .await;
    }

    pub(crate) async fn open_pull_by_hand(&mut self, task: &Task) {
        let run = self.newest(task).await;
        self.open_pull_of(&run).await;
    }

    pub(crate) async fn open_pull_of(&mut self, run: &Run) {
        self.order(
            async |engine| engine.create_pull(run, Some("mine".into()), None, None).await.map(drop),
            async |_| None,
        )
        .await;
    }

    /// What `pr list` does: what happened on the forge is noticed.
    pub(crate) async fn look_at_pulls(&mut self) {
        let path = self.root().join("repo");
        self.order(async |engine| engine.list_pulls(&path, None).await.map(drop), async |_| None).await;
    }

    /// `pr merge`, as it is shown; `Err`: why it was not.
    pub(crate) async fn merge(&mut self, task: &Task) -> Option<Problem> {
        let path = self.root().join("repo");
        let head_oid = self.pulls(task).await.pop().unwrap().wanted.head_oid;
        let request = MergeRequest { head_oid, rule: MergeRule::Usual, caller: None };
        let text = task.number.to_string();
        self.decide(task, async |engine| engine.merge_pull(&path, &text, request.clone()).await.map(drop)).await
    }

    pub(crate) async fn close(&mut self, task: &Task) -> Option<Problem> {
        let (path, text) = (self.root().join("repo"), task.number.to_string());
        self.decide(task, async |engine| engine.close_pull(&path, &text, None).await.map(drop)).await
    }

    pub(crate) async fn reopen(&mut self, task: &Task) -> Option<Problem> {
        let (path, text) = (self.root().join("repo"), task.number.to_string());
        self.decide(task, async |engine| engine.reopen_pull(&path, &text, None).await.map(drop)).await
    }

    /// What a person decides, however often the engine dies over it.
    async fn decide(&mut self, task: &Task, give: impl AsyncFn(&Engine) -> Result<(), Problem>) -> Option<Problem> {
        let before = self.pulls(task).await;
        loop {
            let answer = {
                let engine = self.engine.clone();
                tokio::select! {
                    answer = give(&engine) => Some(answer),
                    () = self.crashes.bell.notified() => None,
                }
            };
            if let Some(answer) = answer {
                return answer.err();
            }
            self.kill().await;
            self.settled(task).await;
            // Written down before anything of it could be done: else it has to be said again.
            let mut after = self.pulls(task).await;
            if after != before {
                return after.pop().unwrap().refused;
            }
        }
    }

    pub(crate) async fn pick(&mut self, task: &Task, run: &Run) {
        let (text, named) = (task.id.to_string(), run.spec.id.to_string());
        self.order(
            async |engine| engine.pick(&text, &named, false, None).await.map(drop),
            async |scene| (scene.store.task(task.id).await.unwrap().picked == Some(run.spec.id)).then_some(()),
        )
        .await;
    }

    /// Until something is so, however often the engine dies meanwhile.
    pub(crate) async fn until(&mut self, what: &str, is_so: impl AsyncFn(&Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        loop {
            let mut events = self.store.watch_events();
            events.borrow_and_update();
            if is_so(self).await {
                return;
            }
            assert!(Instant::now() < end, "waited in vain: {what}");
            let has_crashed = tokio::select! {
                _ = events.changed() => false,
                () = self.crashes.bell.notified() => true,
                () = tokio::time::sleep(Duration::from_secs(1)) => false,
            };
            if has_crashed {
                self.kill().await;
            }
        }
    }

    pub(crate) async fn running(&mut self, task: &Task) -> Run {
        self.until("the agent runs", async |scene| scene.newest(task).await.status() == Status::Running).await;
        self.newest(task).await
    }

    /// The newest run once nothing is left to do for it, and for its pull request.
    pub(crate) async fn settled(&mut self, task: &Task) -> Run {
        self.until("it is settled", async |scene| {
            let pulls = scene.pulls(task).await;
            scene.runs(task).await.iter().all(Run::is_settled) && !pulls.iter().any(Pull::is_pending)
        })
        .await;
        // Simulated: the clock goes on only once nobody has anything left to do, so this is the end of all that follows from the
        // last fact, however busy the machine is. A point may come after it.
        tokio::time::sleep(Duration::from_millis(100)).await;
        if self.crashes.bell.notified().now_or_never_is_some() {
            self.kill().await;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        self.newest(task).await
    }

    /// What must hold at the end of every story.
    pub(crate) async fn assert_sound(&mut self) {
        tokio::time::sleep(Duration::from_secs(2)).await;
        if self.crashes.bell.notified().now_or_never_is_some() {
            self.kill().await;
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
        assert!(
            !self.crashes.is_armed() || self.crashes.is_passed_by(),
            "the engine never came to the point it was to end at"
        );
        assert_eq!(self.world.alive(), 0, "processes are left");
        assert_eq!(self.store.walked::<Run>(self.host).await.unwrap(), [], "runs that nobody has finished");
        assert_eq!(self.store.walked::<Pull>(self.host).await.unwrap(), [], "pull requests nobody has finished");
        assert_eq!(self.engine.live_count(), 0);
        let notices = self.engine.notices();
        assert!(notices.is_empty(), "{notices:?}");
        let world = self.world.lock();
        let twice: Vec<_> = world.starts.iter().filter(|(_, count)| **count > 1).collect();
        assert!(twice.is_empty(), "started twice: {twice:?}");
        let branches: Vec<&String> = world.branches.keys().filter(|name| *name != "main").collect();
        for path in world.worktrees.keys() {
            let key = path.file_name().unwrap();
            assert!(branches.iter().any(|branch| branch.ends_with(key)), "a worktree without a branch: {path}");
        }
    }
}

trait NowOrNever {
    fn now_or_never_is_some(self) -> bool;
}

impl<F: Future<Output = ()>> NowOrNever for F {
    fn now_or_never_is_some(self) -> bool {
        futures_util::FutureExt::now_or_never(self).is_some()
    }
}

async fn start(
    store: &Store,
    host: HostId,
    world: &Arc<World>,
    clock: &Arc<SimulatedClock>,
    ids: &Arc<CountedIds>,
    crashes: &Arc<Crashes>,
    root: &camino::Utf8Path,
) -> Engine {
    let stand = Stand {
        store: store.clone(),
        host,
        edges: Edges { git: world.clone(), host: world.clone(), forge: world.clone(), notify: world.clone() },
        clock: clock.clone(),
        ids: ids.clone(),
        crashes: crashes.clone(),
    };
    let path = format!("{}:/usr/bin:/bin", root.join("bin"));
    let env =
        Env::from_pairs([("PATH", path.as_str()), ("HOME", root.join("home").as_str()), ("ANTHROPIC_API_KEY", "none")]);
    let options = EngineOptions {
        layout: Layout::at(root.join("state")),
        env,
        user_config: root.join("config.toml"),
        dandori: root.join("bin/dandori"),
        words: |_, _, _| NewsWords { title: "t".into(), message: "m".into(), command: None },
        formation_words: |_, _, what| format!("{what:?}"),
    };
    Engine::start_on(stand, options).await.unwrap()
}
