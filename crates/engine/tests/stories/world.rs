//! A stand-in for git, the host and the forge, that outlives the engines which are killed in it. It keeps the promises of
//! the edges: what is asked for again is found, not done again. Whatever must happen once is counted.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_config::Config;
use dandori_domain::pull::{PullState, PullWanted};
use dandori_domain::run::{
    BranchFate, Changes, Commit, Fact, Intent, Note, PlannedCommit, PlannedWorktree, Preserved, ProcessRef, Run,
    RunKind, Sandbox, Work, Workspace,
};
use dandori_domain::task::Repo;
use dandori_domain::{Failure, Finding, Oid, Problem, WorktreeKey};
use dandori_engine::edges::{Earlier, ForgeEdge, GitEdge, HostEdge, MakeAnswer, PushOutcome, Site};
use dandori_engine::{PullRecord, StepError};
use dandori_git::Conflict;
use dandori_host::shim::{ExitRecord, LaunchError, LaunchOrder, OUTPUT, Probe, Started, VERSION, Why};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use tokio::sync::Notify;

type Files = BTreeMap<String, String>;

#[derive(Default)]
pub(crate) struct World {
    inner: Mutex<Inner>,
    /// Rung when a process ends.
    ended: Arc<Notify>,
    /// Rung when the forge answers those it has kept waiting.
    answers: Notify,
}

#[derive(Default)]
pub(crate) struct Inner {
    pub(crate) root: Utf8PathBuf,
    pub(crate) trees: HashMap<Oid, Files>,
    /// Parent and tree.
    pub(crate) commits: HashMap<Oid, (Option<Oid>, Oid)>,
    pub(crate) branches: BTreeMap<String, Oid>,
    pub(crate) remote: BTreeMap<String, Oid>,
    pub(crate) worktrees: BTreeMap<Utf8PathBuf, Files>,
    pub(crate) preserved: BTreeMap<String, Files>,
    processes: BTreeMap<Utf8PathBuf, Process>,
    pub(crate) pulls: Vec<PullRecord>,
    /// How often an agent or a set-up command was really started, by its folder.
    pub(crate) starts: BTreeMap<Utf8PathBuf, u32>,
    pub(crate) forge_says_no: bool,
    /// The forge does not answer before it is told to.
    pub(crate) forge_waits: bool,
    pub(crate) puts_begun: u32,
    pub(crate) worktree_says_no: bool,
    pub(crate) conflicts: bool,
    pub(crate) main_is_dirty: bool,
}

struct Process {
    started: Started,
    cwd: Utf8PathBuf,
    ended: Option<ExitRecord>,
}

fn hash(parts: &str) -> Oid {
    let digest = format!("{:x}", Sha256::digest(parts));
    Oid::new(&digest[..40])
}

fn record(code: Option<i32>, signal: Option<i32>, why: Why) -> ExitRecord {
    ExitRecord {
        version: VERSION,
        code,
        signal,
        why,
        at: Timestamp::UNIX_EPOCH,
        output_bytes: 0,
        dropped_bytes: 0,
        ended_descendants: 0,
    }
}

impl World {
    pub(crate) fn new(root: &Utf8Path) -> Self {
        let world = Self::default();
        {
            let mut inner = world.lock();
            inner.root = root.to_owned();
            let base = inner.commit(None, Files::from([("README.md".into(), "demo".into())]), "first");
            inner.branches.insert("main".into(), base.clone());
            inner.remote.insert("main".into(), base);
        }
        world
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }

    /// Somebody else pushes to a branch.
    pub(crate) fn colleague_pushes(&self, branch: &str, file: &str) {
        let mut inner = self.lock();
        let tip = inner.remote.get(branch).or(inner.remote.get("main")).cloned().unwrap();
        let mut files = inner.files_of(&tip);
        files.insert(file.to_owned(), "theirs".to_owned());
        let theirs = inner.commit(Some(tip), files, "theirs");
        inner.remote.insert(branch.to_owned(), theirs);
    }

