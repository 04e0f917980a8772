//! Processes by identity: found, watched and ended without ever taking one for another.
//!
//! A pid alone names nothing: it comes round again. Whoever is signalled here is first held by a pidfd and then
//! compared with its start time, so that the signal reaches that process or nobody. This module never ends itself
//! or one of its ancestors.

use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use dandori_domain::run::ProcessRef;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

mod table;

pub(crate) use table::{Entry, Table, arguments, has_marker, is_confined, only_child, working_folder};

/// Time to end decently when asked to.
const MOMENT: Duration = Duration::from_secs(2);

/// A killed process is gone within milliseconds; one that hangs in the kernel may never go.
const ROUND: Duration = Duration::from_secs(5);
/// New ones may be born while we look; a tree that still grows after so many rounds is reported.
const ROUNDS: u32 = 50;

/// Processes that did not go although they were killed.
#[derive(Debug, thiserror::Error)]
#[error("processes {} did not end after SIGKILL", shown(.pids))]
pub struct StillAlive {
    pub pids: Vec<u32>,
}

fn shown(pids: &[u32]) -> String {
    pids.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// Who has this pid now.
pub fn identify(pid: u32) -> Option<ProcessRef> {
    let entry = table::entry(pid)?;
    Some(ProcessRef { pid, started: entry.started, boot: table::boot_id()? })
}

/// This very process is there and not merely waiting to be reaped.
pub fn is_alive(process: &ProcessRef) -> bool {
    table::boot_id().is_some_and(|b| b == process.boot)
        && table::entry(process.pid).is_some_and(|e| e.started == process.started && !e.is_dead())
}

/// A hold on this very process, which can be read from once it has ended; `None` when it is gone, its pid is another's,
/// or the machine is out of descriptors.
pub fn hold(process: &ProcessRef) -> Option<OwnedFd> {
    if table::boot_id().is_none_or(|b| b != process.boot) {
        return None;
    }
    hold_started(process.pid, process.started)
}

fn hold_started(pid: u32, started: u64) -> Option<OwnedFd> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    let held = pidfd_open(pid, PidfdFlags::empty()).ok()?;
    // Compared after it is held: from here on the pid cannot change its owner.
    let entry = table::entry(pid.as_raw_nonzero().get().unsigned_abs())?;
    (entry.started == started && !entry.is_dead()).then_some(held)
}

/// Sends the signal to this very process. `false`: it is gone.
pub(crate) fn signal(process: &ProcessRef, signal: Signal) -> bool {
    hold(process).is_some_and(|held| pidfd_send_signal(&held, signal).is_ok())
}

/// Ends this very process. `false`: it is gone, or not ours to end.
pub(crate) fn kill_entry(entry: &Entry) -> bool {
    let Some(pid) = i32::try_from(entry.pid).ok().and_then(Pid::from_raw) else { return false };
    match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(held) => is_still(entry) && pidfd_send_signal(&held, Signal::KILL).is_ok(),
        Err(rustix::io::Errno::SRCH) => false,
        // Nothing can be held, for want of files or an old kernel. To spare it would be worse than the chance that its
        // number comes round between these two calls.
        Err(_) => is_still(entry) && kill_process(pid, Signal::KILL).is_ok(),
    }
}

fn is_still(entry: &Entry) -> bool {
    table::entry(entry.pid).is_some_and(|now| now.started == entry.started && !now.is_dead())
}

/// Waits until the held process has ended. `false`: the time was up first.
pub(crate) fn wait_gone(held: &OwnedFd, within: Duration) -> bool {
    let until = Instant::now() + within;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let mut fds = [PollFd::new(held, PollFlags::IN)];
        match poll(&mut fds, Some(&timespec(left))) {
            Ok(0) => return false,
            Err(rustix::io::Errno::INTR) => {}
            Ok(_) | Err(_) => return true,
        }
    }
}

pub(crate) fn timespec(span: Duration) -> Timespec {
    Timespec::try_from(span).unwrap_or(Timespec { tv_sec: 3600, tv_nsec: 0 })
}

/// Ends every process that carries `name=value` in its environment, and their descendants. Says how many.
///
/// They are asked first: git takes its lock files away when it is asked to end, and leaves them when it is killed.
pub fn end_marked(name: &str, value: &str) -> Result<usize, StillAlive> {
    let find = |table: &Table| -> Vec<u32> {
        table.entries().filter(|e| table::has_marker(e.pid, name, value)).map(|e| e.pid).collect()
    };
    let mut asked = 0;
    for _ in 0..ROUNDS {
        // One that is starting up has no environment to be found by yet: the next look finds it.
        match ask_to_end(find) {
            0 => break,
            ended => asked += ended,
        }
    }
    end_found(find).map(|killed| asked + killed)
}

/// Asks whatever `find` finds to end, and gives it a moment. Says how many did.
fn ask_to_end(find: impl Fn(&Table) -> Vec<u32>) -> usize {
    let table = Table::read();
    let spared: HashSet<u32> = table.ancestors().into_iter().chain([std::process::id()]).collect();
    let roots: Vec<u32> = find(&table).into_iter().filter(|p| !spared.contains(p)).collect();
    let asked: Vec<OwnedFd> = table
        .with_descendants(&roots)
        .into_iter()
        .filter(|e| !e.is_dead())
        .filter_map(|e| hold_started(e.pid, e.started))
        .filter(|held| pidfd_send_signal(held, Signal::TERM).is_ok())
        .collect();
    let until = Instant::now() + MOMENT;
    asked.iter().filter(|held| wait_gone(held, until.saturating_duration_since(Instant::now()))).count()
}

/// Ends whatever `find` finds, with its descendants, until it finds nothing more.
pub(crate) fn end_found(find: impl Fn(&Table) -> Vec<u32>) -> Result<usize, StillAlive> {
    let mut ended: HashSet<(u32, u64)> = HashSet::new();
    let mut stubborn = Vec::new();
    for _ in 0..ROUNDS {
        let table = Table::read();
        let spared: HashSet<u32> = table.ancestors().into_iter().chain([std::process::id()]).collect();
        // Left out before the descendants are looked up: all that we started is below us.
        let roots: Vec<u32> = find(&table).into_iter().filter(|p| !spared.contains(p)).collect();
        let victims: Vec<Entry> = table.with_descendants(&roots).into_iter().filter(|e| !e.is_dead()).collect();
        if victims.is_empty() {
            return Ok(ended.len());
        }
        stubborn = kill_and_wait(&victims);
        ended.extend(victims.iter().filter(|e| !stubborn.contains(&e.pid)).map(|e| (e.pid, e.started)));
        if !stubborn.is_empty() {
            break;
        }
    }
    Err(StillAlive { pids: stubborn })
}

/// Kills all of them, then waits for each. What did not go is returned.
fn kill_and_wait(victims: &[Entry]) -> Vec<u32> {
    let held: Vec<(u32, OwnedFd)> = victims
        .iter()
        .filter_map(|e| {
            let held = hold_started(e.pid, e.started)?;
            pidfd_send_signal(&held, Signal::KILL).ok()?;
            Some((e.pid, held))
        })
        .collect();
    let until = Instant::now() + ROUND;
    held.iter()
        .filter(|(_, held)| !wait_gone(held, until.saturating_duration_since(Instant::now())))
        .map(|(pid, _)| *pid)
        .collect()
}

#[cfg(test)]
mod tests;
