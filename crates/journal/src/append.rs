//! Lines at the end of a file, each by one write.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};

use camino::{Utf8Path, Utf8PathBuf};

use crate::lock;

/// When a file is put aside for a new one, and how many of those stay.
#[derive(Clone, Copy)]
pub(crate) struct Rotation {
    pub(crate) bytes: u64,
    pub(crate) keep: usize,
}

/// Opens for appending; folders that are missing are made, which is no cost when they are there.
pub(crate) fn open(path: &Utf8Path) -> io::Result<File> {
    let open = || OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path);
    match open() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            make_parent(path)?;
            open()
        }
        other => other,
    }
}

pub(crate) fn make_parent(path: &Utf8Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => DirBuilder::new().recursive(true).mode(0o700).create(folder),
        None => Ok(()),
    }
}

/// As `host::put_file`, with the folder made when it is missing.
pub(crate) fn put(path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
    match dandori_host::put_file(path, bytes, 0o600) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            make_parent(path)?;
            dandori_host::put_file(path, bytes, 0o600)
        }
        other => other,
    }
}

/// One write. Short is an error: the rest would land behind other people's lines.
pub(crate) fn write_once(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    loop {
        match file.write(bytes) {
            Ok(written) if written == bytes.len() => return Ok(()),
            Ok(_) => return Err(io::Error::new(io::ErrorKind::WriteZero, "a line was cut short")),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

/// The file to append to; one that has become too long was put aside first.
pub(crate) fn open_rotating(path: &Utf8Path, rotation: Rotation) -> io::Result<File> {
    let file = open(path)?;
    if file.metadata()?.len() < rotation.bytes || !rotate(path, rotation) {
        return Ok(file);
    }
    open(path)
}

/// Whoever still holds the old file appends to it under its new name: nothing is lost. Whoever does not get the lock
/// leaves it to the one who has.
fn rotate(path: &Utf8Path, rotation: Rotation) -> bool {
    let Some(_lock) = lock::try_now(&beside(path, "lock")) else { return false };
    if !path.metadata().is_ok_and(|found| found.len() >= rotation.bytes) {
        return true;
    }
    for n in (1..rotation.keep).rev() {
        let _ = std::fs::rename(aside(path, n), aside(path, n + 1));
    }
    std::fs::rename(path, aside(path, 1)).is_ok()
}

/// `x.log` → `x.log.1`, newest first.
pub(crate) fn aside(path: &Utf8Path, n: usize) -> Utf8PathBuf {
    beside(path, &n.to_string())
}

fn beside(path: &Utf8Path, ending: &str) -> Utf8PathBuf {
    Utf8PathBuf::from(format!("{path}.{ending}"))
}
