//! A look at the folders of a work tree nobody writes to any more, before git reads it: no file is opened.
//!
//! What nobody may read is opened to its owner: git records neither a folder's mode nor who may read a file, so nothing
//! is lost by it, and what is in there is neither left out nor in the way of a removal. What git would wait for without
//! end (a pipe where it looks for its own files) or leave out without a word (a path beyond the system's limit) is named.

use std::fs::{DirEntry, FileType, Metadata, Permissions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use camino::Utf8Path;
use dandori_domain::{Unfit, UnfitWhy};

/// The system's limit for a path, with its closing zero.
const PATH_BYTES: usize = 4096;
/// Files git opens wherever it finds them, by their name alone.
const OWN_FILES: &[&[u8]] = &[b".gitignore", b".gitattributes", b".gitmodules", b".mailmap"];
/// A list is for people to read.
const NAMED: usize = 20;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// Somebody may be at work: nothing is touched.
    Looking,
    Staging,
    /// The files are about to go. Pipes and sockets go first: there is nothing in them to keep.
    Keeping,
}

/// What git cannot take, the first of it.
pub(crate) fn inspect(top: &Utf8Path, purpose: Purpose) -> Vec<Unfit> {
    let mut look = Look { top: top.as_std_path(), purpose, unfit: Vec::new() };
    let mut folders = vec![top.as_std_path().to_owned()];
    while let Some(folder) = folders.pop() {
        if look.unfit.len() >= NAMED {
            break;
        }
        folders.extend(look.folder_entries(&folder));
    }
    look.unfit
}

struct Look<'t> {
    top: &'t Path,
    purpose: Purpose,
    unfit: Vec<Unfit>,
}

impl Look<'_> {
    fn name(&mut self, path: &Path, why: UnfitWhy) {
        let path = path.strip_prefix(self.top).unwrap_or(path).to_string_lossy().into_owned();
        self.unfit.push(Unfit { path, why });
    }

    /// The folders inside.
    fn folder_entries(&mut self, folder: &Path) -> Vec<PathBuf> {
        let is_open = self.purpose == Purpose::Looking || open(folder, 0o700);
        let Some(entries) = is_open.then(|| std::fs::read_dir(folder).ok()).flatten() else {
            self.name(folder, UnfitWhy::Unreadable);
            return Vec::new();
        };
        entries.flatten().filter_map(|entry| self.at(&entry)).collect()
    }

    /// A folder to look into.
    fn at(&mut self, entry: &DirEntry) -> Option<PathBuf> {
        let path = entry.path();
        if path.as_os_str().len() >= PATH_BYTES {
            self.name(&path, UnfitWhy::TooLong);
            return None;
        }
        let kind = entry.file_type().ok()?;
        if kind.is_dir() {
            return Some(path);
        }
        if is_special(kind) {
            match self.purpose {
                Purpose::Keeping => drop(std::fs::remove_file(&path)),
                Purpose::Looking | Purpose::Staging if OWN_FILES.contains(&entry.file_name().as_encoded_bytes()) => {
                    self.name(&path, UnfitWhy::Special);
                }
                Purpose::Looking | Purpose::Staging => {}
            }
        } else if kind.is_file() && self.purpose != Purpose::Looking && !rustix::process::geteuid().is_root() {
            // The superuser reads it anyway, and need not be asked for its mode.
            open(&path, 0o400);
        }
        None
    }
}

/// `false`: it is somebody else's and closed. What is open already is not touched.
fn open(path: &Path, needed: u32) -> bool {
    let Ok(meta) = std::fs::symlink_metadata(path) else { return false };
    if meta.mode() & needed == needed || meta.is_symlink() {
        return true;
    }
    if is_somebody_else_s(&meta) {
        return !meta.is_dir() || std::fs::read_dir(path).is_ok();
    }
    std::fs::set_permissions(path, Permissions::from_mode(meta.mode() & 0o7777 | needed)).is_ok()
}

fn is_somebody_else_s(meta: &Metadata) -> bool {
    meta.uid() != rustix::process::geteuid().as_raw()
}

/// A pipe, a socket, a device: nothing that git could keep.
pub(crate) fn is_special(kind: FileType) -> bool {
    kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device()
}
