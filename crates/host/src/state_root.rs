//! The state root as a place that nobody else can enter, and the way to the socket in it.
//!
//! What lies in it opens everything: the token, the database, the socket. So it is ours and closed to others, or it is
//! not used: one that others could enter is closed, one that belongs to somebody else is refused and named. The folder is
//! held open once it has been looked at, and the socket is reached through it: whoever swaps a folder on the way to it
//! changes nothing, and a path longer than a socket's may be does not matter. (A short path in a shared folder would have
//! to be guessed by both sides, and could be made first by anybody.)

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::OFlags;

use crate::Layout;

const CLOSED: u32 = 0o700;

#[derive(Debug, thiserror::Error)]
pub enum StateRootError {
    #[error("{path} belongs to another user")]
    Foreign { path: Utf8PathBuf },
    #[error("cannot use {path}")]
    Io {
        path: Utf8PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the path {path} is too long for a socket")]
    TooLong { path: Utf8PathBuf },
}

/// Ours, closed, and held open.
#[derive(Debug)]
pub struct StateRoot {
    folder: File,
    socket: Utf8PathBuf,
}

impl StateRoot {
    /// Makes it where it is missing, and looks at everything that lies in it: what somebody else put there while it was
    /// open is not used either.
    pub fn make(layout: &Layout) -> Result<Self, StateRootError> {
        let path = layout.root();
        let made = std::fs::DirBuilder::new().recursive(true).mode(CLOSED).create(path);
        made.map_err(|source| StateRootError::Io { path: path.to_owned(), source })?;
        let root = Self::hold(layout)?;
        close(&layout.private(), Missing::Make)?;
        let io = |source| StateRootError::Io { path: path.to_owned(), source };
        for entry in path.read_dir_utf8().map_err(io)? {
            require_ours(entry.map_err(io)?.path())?;
        }
        Ok(root)
    }

    /// The one that is there; `None` when there is none.
    pub fn open(layout: &Layout) -> Result<Option<Self>, StateRootError> {
        match Self::hold(layout) {
            Ok(root) => {
                close(&layout.private(), Missing::Leave)?;
                Ok(Some(root))
            }
            Err(StateRootError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// Where to listen and where to connect, for as long as this lives.
    pub fn socket(&self) -> Result<Utf8PathBuf, StateRootError> {
        let way = crate::socket_folder::through(&self.folder, &self.socket);
        way.ok_or_else(|| StateRootError::TooLong { path: self.socket.clone() })
    }

    fn hold(layout: &Layout) -> Result<Self, StateRootError> {
        let path = layout.root();
        let io = |source| StateRootError::Io { path: path.to_owned(), source };
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let flags = i32::try_from(flags.bits()).map_err(|e| io(io::Error::other(e)))?;
        let folder = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(io)?;
        let found = folder.metadata().map_err(io)?;
        if found.uid() != own_uid() {
            return Err(StateRootError::Foreign { path: path.to_owned() });
        }
        if is_open(found.mode()) {
            folder.set_permissions(std::fs::Permissions::from_mode(CLOSED)).map_err(io)?;
        }
        Ok(Self { folder, socket: layout.socket() })
    }
}

/// How a state root stands before anything is done about it, for `doctor`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    Missing,
    Closed,
    /// Others may enter: its permissions.
    Open(u32),
    Foreign,
}

pub fn standing(layout: &Layout) -> Standing {
    match layout.root().symlink_metadata() {
        Err(_) => Standing::Missing,
        Ok(found) if found.uid() != own_uid() => Standing::Foreign,
        Ok(found) if is_open(found.mode()) => Standing::Open(found.mode() & 0o777),
        Ok(_) => Standing::Closed,
    }
}

/// Whether whoever listens may be told secrets: we ourselves, or root, who knows them anyway.
pub fn is_trusted_peer(uid: u32) -> bool {
    may_hear(uid, own_uid())
}

fn may_hear(peer: u32, own: u32) -> bool {
    peer == own || peer == 0
}

fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn is_open(mode: u32) -> bool {
    mode & 0o077 != 0
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Make,
    Leave,
}

/// A folder in the root, which nobody else can enter any more.
fn close(path: &Utf8Path, missing: Missing) -> Result<(), StateRootError> {
    let io = |source| StateRootError::Io { path: path.to_owned(), source };
    if missing == Missing::Make {
        std::fs::DirBuilder::new().recursive(true).mode(CLOSED).create(path).map_err(io)?;
    }
    match path.symlink_metadata() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(io(e)),
        Ok(_) => {
            let found = require_ours(path)?;
            if found.is_dir() && is_open(found.mode()) {
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(CLOSED)).map_err(io)?;
            }
            Ok(())
        }
    }
}

fn require_ours(path: &Utf8Path) -> Result<std::fs::Metadata, StateRootError> {
    let found = path.symlink_metadata().map_err(|source| StateRootError::Io { path: path.to_owned(), source })?;
    if found.uid() == own_uid() { Ok(found) } else { Err(StateRootError::Foreign { path: path.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> (tempfile::TempDir, Layout) {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::try_from(dir.path().canonicalize().unwrap()).unwrap().join("state");
        (dir, Layout::at(root))
    }

    #[test]
    fn an_open_folder_is_closed_and_a_missing_one_is_none() {
        let (_dir, layout) = layout();
        assert!(StateRoot::open(&layout).unwrap().is_none());
        assert_eq!(standing(&layout), Standing::Missing);
        StateRoot::make(&layout).unwrap();
        for folder in [layout.root().to_owned(), layout.private()] {
            std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        assert_eq!(standing(&layout), Standing::Open(0o755));
        StateRoot::open(&layout).unwrap().unwrap();
        assert_eq!(standing(&layout), Standing::Closed);
        assert!(!is_open(layout.private().metadata().unwrap().mode()));
    }

    #[test]
    fn a_link_in_its_place_is_not_followed() {
        let (_dir, layout) = layout();
        let elsewhere = layout.root().with_file_name("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, layout.root()).unwrap();
        assert!(StateRoot::open(&layout).is_err());
    }

    #[test]
    fn the_socket_is_reached_through_the_folder_that_was_looked_at() {
        let (_dir, layout) = layout();
        let root = StateRoot::make(&layout).unwrap();
        // Swapped after the look: it is still the folder that was looked at.
        std::fs::rename(layout.root(), layout.root().with_file_name("aside")).unwrap();
        std::fs::create_dir(layout.root()).unwrap();
        std::os::unix::net::UnixListener::bind(root.socket().unwrap()).unwrap();
        assert!(layout.root().with_file_name("aside").join("dandori.sock").exists());
        assert!(!layout.socket().exists());
    }

    #[test]
    fn only_the_user_and_root_are_told_secrets() {
        assert!(may_hear(1000, 1000) && may_hear(0, 1000));
        assert!(!may_hear(1001, 1000) && !may_hear(65_534, 0));
    }
}
