//! The agent's outputs, copied from pipes into append-only files.
//!
//! Pipes rather than the files themselves: an agent cannot wipe its own log, `> /dev/stdout` in a script works
//! behind the fence and does not truncate it, and a limit is kept to the byte. The price is that a SIGKILL of the
//! shim loses what is in the pipe at that moment, 64 KiB at most.

use std::fs::{File, OpenOptions};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;

use camino::Utf8Path;
use rustix::event::{PollFd, PollFlags};

/// One output: the end we read, and the file it goes to.
pub(crate) struct Stream {
    pipe: Option<PipeReader>,
    file: File,
}

impl Stream {
    /// The stream and the end that the agent writes to.
    pub(crate) fn into_file(path: &Utf8Path) -> io::Result<(Self, PipeWriter)> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        let (reader, writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&reader, true)?;
        Ok((Self { pipe: Some(reader), file }, writer))
    }

    pub(crate) fn poll_fd(&self) -> Option<PollFd<'_>> {
        self.pipe.as_ref().map(|p| PollFd::from_borrowed_fd(p.as_fd(), PollFlags::IN))
    }
}

/// Both outputs against one limit. A program in a terminal has none that are kept.
pub(crate) struct Outputs {
    pub(crate) streams: Vec<Stream>,
    left: u64,
    pub(crate) kept: u64,
    pub(crate) dropped: u64,
}

impl Outputs {
    pub(crate) fn new(streams: Vec<Stream>, limit: u64) -> Self {
        Self { streams, left: limit, kept: 0, dropped: 0 }
    }

    pub(crate) fn is_over_limit(&self) -> bool {
        self.left == 0 && self.dropped > 0
    }

    /// Copies what is there now. Never waits, and never more than a fair share at once: whoever writes without end
    /// must not keep the shim from its other duties.
    pub(crate) fn copy_some(&mut self) {
        let mut chunk = [0u8; 16 * 1024];
        for index in 0..self.streams.len() {
            for _ in 0..64 {
                if !self.copy_chunk(index, &mut chunk) {
                    break;
                }
            }
        }
    }

    /// Everything that was written before the writers died.
    pub(crate) fn copy_rest(&mut self) {
        let mut chunk = [0u8; 16 * 1024];
        for index in 0..self.streams.len() {
            while self.copy_chunk(index, &mut chunk) {}
        }
    }

    /// `false`: nothing more for now.
    fn copy_chunk(&mut self, index: usize, chunk: &mut [u8]) -> bool {
        let Some(stream) = self.streams.get_mut(index) else { return false };
        let Some(pipe) = stream.pipe.as_mut() else { return false };
        let count = match pipe.read(chunk) {
            Ok(count) if count > 0 => count,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => return true,
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return false,
            Ok(_) | Err(_) => {
                stream.pipe = None;
                return false;
            }
        };
        let allowed = usize::try_from(self.left).unwrap_or(usize::MAX).min(count);
        let (keep, over) = chunk.get(..count).unwrap_or_default().split_at(allowed);
        // A full disk must not block or end the agent; what was lost is counted.
        let written = if stream.file.write_all(keep).is_ok() { keep.len() } else { 0 };
        self.left -= keep.len() as u64;
        self.kept += written as u64;
        self.dropped += (keep.len() - written + over.len()) as u64;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_the_limit_is_counted_and_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap();
        let (out, mut to_out) = Stream::into_file(&root.join("out")).unwrap();
        let (err, mut to_err) = Stream::into_file(&root.join("err")).unwrap();
        let mut outputs = Outputs::new(vec![out, err], 10);
        to_out.write_all(b"12345678").unwrap();
        outputs.copy_some();
        assert!(!outputs.is_over_limit());
        to_err.write_all(b"abcdef").unwrap();
        drop((to_out, to_err));
        outputs.copy_rest();
        assert!(outputs.is_over_limit());
        assert_eq!((outputs.kept, outputs.dropped), (10, 4));
        assert_eq!(std::fs::read(root.join("out")).unwrap(), b"12345678");
        assert_eq!(std::fs::read(root.join("err")).unwrap(), b"ab");
        assert!(outputs.streams.iter().all(|s| s.poll_fd().is_none()), "both ends were seen");
    }
}
