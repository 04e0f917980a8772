//! Room that is kept back, for what must be written when the disk is full: how something ended.

use std::io;

use camino::Utf8PathBuf;

#[derive(Clone, Debug)]
pub struct Reserve {
    path: Utf8PathBuf,
    bytes: usize,
}

impl Reserve {
    pub fn new(path: impl Into<Utf8PathBuf>, bytes: usize) -> Self {
        Self { path: path.into(), bytes }
    }

    /// Takes the room, unless it is taken. Without it things go on as they would have.
    pub fn take(&self) -> io::Result<()> {
        if self.path.metadata().is_ok_and(|m| m.len() >= self.bytes as u64) {
            return Ok(());
        }
        // Bytes that no file system makes nothing of.
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut bytes = Vec::with_capacity(self.bytes);
        while bytes.len() < self.bytes {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            bytes.extend_from_slice(&state.to_le_bytes());
        }
        crate::put_file(&self.path, &bytes, 0o600)
    }

    /// Gives it back. `true` when there was some.
    pub fn give(&self) -> bool {
        std::fs::remove_file(&self.path).is_ok()
    }
}