    /// The agents that wait are done.
    pub(crate) fn let_agents_end(&self) {
        let mut inner = self.lock();
        let alive: Vec<Utf8PathBuf> =
            inner.processes.iter().filter(|(_, p)| p.ended.is_none()).map(|(folder, _)| folder.clone()).collect();
        for folder in alive {
            inner.end(&folder, record(Some(0), None, Why::Ended));
        }
        drop(inner);
        self.ended.notify_waiters();
    }

    pub(crate) fn let_forge_answer(&self) {
        self.lock().forge_waits = false;
        self.answers.notify_waiters();
    }

    pub(crate) fn alive(&self) -> usize {
        self.lock().processes.values().filter(|p| p.ended.is_none()).count()
    }
}

impl Inner {
    fn commit(&mut self, parent: Option<Oid>, files: Files, message: &str) -> Oid {
        let tree = hash(&format!("{files:?}"));
        self.trees.insert(tree.clone(), files);
        self.commit_tree(parent, tree, message)
    }

    fn commit_tree(&mut self, parent: Option<Oid>, tree: Oid, message: &str) -> Oid {
        let oid = hash(&format!("{parent:?} {tree} {message}"));
        self.commits.insert(oid.clone(), (parent, tree));
        oid
    }

    pub(crate) fn files_of(&self, commit: &Oid) -> Files {
        self.trees[&self.commits[commit].1].clone()
    }

    /// A commit and all before it, newest first.
    fn history(&self, tip: Option<&Oid>) -> impl Iterator<Item = &Oid> {
        let known = |oid: &Oid| self.commits.get_key_value(oid).map(|(oid, _)| oid);
        std::iter::successors(tip.and_then(known), move |oid| self.commits[*oid].0.as_ref())
    }

    /// The commits of a branch of the remote beyond main.
    pub(crate) fn published(&self, branch: &str) -> Vec<Oid> {
        let main = self.remote.get("main");
        self.history(self.remote.get(branch)).take_while(|oid| Some(*oid) != main).cloned().collect()
    }

    fn has_ancestor(&self, tip: &Oid, wanted: &Oid) -> bool {
        self.history(Some(tip)).any(|oid| oid == wanted)
    }

    fn end(&mut self, folder: &Utf8Path, how: ExitRecord) {
        if let Some(process) = self.processes.get_mut(folder) {
            process.ended.get_or_insert(how);
        }
    }

    /// What a script does at once; `None`: it goes on until somebody ends it.
    fn play(&mut self, script: &str, cwd: &Utf8Path, folder: &Utf8Path, args: &[String]) -> Option<ExitRecord> {
        let done = || Some(record(Some(0), None, Why::Ended));
        let mut edit = |file: &str, text: &str| {
            self.worktrees.entry(cwd.to_owned()).or_default().insert(file.to_owned(), text.to_owned());
        };
        if script.contains("says-hello") {
            let session = args.windows(2).find(|w| w[0] == "--session-id" || w[0] == "--resume").map(|w| w[1].clone());
            let session = session.unwrap_or_default();
            let init =
                format!(r#"{{"type":"system","subtype":"init","session_id":"{session}","model":"m","tools":[]}}"#);
            let result = format!(
                r#"{{"type":"result","subtype":"success","is_error":false,"result":"all done","session_id":"{session}"}}"#
            );
            std::fs::write(folder.join(OUTPUT), format!("{init}\n{result}\n")).unwrap();
            edit("work.txt", &session);
            return done();
        }
        if script.contains("edits") {
            edit("work.txt", script);
            return done();
        }
        if script.contains("leaks") {
            edit(".env", "secret");
            return done();
        }
        if script.contains("fails") {
            edit("half.txt", "half");
            return Some(record(Some(3), None, Why::Ended));
        }
        if script.contains("waits") {
            edit("work.txt", "waits");
            return None;
        }
        done()
    }
}

impl GitEdge for World {
    fn discover(&self, _path: &Utf8Path) -> Result<(Utf8PathBuf, Utf8PathBuf), Problem> {
        let root = self.lock().root.clone();
        Ok((root.clone(), root.join(".git")))
    }

