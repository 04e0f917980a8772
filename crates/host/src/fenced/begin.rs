//! The parent's side: begin, hear that it is ready, let it go, hear how it ended.

use std::io::{self, BufReader, PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::Duration;

use dandori_domain::run::Sandbox;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, waitpid};

use super::Fenced;
use super::words::{End, Order, Word, hear, send};
use crate::process;
use crate::sandbox::namespaces;

/// For the fence and the exec; there is nothing slow in either.
const BEGIN_LIMIT: Duration = Duration::from_secs(20);

/// Why there is no program.
#[derive(Debug)]
pub(crate) enum Refusal {
    NoSandbox { reason: String },
    Failed { detail: String },
}

impl Refusal {
    fn failed(what: &str, e: &dyn std::fmt::Display) -> Self {
        Self::Failed { detail: format!("{what}: {e}") }
    }
}

/// Where the program's outputs go.
pub(crate) enum Outputs {
    Inherited,
    Pipes { out: PipeWriter, err: PipeWriter },
}

impl Outputs {
    fn stdio(&self) -> io::Result<(Stdio, Stdio)> {
        match self {
            Self::Inherited => Ok((Stdio::inherit(), Stdio::inherit())),
            Self::Pipes { out, err } => Ok((out.try_clone()?.into(), err.try_clone()?.into())),
        }
    }
}

/// A program that is about to run, or runs.
pub(crate) struct Begun {
    /// Our own child: its end is the end of everything behind the fence.
    pub(crate) lead: Pid,
    /// The process that becomes the program; the lead itself where there are no namespaces.
    pub(crate) program: Pid,
    pub(crate) sandbox: Sandbox,
    words: BufReader<UnixStream>,
}

/// Up to the moment before the program. Without namespaces where the machine turns out not to let us have them.
pub(crate) fn begin(fenced: &Fenced, outputs: &Outputs) -> Result<Begun, Refusal> {
    match attempt(fenced, outputs, None) {
        Err(Attempt::NoView { reason }) => match attempt(fenced, outputs, Some(reason)) {
            Ok(begun) => Ok(begun),
            Err(Attempt::NoView { reason }) => Err(Refusal::Failed { detail: reason }),
            Err(Attempt::Refused(refusal)) => Err(refusal),
        },
        Err(Attempt::Refused(refusal)) => Err(refusal),
        Ok(begun) => Ok(begun),
    }
}

enum Attempt {
    NoView { reason: String },
    Refused(Refusal),
}

fn attempt(fenced: &Fenced, outputs: &Outputs, without_namespaces: Option<String>) -> Result<Begun, Attempt> {
    let trouble = |what: &str, e: &dyn std::fmt::Display| Attempt::Refused(Refusal::failed(what, e));
    let order = Order { fenced: fenced.clone(), without_namespaces };
    let (ours, theirs) = UnixStream::pair().map_err(|e| trouble("no socket to its process", &e))?;
    ours.set_read_timeout(Some(BEGIN_LIMIT)).map_err(|e| trouble("no limit for its start", &e))?;
    ours.set_write_timeout(Some(BEGIN_LIMIT)).map_err(|e| trouble("no limit for its start", &e))?;
    let lead = spawn(&order, theirs, outputs).map_err(|e| trouble("its process could not be made", &e))?;
    let begun = send(&ours, &order).map_err(|e| trouble("its process does not listen", &e));
    begun.and_then(|()| until_ready(lead, ours, &order)).inspect_err(|_| give_up(lead))
}

/// A lead that did not get far enough to be anybody's.
fn give_up(lead: Pid) {
    let _ = kill_process(lead, Signal::KILL);
    let _ = waitpid(Some(lead), WaitOptions::empty());
}

fn until_ready(lead: Pid, socket: UnixStream, order: &Order) -> Result<Begun, Attempt> {
    let trouble = |what: &str, e: &dyn std::fmt::Display| Attempt::Refused(Refusal::failed(what, e));
    let mut words = BufReader::new(socket);
    let mut in_namespaces = false;
    loop {
        match hear(&mut words).map_err(|e| trouble("its process did not answer", &e))? {
            Some(Word::Entered) => {
                in_namespaces = true;
                let raw = lead.as_raw_nonzero().get().unsigned_abs();
                namespaces::name_users(raw)
                    .map_err(|e| Attempt::NoView { reason: format!("users cannot be named in a namespace: {e}") })?;
                let mut socket = words.get_ref();
                let told = socket.write_all(b"!").and_then(|()| send(socket, order));
                told.map_err(|e| trouble("its process does not listen", &e))?;
            }
            Some(Word::Ready { sandbox }) => {
                let program = if in_namespaces { innermost(lead) } else { Some(lead) };
                let program = program.ok_or_else(|| trouble("/proc does not tell", &"who was started"))?;
                return Ok(Begun { lead, program, sandbox, words });
            }
            Some(Word::NoView { reason }) => return Err(Attempt::NoView { reason }),
            Some(Word::NoSandbox { reason }) => return Err(Attempt::Refused(Refusal::NoSandbox { reason })),
            Some(Word::Failed { detail }) => return Err(Attempt::Refused(Refusal::Failed { detail })),
            Some(other) => return Err(trouble("unexpected before it was ready", &format!("{other:?}"))),
            None => return Err(trouble("its process died", &"before it became the program")),
        }
    }
}

/// Below the lead there is one process, and below that one the last.
fn innermost(lead: Pid) -> Option<Pid> {
    let first = process::only_child(lead.as_raw_nonzero().get().unsigned_abs())?;
    let last = process::only_child(first)?;
    Pid::from_raw(i32::try_from(last).ok()?)
}

#[expect(clippy::disallowed_methods, reason = "the program has its own limits and environment; Cmd is for tools")]
fn spawn(order: &Order, socket: UnixStream, outputs: &Outputs) -> io::Result<Pid> {
    let (out, err) = outputs.stdio()?;
    let child = std::process::Command::new("/proc/self/exe")
        .arg0("dandori")
        .args(["fenced", "enter"])
        .env_clear()
        .envs(super::stages::markers(order))
        .stdin(Stdio::from(OwnedFd::from(socket)))
        .stdout(out)
        .stderr(err)
        .spawn()?;
    // Reaped with all other children, by `wait`.
    Ok(Pid::from_child(&child))
}

impl Begun {
    /// Gives leave, and waits until the program runs or cannot.
    pub(crate) fn go(&mut self) -> Result<(), Refusal> {
        self.words.get_mut().write_all(b"!").map_err(|e| Refusal::failed("its process did not wait", &e))?;
        match hear(&mut self.words).map_err(|e| Refusal::failed("its process did not answer", &e))? {
            None | Some(Word::Running) => Ok(()),
            Some(Word::Failed { detail }) => Err(Refusal::Failed { detail }),
            Some(other) => Err(Refusal::failed("unexpected after leave was given", &format!("{other:?}"))),
        }
    }

    fn is_in_namespaces(&self) -> bool {
        self.lead != self.program
    }

    /// What the lead's end says of the program's.
    pub(crate) fn end(&mut self, lead: WaitStatus) -> End {
        if !self.is_in_namespaces() {
            return End { code: lead.exit_status(), signal: lead.terminating_signal(), left: 0 };
        }
        // It was said before the lead ended, or never: whoever ended the first process ended the program.
        match hear(&mut self.words) {
            Ok(Some(Word::Ended(end))) => end,
            _ => End { code: None, signal: Some(Signal::KILL.as_raw()), left: 0 },
        }
    }
}
