//! Lock files that a killed git left behind: nobody else takes them away, and every later git gives up on them.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use camino::Utf8Path;

use crate::error::GitError;

/// git closes a lock a moment before it renames it: that long it may be there without being open.
const MOMENT: Duration = Duration::from_millis(10);

/// A lock nobody has open is what a killed git left behind. Somebody's git that is at work has it open.
pub(crate) fn drop_stale_lock(lock: &Utf8Path) -> Result<(), GitError> {
    let inode = || lock.symlink_metadata().ok().map(|m| m.ino());
    let Some(first) = inode() else { return Ok(()) };
    for _ in 0..2 {
        if is_open_somewhere(lock) || inode() != Some(first) {
            return Ok(());
        }
        std::thread::sleep(MOMENT);
    }
    if inode() == Some(first) {
        match std::fs::remove_file(lock) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(GitError::io(lock)(e)),
            _ => {}
        }
    }
    Ok(())
}

fn is_open_somewhere(file: &Utf8Path) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return true };
    processes
        .flatten()
        .filter(|p| p.file_name().to_str().is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit())))
        .filter_map(|p| std::fs::read_dir(p.path().join("fd")).ok())
        .flat_map(Iterator::flatten)
        .any(|fd| std::fs::read_link(fd.path()).is_ok_and(|target| target == file.as_std_path()))
}
