//! Messages that were taken: a file each, made by whoever comes first.
//!
//! The hook takes a message before a client may submit its prompt; whoever gives up typing it takes it, too. So a message is
//! submitted once at most, however often its line was typed, and one that was given up is never submitted later.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;

use camino::{Utf8DirEntry, Utf8Path};
use dandori_domain::PromptTag;

use crate::append;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taking {
    /// By this call.
    Now,
    Before,
}

/// Takes a message under an epoch.
pub fn take_message(folder: &Utf8Path, tag: PromptTag) -> io::Result<Taking> {
    let path = folder.join("taken").join(tag.file_name());
    let create = || OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
    let made = match create() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            append::make_parent(&path)?;
            create()
        }
        other => other,
    };
    match made {
        Ok(_) => Ok(Taking::Now),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(Taking::Before),
        Err(e) => Err(e),
    }
}

pub(crate) fn sweep(folder: &Utf8Path, is_forgotten: impl Fn(&Utf8DirEntry) -> bool) {
    for entry in folder.join("taken").read_dir_utf8().into_iter().flatten().flatten() {
        if is_forgotten(&entry) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dandori_domain::{Epoch, MessageId};
    use jiff::Timestamp;
    use std::time::Duration;

    #[test]
    fn a_message_is_taken_once_under_each_epoch_whoever_comes_first() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(dir.path()).unwrap();
        let tag = |epoch| PromptTag { message: MessageId::mint(Timestamp::UNIX_EPOCH, 1), epoch: Epoch(epoch) };
        let takings: Vec<Taking> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(|| take_message(folder, tag(1)).unwrap())).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(takings.iter().filter(|taking| **taking == Taking::Now).count(), 1);
        assert_eq!(take_message(folder, tag(2)).unwrap(), Taking::Now);
        let now = dandori_host::now();
        crate::sweep(folder, now);
        assert_eq!(take_message(folder, tag(2)).unwrap(), Taking::Before);
        crate::sweep(folder, now + Duration::from_hours(15 * 24));
        assert_eq!(take_message(folder, tag(2)).unwrap(), Taking::Now);
    }
}