    fn require_ready(&self, _site: &Site, _base: Option<&str>) -> Result<(), Problem> {
        Ok(())
    }

    fn require_identity(&self, _site: &Site) -> Result<(), Problem> {
        Ok(())
    }

    fn is_gone(&self, _repo: &Repo) -> bool {
        false
    }

    fn plan(&self, _site: &Site, run: &Run) -> Result<Vec<Fact>, StepError> {
        let inner = self.lock();
        let mut facts = Vec::new();
        let workspace = match &run.spec.kind {
            RunKind::First => {
                if inner.main_is_dirty {
                    facts.push(Fact::Noted { note: Note::MainCheckoutDirty { files: 1 } });
                }
                let key = WorktreeKey::from(run.spec.id.key());
                let base = inner.branches["main"].clone();
                Workspace {
                    path: inner.root.join("worktrees").join(key.as_str()),
                    branch: format!("dandori/{key}"),
                    key,
                    base: "main".into(),
                    base_oid: base.clone(),
                    ours_after: base,
                }
            }
            RunKind::FollowUp { workspace, .. } => {
                let tip = inner.branches.get(&workspace.branch).or(inner.remote.get(&workspace.branch)).cloned();
                if !inner.worktrees.contains_key(&workspace.path) {
                    facts.push(Fact::Noted { note: Note::WorktreeRemade });
                }
                Workspace { base_oid: tip.unwrap_or_else(|| workspace.base_oid.clone()), ..workspace.clone() }
            }
        };
        let planned = PlannedWorktree { workspace, arrival: None };
        facts.push(Fact::Intended { intent: Intent::Worktree(planned) });
        Ok(facts)
    }

    fn make(
        &self,
        _site: &Site,
        _run: &Run,
        planned: &PlannedWorktree,
        _left: &Earlier,
    ) -> Result<MakeAnswer, StepError> {
        let mut inner = self.lock();
        if inner.worktree_says_no {
            return Err(Failure::Worktree { reason: "no".into() }.into());
        }
        let workspace = planned.workspace.clone();
        let was_there = inner.worktrees.contains_key(&workspace.path);
        if !was_there {
            let files = inner.files_of(&workspace.base_oid);
            inner.worktrees.insert(workspace.path.clone(), files);
            inner.branches.insert(workspace.branch.clone(), workspace.base_oid.clone());
        }
        Ok(MakeAnswer::Made { workspace, from_pool: false, was_there, facts: Vec::new() })
    }

    fn conflict(&self, _site: &Site, _workspace: &Workspace) -> Result<Option<Conflict>, StepError> {
        Ok(None)
    }

    fn remember_config(&self, _site: &Site, _run: &Run) -> Result<(), StepError> {
        Ok(())
    }

    fn stage(&self, _site: &Site, _run: &Run, work: &Work) -> Result<Vec<Fact>, StepError> {
        let mut inner = self.lock();
        let workspace = &work.workspace;
        let files = inner.worktrees[&workspace.path].clone();
        if files.contains_key(".env") {
            let findings = vec![Finding::ForbiddenPath { path: ".env".into(), pattern: ".env".into() }];
            return Err(Failure::Tampered { findings }.into());
        }
        let changed = files != inner.files_of(&workspace.base_oid);
        let tree = hash(&format!("{files:?}"));
        inner.trees.insert(tree.clone(), files);
        let changes = changed.then_some(Changes { files: 1, insertions: 1, deletions: 0 });
        Ok(vec![Fact::Staged { tree, parent: workspace.base_oid.clone(), changes }])
    }

