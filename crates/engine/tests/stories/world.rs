//! A stand-in for git, the host and the forge, that outlives the engines which are killed in it. It keeps the promises of
//! the edges: what is asked for again is found, not done again. Whatever must happen once is counted.

mod forge;
mod git;
mod host;
mod notify;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Oid;
use dandori_engine::PullRecord;
use dandori_host::shim::{ExitRecord, OUTPUT, Started, VERSION, Why};
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};
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
    /// The second parents of merges.
    pub(crate) merges: HashMap<Oid, Oid>,
    pub(crate) branches: BTreeMap<String, Oid>,
    pub(crate) remote: BTreeMap<String, Oid>,
    pub(crate) worktrees: BTreeMap<Utf8PathBuf, Files>,
    /// The commit each was kept on, and the files.
    pub(crate) preserved: BTreeMap<String, (Oid, Files)>,
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
    /// The remote is there, and nobody can reach it from here.
    pub(crate) no_remote: bool,
    /// How often a colleague is faster with a push to the base than a merge is.
    pub(crate) overtakes_merges: u32,
    /// The remote takes no merge.
    pub(crate) merge_says_no: bool,
    /// Pull requests are on a forge that merges itself.
    pub(crate) forge_merges: bool,
    /// How often the base really went somewhere.
    pub(crate) merged: u32,
    /// What people were told, in the order it came.
    pub(crate) told: Vec<serde_json::Value>,
    /// How often somebody was about to tell.
    pub(crate) tellings: u32,
    /// Where telling stops: before anybody has heard, or after.
    pub(crate) telling_hangs: Option<Hangs>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hangs {
    Before,
    After,
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
        self.lock().push_by_colleague(branch, file);
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

    pub(crate) fn has_ancestor(&self, tip: &Oid, wanted: &Oid) -> bool {
        self.history(Some(tip))
            .any(|oid| oid == wanted || self.merges.get(oid).is_some_and(|second| self.has_ancestor(second, wanted)))
    }

    /// Files that both have changed since main, and differently.
    pub(crate) fn disputed(&self, ours: &Oid, theirs: &Oid) -> Vec<String> {
        if self.has_ancestor(theirs, ours) {
            return Vec::new();
        }
        let (base, ours, theirs) = (self.files_of(&self.branches["main"]), self.files_of(ours), self.files_of(theirs));
        let is_disputed = |name: &&String| {
            let (was, mine, yours) = (base.get(*name), ours.get(*name), theirs.get(*name));
            mine.is_some() && mine != was && yours != was && mine != yours
        };
        theirs.keys().filter(is_disputed).cloned().collect()
    }

    fn push_by_colleague(&mut self, branch: &str, file: &str) {
        let tip = self.remote.get(branch).or(self.remote.get("main")).cloned().unwrap();
        let mut files = self.files_of(&tip);
        files.insert(file.to_owned(), "theirs".to_owned());
        let theirs = self.commit(Some(tip), files, "theirs");
        self.remote.insert(branch.to_owned(), theirs);
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
        let session = args.windows(2).find(|w| w[0] == "--session-id" || w[0] == "--resume").map(|w| w[1].clone());
        let init = |session: &str| {
            format!(r#"{{"type":"system","subtype":"init","session_id":"{session}","model":"m","tools":[]}}"#)
        };
        if script.contains("says-hello") {
            let session = session.unwrap_or_default();
            let init = init(&session);
            let result = format!(
                r#"{{"type":"result","subtype":"success","is_error":false,"result":"all done","session_id":"{session}"}}"#
            );
            std::fs::write(folder.join(OUTPUT), format!("{init}\n{result}\n")).unwrap();
            edit("work.txt", &session);
            return done();
        }
        if script.contains("own-file") {
            edit(&format!("{}.txt", cwd.file_name().unwrap()), "own");
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
            if let Some(session) = session {
                std::fs::write(folder.join(OUTPUT), format!("{}\n", init(&session))).unwrap();
            }
            return None;
        }
        done()
    }
}
