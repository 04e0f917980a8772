//! Taking everything out of a private folder but the conversation.

use std::fs::{self, DirEntry};
use std::io;

use camino::Utf8Path;

use super::HomeError;

/// What of a folder stays.
pub(crate) enum Keep<'a> {
    /// Plain files whose name passes.
    Files(&'a dyn Fn(&str) -> bool),
    /// Everything below: plain files and folders, no links, no sockets.
    All,
    /// Below folders whose name passes, what the inner rule keeps; and plain files whose name passes the second.
    Folders(&'a dyn Fn(&str) -> bool, &'a Keep<'a>, &'a dyn Fn(&str) -> bool),
}

/// Makes `folder` a real, private folder and removes from it what `keep` does not name. Safe to repeat: a kill in
/// the middle leaves less than before, never half a rule.
pub(crate) fn prune(folder: &Utf8Path, keep: &Keep<'_>) -> Result<(), HomeError> {
    let failed = |source| HomeError::Write { path: folder.to_owned(), source };
    require_folder(folder).map_err(failed)?;
    prune_below(folder, keep).map_err(failed)
}

/// A link in a folder's place is removed, not followed.
fn require_folder(folder: &Utf8Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    match fs::symlink_metadata(folder) {
        Ok(meta) if meta.is_dir() => return Ok(()),
        Ok(_) => fs::remove_file(folder)?,
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(e),
    }
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn prune_below(folder: &Utf8Path, keep: &Keep<'_>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let name = entry.file_name();
        let stays = match (keep, name.to_str()) {
            (_, None) => false,
            (Keep::Files(passes), Some(name)) => kind.is_file() && passes(name),
            (Keep::All, Some(name)) => {
                if kind.is_dir() {
                    prune_below(&folder.join(name), keep)?;
                }
                kind.is_file() || kind.is_dir()
            }
            (Keep::Folders(folders, inner, files), Some(name)) => {
                let is_kept_folder = kind.is_dir() && folders(name);
                if is_kept_folder {
                    prune_below(&folder.join(name), inner)?;
                }
                is_kept_folder || kind.is_file() && files(name)
            }
        };
        if !stays {
            remove(&entry)?;
        }
    }
    Ok(())
}

fn remove(entry: &DirEntry) -> io::Result<()> {
    if entry.file_type()?.is_dir() {
        make_removable(&entry.path())?;
        fs::remove_dir_all(entry.path())
    } else {
        fs::remove_file(entry.path())
    }
}

/// An agent may have taken the write permission off a folder to make it stay.
fn make_removable(folder: &std::path::Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_removable(&entry.path())?;
        }
    }
    Ok(())
}
