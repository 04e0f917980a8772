//! The daemon's side: launch a shim, find out what became of one, wait for it, stop it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::Signal;

use super::leftovers::end_leftovers;
use super::record::{
    Answer, EXIT, ExitRecord, LAUNCH, LOCK, LaunchOrder, SHIM_LOG, STARTED, STOP, Started, StopOrder, Why, had_launch,
    keep, load, put,
};
use crate::Env;
use crate::fenced::Streams;
use crate::process::{self, StillAlive, timespec};
use crate::sandbox::SandboxPolicy;

/// A start takes milliseconds; on a machine that is out of breath, seconds.
const START_LIMIT: Duration = Duration::from_secs(30);
/// What the shim itself may need beyond the grace: SIGTERM's turn, the end of all descendants, the record.
const STOP_MARGIN: Duration = Duration::from_secs(15);

/// Shims that this process started. They outlive us if need be; while we live, their ends must be asked for once.
static CHILDREN: Mutex<Vec<Child>> = Mutex::new(Vec::new());

#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// Not one instruction of the agent ran, and none will in this folder.
    #[error("cannot start the agent: {detail}")]
    NotStarted { detail: String },
    #[error("a sandbox is required but not available: {reason}")]
    SandboxMissing { reason: String },
    /// This folder has had its launch, or is having it: [`probe`] tells what became of it.
    #[error("this run was already launched")]
    AlreadyStarted,
    /// The shim went wrong and was ended with all it started; [`probe`] tells how far it had come.
    #[error("the supervisor did not respond within {seconds} s and was stopped: {detail}")]
    Unclear { seconds: u64, detail: String },
    /// The shim is this program itself: it was moved or removed while the daemon ran.
    #[error("{program} does not exist")]
    ProgramGone { program: Utf8PathBuf },
    #[error("cannot start the supervisor: {source}")]
    Io {
        #[source]
        source: io::Error,
    },
}

#[derive(Debug, thiserror::Error)]
pub enum ShimError {
    #[error("cannot read or write the records of the run in {run_dir}")]
    Io {
        run_dir: String,
        #[source]
        source: io::Error,
    },
    #[error(transparent)]
    StillAlive(#[from] StillAlive),
}

/// What is known about a run's folder.
#[derive(Clone, PartialEq, Debug)]
pub enum Probe {
    /// Nothing was launched here. [`seal`] the folder before concluding that nothing will be.
    NeverStarted,
    Alive(Started),
    /// It is over and nothing of it is left.
    Ended(ExitRecord),
    /// The shim is gone without a word: [`end_leftovers`], then judge by the output.
    Lost(Option<Started>),
}

/// What was started in this folder, whatever became of it.
pub fn started(run_dir: &Utf8Path) -> Option<Started> {
    load(run_dir, STARTED).ok().flatten()
}

/// Behind which fence.
pub fn policy(run_dir: &Utf8Path) -> Option<SandboxPolicy> {
    load::<LaunchOrder>(run_dir, LAUNCH).ok().flatten().map(|order| order.sandbox)
}

/// What the files of a folder tell of its launch, for whoever only reads.
#[derive(Clone, PartialEq, Debug)]
pub struct Told {
    pub argv: Vec<String>,
    pub started: Option<Started>,
    pub ended: Option<ExitRecord>,
}

/// `None` where nothing was to be launched (yet).
pub fn told(run_dir: &Utf8Path) -> Option<Told> {
    // The end is read first: whoever sees it sees the start as well.
    let ended = load(run_dir, EXIT).ok().flatten();
    let order = load::<LaunchOrder>(run_dir, LAUNCH).ok().flatten()?;
    Some(Told { argv: order.argv, started: started(run_dir), ended })
}

/// Writes the order, starts a shim that does not depend on us, and waits until the agent runs or cannot.
///
/// `program` is the `dandori` binary, `env` the shim's own environment (the agent gets the order's alone). The order
/// is not synced to disk: after a power cut the store still knows the intent and writes it anew.
pub fn launch(run_dir: &Utf8Path, order: &LaunchOrder, program: &Utf8Path, env: &Env) -> Result<Started, LaunchError> {
    reap_children();
    let io = |source| LaunchError::Io { source };
    if had_launch(run_dir) {
        return Err(LaunchError::AlreadyStarted);
    }
    put(run_dir, LAUNCH, order).map_err(io)?;
    let mut child = spawn(run_dir, program, env).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound if !program.exists() => LaunchError::ProgramGone { program: program.to_owned() },
        _ => LaunchError::Io { source },
    })?;
    let line = child.stdout.take().map_or(Ok(None), |pipe| read_line(pipe, Instant::now() + START_LIMIT));
    if let Ok(Some(line)) = line {
        adopt(child);
        return judge(&line);
    }
    let _ = child.kill();
    let status = child.wait().map_err(io)?;
    // The agent dies with its shim; what it may have started by then does not.
    let _ = end_leftovers(&order.run, run_dir, &order.cwd);
    Err(LaunchError::Unclear { seconds: START_LIMIT.as_secs(), detail: last_words(run_dir, &status.to_string()) })
}

