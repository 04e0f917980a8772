//! One slot: the mark that says it is whole, and the right to work on it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Oid;
use dandori_host::replace_file;
use rustix::fs::{AtFlags, CWD, FlockOperation, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, flock, utimensat};
use serde::{Deserialize, Serialize};

use crate::error::GitError;
use crate::tree::Tree;
use crate::worktrees::recorded_path;

const MARK: &str = "dandori-slot";
const MARK_VERSION: u32 = 1;

/// Together longer than the second that is waited out; on a disk whose clock stands still it is given up.
const SETTLING_PAUSE: Duration = Duration::from_millis(50);
const SETTLING_ROUNDS: u32 = 40;

#[derive(Serialize, Deserialize)]
pub(super) struct Mark {
    version: u32,
    pub(super) base: Oid,
    path: Utf8PathBuf,
    boot: String,
}

impl Tree {
    /// The mark, when the slot is whole: made by us, in this boot, and still where it was made.
    pub(super) fn slot_mark(&self) -> Result<Option<Mark>, GitError> {
        let Ok(bytes) = std::fs::read(self.git_dir().join(MARK)) else { return Ok(None) };
        let Ok(mark) = serde_json::from_slice::<Mark>(&bytes) else { return Ok(None) };
        let is_whole = mark.version == MARK_VERSION
            && mark.path == *self.path()
            && mark.boot == boot_id()?
            && recorded_path(self.git_dir()).is_some_and(|at| at == *self.path());
        Ok(is_whole.then_some(mark))
    }

    /// The last act of filling.
    pub(super) fn write_slot_mark(&self, base: &Oid) -> Result<(), GitError> {
        let path = self.path().to_owned();
        let mark = Mark { version: MARK_VERSION, base: base.clone(), path, boot: boot_id()? };
        let bytes = serde_json::to_vec(&mark).map_err(|e| GitError::unexpected(e.to_string()))?;
        let file = self.git_dir().join(MARK);
        replace_file(&file, &bytes, 0o644).map_err(GitError::io(&file))
    }

    pub(super) fn drop_slot_mark(&self) -> Result<(), GitError> {
        let file = self.git_dir().join(MARK);
        match std::fs::remove_file(&file) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(GitError::io(&file)(e)),
            _ => Ok(()),
        }
    }

    /// Waits until the second in which the files were written is over, then dates the index now.
    pub(super) fn date_index_after_its_files(&self) -> Result<(), GitError> {
        let index = self.git_dir().join("index");
        let failed = |errno: rustix::io::Errno| GitError::Io { path: index.clone(), source: errno.into() };
        let now = Timestamps {
            last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
            last_modification: Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
        };
        let modified = || index.metadata().map(|m| m.mtime()).map_err(GitError::io(&index));
        let written = modified()?;
        // The disk's clock is asked, not ours: they may differ.
        for _ in 0..SETTLING_ROUNDS {
            utimensat(CWD, index.as_std_path(), &now, AtFlags::empty()).map_err(failed)?;
            if modified()? > written {
                break;
            }
            std::thread::sleep(SETTLING_PAUSE);
        }
        Ok(())
    }

    pub(super) fn relabel(&self, reason: &str) -> Result<(), GitError> {
        self.write_small("locked", &format!("{reason}\n"))
    }

    /// Replaces a file of the record in one rename, without waiting for the disk: a slot does not outlive a power cut.
    pub(super) fn write_small(&self, name: &str, text: &str) -> Result<(), GitError> {
        use io::Write as _;
        let file = self.git_dir().join(name);
        let part = self.git_dir().join(format!("{name}.part"));
        File::create(&part)
            .and_then(|mut f| f.write_all(text.as_bytes()))
            .and_then(|()| std::fs::rename(&part, &file))
            .map_err(GitError::io(&file))
    }
}

/// The right to work on a slot, for as long as it lives. The kernel takes it back from the dead.
pub(super) struct Hold {
    _file: File,
    path: Utf8PathBuf,
}

impl Hold {
    /// `None` when somebody else has it.
    pub(super) fn take(slot: &Utf8Path) -> Result<Option<Self>, GitError> {
        let path = slot.with_extension("lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(GitError::io(&path))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self { _file: file, path })),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(errno) => Err(GitError::Io { path, source: errno.into() }),
        }
    }

    /// The slot is gone, and its lock file with it. Its name never comes again.
    pub(super) fn forget(self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn boot_id() -> Result<String, GitError> {
    let path = Utf8Path::new("/proc/sys/kernel/random/boot_id");
    Ok(std::fs::read_to_string(path).map_err(GitError::io(path))?.trim().to_owned())
}
