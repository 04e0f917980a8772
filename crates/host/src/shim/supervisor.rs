//! The shim's own life: take the folder, start the agent, wait, end everything, write it down.
//!
//! One thread, no runtime, one `poll` for all it waits for: its children (SIGCHLD), a request to stop (SIGTERM,
//! SIGINT, SIGHUP), the agent's outputs, and the clock. It is the subreaper of the run: whatever loses its parent
//! becomes its child, so "no child left" means that nothing of the run is left.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use dandori_domain::run::Sandbox;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process_group, set_child_subreaper, setsid, wait,
};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use super::output::{Outputs, Stream};
use super::record::{
    Answer, EXIT, ExecStep, ExitRecord, LAUNCH, LOCK, LaunchOrder, OUTPUT, RUN_MARKER, STARTED, STDERR, STOP, Started,
    StopOrder, VERSION, Why, had_launch, keep, load, put,
};
use crate::process::{self, Table, timespec};

/// After SIGTERM; SIGINT was the polite word, with the whole grace.
const TERM_GRACE: Duration = Duration::from_secs(3);
/// For the end of all descendants after SIGKILL: more than any, unless one hangs in the kernel.
const REAP_LIMIT: Duration = Duration::from_secs(10);
/// A probe holds the lock for an instant; a living shim holds it on.
const LOCK_PATIENCE: Duration = Duration::from_millis(500);
/// For the exit record, when the disk does not take it.
const RECORD_PATIENCE: Duration = Duration::from_mins(10);
/// For the fence and the exec; there is nothing slow in either.
const EXEC_LIMIT: Duration = Duration::from_secs(20);

/// `dandori shim <run_dir>`. The exit code is for people; the daemon reads the line and the records.
pub fn main(run_dir: &Utf8Path) -> i32 {
    match run(run_dir) {
        Ok(()) => 0,
        Err(refusal) => {
            answer(&refusal);
            match refusal {
                Answer::AnotherLives => 75,
                _ => 1,
            }
        }
    }
}

fn run(run_dir: &Utf8Path) -> Result<(), Answer> {
    let unable = |what: &str, e: &dyn std::fmt::Display| Answer::NotStarted { detail: format!("the shim {what}: {e}") };
    let signals = Signals::listen().map_err(|e| unable("cannot listen to signals", &e))?;
    std::env::set_current_dir("/").map_err(|e| unable("cannot leave its folder", &e))?;
    // Refused only to the leader of a group, who has what we want from it: nobody else's signals reach it.
    let _ = setsid();
    set_child_subreaper(Some(getpid())).map_err(|e| unable("cannot become the subreaper", &e))?;
    let _lock = take(run_dir)?;
    let order: Option<LaunchOrder> = load(run_dir, LAUNCH).map_err(|e| unable("cannot read its order", &e))?;
    let Some(order) = order else { return Err(unable("has no order", &"launch.json is not there")) };
    match start(run_dir, &order, signals) {
        Ok(mut supervised) => {
            forget_environment(run_dir, order.clone());
            let why = supervised.wait_for_end(run_dir, &order);
            let record = supervised.finish(why);
            supervised.write_down(run_dir, &record).map_err(|e| unable("cannot write how it ended", &e))
        }
        Err(why) => {
            let record = ExitRecord::not_started(why.clone());
            forget_environment(run_dir, order);
            keep(run_dir, EXIT, &record).map_err(|e| unable("cannot write that nothing started", &e))?;
            Err(match why {
                Why::NoSandbox { reason } => Answer::NoSandbox { reason },
                Why::NotStarted { detail } => Answer::NotStarted { detail },
                other => Answer::NotStarted { detail: format!("{other:?}") },
            })
        }
    }
}