    fn commit(&self, _site: &Site, workspace: &Workspace, planned: &PlannedCommit) -> Result<Oid, StepError> {
        let mut inner = self.lock();
        let PlannedCommit { tree, parent, message, at } = planned;
        let oid = inner.commit_tree(Some(parent.clone()), tree.clone(), &format!("{message} {at}"));
        let tip = inner.branches[&workspace.branch].clone();
        assert!(tip == *parent || tip == oid, "somebody else's commit on the branch");
        inner.branches.insert(workspace.branch.clone(), oid.clone());
        Ok(oid)
    }

    fn push(&self, _site: &Site, run: &Run, workspace: &Workspace, commit: &Commit) -> Result<PushOutcome, StepError> {
        let mut inner = self.lock();
        let branch = &workspace.branch;
        let theirs = inner.remote.get(branch).cloned();
        match theirs {
            Some(theirs) if !inner.has_ancestor(&commit.oid, &theirs) => {
                if inner.conflicts {
                    return Err(Failure::PushConflict { files: vec!["work.txt".into()] }.into());
                }
                if commit.rebased >= run.spec.settings.push_retries {
                    return Err(Failure::PushOvertaken { retries: commit.rebased }.into());
                }
                let mut files = inner.files_of(&theirs);
                files.extend(inner.files_of(&commit.oid));
                let oid = inner.commit(Some(theirs.clone()), files, "rebased");
                inner.branches.insert(branch.clone(), oid.clone());
                Ok(PushOutcome::Rebased { onto: theirs, oid })
            }
            _ => {
                inner.remote.insert(branch.clone(), commit.oid.clone());
                Ok(PushOutcome::Pushed)
            }
        }
    }

    fn preserve(&self, _site: &Site, run: &Run, workspace: &Workspace) -> Result<Option<Preserved>, Problem> {
        let mut inner = self.lock();
        let Some(files) = inner.worktrees.get(&workspace.path).cloned() else { return Ok(None) };
        let tip = inner.branches.get(&workspace.branch).cloned();
        if tip.is_some_and(|tip| inner.files_of(&tip) == files) {
            return Ok(None);
        }
        let reference = format!("refs/dandori/preserved/{}", run.spec.id.key());
        let oid = hash(&format!("{files:?}"));
        inner.preserved.insert(reference.clone(), files);
        Ok(Some(Preserved { reference, oid }))
    }

    fn remove(&self, _site: &Site, workspace: &Workspace, fate: BranchFate) -> Result<(), Problem> {
        let mut inner = self.lock();
        inner.worktrees.remove(&workspace.path);
        if fate == BranchFate::Delete {
            inner.branches.remove(&workspace.branch);
        }
        Ok(())
    }
}

impl HostEdge for World {
    fn sandbox(&self) -> Sandbox {
        Sandbox::None { reason: "a story".into() }
    }

    fn free_disk(&self, _path: &Utf8Path) -> std::io::Result<u64> {
        Ok(1 << 40)
    }

    fn available_memory(&self) -> Option<u64> {
        None
    }

    fn launch(&self, folder: &Utf8Path, order: &LaunchOrder) -> Result<Started, LaunchError> {
        let mut inner = self.lock();
        if inner.processes.contains_key(folder) {
            return Err(LaunchError::AlreadyStarted);
        }
        let pid = 1000 + u32::try_from(inner.processes.len()).unwrap();
        let process = ProcessRef { pid, started: 1, boot: "story".into() };
        let started = Started {
            version: VERSION,
            shim: process.clone(),
            agent: process,
            sandbox: order.sandbox_in_story(),
            at: Timestamp::UNIX_EPOCH,
        };
        *inner.starts.entry(folder.to_owned()).or_default() += 1;
        let script = order.argv.join(" ");
        let ended = inner.play(&script, &order.cwd, folder, &order.argv);
        let process = Process { started: started.clone(), cwd: order.cwd.clone(), ended };
        inner.processes.insert(folder.to_owned(), process);
        drop(inner);
        self.ended.notify_waiters();
        Ok(started)
    }

