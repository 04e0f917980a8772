//! Paths that were looked at already: guards ask about the same few files and folders from many sides, and a folder's
//! real path is asked for every file in it.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_guard::world::FileKind;
use dandori_host::layout;

/// Longer paths are looked at again: an event may be full of them, and a hook is to stay small.
const LONGEST: usize = 512;

/// By the path as text: paths are compared part by part, which is slow.
#[derive(Default)]
pub struct Looks {
    kinds: RefCell<HashMap<String, Option<FileKind>>>,
    /// Folders and files that are where they say: no part of the way is a link.
    plain: RefCell<HashSet<String>>,
}

impl Looks {
    /// What a path is; a link to a folder is a folder.
    pub(crate) fn kind(&self, path: &Utf8Path) -> Option<FileKind> {
        if let Some(known) = self.kinds.borrow().get(path.as_str()) {
            return *known;
        }
        let kind = match own_kind(path) {
            Some(FileKind::Link) if path.is_dir() => Some(FileKind::Folder),
            other => other,
        };
        if path.as_str().len() <= LONGEST {
            self.kinds.borrow_mut().insert(path.to_string(), kind);
        }
        kind
    }

    /// The path with every symbolic link in what exists of it followed.
    pub(crate) fn real(&self, path: &Utf8Path) -> Utf8PathBuf {
        let text = path.as_str();
        if !is_normal(text) {
            return layout::real(path);
        }
        for end in text.match_indices('/').map(|(at, _)| at).skip(1).chain([text.len()]) {
            let part = text.get(..end).unwrap_or(text);
            if self.plain.borrow().contains(part) {
                continue;
            }
            match own_kind(Utf8Path::new(part)) {
                Some(FileKind::Link) => return layout::real(path),
                Some(_) if part.len() <= LONGEST => {
                    self.plain.borrow_mut().insert(part.to_owned());
                }
                Some(_) => {}
                // Nothing of the rest is there either.
                None => break,
            }
        }
        path.to_owned()
    }

    /// Something else may have changed the files.
    pub(crate) fn forget(&self) {
        self.kinds.borrow_mut().clear();
        self.plain.borrow_mut().clear();
    }
}

/// From the root, with nothing in it that is no name.
fn is_normal(path: &str) -> bool {
    path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(|part| !matches!(part, "" | "." | "..")))
}

/// Of the path itself, no link followed.
fn own_kind(path: &Utf8Path) -> Option<FileKind> {
    let kind = path.symlink_metadata().ok()?.file_type();
    Some(if kind.is_symlink() {
        FileKind::Link
    } else if kind.is_dir() {
        FileKind::Folder
    } else if kind.is_file() {
        FileKind::File
    } else {
        FileKind::Other
    })
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
            "a//b/",
            "/",
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
