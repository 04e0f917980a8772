//! A folder of one socket: held open, and the socket reached through it, so that a path longer than a socket's may be does not
//! matter and nobody swaps a folder on the way to it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixListener;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::OFlags;

/// The longest path a Unix socket may have, with its closing zero.
const SOCKET_PATH_BYTES: usize = 108;

#[derive(Debug)]
pub struct SocketFolder {
    folder: File,
    socket: Utf8PathBuf,
}

impl SocketFolder {
    /// The folder that this socket lies in, or is to lie in.
    pub fn open(socket: &Utf8Path) -> io::Result<Self> {
        let folder = socket.parent().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
        let folder = OpenOptions::new().read(true).custom_flags(flags).open(folder)?;
        Ok(Self { folder, socket: socket.to_owned() })
    }

    /// Where to listen and where to connect, for as long as this lives.
    pub fn socket(&self) -> io::Result<Utf8PathBuf> {
        through(&self.folder, &self.socket).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidFilename))
    }
}

/// Listens at this socket, in a folder that is nobody else's. Whatever was there before is dead: only one daemon listens.
pub fn listen(socket: &Utf8Path) -> io::Result<UnixListener> {
    let folder = socket.parent().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let held = SocketFolder::open(socket)?;
    let path = held.socket()?;
    match std::fs::remove_file(&path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let listener = UnixListener::bind(&path)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// The way to a socket through its folder; `None` where there is none, and its own path is too long.
pub(crate) fn through(folder: &File, socket: &Utf8Path) -> Option<Utf8PathBuf> {
    let through = Utf8PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()));
    if through.is_dir() {
        return Some(through.join(socket.file_name().unwrap_or_default()));
    }
    // Without /proc the path itself has to do.
    (socket.as_str().len() < SOCKET_PATH_BYTES).then(|| socket.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_socket_at_a_long_path_is_reached_and_made_again_over_a_dead_one() {
        let dir = tempfile::tempdir().unwrap();
        let socket = Utf8Path::from_path(dir.path()).unwrap().join("a".repeat(150)).join("socket");
        for _ in 0..2 {
            let listener = listen(&socket).unwrap();
            let held = SocketFolder::open(&socket).unwrap();
            let _one = UnixStream::connect(held.socket().unwrap()).unwrap();
            assert!(listener.accept().is_ok());
            drop(listener);
            assert!(UnixStream::connect(held.socket().unwrap()).is_err(), "nobody listens any more");
        }
    }
}