/// Writes the order for a client in a pane; these words start its shim there. How it went is asked by [`probe`].
///
/// The shim is the pane's own process, and the client is its child: when the pane or all of tmux is gone, the shim is told by
/// the hang-up of its terminal and ends the client with all that it has started.
pub fn in_pane(run_dir: &Utf8Path, order: &LaunchOrder, program: &Utf8Path) -> Result<Vec<String>, LaunchError> {
    if had_launch(run_dir) {
        return Err(LaunchError::AlreadyStarted);
    }
    let order = LaunchOrder { streams: Streams::Terminal, ..order.clone() };
    put(run_dir, LAUNCH, &order).map_err(|source| LaunchError::Io { source })?;
    Ok([program.as_str(), "shim", run_dir.as_str()].map(str::to_owned).into())
}

/// What became of the run in this folder. A shim that is just starting is waited for, briefly.
pub fn probe(run_dir: &Utf8Path) -> Result<Probe, ShimError> {
    reap_children();
    let io = |source| ShimError::Io { run_dir: run_dir.to_string(), source };
    let until = Instant::now() + START_LIMIT;
    loop {
        let is_held = match try_lock(run_dir) {
            // No folder, no launch.
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Probe::NeverStarted),
            lock => lock.map_err(io)?.is_none(),
        };
        // Read after the lock: a shim writes its record before it lets go.
        if let Some(record) = load(run_dir, EXIT).map_err(io)? {
            return Ok(Probe::Ended(record));
        }
        let started: Option<Started> = load(run_dir, STARTED).map_err(io)?;
        match (is_held, started) {
            (true, Some(started)) => return Ok(Probe::Alive(started)),
            (false, None) => return Ok(Probe::NeverStarted),
            (true, None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
            (_, started) => return Ok(Probe::Lost(started)),
        }
    }
}

/// Makes sure that nothing is ever launched in a folder that was never launched in, a shim still on its way
/// included. Says what the folder is now: `Ended` with [`Why::NotStarted`], or what it was already.
pub(crate) fn seal(run_dir: &Utf8Path, reason: &str) -> Result<Probe, ShimError> {
    let io = |source| ShimError::Io { run_dir: run_dir.to_string(), source };
    std::fs::create_dir_all(run_dir).map_err(io)?;
    loop {
        if let Some(lock) = try_lock(run_dir).map_err(io)?
            && !had_launch(run_dir)
        {
            let record = ExitRecord::not_started(Why::NotStarted { detail: reason.to_owned() });
            keep(run_dir, EXIT, &record).map_err(io)?;
            let _ = std::fs::remove_file(run_dir.join(LAUNCH));
            drop(lock);
            return Ok(Probe::Ended(record));
        }
        match probe(run_dir)? {
            // Somebody held the lock for an instant without launching anything.
            Probe::NeverStarted => {}
            known => return Ok(known),
        }
    }
}

