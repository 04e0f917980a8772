//! tmux on a socket of our own: one session, with windows that have a place, and panes in a grid in each.
//!
//! Panes are known by tmux's own ids (`%3`) and described by what we set on them; only machine formats are read, never text on
//! a screen or a position. A program is given with the pane that is made for it, so no key is typed before there is somebody to
//! read it. Keys and pastes go to living panes alone, which tmux itself checks in the same step: a paste into a dead pane ends
//! the server of tmux 3.3a.

mod pane;
mod words;
mod writer;

use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};

use crate::{Cmd, CmdError, CmdOutput, Env};
pub use pane::{Pane, PaneId, PaneProgram};
use words::{FORMAT, chain, literal};
pub use writer::PaneWriter;

/// tmux answers in milliseconds; a machine that swaps may take longer.
const DEADLINE: Duration = Duration::from_secs(20);
/// Until somebody attaches: wide enough for clients' own layouts, high enough for a grid of eight.
const SIZE: [&str; 4] = ["-x", "220", "-y", "60"];
/// Lines per pane. Clients write a lot, and ten panes with tmux' largest would take a gigabyte.
const HISTORY: &str = "20000";
const SESSION: &str = "dandori";
/// Empties the title: until the client sets its own, nobody can tell what it is doing. Then it is the client. It is not told that
/// this is tmux: Claude Code's title would not say any more whether it works, and nobody in a pane has to talk to our server.
const START: &str = r#"unset TMUX TMUX_PANE; printf '\033]2;\033\\'; exec "$@""#;

/// A window of the session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub index: u32,
    pub name: &'static str,
}