    fn started(&self, folder: &Utf8Path) -> Option<Started> {
        self.lock().processes.get(folder).map(|process| process.started.clone())
    }

    fn probe(&self, folder: &Utf8Path) -> Result<Probe, String> {
        let inner = self.lock();
        Ok(match inner.processes.get(folder) {
            None => Probe::NeverStarted,
            Some(Process { ended: Some(record), .. }) => Probe::Ended(record.clone()),
            Some(process) => Probe::Alive(process.started.clone()),
        })
    }

    fn stop(&self, folder: &Utf8Path, reason: &str, _grace: Duration) -> Result<(), String> {
        let mut inner = self.lock();
        if inner.processes.contains_key(folder) {
            inner.end(folder, record(None, Some(15), Why::Stopped { reason: reason.to_owned() }));
        }
        drop(inner);
        self.ended.notify_waiters();
        Ok(())
    }

    fn watch(&self, process: ProcessRef) -> BoxFuture<'static, ()> {
        let bell = Arc::clone(&self.ended);
        let is_over = {
            let inner = self.lock();
            inner.processes.values().any(|p| p.started.shim == process && p.ended.is_some())
        };
        async move {
            if !is_over {
                bell.notified().await;
            }
        }
        .boxed()
    }

    fn end_leftovers(&self, _run: &str, _folder: &Utf8Path, tree: &Utf8Path) -> Result<(), String> {
        let mut inner = self.lock();
        for process in inner.processes.values_mut().filter(|p| p.cwd == tree) {
            process.ended.get_or_insert(record(None, Some(9), Why::Ended));
        }
        Ok(())
    }
}

/// What a story's processes are behind.
trait InStory {
    fn sandbox_in_story(&self) -> Sandbox;
}

impl InStory for LaunchOrder {
    fn sandbox_in_story(&self) -> Sandbox {
        Sandbox::None { reason: "a story".into() }
    }
}

impl ForgeEdge for World {
    fn put<'a>(
        &'a self,
        _site: &'a Site,
        _config: &'a Config,
        wanted: &'a PullWanted,
    ) -> BoxFuture<'a, Result<PullRecord, Problem>> {
        async move {
            let waits = {
                let mut inner = self.lock();
                inner.puts_begun += 1;
                inner.forge_waits
            };
            if waits {
                self.answers.notified().await;
            }
            let mut inner = self.lock();
            if inner.forge_says_no {
                return Err(Problem::ForgeRefused { reason: "no".into() });
            }
            let has_it = inner.remote.get(&wanted.head).is_some_and(|tip| inner.has_ancestor(tip, &wanted.head_oid));
            assert!(has_it, "a pull request of what is not there");
            let open = |p: &&mut PullRecord| p.draft.head == wanted.head && p.state == PullState::Open;
            if let Some(open) = inner.pulls.iter_mut().find(open) {
                open.commit = Some(wanted.head_oid.to_string());
                return Ok(open.clone());
            }
            let number = inner.pulls.len() as u64 + 1;
            let pull = PullRecord {
                number,
                url: format!("story:{number}"),
                draft: wanted.draft(),
                state: PullState::Open,
                commit: Some(wanted.head_oid.to_string()),
                forge: "local",
                run: Some(wanted.run),
                created_at: wanted.at,
            };
            inner.pulls.push(pull.clone());
            Ok(pull)
        }
        .boxed()
    }

    fn list<'a>(&'a self, _: &'a Site, _: &'a Config) -> BoxFuture<'a, Result<Vec<PullRecord>, Problem>> {
        async move { Ok(self.lock().pulls.clone()) }.boxed()
    }

    fn show<'a>(&'a self, _: &'a Site, _: &'a Config, number: u64) -> BoxFuture<'a, Result<PullRecord, Problem>> {
        async move {
            let found = self.lock().pulls.iter().find(|pull| pull.number == number).cloned();
            found.ok_or(Problem::NoSuchPull { number })
        }
        .boxed()
    }
}
