//! Copying the user's settings into a private folder, within bounds.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};

use camino::Utf8Path;

use super::HomeError;

/// Settings are small. What is larger is a cache, a log or a mistake, and would be copied at every launch.
const MAX_FILE: u64 = 4 * 1024 * 1024;
const MAX_TREE: u64 = 32 * 1024 * 1024;
const MAX_FILES: u32 = 4000;
const MAX_DEPTH: u32 = 12;

/// Folders that are never settings, wherever they stand.
const SKIPPED: &[&str] = &["node_modules", ".git", ".system", "cache", "logs", "__pycache__", ".venv"];

/// A file of the user's, links followed; `None` when there is none.
pub(crate) fn load(path: &Utf8Path) -> Result<Option<Vec<u8>>, HomeError> {
    let failed = |source| HomeError::Read { path: path.to_owned(), source };
    match fs::metadata(path) {
        Ok(meta) if meta.is_file() && meta.len() <= MAX_FILE => {}
        Ok(_) => return Ok(None),
        Err(e) if is_absent(&e) => return Ok(None),
        Err(e) => return Err(failed(e)),
    }
    fs::read(path).map(Some).map_err(failed)
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Writes a new file. Not synced: the folder is made anew at the next launch anyway.
pub(crate) fn write(path: &Utf8Path, bytes: &[u8], mode: u32) -> Result<(), HomeError> {
    let failed = |source| HomeError::Write { path: path.to_owned(), source };
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path).map_err(failed)?;
    io::Write::write_all(&mut file, bytes).map_err(failed)
}

/// Copies the named files and folders that are there.
pub(crate) fn all(from: &Utf8Path, to: &Utf8Path, names: &[&str]) -> Result<(), HomeError> {
    let mut left = Left { bytes: MAX_TREE, files: MAX_FILES };
    for name in names {
        entry(&from.join(name), &to.join(name), &mut left, MAX_DEPTH)?;
    }
    Ok(())
}

struct Left {
    bytes: u64,
    files: u32,
}

/// What does not fit or cannot be read is left out: a broken link in a skills folder must not stop every run.
fn entry(from: &Utf8Path, to: &Utf8Path, left: &mut Left, depth: u32) -> Result<(), HomeError> {
    let Ok(meta) = fs::metadata(from) else { return Ok(()) };
    if meta.is_dir() && depth > 0 {
        let Ok(entries) = from.read_dir_utf8() else { return Ok(()) };
        fs::DirBuilder::new()
            .mode(0o700)
            .create(to)
            .map_err(|source| HomeError::Write { path: to.to_owned(), source })?;
        for child in entries.flatten().filter(|e| !SKIPPED.contains(&e.file_name())) {
            entry(child.path(), &to.join(child.file_name()), left, depth - 1)?;
        }
    } else if meta.is_file() && meta.len() <= MAX_FILE.min(left.bytes) && left.files > 0 {
        left.bytes -= meta.len();
        left.files -= 1;
        let mut bytes = Vec::new();
        let Ok(mut file) = fs::File::open(from) else { return Ok(()) };
        if file.read_to_end(&mut bytes).is_err() {
            return Ok(());
        }
        // A hook that is a script stays executable; nobody else needs to read any of it.
        write(to, &bytes, 0o600 | (meta.permissions().mode() & 0o100))?;
    }
    Ok(())
}

/// JSON with `//` and `/* */` taken out, strings left alone.
pub(crate) fn without_comments(text: &[u8]) -> Vec<u8> {
    let mut clean = Vec::with_capacity(text.len());
    let mut bytes = text.iter().copied().peekable();
    let mut in_string = false;
    while let Some(byte) = bytes.next() {
        match (in_string, byte, bytes.peek()) {
            (true, b'\\', Some(next)) => {
                clean.extend([byte, *next]);
                bytes.next();
            }
            (_, b'"', _) => {
                in_string = !in_string;
                clean.push(byte);
            }
            (false, b'/', Some(b'/')) => {
                for skipped in bytes.by_ref() {
                    if skipped == b'\n' {
                        clean.push(skipped);
                        break;
                    }
                }
            }
            (false, b'/', Some(b'*')) => {
                bytes.next();
                let mut before = 0;
                for skipped in bytes.by_ref() {
                    if before == b'*' && skipped == b'/' {
                        break;
                    }
                    before = skipped;
                }
                clean.push(b' ');
            }
            _ => clean.push(byte),
        }
    }
    clean
}
