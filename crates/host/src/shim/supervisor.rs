//! The shim's own life: take the folder, start the agent, wait, end everything, write it down.
//!
//! One thread, no runtime, one `poll` for all it waits for: its children (SIGCHLD), a request to stop (SIGTERM,
//! SIGINT, SIGHUP), the agent's outputs, and the clock. It is the head of the run's [`Family`]: what it writes down as
//! ended is gone, and what would not go is written down as that.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::time::{Duration, Instant};

use camino::Utf8Path;
use dandori_domain::run::{Sandbox, SandboxMode};
use rustix::event::poll;
use rustix::process::{Pid, Signal, kill_process_group};

use super::output::{Outputs, Stream};
use super::record::{
    Answer, EXIT, ExitRecord, LAUNCH, LOCK, LaunchOrder, OUTPUT, RUN_MARKER, STARTED, STDERR, STOP, Started, StopOrder,
    VERSION, Why, had_launch, keep, load, put,
};
use crate::Env;
use crate::fenced::{self, Begun, End, Family, Fenced, Refusal, Streams};
use crate::process::{self, timespec};
use crate::reserve::Reserve;
use crate::sandbox;

/// After SIGTERM; SIGINT was the polite word, with the whole grace.
const TERM_GRACE: Duration = Duration::from_secs(3);
/// A probe holds the lock for an instant; a living shim holds it on.
const LOCK_PATIENCE: Duration = Duration::from_millis(500);
/// For the exit record, when the disk does not take it.
const RECORD_PATIENCE: Duration = Duration::from_mins(10);
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
    std::env::set_current_dir("/").map_err(|e| unable("cannot leave its folder", &e))?;
    let family = Family::found().map_err(|e| unable("cannot watch over a run", &e))?;
    let _lock = take(run_dir)?;
    let order: Option<LaunchOrder> = load(run_dir, LAUNCH).map_err(|e| unable("cannot read its order", &e))?;
    // Should the agent fill the disk, how it ended can be written all the same.
    let _ = reserve(run_dir).take();
    let Some(mut order) = order else { return Err(unable("has no order", &"launch.json is not there")) };
    let _layer = match &order.stores {
        Some(stores) if order.sandbox.mode != SandboxMode::Off => {
            let policy = &order.sandbox;
            let replaced = policy.replace.iter().map(|copy| &copy.at);
            let guarded: Vec<_> = policy.hide.iter().chain(&policy.protect).chain(replaced).cloned().collect();
            let (layers, lock) =
                sandbox::claim(stores, &guarded).map_err(|e| unable("has no layer over the caches", &e))?;
            order.sandbox.stores = layers;
            Some(lock)
        }
        _ => None,
    };
    match start(run_dir, &order, family) {
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

fn reserve(run_dir: &Utf8Path) -> Reserve {
    Reserve::new(run_dir.join("reserve"), 64 * 1024)
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

fn start(run_dir: &Utf8Path, order: &LaunchOrder, mut family: Family) -> Result<Supervised, Why> {
    let failed = |what: &str, e: &dyn std::fmt::Display| Why::NotStarted { detail: format!("{what}: {e}") };
    let (kept, pipes) = match order.streams {
        Streams::Own => {
            let file = |name: &str| Stream::into_file(&run_dir.join(name));
            let (out, to_out) = file(OUTPUT).map_err(|e| failed("no file for its output", &e))?;
            let (err, to_err) = file(STDERR).map_err(|e| failed("no file for its errors", &e))?;
            (vec![out, err], fenced::Outputs::Pipes { out: to_out, err: to_err })
        }
        Streams::Terminal => (Vec::new(), fenced::Outputs::Inherited),
    };
    let begun = fenced::begin(&fenced_order(order), &pipes);
    // From here on the agent alone has the other ends.
    drop(pipes);
    let mut begun = begun.map_err(refused)?;
    family.follow(begun.lead, order.streams);
    match let_go(run_dir, &mut begun, order.streams) {
        Ok(started) => {
            if order.streams == Streams::Own {
                answer(&Answer::Started { started: Box::new(started) });
            }
            let outputs = Outputs::new(kept, order.max_output_bytes);
            Ok(Supervised { begun, end: None, family, outputs })
        }
        Err(why) => {
            family.end(None, || {});
            Err(why)
        }
    }
}

fn fenced_order(order: &LaunchOrder) -> Fenced {
    let mut env = order.env.clone();
    env.retain(|(name, _)| name != RUN_MARKER);
    env.push((RUN_MARKER.to_owned(), order.run.clone()));
    // Only who has made the terminal knows what it is.
    if let (Streams::Terminal, Some(kind)) = (order.streams, Env::of_process().text("TERM")) {
        env.retain(|(name, _)| name != "TERM");
        env.push(("TERM".to_owned(), kind.to_owned()));
    }
    Fenced {
        argv: order.argv.clone(),
        env,
        cwd: order.cwd.clone(),
        stdin: order.stdin.clone(),
        streams: order.streams,
        sandbox: order.sandbox.clone(),
    }
}

fn refused(refusal: Refusal) -> Why {
    match refusal {
        Refusal::NoSandbox { reason } => Why::NoSandbox { reason },
        Refusal::Failed { detail } => Why::NotStarted { detail },
    }
}

/// Ready → started.json → leave → the agent runs.
fn let_go(run_dir: &Utf8Path, begun: &mut Begun, streams: Streams) -> Result<Started, Why> {
    if streams == Streams::Terminal {
        // Its keys and its changes of size are the agent's, and ours is the news that it is hung up.
        let in_front = rustix::termios::tcsetpgrp(rustix::stdio::stdout(), begun.program);
        in_front.map_err(|e| Why::NotStarted { detail: format!("there is no terminal for it: {e}") })?;
    }
    let started = started(begun.program, begun.sandbox.clone())
        .ok_or_else(|| Why::NotStarted { detail: "/proc does not tell who was started".into() })?;
    let written = keep(run_dir, STARTED, &started);
    written.map_err(|e| Why::NotStarted { detail: format!("that it starts could not be written down: {e}") })?;
    begun.go().map_err(refused)?;
    Ok(started)
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
    begun: Begun,
    /// Of the agent, once it is known; from then on its pid is nobody's.
    end: Option<End>,
    family: Family,
    outputs: Outputs,
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
            let _ = kill_process_group(self.begun.program, signal);
            if matches!(self.wait(Instant::now() + patience, Heed::AgentAlone), Wake::AgentEnded) {
                return;
            }
        }
        let _ = kill_process_group(self.begun.program, Signal::KILL);
    }

    /// Whatever comes first. Outputs are copied meanwhile: an agent that waits for a full pipe cannot end.
    fn wait(&mut self, until: Instant, heed: Heed) -> Wake {
        loop {
            self.family.reap();
            if self.has_ended() {
                return Wake::AgentEnded;
            }
            if matches!(heed, Heed::Everything) {
                if self.family.is_asked_to_stop() {
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

    fn has_ended(&mut self) -> bool {
        if self.end.is_none() {
            self.end = self.family.lead_status.map(|status| self.begun.end(status));
        }
        self.end.is_some()
    }

    /// Until something happens, or the time is over.
    fn sleep(&self, at_most: Duration, heed: Heed) {
        let mut fds = vec![self.family.child_fd()];
        if matches!(heed, Heed::Everything) {
            fds.push(self.family.stop_fd());
        }
        fds.extend(self.outputs.streams.iter().filter_map(Stream::poll_fd));
        // An interruption is a wake-up like any other: all conditions are looked at again.
        let _ = poll(&mut fds, Some(&timespec(at_most)));
    }

    /// A disk that is full for a while must not cost the knowledge of how it ended. Until this is written the lock
    /// is held, so the run counts as alive. Who asks to stop does not want to wait for it.
    fn write_down(&self, run_dir: &Utf8Path, record: &ExitRecord) -> io::Result<()> {
        let until = Instant::now() + RECORD_PATIENCE;
        let reserve = reserve(run_dir);
        loop {
            match keep(run_dir, EXIT, record) {
                Ok(()) => {
                    reserve.give();
                    return Ok(());
                }
                Err(_) if reserve.give() => {}
                Err(_) if Instant::now() < until && !self.family.is_asked_to_stop() => {
                    let _ = poll(&mut [self.family.stop_fd()], Some(&timespec(Duration::from_secs(1))));
                }
                done => return done,
            }
        }
    }

    fn finish(&mut self, why: Why) -> ExitRecord {
        let outputs = &mut self.outputs;
        let ended = self.family.end(Some(self.begun.program), || outputs.copy_some());
        self.outputs.copy_rest();
        self.has_ended();
        let end = self.end;
        let why = if ended.survivors.is_empty() { why } else { Why::Survivors { pids: ended.survivors } };
        ExitRecord {
            version: VERSION,
            code: end.and_then(|end| end.code),
            signal: end.and_then(|end| end.signal),
            why,
            at: crate::now(),
            output_bytes: self.outputs.kept,
            dropped_bytes: self.outputs.dropped,
            ended_descendants: ended.count.saturating_add(end.map_or(0, |end| end.left)),
        }
    }
}

#[derive(Clone, Copy)]
enum Heed {
    Everything,
    /// A decision has been taken already.
    AgentAlone,
}
