//! Paths that were looked at already: guards ask about the same few files and folders from many sides, and a folder's
//! real path is asked for every file in it.

use std::cell::RefCell;
use std::collections::HashMap;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use dandori_guard::world::FileKind;
use dandori_host::layout;

/// By the path as text: paths are compared part by part, which is slow.
#[derive(Default)]
pub struct Looks {
    kinds: RefCell<HashMap<String, Option<FileKind>>>,
    reals: RefCell<HashMap<String, Utf8PathBuf>>,
}

impl Looks {
    /// What a path is; a link to a folder is a folder.
    pub(crate) fn kind(&self, path: &Utf8Path) -> Option<FileKind> {
        match self.own_kind(path) {
            Some(FileKind::Link) if path.is_dir() => Some(FileKind::Folder),
            other => other,
        }
    }

    /// The path with every symbolic link in what exists of it followed.
    pub(crate) fn real(&self, path: &Utf8Path) -> Utf8PathBuf {
        if let Some(known) = self.reals.borrow().get(path.as_str()) {
            return known.clone();
        }
        let real = match (path.parent(), path.components().next_back()) {
            (Some(parent), Some(Utf8Component::Normal(name))) if self.own_kind(path) != Some(FileKind::Link) => {
                self.real(parent).join(name)
            }
            _ => layout::real(path),
        };
        self.reals.borrow_mut().insert(path.to_string(), real.clone());
        real
    }

    /// Something else may have changed the files.
    pub(crate) fn forget(&self) {
        self.kinds.borrow_mut().clear();
        self.reals.borrow_mut().clear();
    }

    /// Of the path itself, no link followed.
    fn own_kind(&self, path: &Utf8Path) -> Option<FileKind> {
        if let Some(known) = self.kinds.borrow().get(path.as_str()) {
            return *known;
        }
        let kind = path.symlink_metadata().ok().map(|metadata| match metadata.file_type() {
            kind if kind.is_symlink() => FileKind::Link,
            kind if kind.is_dir() => FileKind::Folder,
            kind if kind.is_file() => FileKind::File,
            _ => FileKind::Other,
        });
        self.kinds.borrow_mut().insert(path.to_string(), kind);
        kind
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_leads_where_the_system_says_by_whatever_way_it_is_asked() {
        let dir = tempfile::tempdir().unwrap();
        let top = Utf8PathBuf::try_from(dir.path().canonicalize().unwrap()).unwrap();
        std::fs::create_dir_all(top.join("a/b")).unwrap();
        dandori_host::put_file(&top.join("a/b/file"), b"", 0o600).unwrap();
        symlink("a/b", top.join("link")).unwrap();
        symlink("../file-of-nobody", top.join("a/dangling")).unwrap();
        symlink("round", top.join("round")).unwrap();
        symlink("b/file", top.join("a/to-file")).unwrap();
        let looks = Looks::default();
        for path in [
            "",
            "a",
            "a/b/file",
            "a/b/new",
            "a/new/deep/er",
            "link",
            "link/file",
            "link/new/x",
            "link/../c",
            "a/dangling",
            "a/dangling/x",
            "a/to-file",
            "a/b/file/below",
            "round",
            "round/x",
            "./a/./b",
        ] {
            for path in [top.join(path), Utf8PathBuf::from(path)] {
                assert_eq!(looks.real(&path), layout::real(&path), "{path}");
            }
        }
        assert_eq!(looks.kind(&top.join("link")), Some(FileKind::Folder));
        assert_eq!(looks.kind(&top.join("a/to-file")), Some(FileKind::Link));
        assert_eq!(looks.kind(&top.join("a/dangling")), Some(FileKind::Link));
        assert_eq!(looks.kind(&top.join("a/b/file")), Some(FileKind::File));
    }

    #[test]
    fn what_is_forgotten_is_looked_at_again() {
        let dir = tempfile::tempdir().unwrap();
        let top = Utf8PathBuf::try_from(dir.path().canonicalize().unwrap()).unwrap();
        let looks = Looks::default();
        assert_eq!((looks.kind(&top.join("x")), looks.real(&top.join("x"))), (None, top.join("x")));
        symlink("y", top.join("x")).unwrap();
        dandori_host::put_file(&top.join("y"), b"", 0o600).unwrap();
        looks.forget();
        assert_eq!((looks.kind(&top.join("x")), looks.real(&top.join("x"))), (Some(FileKind::Link), top.join("y")));
    }
}
