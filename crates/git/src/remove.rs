//! Removing a worktree: out of sight at once, off the disk later, and never more than the one that was named.

use std::io;
use std::os::unix::fs::PermissionsExt;

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::GitError;
use crate::repository::Repository;
use crate::tree::Tree;
use crate::worktrees::OURS;

/// What became of a removed worktree's branch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BranchEnd {
    Kept,
    /// It is gone, or was not there.
    Deleted,
    /// Somebody has it checked out: it stays.
    InUse {
        at: Utf8PathBuf,
    },
}

impl Repository {
    /// Renames the directory into `trash`, forgets git's record of it (and of no other), and deletes the branch
    /// named in `delete_branch`. Each part that is already done is no error. Nothing is kept here: that is
    /// [`Repository::preserve`], and comes first. A lock that is not dandori's refuses.
    pub fn remove_worktree(
        &self,
        path: &Utf8Path,
        trash: &Utf8Path,
        delete_branch: Option<&str>,
    ) -> Result<BranchEnd, GitError> {
        let held = self.lock_worktrees()?;
        if let Some(tree) = self.worktree(path)? {
            if let Some(reason) = tree.lock_reason()?.filter(|r| !r.starts_with(OURS)) {
                return Err(GitError::Locked { path: path.to_owned(), reason });
            }
            throw_away(path, trash)?;
            tree.remove_record()?;
        } else {
            self.clear_stump(path)?;
            self.throw_away_leftover(path, trash)?;
        }
        drop(held);
        let Some(branch) = delete_branch else { return Ok(BranchEnd::Kept) };
        Ok(match self.delete_branch(branch)? {
            Some(at) => BranchEnd::InUse { at },
            None => BranchEnd::Deleted,
        })
    }

    /// Whether a branch may go with its worktree. Without a remote it may be the only place of its commits: then it may go when
    /// another branch has them all.
    pub fn is_spare(&self, branch: &str) -> Result<bool, GitError> {
        if !self.is_on_its_own() {
            return Ok(true);
        }
        match self.branch_oid(branch)? {
            Some(tip) => Ok(self.unpushed(&tip, Some(branch))? == 0),
            None => Ok(true),
        }
    }

    /// A directory without a record: ours when it says it was (or says nothing at all), otherwise not to be touched.
    fn throw_away_leftover(&self, path: &Utf8Path, trash: &Utf8Path) -> Result<(), GitError> {
        let found = match path.symlink_metadata() {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(e) => return Err(GitError::io(path)(e)),
            Ok(found) => found,
        };
        let records = self.common_dir().join("worktrees");
        let pointer = std::fs::read_to_string(path.join(".git")).unwrap_or_default();
        let points_here = pointer
            .strip_prefix("gitdir: ")
            .map(|p| Utf8Path::new(p.trim_end()))
            .is_some_and(|p| p.parent() == Some(records.as_path()));
        let is_empty = || path.read_dir_utf8().is_ok_and(|mut entries| entries.next().is_none());
        if found.is_dir() && (points_here || is_empty()) {
            return throw_away(path, trash);
        }
        Err(GitError::NotOurs { path: path.to_owned() })
    }
}

impl Tree {
    /// What `git worktree prune` would do, for this one alone. What says where its worktree is goes first: a git that
    /// looks at all records meanwhile passes over one without it. Killed after that, it is a stump, which the next
    /// call for the same path or the next look after the pool clears.
    pub(crate) fn remove_record(&self) -> Result<(), GitError> {
        let _ = std::fs::remove_file(self.git_dir().join("gitdir"));
        match std::fs::remove_dir_all(self.git_dir()) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(GitError::io(self.git_dir())(e)),
            _ => Ok(()),
        }
    }
}

/// Removes what was thrown away. Slow: for the background. What cannot be removed now is tried again next time.
pub fn empty_trash(trash: &Utf8Path) -> Result<u32, GitError> {
    let entries = match trash.read_dir_utf8() {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(e) => return Err(GitError::io(trash)(e)),
    };
    let mut removed = 0;
    let mut failed = None;
    for entry in entries {
        let path = entry.map_err(GitError::io(trash))?.into_path();
        match remove_tree(&path) {
            Ok(()) => removed += 1,
            Err(error) => failed = Some(error),
        }
    }
    failed.map_or(Ok(removed), Err)
}

/// Into the trash in one rename; links are moved, not followed.
pub(crate) fn throw_away(path: &Utf8Path, trash: &Utf8Path) -> Result<(), GitError> {
    if path.symlink_metadata().is_err_and(|e| e.kind() == io::ErrorKind::NotFound) {
        return Ok(());
    }
    std::fs::create_dir_all(trash).map_err(GitError::io(trash))?;
    let name = path.file_name().unwrap_or("worktree");
    let unique = format!("{name}.{:x}", dandori_host::random());
    match std::fs::rename(path, trash.join(&unique)) {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::CrossesDevices => {
            // Another disk: out of the way under another name first, so that no half-removed worktree is ever seen.
            let aside = path.with_file_name(format!(".{unique}.removed"));
            std::fs::rename(path, &aside).map_err(GitError::io(path))?;
            remove_tree(&aside)
        }
        Err(e) => Err(GitError::io(path)(e)),
    }
}

/// Removes a directory with everything in it, folders without permissions included. Links are not followed.
pub(crate) fn remove_tree(path: &Utf8Path) -> Result<(), GitError> {
    let attempt = || match path.symlink_metadata() {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(e) => Err(e),
    };
    match attempt() {
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
            open_up(path);
            match attempt() {
                Err(e) if e.kind() != io::ErrorKind::NotFound => Err(GitError::io(path)(e)),
                _ => Ok(()),
            }
        }
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(GitError::io(path)(e)),
        _ => Ok(()),
    }
}

fn open_up(folder: &Utf8Path) {
    if !folder.symlink_metadata().is_ok_and(|m| m.is_dir()) {
        return;
    }
    let _ = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700));
    for entry in folder.read_dir_utf8().into_iter().flatten().flatten() {
        open_up(entry.path());
    }
}