/// Ends the run of this folder: asks the shim, which asks the agent; ends them all when that does not help.
///
/// Afterwards nothing of it lives and nothing will: `Ended`, or `Lost` when force was needed. A folder that never
/// saw a launch is sealed.
pub fn stop(run_dir: &Utf8Path, reason: &str, grace: Duration) -> Result<Probe, ShimError> {
    let state = match seal(run_dir, reason)? {
        Probe::Alive(started) => {
            ask_to_stop(run_dir, &started, reason, grace);
            probe(run_dir)?
        }
        over => over,
    };
    match state {
        // Gone without a record, or deaf to what it was asked.
        Probe::Lost(_) | Probe::Alive(_) => {
            force(run_dir)?;
            probe(run_dir)
        }
        over => Ok(over),
    }
}

fn ask_to_stop(run_dir: &Utf8Path, started: &Started, reason: &str, grace: Duration) {
    // Without the file the shim still stops, for "a signal" and with the grace of its order.
    let _ = keep(run_dir, STOP, &StopOrder { reason: reason.to_owned(), grace_seconds: grace.as_secs() });
    if let Some(held) = process::hold(&started.shim) {
        process::signal(&started.shim, Signal::TERM);
        process::wait_gone(&held, grace.saturating_add(STOP_MARGIN));
    }
}

fn force(run_dir: &Utf8Path) -> Result<(), ShimError> {
    let order: Option<LaunchOrder> = load(run_dir, LAUNCH).ok().flatten();
    let (run, worktree) = order.map_or_else(Default::default, |o| (o.run, o.cwd));
    end_leftovers(&run, run_dir, &worktree)?;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the shim has no deadline and must not end with us; Cmd is for tools")]
fn spawn(run_dir: &Utf8Path, program: &Utf8Path, env: &Env) -> io::Result<Child> {
    let log = OpenOptions::new().append(true).create(true).mode(0o600).open(run_dir.join(SHIM_LOG))?;
    std::process::Command::new(program)
        .args(["shim", run_dir.as_str()])
        .env_clear()
        .envs(env.iter())
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
}

/// One line, or `None` when the other end closed or the time was up first.
fn read_line(mut pipe: impl Read + std::os::fd::AsFd, until: Instant) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let mut fds = [PollFd::new(&pipe, PollFlags::IN)];
        match poll(&mut fds, Some(&timespec(left))) {
            Ok(0) => return Ok(None),
            Err(rustix::io::Errno::INTR) => continue,
            Err(e) => return Err(e.into()),
            Ok(_) => {}
        }
        let mut chunk = [0u8; 4096];
        let count = pipe.read(&mut chunk)?;
        line.extend_from_slice(chunk.get(..count).unwrap_or_default());
        if let Some(end) = line.iter().position(|b| *b == b'\n') {
            line.truncate(end);
            return Ok(String::from_utf8(line).ok());
        }
        if count == 0 {
            return Ok(None);
        }
    }
}

fn judge(line: &str) -> Result<Started, LaunchError> {
    match serde_json::from_str(line) {
        Ok(Answer::Started { started }) => Ok(*started),
        Ok(Answer::AlreadyStarted | Answer::AnotherLives) => Err(LaunchError::AlreadyStarted),
        Ok(Answer::NotStarted { detail }) => Err(LaunchError::NotStarted { detail }),
        Ok(Answer::NoSandbox { reason }) => Err(LaunchError::SandboxMissing { reason }),
        Err(e) => Err(LaunchError::Unclear { seconds: 0, detail: format!("{e}: {line}") }),
    }
}

/// What the shim left on its standard error, or how it ended.
fn last_words(run_dir: &Utf8Path, status: &str) -> String {
    let log = std::fs::read_to_string(run_dir.join(SHIM_LOG)).unwrap_or_default();
    let words = crate::cmd::last_lines(log.trim(), 6);
    if words.is_empty() { status.to_owned() } else { format!("{status}: {words}") }
}

/// The lock if nobody has it, `None` if somebody has. Let go when dropped.
fn try_lock(run_dir: &Utf8Path) -> io::Result<Option<File>> {
    let path = run_dir.join(LOCK);
    let lock = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path)?;
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(e)) => Err(e),
    }
}

fn adopt(child: Child) {
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner).push(child);
}

/// Asks for the ends of our shims, so that none stays a zombie.
pub fn reap_children() {
    let mut children = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
    children.retain_mut(|child| !matches!(child.try_wait(), Ok(Some(_)) | Err(_)));
}
