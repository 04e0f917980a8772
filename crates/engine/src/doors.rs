//! The doors of a formation's agents: for each run that works for one, a socket of its own in a folder of its own.
//!
//! It is the only way from behind the run's fence to dandori, and it says who comes: no token is needed, and what may be asked
//! for is what the role may ([`dandori_formation::access`]). It is there while the agent works, is made again by the next life
//! of the daemon, and goes away with the agent. Here it is made; the server listens at it.

use std::collections::HashMap;
use std::io;
use std::os::unix::net::UnixListener;
use std::sync::{Mutex, PoisonError};

use dandori_domain::run::{Errand, Run};
use dandori_domain::{RepoId, RunId, TaskId, TaskNumber};
use dandori_host::ancestry::descends_from;
use dandori_host::process::is_alive;
use dandori_host::socket_folder;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::Engine;

/// A door that was just opened.
pub struct Door {
    pub listener: UnixListener,
    pub whose: Whose,
    /// Cancelled when nobody is to be served at it any more.
    pub closed: CancellationToken,
}

/// Who comes in by a door.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Whose {
    pub repo: RepoId,
    pub task: TaskId,
    pub number: TaskNumber,
    pub run: RunId,
    pub errand: Errand,
}

impl Whose {
    /// Whether these words mean the task it works on.
    pub fn is_own_task(&self, text: &str) -> bool {
        let (task, run) = (self.number, self.run);
        let words =
            [self.task.to_string(), task.to_string(), task.0.to_string(), run.to_string(), run.key().to_string()];
        words.iter().any(|word| word == text)
    }
}

pub(crate) struct Doors {
    open: Mutex<HashMap<RunId, CancellationToken>>,
    opened: mpsc::UnboundedSender<Door>,
    /// Until somebody serves them.
    waiting: Mutex<Option<mpsc::UnboundedReceiver<Door>>>,
}

impl Default for Doors {
    fn default() -> Self {
        let (opened, waiting) = mpsc::unbounded_channel();
        Self { open: Mutex::default(), opened, waiting: Mutex::new(Some(waiting)) }
    }
}

/// Only an agent of a formation has one. A check that decides about a merge is none.
pub(crate) fn has_door(run: &Run) -> Option<&Errand> {
    run.spec.errand.as_ref().filter(|_| !run.gives_back())
}

impl Engine {
    /// Every door as it is opened, for the one who serves them.
    pub fn doors(&self) -> Option<mpsc::UnboundedReceiver<Door>> {
        self.0.doors.waiting.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether a process is one of the run whose door this is. Where a sandbox does not keep agents from sockets, they could find
    /// each other's. `None`: it is not written down yet that the run's agent was started.
    pub fn is_at_own_door(&self, whose: &Whose, pid: u32) -> Option<bool> {
        let folder = self.layout().repo(whose.repo).run(whose.run).root().to_owned();
        let started = self.0.edges.host.started(&folder)?;
        Some(is_alive(&started.shim) && descends_from(pid, started.shim.pid))
    }

    /// Makes the run's door, where it has one and it is not there yet.
    pub(crate) fn open_door(&self, run: &Run) -> io::Result<()> {
        let Some(errand) = has_door(run) else { return Ok(()) };
        let mut open = self.0.doors.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.contains_key(&run.spec.id) {
            return Ok(());
        }
        let listener = socket_folder::listen(&self.layout().repo(run.spec.repo).run(run.spec.id).door())?;
        let (task, number) = (run.spec.task, run.spec.number);
        let whose = Whose { repo: run.spec.repo, task, number, run: run.spec.id, errand: errand.clone() };
        let closed = self.stopping().child_token();
        open.insert(run.spec.id, closed.clone());
        // Whoever connects before it is served waits at the listener.
        let _ = self.0.doors.opened.send(Door { listener, whose, closed });
        Ok(())
    }

    /// Also one that an earlier life has left.
    pub(crate) fn close_door(&self, run: &Run) {
        if has_door(run).is_none() {
            return;
        }
        let closed = self.0.doors.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&run.spec.id);
        if let Some(closed) = closed {
            closed.cancel();
        }
        let socket = self.layout().repo(run.spec.repo).run(run.spec.id).door();
        let _ = std::fs::remove_file(&socket);
        let _ = socket.parent().map(std::fs::remove_dir);
    }
}