/// The lock of this folder, and the proof that nothing was launched in it yet.
fn take(run_dir: &Utf8Path) -> Result<File, Answer> {
    let unable = |e: &io::Error| Answer::NotStarted { detail: format!("{run_dir} cannot be locked: {e}") };
    let lock = OpenOptions::new().write(true).create(true).truncate(false).open(run_dir.join(LOCK));
    let lock = lock.map_err(|e| unable(&e))?;
    let until = Instant::now() + LOCK_PATIENCE;
    loop {
        match lock.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(Duration::from_millis(10)),
            Err(TryLockError::WouldBlock) => return Err(Answer::AnotherLives),
            Err(TryLockError::Error(e)) => return Err(unable(&e)),
        }
    }
    if had_launch(run_dir) { Err(Answer::AlreadyStarted) } else { Ok(lock) }
}

/// One line for the daemon, and then this end is closed; it may be gone already.
fn answer(answer: &Answer) {
    if let Ok(mut line) = serde_json::to_vec(answer) {
        line.push(b'\n');
        let mut out = io::stdout().lock();
        let _ = out.write_all(&line).and_then(|()| out.flush());
    }
    if let Ok(nothing) = OpenOptions::new().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&nothing);
    }
}

/// Secrets do not stay on the disk for longer than the start takes.
fn forget_environment(run_dir: &Utf8Path, order: LaunchOrder) {
    let without = LaunchOrder { env: Vec::new(), ..order };
    if put(run_dir, LAUNCH, &without).is_err() {
        let _ = std::fs::remove_file(run_dir.join(LAUNCH));
    }
}

struct Signals {
    children: UnixStream,
    stop: UnixStream,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        let (children, on_child) = UnixStream::pair()?;
        let (stop, on_stop) = UnixStream::pair()?;
        children.set_nonblocking(true)?;
        stop.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(SIGCHLD, on_child)?;
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            signal_hook::low_level::pipe::register(signal, on_stop.try_clone()?)?;
        }
        Ok(Self { children, stop })
    }
}

/// `true` when something had come.
fn drained(mut pipe: &UnixStream) -> bool {
    let mut bytes = [0u8; 64];
    let mut any = false;
    while matches!(pipe.read(&mut bytes), Ok(count) if count > 0) {
        any = true;
    }
    any
}

