//! One at a time, for the few files that are read, changed and replaced.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use camino::Utf8Path;

const STEP: Duration = Duration::from_millis(2);

/// Held until it is dropped or its process ends, however it ends.
pub(crate) struct Lock(#[expect(dead_code, reason = "the lock is the open file")] File);

/// Waits at most so long: an agent waits for the hook.
pub(crate) fn wait(path: &Utf8Path, at_most: Duration) -> Option<Lock> {
    let file = open(path)?;
    let mut waited = Duration::ZERO;
    loop {
        if file.try_lock().is_ok() {
            return Some(Lock(file));
        }
        if waited >= at_most {
            return None;
        }
        std::thread::sleep(STEP);
        waited += STEP;
    }
}

pub(crate) fn try_now(path: &Utf8Path) -> Option<Lock> {
    wait(path, Duration::ZERO)
}

/// The lock's file is never removed: two would hold "the" lock, each on a file of its own.
fn open(path: &Utf8Path) -> Option<File> {
    let open = || OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
    open().or_else(|_| crate::append::make_parent(path).and_then(|()| open())).ok()
}
