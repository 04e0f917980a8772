//! Where a worktree may be made: inside the allowed root, through real folders only, in no other repository.

use std::io;

use camino::{Utf8Component, Utf8Path};

use crate::error::{GitError, Unsafe};

/// Checks a path at which something new is to be made. The root itself is trusted; nothing below it is.
pub(crate) fn check_new(path: &Utf8Path, root: &Utf8Path) -> Result<(), GitError> {
    let refuse = |reason| Err(GitError::UnsafePath { path: path.to_owned(), reason });
    let plain = |p: &Utf8Path| {
        p.is_absolute()
            && p.components().all(|c| matches!(c, Utf8Component::RootDir | Utf8Component::Normal(_)))
            // `components` swallows `.`, a doubled `/` and one at the end: what is checked must be what is made.
            && p.components().collect::<camino::Utf8PathBuf>().as_str() == p.as_str()
            && !p.as_str().contains(['\n', '\0'])
    };
    if !plain(path) {
        return refuse(Unsafe::NotPlain);
    }
    let Ok(below) = path.strip_prefix(root) else {
        return refuse(Unsafe::OutsideRoot { root: root.to_owned() });
    };
    if below.as_str().is_empty() {
        return refuse(Unsafe::OutsideRoot { root: root.to_owned() });
    }
    if holds_repository(root) {
        return refuse(Unsafe::InsideRepository { repository: root.to_owned() });
    }
    if below.components().any(|part| part.as_str().eq_ignore_ascii_case(".git")) {
        return refuse(Unsafe::InsideRepository { repository: path.to_owned() });
    }
    let mut at = root.to_owned();
    let mut parts = below.components().peekable();
    while let Some(part) = parts.next() {
        at.push(part);
        let is_last = parts.peek().is_none();
        match at.symlink_metadata() {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(e) if e.kind() == io::ErrorKind::NotADirectory => {
                return refuse(Unsafe::NotAFolder { component: at });
            }
            Err(e) => return Err(GitError::io(&at)(e)),
            Ok(found) if found.is_symlink() => return refuse(Unsafe::Symlink { component: at }),
            Ok(_) if is_last => return Err(GitError::PathTaken { path: path.to_owned() }),
            Ok(found) if !found.is_dir() => return refuse(Unsafe::NotAFolder { component: at }),
            Ok(_) if holds_repository(&at) => return refuse(Unsafe::InsideRepository { repository: at }),
            Ok(_) => {}
        }
    }
    Ok(())
}

fn holds_repository(folder: &Utf8Path) -> bool {
    let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
    has(".git") || (has("HEAD") && has("objects") && has("refs"))
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

    use super::*;

    fn reason(path: &Utf8Path, root: &Utf8Path) -> String {
        match check_new(path, root).unwrap_err() {
            GitError::UnsafePath { reason, .. } => format!("{reason:?}").split([' ', '{']).next().unwrap().to_owned(),
            other => format!("{other:?}").split([' ', '{']).next().unwrap().to_owned(),
        }
    }

    #[test]
    fn only_a_new_path_through_real_folders_inside_the_root_will_do() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(dir.path().canonicalize().unwrap()).unwrap();
        let other = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.join("real")).unwrap();
        std::fs::create_dir_all(root.join("repo/.git")).unwrap();
        std::fs::create_dir_all(root.join("bare/objects")).unwrap();
        std::fs::create_dir_all(root.join("bare/refs")).unwrap();
        std::fs::File::create(root.join("bare/HEAD")).unwrap();
        std::fs::File::create(root.join("file")).unwrap();
        std::os::unix::fs::symlink(other.path(), root.join("link")).unwrap();
        std::os::unix::fs::symlink("/nowhere/at/all", root.join("dangling")).unwrap();

        check_new(&root.join("fresh"), &root).unwrap();
        check_new(&root.join("real/fresh/deep"), &root).unwrap();
        for (path, expected) in [
            ("real/../../out", "NotPlain"),
            ("real/./x", "NotPlain"),
            ("real//x", "NotPlain"),
            ("x/", "NotPlain"),
            ("new\nline", "NotPlain"),
            ("link/x", "Symlink"),
            ("link", "Symlink"),
            ("dangling", "Symlink"),
            ("file/x", "NotAFolder"),
            ("repo/x", "InsideRepository"),
            ("repo/.git/x", "InsideRepository"),
            ("not-yet/.git/x", "InsideRepository"),
            ("bare/x", "InsideRepository"),
            ("real", "PathTaken"),
            ("file", "PathTaken"),
        ] {
            assert_eq!(reason(&Utf8PathBuf::from(format!("{root}/{path}")), &root), expected, "{path}");
        }
        assert_eq!(reason(Utf8Path::new("relative"), &root), "NotPlain");
        assert_eq!(reason(Utf8Path::new("/elsewhere"), &root), "OutsideRoot");
        assert_eq!(reason(&Utf8PathBuf::from(format!("{root}-beside/x")), &root), "OutsideRoot");
        assert_eq!(reason(&root, &root), "OutsideRoot");
        assert_eq!(reason(&root.join("repo/x"), &root.join("repo")), "InsideRepository");
    }
}
