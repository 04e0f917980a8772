//! The agent's process: started in a group of its own, heard on one channel, ended for certain.
//!
//! It is in a group of its own because the shim asks *us* to stop, by a signal to our group: we ask the agent in the
//! protocol's words first, and end its group when it does not listen. Whatever escapes that the shim ends.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};

use dandori_domain::acp::AcpOrder;
use dandori_host::Env;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::desk::Permit;
use crate::rpc::{self, Incoming};

/// After its stdin is closed, and again after it was told to end.
const PATIENCE: Duration = Duration::from_secs(2);

/// Messages that wait for us; then the agent waits.
const MOST_HEARD: usize = 64;

/// Whatever can happen while we wait.
#[derive(Debug)]
pub(crate) enum Heard {
    Message(Incoming),
    /// Its stdout is closed.
    Closed,
    Ended(ExitStatus),
    StopAsked,
}

/// The way to the agent's stdin, shared by all who answer it.
#[derive(Clone)]
pub(crate) struct Outgoing(Sender<Letter>);

/// The permit is given back once the message is out: an agent that asks and never reads has no more than its share.
pub(crate) enum Letter {
    Message(Value, Option<Permit>),
    Close,
}

impl Outgoing {
    pub(crate) fn new() -> (Self, Receiver<Letter>) {
        let (sender, receiver) = channel();
        (Self(sender), receiver)
    }

    /// Never waits. Whoever is gone hears nothing.
    pub(crate) fn send(&self, message: Value, permit: Option<Permit>) {
        let _ = self.0.send(Letter::Message(message, permit));
    }

    fn close(&self) {
        let _ = self.0.send(Letter::Close);
    }
}

pub(crate) struct Agent {
    group: Pid,
    pub(crate) heard: Receiver<Heard>,
    pub(crate) out: Outgoing,
}

impl Agent {
    #[expect(
        clippy::disallowed_methods,
        reason = "it lives as long as its turn takes; Cmd is for tools with a deadline"
    )]
    pub(crate) fn start(order: &AcpOrder, env: &Env) -> io::Result<Self> {
        let (tell, heard) = sync_channel(MOST_HEARD);
        // First: from here on a request to stop is heard.
        hear_signals(tell.clone())?;
        let mut child = std::process::Command::new("/bin/sh")
            .arg("-c")
            .arg(&order.command)
            .env_clear()
            .envs(env.iter())
            .current_dir(&order.worktree)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let group = Pid::from_child(&child);
        let (out, letters) = Outgoing::new();
        if let Some(stdin) = child.stdin.take() {
            std::thread::Builder::new().spawn(move || write_all(stdin, &letters))?;
        }
        if let Some(stdout) = child.stdout.take() {
            let tell = tell.clone();
            std::thread::Builder::new().spawn(move || {
                rpc::read_all(stdout, |message| drop(tell.send(Heard::Message(message))));
                let _ = tell.send(Heard::Closed);
            })?;
        }
        std::thread::Builder::new().spawn(move || wait(child, &tell))?;
        Ok(Self { group, heard, out })
    }

    /// Asks it to go, then insists. `has_ended`: nobody is there any more.
    pub(crate) fn end(&self, has_ended: bool) {
        self.out.close();
        if has_ended || self.ends_within(PATIENCE) {
            // What it has left behind in its group.
            let _ = kill_process_group(self.group, Signal::KILL);
            return;
        }
        let _ = kill_process_group(self.group, Signal::TERM);
        let _ = self.ends_within(PATIENCE);
        let _ = kill_process_group(self.group, Signal::KILL);
    }

    fn ends_within(&self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        loop {
            match self.heard.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Heard::Ended(_)) => return true,
                // Whoever stops us has no patience left.
                Ok(Heard::StopAsked) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return false,
                Ok(_) => {}
            }
        }
    }
}

fn wait(mut child: Child, tell: &SyncSender<Heard>) {
    if let Ok(status) = child.wait() {
        let _ = tell.send(Heard::Ended(status));
    }
}

fn write_all(mut stdin: ChildStdin, letters: &Receiver<Letter>) {
    for letter in letters {
        let Letter::Message(message, permit) = letter else { return };
        let Ok(mut line) = serde_json::to_vec(&message) else { continue };
        line.push(b'\n');
        if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
            return;
        }
        drop(permit);
    }
}

fn hear_signals(tell: SyncSender<Heard>) -> io::Result<()> {
    let (mut ours, theirs) = UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::low_level::pipe::register(signal, theirs.try_clone()?)?;
    }
    let listen = move || {
        // Our end of the pair stays open for as long as the process lives.
        let _theirs = theirs;
        let mut one = [0u8; 1];
        while matches!(ours.read(&mut one), Ok(1)) {
            if tell.send(Heard::StopAsked).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().spawn(listen).map(drop)
}
