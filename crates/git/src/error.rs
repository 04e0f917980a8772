//! What can go wrong with git, and what it means to the user.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::{Problem, Unfit};
use dandori_host::CmdError;

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("{path} is not inside a git repository")]
    NotARepository { path: Utf8PathBuf },
    #[error("{path} belongs to another user: git refuses to use it")]
    DubiousOwnership { path: Utf8PathBuf },
    #[error("{path} is a bare repository: there is no checkout to start from")]
    Bare { path: Utf8PathBuf },
    #[error("git is not installed, or not on the PATH")]
    Missing,
    #[error("git {found} is too old: {needed} or newer is needed")]
    TooOld { found: String, needed: String },
    #[error("no branch, tag or commit {base}")]
    UnknownBase { base: String, near: Vec<String>, unreachable: Option<String> },
    #[error("the remote could not be reached: {reason}")]
    RemoteUnreachable { reason: String },
    #[error("several remotes and none is called origin: {}", names.join(", "))]
    WhichRemote { names: Vec<String> },
    #[error("branch {branch} is already in use")]
    BranchTaken { branch: String, suggestion: String, used_at: Option<Utf8PathBuf> },
    #[error("{name} is not a valid branch name")]
    BadBranchName { name: String },
    #[error("cannot create a worktree at {path}: {reason}")]
    UnsafePath { path: Utf8PathBuf, reason: Unsafe },
    #[error("{path} already exists")]
    PathTaken { path: Utf8PathBuf },
    #[error("{path} is not a worktree of this repository")]
    NotOurs { path: Utf8PathBuf },
    #[error("worktree {path} is locked: {reason}")]
    Locked { path: Utf8PathBuf, reason: String },
    #[error("{reference} is no longer at {expected}")]
    RefMoved { reference: String, expected: String, found: String },
    #[error("{reference} not found")]
    NoSuchRef { reference: String },
    #[error("{path} has conflicting edits: {}", files.join(", "))]
    EditsInTheWay { path: Utf8PathBuf, files: Vec<String> },
    #[error("some files cannot be committed: {}", paths.iter().map(|u| u.path.as_str()).collect::<Vec<_>>().join(", "))]
    Unfit { paths: Vec<Unfit> },
    #[error("cannot read the files: {reason}")]
    Gathering { reason: String },
    #[error("reading the files took longer than {seconds} s")]
    StagingTooLong { seconds: u64 },
    #[error("git's user.name and user.email are not set")]
    NoIdentity,
    #[error("the repository was busy for {seconds} s")]
    Busy { seconds: u64 },
    #[error("unexpected answer from git: {what}")]
    Unexpected { what: String },
    #[error(transparent)]
    Command(#[from] CmdError),
    #[error("cannot read or write {path}")]
    Io {
        path: Utf8PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Why a path is not one for a worktree.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unsafe {
    #[error("it is not an absolute path without `.` and `..`")]
    NotPlain,
    #[error("it is outside {root}")]
    OutsideRoot { root: Utf8PathBuf },
    #[error("{component} is a symbolic link")]
    Symlink { component: Utf8PathBuf },
    #[error("{component} is not a folder")]
    NotAFolder { component: Utf8PathBuf },
    #[error("it is inside another repository: {repository}")]
    InsideRepository { repository: Utf8PathBuf },
}

impl GitError {
    pub(crate) fn io(path: &Utf8Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    pub(crate) fn unexpected(what: impl Into<String>) -> Self {
        Self::Unexpected { what: what.into() }
    }

    /// The same in the words the API sends.
    pub fn problem(&self) -> Problem {
        match self {
            Self::NotARepository { path } => Problem::NotARepository { path: path.clone() },
            Self::DubiousOwnership { path } => Problem::DubiousOwnership { path: path.clone() },
            Self::Bare { path } => Problem::BareRepository { path: path.clone() },
            Self::Missing => Problem::GitMissing,
            Self::TooOld { found, needed } => Problem::GitTooOld { found: found.clone(), needed: needed.clone() },
            Self::UnknownBase { base, near, unreachable } => {
                Problem::UnknownBase { base: base.clone(), near: near.clone(), unreachable: unreachable.clone() }
            }
            Self::RemoteUnreachable { reason } => Problem::RemoteUnreachable { reason: reason.clone() },
            Self::WhichRemote { names } => Problem::WhichRemote { names: names.clone() },
            Self::BranchTaken { branch, suggestion, used_at } => Problem::BranchTaken {
                branch: branch.clone(),
                suggestion: suggestion.clone(),
                used_at: used_at.clone(),
            },
            Self::BadBranchName { name } => Problem::BadBranchName { name: name.clone() },
            Self::Locked { path, reason } => Problem::WorktreeLocked { path: path.clone(), reason: reason.clone() },
            Self::UnsafePath { path, reason } => Problem::UnsafePath { path: path.clone(), reason: reason.to_string() },
            Self::PathTaken { path } => Problem::WorktreeExists { path: path.clone() },
            Self::NotOurs { path } => Problem::NotOurWorktree { path: path.clone() },
            Self::NoIdentity => Problem::NoIdentity,
            Self::NoSuchRef { reference } => Problem::NothingPreserved { text: reference.clone() },
            Self::Io { path, source } => Problem::Io { path: path.clone(), reason: source.to_string() },
            Self::Command(CmdError::Failed { command, stderr, .. }) => {
                Problem::Git { command: command.clone(), reason: dandori_host::cmd::last_lines(stderr.trim(), 12) }
            }
            Self::RefMoved { .. }
            | Self::EditsInTheWay { .. }
            | Self::Unfit { .. }
            | Self::Gathering { .. }
            | Self::StagingTooLong { .. }
            | Self::Busy { .. }
            | Self::Unexpected { .. }
            | Self::Command(_) => Problem::Git { command: "git".to_owned(), reason: self.to_string() },
        }
    }
}
