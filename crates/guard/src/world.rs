//! What guards may ask of the world. The hook answers from files, tests from memory.

use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

pub trait World {
    /// A file's text, broken bytes replaced; `None` when it is not there.
    fn text(&self, path: &Utf8Path) -> io::Result<Option<String>>;

    fn kind(&self, path: &Utf8Path) -> Option<FileKind>;

    /// The names in a folder; none when it is not there.
    fn names(&self, folder: &Utf8Path) -> Vec<String>;

    /// The path with every symbolic link in what exists of it followed.
    fn real(&self, path: &Utf8Path) -> Utf8PathBuf;

    /// The git checkout a path lies in.
    fn checkout(&self, path: &Utf8Path) -> Option<Checkout>;

    /// What the session, or the checkout, was marked with.
    fn mark(&self, mark: &Mark) -> Option<String>;

    /// What this session was lately denied to write.
    fn denied(&self) -> Vec<Denied>;

    /// Exceptions a person has given, those that ran out left away.
    fn exceptions(&self) -> Vec<Exception>;

    /// Calls of this session's guards that were never answered, since somebody last looked.
    fn gaps(&self) -> Vec<Gap> {
        Vec::new()
    }

    /// Runs a program of the project's own and waits for it.
    fn run(&self, call: &Call) -> Ran;

    /// Since the event came in.
    fn elapsed(&self) -> Duration;

    /// How much of it went by in programs of the project's own, which have limits of their own.
    fn waited(&self) -> Duration;

    fn home(&self) -> Option<Utf8PathBuf>;

    /// A variable of the client's environment. Whoever starts a client decides about it: nothing may be opened by one.
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    /// Where the user's programs keep their settings: `~/.config`, unless the user says otherwise.
    fn config_home(&self) -> Option<Utf8PathBuf> {
        self.home().map(|home| home.join(".config"))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    File,
    Folder,
    Link,
    Other,
}

/// A work tree and where it stands, read from git's own files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checkout {
    /// Its top folder, by its real path.
    pub root: Utf8PathBuf,
    /// Its own git folder: for a linked worktree the one below `worktrees/`.
    pub git_dir: Utf8PathBuf,
    /// The repository's, shared by all its worktrees.
    pub common_dir: Utf8PathBuf,
    pub head: Head,
}

impl Checkout {
    pub fn branch(&self) -> Option<&str> {
        match &self.head {
            Head::Branch(name) | Head::Unborn(name) => Some(name),
            Head::Detached => None,
        }
    }

    /// As people write it: from the checkout's root.
    pub fn short<'p>(&self, path: &'p Utf8Path) -> &'p Utf8Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Head {
    Branch(String),
    /// A branch without a commit: there is nothing on it to protect yet.
    Unborn(String),
    Detached,
}

/// Something that was noted for later events. Each is a file of its own, so that two hooks at once cannot lose one
/// another's.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum Mark {
    /// The required files have not all been read yet. Session.
    Pending,
    /// The session waits for the user's confirmation: how `dandori consent` finds it. Session.
    Consent,
    /// The session has worked by a playbook. Session.
    Discipline,
    /// The user has confirmed the understanding. Without it nobody has: a mark that is lost opens nothing. Session.
    Confirmed,
    /// A finished playbook waits for `post-loop`. Checkout.
    PostLoop,
    /// The playbook whose last phase this session has finished, from the checkout's root. Session.
    Finished,
    /// A required file was read. Session.
    Read(Utf8PathBuf),
    /// The session wrote this file. Session.
    Wrote(Utf8PathBuf),
    /// The model was told who mentions this file. Session.
    Told(Utf8PathBuf),
    /// A skill or subagent was called. Session.
    Called(String),
}

/// A write that was refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Denied {
    pub path: Utf8PathBuf,
    pub guard: String,
    pub seconds_ago: u64,
}

/// Something that went on, or may have, without an answer of the guards.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gap {
    /// Our short name of the event: `pre-tool`, `stop`.
    pub event: String,
    pub tool: Option<String>,
    pub kind: GapKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GapKind {
    /// A guard was asked and ended before it answered.
    Killed,
    /// The tool has run, and no guard was asked.
    NeverAsked,
}

/// Given by a person, for a while.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exception {
    pub id: String,
    pub guard: String,
    pub about: About,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum About {
    /// Everything the guard is about.
    All,
    /// A command, word by word.
    Command(String),
    /// A glob on the files.
    Path(String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    pub argv: Vec<String>,
    pub cwd: Option<Utf8PathBuf>,
    pub stdin: String,
    pub limit: Duration,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ran {
    Ended { code: Option<i32>, stdout: String, stderr: String },
    TimedOut,
    NotStarted { why: String },
}

/// What should be noted once the event is answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    Set(Mark, String),
    Clear(Mark),
    /// The whole session is over: its marks go.
    EndSession,
    /// A write of these files was refused.
    Deny {
        paths: Vec<Utf8PathBuf>,
        guard: String,
    },
    UseException {
        id: String,
    },
    /// A line for `session.log` or `subagent-dispatch.log`.
    Log {
        log: Log,
        line: String,
    },
    /// A value of the checkout's state.md.
    SetState {
        checkout: Utf8PathBuf,
        key: &'static str,
        value: StateValue,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Log {
    Session,
    Subagents,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StateValue {
    Now,
}