#[derive(Debug, thiserror::Error)]
pub enum TmuxError {
    #[error(transparent)]
    Cmd(#[from] CmdError),
    #[error("somebody else is typing into pane {0}")]
    Taken(PaneId),
    #[error("cannot lock pane {pane}")]
    NotLocked {
        pane: PaneId,
        #[source]
        source: std::io::Error,
    },
    #[error("pane {0} is dead")]
    PaneDead(PaneId),
    #[error("tmux answered {answer:?} to {asked}")]
    Unexpected { asked: &'static str, answer: String },
    #[error("tmux was ended and is still there")]
    StillThere,
    #[error("{value:?} cannot be the {name} of a pane")]
    BadValue { name: &'static str, value: String },
}

#[derive(Clone, Debug)]
pub struct Tmux {
    socket: Utf8PathBuf,
    env: Env,
}

impl Tmux {
    /// The environment is that of every program in a pane.
    pub fn at(socket: &Utf8Path, env: &Env) -> Self {
        Self { socket: socket.to_owned(), env: env.clone() }
    }

    /// Whether a server answers there.
    pub fn is_running(&self) -> bool {
        UnixStream::connect(&self.socket).is_ok()
    }

    /// Makes a pane in its window, and what it takes of that and of the session.
    pub fn open(&self, place: Place, program: &PaneProgram) -> Result<PaneId, TmuxError> {
        program.check()?;
        let Place { index, name } = place;
        if !self.is_running() {
            return self.make(session(&index.to_string(), name), program);
        }
        let window = format!("={SESSION}:{index}");
        let panes = self.panes()?;
        let Some(last) = panes.iter().rfind(|pane| pane.window == index) else {
            let words = ["new-window", "-d", "-t", &window, "-n", name].map(literal);
            return self.make(words.into(), program);
        };
        // Behind the last: the grid is in the order of the agents.
        let id = self.make(["split-window", "-d", "-t", last.id.as_str()].map(literal).into(), program)?;
        // At once: without it there is soon no room to split.
        self.run(["select-layout", "-t", &window, "tiled"].map(literal))?;
        Ok(id)
    }

    fn make(&self, mut words: Vec<String>, program: &PaneProgram) -> Result<PaneId, TmuxError> {
        words.extend(["-P", "-F", "#{pane_id}", "-c", program.folder.as_str(), "--"].map(literal));
        words.extend(started(&program.argv));
        let answer = self.run(words)?.text();
        let id = PaneId::read(&answer).ok_or(TmuxError::Unexpected { asked: "a new pane", answer })?;
        let options = program.options();
        let set = options.each_ref().map(|(name, value)| ["set-option", "-p", "-t", id.as_str(), name, value]);
        self.run(chain(&set.each_ref().map(<[&str; 6]>::as_slice)))?;
        Ok(id)
    }

    /// All panes of the session.
    pub fn panes(&self) -> Result<Vec<Pane>, TmuxError> {
        let listed = self.run(["list-panes", "-s", "-t", "=dandori", "-F", FORMAT].map(literal))?.text();
        listed.lines().map(|line| read_pane(line, "list-panes")).collect()
    }

    /// One pane as it is now.
    pub fn pane(&self, id: &PaneId) -> Result<Pane, TmuxError> {
        let line = self.run(["display-message", "-p", "-t", id.as_str(), FORMAT].map(literal))?.text();
        read_pane(&line, "display-message")
    }

    /// What people see of an agent above its pane.
    pub fn set_status(&self, id: &PaneId, status: &str) -> Result<(), TmuxError> {
        pane::check("status", status)?;
        self.run(["set-option", "-p", "-t", id.as_str(), "@status", status].map(literal))?;
        Ok(())
    }

    /// Starts a program in a pane whose last one has ended; one that still runs is left alone, and that is an error.
    pub fn respawn(&self, id: &PaneId, folder: &Utf8Path, argv: &[String]) -> Result<(), TmuxError> {
        let mut words: Vec<String> =
            ["respawn-pane", "-t", id.as_str(), "-c", folder.as_str(), "--"].map(literal).into();
        words.extend(started(argv));
        self.run(words)?;
        Ok(())
    }

    /// The right to type into a pane, for one at a time.
    pub fn writer(&self, id: &PaneId) -> Result<PaneWriter, TmuxError> {
        PaneWriter::take(self.clone(), id.clone())
    }

    /// Ends the server with all its panes, and waits until it is gone.
    pub fn kill(&self) -> Result<(), TmuxError> {
        let until = Instant::now() + DEADLINE;
        self.run(["kill-server"].map(literal))?;
        while self.is_running() {
            if Instant::now() > until {
                return Err(TmuxError::StillThere);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    fn run(&self, words: impl IntoIterator<Item = String>) -> Result<CmdOutput, TmuxError> {
        Ok(self.cmd(words).run()?)
    }

    fn cmd(&self, words: impl IntoIterator<Item = String>) -> Cmd {
        // No configuration of the user's; UTF-8 whatever the locale, or the signs in titles come back as `_`.
        let ours = ["-u", "-f", "/dev/null", "-S", self.socket.as_str()];
        Cmd::new("tmux", &self.env).args(ours).args(words).deadline(DEADLINE)
    }
}

/// The commands that make it, with its first window.
fn session(index: &str, window: &str) -> Vec<String> {
    let mut words = chain(&[
        &["start-server"],
        &["set-option", "-g", "remain-on-exit", "on"],
        &["set-option", "-g", "history-limit", HISTORY],
        &["set-option", "-g", "automatic-rename", "off"],
        &["set-option", "-g", "allow-rename", "off"],
        &["set-option", "-g", "pane-border-status", "top"],
        &["set-option", "-g", "pane-border-format", " #{@agent_id} #{@model} #{@status} "],
        &["set-option", "-g", "base-index", index],
        &["set-option", "-s", "escape-time", "0"],
        &["new-session", "-d", "-s", SESSION, "-n", window],
    ]);
    words.extend(SIZE.map(str::to_owned));
    words
}

fn started(argv: &[String]) -> Vec<String> {
    ["sh", "-c", START, "sh"].into_iter().chain(argv.iter().map(String::as_str)).map(literal).collect()
}

fn read_pane(line: &str, asked: &'static str) -> Result<Pane, TmuxError> {
    Pane::read(line).ok_or_else(|| TmuxError::Unexpected { asked, answer: line.to_owned() })
}

#[cfg(test)]
mod tests;
