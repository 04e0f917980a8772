//! Everything that descends from this process: it is the subreaper, so whatever loses its parent becomes its child, and
//! "no child left" means that nothing is left. Over is over only when that is so.

use std::collections::HashSet;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process_group, set_child_subreaper, setsid, wait,
};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use super::Streams;
use crate::process::{self, Table, timespec};

/// For the end of all after SIGKILL: more than any takes, unless one hangs in the kernel.
const REAP_LIMIT: Duration = Duration::from_secs(30);

pub(crate) struct Family {
    children: UnixStream,
    stop: UnixStream,
    /// Who must be waited for by name, and how it ended.
    lead: Option<Pid>,
    wait_for: WaitOptions,
    pub(crate) lead_status: Option<WaitStatus>,
}

/// What it took to end the rest.
pub(crate) struct Ended {
    pub(crate) count: u32,
    /// Those that did not go.
    pub(crate) survivors: Vec<u32>,
}

impl Family {
    /// Makes this process the head of whatever it will start.
    pub(crate) fn found() -> io::Result<Self> {
        let (children, on_child) = UnixStream::pair()?;
        let (stop, on_stop) = UnixStream::pair()?;
        children.set_nonblocking(true)?;
        stop.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(SIGCHLD, on_child)?;
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            signal_hook::low_level::pipe::register(signal, on_stop.try_clone()?)?;
        }
        // Refused only to the leader of a group, who has what we want from it: nobody else's signals reach it.
        let _ = setsid();
        set_child_subreaper(Some(getpid()))?;
        Ok(Self { children, stop, lead: None, wait_for: WaitOptions::NOHANG, lead_status: None })
    }

    pub(crate) fn follow(&mut self, lead: Pid, streams: Streams) {
        self.lead = Some(lead);
        self.wait_for = WaitOptions::NOHANG | stops(streams);
    }

    pub(crate) fn is_asked_to_stop(&self) -> bool {
        drained(&self.stop)
    }

    /// Woken by the end of a child, and by a request to stop.
    pub(crate) fn child_fd(&self) -> PollFd<'_> {
        PollFd::new(&self.children, PollFlags::IN)
    }

    pub(crate) fn stop_fd(&self) -> PollFd<'_> {
        PollFd::new(&self.stop, PollFlags::IN)
    }

    /// Takes in every child that has ended. `true`: none is left at all.
    pub(crate) fn reap(&mut self) -> bool {
        drained(&self.children);
        loop {
            match wait(self.wait_for) {
                Ok(Some((pid, status))) if status.stopped() => go_on(pid),
                Ok(Some((pid, status))) if Some(pid) == self.lead => self.lead_status = Some(status),
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return false,
                Err(_) => return true,
            }
        }
    }

    /// Ends everything below us, again and again, until there is nobody or the limit is reached.
    pub(crate) fn end(&mut self, spared: Option<Pid>, mut meanwhile: impl FnMut()) -> Ended {
        let until = Instant::now() + REAP_LIMIT;
        let named = spared.map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
        let mut ended = HashSet::new();
        let mut survivors = Vec::new();
        while !self.reap() {
            if Instant::now() >= until {
                survivors = living();
                break;
            }
            for entry in living_entries() {
                if process::kill_entry(&entry) && Some(entry.pid) != named {
                    ended.insert((entry.pid, entry.started));
                }
            }
            // A death wakes us at once; the rest of the time is for one that was born while we looked.
            let _ = poll(&mut [self.child_fd()], Some(&timespec(Duration::from_millis(20))));
            meanwhile();
        }
        Ended { count: u32::try_from(ended.len()).unwrap_or(u32::MAX), survivors }
    }
}

/// In a terminal a person may suspend a program, and nobody is there who would let it go on: there is no shell.
pub(super) fn stops(streams: Streams) -> WaitOptions {
    match streams {
        Streams::Own => WaitOptions::empty(),
        Streams::Terminal => WaitOptions::UNTRACED,
    }
}

pub(super) fn go_on(pid: Pid) {
    let _ = kill_process_group(pid, Signal::CONT);
}

fn living_entries() -> Vec<process::Entry> {
    Table::read().descendants_of(std::process::id()).into_iter().filter(|e| !e.is_dead()).collect()
}

fn living() -> Vec<u32> {
    living_entries().iter().map(|e| e.pid).collect()
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
