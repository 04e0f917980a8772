//! Who types into a pane. There is one at a time: the pieces of two prompts must not get between each other.

use std::fs::{File, TryLockError};

use camino::Utf8PathBuf;

use super::words::{chain, literal};
use super::{PaneId, Tmux, TmuxError};

#[derive(Debug)]
pub struct PaneWriter {
    tmux: Tmux,
    id: PaneId,
    /// Held as long as this is; a process that is killed lets go of it.
    lock: File,
}

impl PaneWriter {
    pub(super) fn take(tmux: Tmux, id: PaneId) -> Result<Self, TmuxError> {
        let path = Utf8PathBuf::from(format!("{}-pane{}.lock", tmux.socket, number(&id)));
        let failed = |source| TmuxError::NotLocked { pane: id.clone(), source };
        let lock = File::create(path).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { tmux, id, lock }),
            Err(TryLockError::WouldBlock) => Err(TmuxError::Taken(id)),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// Pastes text as one piece (bracketed), so that nothing in it is taken for a key.
    pub fn paste(&self, text: &str) -> Result<(), TmuxError> {
        // A buffer of its own: two pastes at once do not take each other's.
        let buffer = format!("dandori-{}", number(&self.id));
        let load = chain(&[&["load-buffer", "-b", &buffer, "-"]]);
        let paste = format!("paste-buffer -p -d -b {buffer} -t {}", self.id);
        self.if_alive(load, &paste, text)
    }

    /// Presses keys by tmux' names for them, each so many times.
    pub fn press(&self, keys: &[(&str, u32)]) -> Result<(), TmuxError> {
        let press = |(key, times): &(&str, u32)| format!("send-keys -t {} -N {times} {key}", self.id);
        let presses: Vec<String> = keys.iter().map(press).collect();
        self.if_alive(Vec::new(), &presses.join(" ; "), "")
    }

    /// Whether it is alive is looked at by the server, with nothing in between.
    fn if_alive(&self, mut words: Vec<String>, command: &str, stdin: &str) -> Result<(), TmuxError> {
        if !words.is_empty() {
            words.push(";".to_owned());
        }
        let dead = "display-message -p dead";
        words.extend(["if-shell", "-F", "-t", self.id.as_str(), "#{pane_dead}", dead, command].map(literal));
        let output = self.tmux.cmd(words).stdin(stdin).run()?;
        if output.text() == "dead" { Err(TmuxError::PaneDead(self.id.clone())) } else { Ok(()) }
    }
}

impl Drop for PaneWriter {
    /// Not by closing the file alone: a child that another thread is just starting has it open, too, until it runs its program.
    fn drop(&mut self) {
        let _ = self.lock.unlock();
    }
}

fn number(id: &PaneId) -> &str {
    id.as_str().trim_start_matches('%')
}
