//! What came out of the quarantine goes into the repository as a fetch would: hashed anew, and whole or not at all.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Oid;
use sha2::{Digest, Sha256};

use super::worker::PACK;
use super::{Lasting, Order};
use crate::error::GitError;
use crate::tree::Tree;

/// Fewer go in as files of their own, as git's own fetch does it: many small packs make every command slower.
const FEW: u64 = 100;

impl Tree {
    pub(super) fn take_in(&self, order: &Order, tree: &Oid, objects: u64, lasting: Lasting) -> Result<(), GitError> {
        let (storage, objects_folder) = (order.quarantine.join("lfs"), order.quarantine.join("lfs/objects"));
        // A link here would lead to somebody else's.
        if is_folder(&storage) && is_folder(&objects_folder) {
            self.take_in_large_files(&objects_folder)?;
        }
        if objects > 0 {
            let pack = order.quarantine.join(PACK);
            let call = self.repository.cmd().stdin_from(open_plain(&pack).map_err(GitError::io(&pack))?);
            let call = if lasting == Lasting::Durable { call.durably() } else { call };
            let call = match objects {
                0..FEW => call.args(["unpack-objects", "-q", "--strict"]),
                _ => call.args(["index-pack", "--stdin", "--strict"]),
            };
            call.run()?;
        }
        // Said by whoever worked behind the fence: it has to be a tree, and all of it here.
        let listed = self.repository.cmd().reading().args(["rev-list", "--objects", "--quiet", tree.as_str()]);
        let listed = match &order.known {
            Some(known) => listed.args(["--not", &format!("{}^{{tree}}", known.as_str())]),
            None => listed,
        };
        let kind = self.repository.cmd().reading().args(["cat-file", "-t", tree.as_str()]).run()?.text();
        if kind != "tree" {
            return Err(GitError::unexpected(format!("{} is a {kind}, not a tree", tree.as_str())));
        }
        listed.run()?;
        Ok(())
    }

    /// Contents of git-lfs: each is named by what it holds.
    fn take_in_large_files(&self, from: &Utf8Path) -> Result<(), GitError> {
        for path in files_below(from, 3) {
            let Some(name) = path.file_name().filter(|name| name.len() == 64) else { continue };
            let (Some(a), Some(b)) = (name.get(..2), name.get(2..4)) else { continue };
            let to = self.repository.common_dir().join("lfs/objects").join(a).join(b).join(name);
            if to.is_file() {
                continue;
            }
            let found = digest(&path).map_err(GitError::io(&path))?;
            if found != name {
                return Err(GitError::unexpected(format!("a file of git-lfs is not what its name says: {name}")));
            }
            place(&path, &to).map_err(GitError::io(&to))?;
        }
        Ok(())
    }
}

/// A plain file and nothing else: what lies in the quarantine was put there behind the fence.
fn open_plain(path: &Utf8Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file = std::fs::OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a file")) }
}

fn digest(path: &Utf8Path) -> io::Result<String> {
    let mut file = open_plain(path)?;
    let mut hash = Sha256::new();
    let mut chunk = vec![0u8; 64 * 1024];
    loop {
        match file.read(&mut chunk)? {
            0 => break,
            count => hash.update(chunk.get(..count).unwrap_or_default()),
        }
    }
    Ok(format!("{:x}", hash.finalize()))
}

/// There whole or not at all, also from another disk.
fn place(from: &Utf8Path, to: &Utf8Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder)?;
    }
    if std::fs::rename(from, to).is_ok() {
        return File::open(to)?.sync_all();
    }
    let part = to.with_extension("part");
    io::copy(&mut open_plain(from)?, &mut File::create(&part)?)?;
    File::open(&part)?.sync_all()?;
    std::fs::rename(&part, to)
}

fn is_folder(path: &Utf8Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

fn files_below(folder: &Utf8Path, depth: u32) -> Vec<Utf8PathBuf> {
    let mut files = Vec::new();
    for entry in folder.read_dir_utf8().into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_file() => files.push(entry.path().to_owned()),
            Ok(kind) if kind.is_dir() && depth > 0 => files.extend(files_below(entry.path(), depth - 1)),
            _ => {}
        }
    }
    files
}
