//! Which worktrees a repository has, and how each is found: by git's own records, never by a file an agent can write.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Oid;
use dandori_host::replace_file;

use crate::error::GitError;
pub(crate) use crate::records::recorded_path;
use crate::repository::Repository;
use crate::tree::Tree;

/// Locks whose reason begins so are dandori's own.
pub(crate) const OURS: &str = "dandori: ";
/// The reason of a worktree that is being made: one that still has it is only half there.
pub(crate) const MAKING: &str = "dandori: being made";

/// A worktree as git lists it. The first one is the main checkout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listed {
    pub path: Utf8PathBuf,
    pub branch: Option<String>,
    pub head: Option<Oid>,
    /// Why it is locked.
    pub locked: Option<String>,
    /// Why git would prune it: its directory is gone.
    pub prunable: Option<String>,
    pub is_main: bool,
    pub is_bare: bool,
    /// Its record, where that was read itself.
    pub git_dir: Option<Utf8PathBuf>,
}

impl Listed {
    /// What dandori locked it for; `None` when it is not locked, or by somebody else.
    pub fn our_lock(&self) -> Option<&str> {
        self.locked.as_deref()?.strip_prefix(OURS)
    }

    /// Why somebody else locked it.
    pub fn foreign_lock(&self) -> Option<&str> {
        self.locked.as_deref().filter(|reason| !reason.starts_with(OURS))
    }
}

impl Repository {
    pub fn list(&self) -> Result<Vec<Listed>, GitError> {
        let output = self.cmd().reading().args(["worktree", "list", "--porcelain", "-z"]).run_patiently()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let records = text.split("\0\0").filter(|r| !r.is_empty());
        Ok(records.enumerate().filter_map(|(i, record)| parse_listed(record, i == 0)).collect())
    }

    /// The worktree made at `path`, if git has a record of one. Its directory may be gone.
    pub fn worktree(&self, path: &Utf8Path) -> Result<Option<Tree>, GitError> {
        let wanted = real(path);
        Ok(self.record_of(&wanted)?.map(|git_dir| Tree::new(self, &wanted, &git_dir)))
    }

    /// Keeps others from removing or pruning it. The reason is marked as dandori's.
    pub fn lock(&self, path: &Utf8Path, reason: &str) -> Result<(), GitError> {
        let _held = self.lock_worktrees()?;
        let tree = self.require_worktree(path)?;
        if let Some(other) = tree.lock_reason()?.filter(|r| !r.starts_with(OURS)) {
            return Err(GitError::Locked { path: path.to_owned(), reason: other });
        }
        tree.write_lock(&format!("{OURS}{reason}"))
    }

    /// Takes our own lock away; another's stays and is an error.
    pub fn unlock(&self, path: &Utf8Path) -> Result<(), GitError> {
        let _held = self.lock_worktrees()?;
        self.require_worktree(path)?.drop_our_lock()
    }

    fn require_worktree(&self, path: &Utf8Path) -> Result<Tree, GitError> {
        self.worktree(path)?.ok_or_else(|| GitError::NotOurs { path: path.to_owned() })
    }
}

/// The path with every symbolic link above its last part followed; git records worktrees so.
pub(crate) fn real(path: &Utf8Path) -> Utf8PathBuf {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return path.to_owned() };
    match parent.canonicalize_utf8() {
        Ok(parent) => parent.join(name),
        Err(_) => path.to_owned(),
    }
}

impl Tree {
    pub(crate) fn lock_reason(&self) -> Result<Option<String>, GitError> {
        let file = self.git_dir().join("locked");
        match std::fs::read_to_string(&file) {
            Ok(text) => Ok(Some(text.trim_end().to_owned())),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(GitError::io(&file)(e)),
        }
    }

    pub(crate) fn write_lock(&self, reason: &str) -> Result<(), GitError> {
        let file = self.git_dir().join("locked");
        replace_file(&file, format!("{reason}\n").as_bytes(), 0o644).map_err(GitError::io(&file))
    }

    pub(crate) fn drop_our_lock(&self) -> Result<(), GitError> {
        if let Some(reason) = self.lock_reason()?.filter(|r| !r.starts_with(OURS)) {
            return Err(GitError::Locked { path: self.path().to_owned(), reason });
        }
        let file = self.git_dir().join("locked");
        match std::fs::remove_file(&file) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(GitError::io(&file)(e)),
            _ => Ok(()),
        }
    }
}

fn parse_listed(record: &str, is_main: bool) -> Option<Listed> {
    let mut listed = Listed {
        path: Utf8PathBuf::new(),
        branch: None,
        head: None,
        locked: None,
        prunable: None,
        is_main,
        is_bare: false,
        git_dir: None,
    };
    for field in record.split('\0').filter(|f| !f.is_empty()) {
        let (key, value) = field.split_once(' ').unwrap_or((field, ""));
        match key {
            "worktree" => listed.path = value.into(),
            "HEAD" => listed.head = Some(Oid::new(value)).filter(|o| o.as_str().bytes().any(|b| b != b'0')),
            "branch" => listed.branch = Some(value.strip_prefix("refs/heads/").unwrap_or(value).to_owned()),
            "locked" => listed.locked = Some(value.trim_end().to_owned()),
            "prunable" => listed.prunable = Some(value.to_owned()),
            "bare" => listed.is_bare = true,
            _ => {}
        }
    }
    (!listed.path.as_str().is_empty()).then_some(listed)
}
