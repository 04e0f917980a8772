//! Files that survive a kill: replaced, never truncated.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;

use camino::Utf8Path;

/// Writes a sibling, syncs it, renames it over `path` and syncs the folder. `mode` is the new file's.
pub fn replace_file(path: &Utf8Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let folder = path.parent().filter(|p| !p.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let name = path.file_name().ok_or_else(|| io::Error::other("a file needs a name"))?;
    let sibling = folder.join(format!(".{name}.{:x}.new", crate::random()));
    let result = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&sibling)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&sibling, path)?;
        sync_folder(folder)
    })();
    if result.is_err() {
        let _ = std::fs::remove_file(&sibling);
    }
    result
}

/// Writes a sibling and renames it over `path`: whole or not at all, but not synced. For what can be made again, or
/// need not outlive a power cut.
pub fn put_file(path: &Utf8Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let folder = path.parent().filter(|p| !p.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let name = path.file_name().ok_or_else(|| io::Error::other("a file needs a name"))?;
    let sibling = folder.join(format!(".{name}.{:x}.new", crate::random()));
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(&sibling)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| std::fs::rename(&sibling, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&sibling);
    }
    written
}

/// The last bytes of a file.
pub fn tail(path: &Utf8Path, bytes: u64) -> io::Result<Vec<u8>> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = std::fs::File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(bytes)))?;
    let mut end = Vec::new();
    file.take(bytes).read_to_end(&mut end)?;
    Ok(end)
}

/// Makes a rename in `folder` durable.
pub(crate) fn sync_folder(folder: &Utf8Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_with_its_mode_and_no_sibling_stays() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(dir.path()).unwrap().join("token");
        replace_file(&path, b"one", 0o600).unwrap();
        replace_file(&path, b"two", 0o600).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        put_file(&path, b"one", 0o600).unwrap();
        put_file(&path, b"two", 0o600).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(replace_file(&path.join("no/such"), b"x", 0o600).is_err());
        assert!(put_file(&path.join("no/such"), b"x", 0o600).is_err());
    }
}