fn start(run_dir: &Utf8Path, order: &LaunchOrder, signals: Signals) -> Result<Supervised, Why> {
    let failed = |what: &str, e: &dyn std::fmt::Display| Why::NotStarted { detail: format!("{what}: {e}") };
    let (out, to_out) = Stream::into_file(&run_dir.join(OUTPUT)).map_err(|e| failed("no file for its output", &e))?;
    let (err, to_err) = Stream::into_file(&run_dir.join(STDERR)).map_err(|e| failed("no file for its errors", &e))?;
    let (ours, theirs) = UnixStream::pair().map_err(|e| failed("no socket to the agent's process", &e))?;
    ours.set_read_timeout(Some(EXEC_LIMIT)).map_err(|e| failed("no limit for the start", &e))?;
    let agent = spawn(run_dir, order, theirs, to_out.into(), to_err.into())
        .map_err(|e| failed("the agent's process could not be made", &e))?;
    let outputs = Outputs::new([out, err], order.max_output_bytes);
    let mut supervised = Supervised { agent, status: None, signals, outputs, ended_descendants: 0 };
    match shake_hands(run_dir, agent, &ours) {
        Ok(started) => {
            answer(&Answer::Started { started: Box::new(started) });
            Ok(supervised)
        }
        Err(why) => {
            supervised.end_descendants();
            Err(why)
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the agent has its own limits and its own environment; Cmd is for tools")]
fn spawn(run_dir: &Utf8Path, order: &LaunchOrder, stdin: UnixStream, out: Stdio, err: Stdio) -> io::Result<Pid> {
    // By this name it is our own program even when an update has replaced the file meanwhile.
    let child = std::process::Command::new("/proc/self/exe")
        .arg0("dandori")
        .args(["shim-exec", run_dir.as_str()])
        .env_clear()
        .env(RUN_MARKER, &order.run)
        .stdin(Stdio::from(std::os::fd::OwnedFd::from(stdin)))
        .stdout(out)
        .stderr(err)
        .spawn()?;
    // Reaped with all other children, by `wait`.
    Ok(Pid::from_child(&child))
}

/// Ready → started.json → leave → the agent runs.
fn shake_hands(run_dir: &Utf8Path, agent: Pid, socket: &UnixStream) -> Result<Started, Why> {
    let failed = |what: &str, e: &dyn std::fmt::Display| Why::NotStarted { detail: format!("{what}: {e}") };
    let mut lines = BufReader::new(socket);
    let sandbox = match step(&mut lines)? {
        Some(ExecStep::Ready { sandbox }) => sandbox,
        Some(ExecStep::Failed { detail }) => return Err(Why::NotStarted { detail }),
        Some(ExecStep::NoSandbox { reason }) => return Err(Why::NoSandbox { reason }),
        None => return Err(Why::NotStarted { detail: "the agent's process died before it became the agent".into() }),
    };
    let started = started(agent, sandbox)
        .ok_or_else(|| Why::NotStarted { detail: "/proc does not tell who was started".into() })?;
    keep(run_dir, STARTED, &started).map_err(|e| failed("that it starts could not be written down", &e))?;
    let mut writer = socket;
    writer.write_all(b"!").map_err(|e| failed("the agent's process did not wait", &e))?;
    match step(&mut lines)? {
        None => Ok(started),
        Some(ExecStep::Failed { detail }) => Err(Why::NotStarted { detail }),
        Some(other) => Err(Why::NotStarted { detail: format!("unexpected after leave was given: {other:?}") }),
    }
}

/// The next word of the process that becomes the agent; `None`: it has closed the socket.
fn step(lines: &mut impl BufRead) -> Result<Option<ExecStep>, Why> {
    let mut line = String::new();
    let failed =
        |e: &dyn std::fmt::Display| Why::NotStarted { detail: format!("the agent's process did not answer: {e}") };
    match lines.read_line(&mut line) {
        Ok(0) => Ok(None),
        Ok(_) => serde_json::from_str(&line).map(Some).map_err(|e| failed(&e)),
        // It died with words of ours unread.
        Err(e) if e.kind() == io::ErrorKind::ConnectionReset => Ok(None),
        Err(e) => Err(failed(&e)),
    }
}

fn started(agent: Pid, sandbox: Sandbox) -> Option<Started> {
    let agent = agent.as_raw_nonzero().get().unsigned_abs();
    Some(Started {
        version: VERSION,
        shim: process::identify(std::process::id())?,
        agent: process::identify(agent)?,
        sandbox,
        at: crate::now(),
    })
}

/// A started agent and all that belongs to it.
struct Supervised {
    agent: Pid,
    /// Of the agent, once it is reaped; from then on its pid is nobody's.
    status: Option<WaitStatus>,
    signals: Signals,
    outputs: Outputs,
    ended_descendants: u32,
}

enum Wake {
    AgentEnded,
    StopAsked,
    OutputLimit,
    TimeIsUp,
}

impl Supervised {
    fn wait_for_end(&mut self, run_dir: &Utf8Path, order: &LaunchOrder) -> Why {
        let until = Instant::now() + Duration::from_secs(order.deadline_seconds.min(u64::from(u32::MAX)));
        let grace = Duration::from_secs(order.grace_seconds);
        match self.wait(until, Heed::Everything) {
            Wake::AgentEnded => Why::Ended,
            Wake::StopAsked => {
                let asked: Option<StopOrder> = load(run_dir, STOP).ok().flatten();
                let grace = asked.as_ref().map_or(grace, |s| Duration::from_secs(s.grace_seconds));
                self.stop(grace);
                Why::Stopped { reason: asked.map_or_else(|| "a signal to the shim".into(), |s| s.reason) }
            }
            Wake::OutputLimit => {
                self.stop(grace);
                Why::OutputLimit
            }
            Wake::TimeIsUp => {
                self.stop(grace);
                Why::DeadlinePassed
            }
        }
    }

    /// Asks, insists, and leaves the rest to [`Self::finish`]. To the agent's group, as a terminal would: a shell
    /// does not answer while the command it waits for goes on.
    fn stop(&mut self, grace: Duration) {
        for (signal, patience) in [(Signal::INT, grace), (Signal::TERM, grace.min(TERM_GRACE))] {
            if patience.is_zero() {
                continue;
            }
            let _ = kill_process_group(self.agent, signal);
            if matches!(self.wait(Instant::now() + patience, Heed::AgentAlone), Wake::AgentEnded) {
                return;
            }
        }
        let _ = kill_process_group(self.agent, Signal::KILL);
    }

    /// Whatever comes first. Outputs are copied meanwhile: an agent that waits for a full pipe cannot end.
    fn wait(&mut self, until: Instant, heed: Heed) -> Wake {
        loop {
            self.reap();
            if self.status.is_some() {
                return Wake::AgentEnded;
            }
            if matches!(heed, Heed::Everything) {
                if drained(&self.signals.stop) {
                    return Wake::StopAsked;
                }
                if self.outputs.is_over_limit() {
                    return Wake::OutputLimit;
                }
            }
            let now = Instant::now();
            if now >= until {
                return Wake::TimeIsUp;
            }
            self.sleep(until - now, heed);
            self.outputs.copy_some();
        }
    }

    /// Until something happens, or the time is over.
    fn sleep(&self, at_most: Duration, heed: Heed) {
        let mut fds = vec![PollFd::new(&self.signals.children, PollFlags::IN)];
        if matches!(heed, Heed::Everything) {
            fds.push(PollFd::new(&self.signals.stop, PollFlags::IN));
        }
        fds.extend(self.outputs.streams.iter().filter_map(Stream::poll_fd));
        // An interruption is a wake-up like any other: all conditions are looked at again.
        let _ = poll(&mut fds, Some(&timespec(at_most)));
    }

    /// Takes in every child that has ended. `true`: none is left at all.
    fn reap(&mut self) -> bool {
        drained(&self.signals.children);
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.agent => self.status = Some(status),
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return false,
                Err(_) => return true,
            }
        }
    }

    /// Ends everything below us, again and again, until there is nobody or the limit is reached.
    fn end_descendants(&mut self) {
        let until = Instant::now() + REAP_LIMIT;
        let mut ended = std::collections::HashSet::new();
        while !self.reap() && Instant::now() < until {
            for entry in Table::read().descendants_of(std::process::id()) {
                if entry.is_dead() {
                    continue;
                }
                if process::kill_entry(&entry) && entry.pid != self.agent.as_raw_nonzero().get().unsigned_abs() {
                    ended.insert((entry.pid, entry.started));
                }
            }
            // A death wakes us at once; the rest of the time is for one that was born while we looked.
            self.sleep(Duration::from_millis(20), Heed::AgentAlone);
            self.outputs.copy_some();
        }
        self.ended_descendants = u32::try_from(ended.len()).unwrap_or(u32::MAX);
    }

    /// A disk that is full for a while must not cost the knowledge of how it ended. Until this is written the lock
    /// is held, so the run counts as alive. Who asks to stop does not want to wait for it.
    fn write_down(&self, run_dir: &Utf8Path, record: &ExitRecord) -> io::Result<()> {
        let until = Instant::now() + RECORD_PATIENCE;
        loop {
            match keep(run_dir, EXIT, record) {
                Err(_) if Instant::now() < until && !drained(&self.signals.stop) => {
                    let mut fds = [PollFd::new(&self.signals.stop, PollFlags::IN)];
                    let _ = poll(&mut fds, Some(&timespec(Duration::from_secs(1))));
                }
                done => return done,
            }
        }
    }

    fn finish(&mut self, why: Why) -> ExitRecord {
        self.end_descendants();
        self.outputs.copy_rest();
        ExitRecord {
            version: VERSION,
            code: self.status.and_then(WaitStatus::exit_status),
            signal: self.status.and_then(WaitStatus::terminating_signal),
            why,
            at: crate::now(),
            output_bytes: self.outputs.kept,
            dropped_bytes: self.outputs.dropped,
            ended_descendants: self.ended_descendants,
        }
    }
}

#[derive(Clone, Copy)]
enum Heed {
    Everything,
    /// A decision has been taken already.
    AgentAlone,
}
