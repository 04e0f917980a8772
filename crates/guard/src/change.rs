//! What a tool would do to files: paths and texts, whichever tool it is.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

/// One file that would be changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Absolute when the event said where it happened. Symlinks are not resolved. A path that begins with `~` is one
    /// the client expands itself.
    pub path: Utf8PathBuf,
    pub kind: ChangeKind,
    /// The text that would go, as far as the tool names it.
    pub old: Option<String>,
    /// The text that would come: the whole file for a write, the inserted part for an edit.
    pub new: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ChangeKind {
    Write,
    Edit,
    Delete,
    /// Moved, perhaps with an edit in it.
    Rename {
        to: Utf8PathBuf,
    },
}

impl Change {
    pub fn write(path: Utf8PathBuf, new: String) -> Self {
        Self { path, kind: ChangeKind::Write, old: None, new: Some(new) }
    }

    pub fn edit(path: Utf8PathBuf, old: Option<String>, new: Option<String>) -> Self {
        Self { path, kind: ChangeKind::Edit, old, new }
    }

    pub fn delete(path: Utf8PathBuf) -> Self {
        Self { path, kind: ChangeKind::Delete, old: None, new: None }
    }

    /// Every path that is touched: both ends of a rename.
    pub fn paths(&self) -> impl Iterator<Item = &Utf8Path> {
        let to = match &self.kind {
            ChangeKind::Rename { to } => Some(to.as_path()),
            ChangeKind::Write | ChangeKind::Edit | ChangeKind::Delete => None,
        };
        std::iter::once(self.path.as_path()).chain(to)
    }
}

/// The longest path a system call takes.
const LONGEST_PATH: usize = 4096;

/// `path` as all three clients resolve it: against `base`, with `.`, `..` and `//` taken out by name alone.
pub fn resolve(base: Option<&Utf8Path>, path: &str) -> Utf8PathBuf {
    let given = Utf8Path::new(path);
    let is_home = path == "~" || path.starts_with("~/");
    let joined = match base {
        Some(base) if !given.is_absolute() && !is_home => base.join(given),
        _ => given.to_owned(),
    };
    let mut plain = Utf8PathBuf::new();
    for component in joined.components() {
        match component {
            Utf8Component::CurDir => {}
            // Above the root there is only the root; a relative path with nothing left to take away keeps its `..`.
            Utf8Component::ParentDir => match plain.components().next_back() {
                Some(Utf8Component::Normal(_)) => {
                    plain.pop();
                }
                Some(Utf8Component::RootDir | Utf8Component::Prefix(_)) => {}
                _ => plain.push(".."),
            },
            other => plain.push(other.as_str()),
        }
    }
    if plain.as_str().len() <= LONGEST_PATH {
        return plain;
    }
    // No file can be reached by it, and every pattern would be held against every part of it.
    let cut = plain.as_str().floor_char_boundary(LONGEST_PATH);
    plain.as_str().get(..cut).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_resolved_by_name_as_the_clients_do() {
        for (base, path, want) in [
            (Some("/repo"), "a.txt", "/repo/a.txt"),
            (Some("/repo"), "./sub//../a.txt", "/repo/a.txt"),
            (Some("/repo"), "../../../etc/passwd", "/etc/passwd"),
            (Some("/repo"), "/x/./y", "/x/y"),
            (Some("/repo"), "~/.bashrc", "~/.bashrc"),
            (Some("/repo"), "~weird", "/repo/~weird"),
            (None, "../a", "../a"),
            (None, "a/../../b", "../b"),
            (Some("/repo"), "", "/repo"),
        ] {
            assert_eq!(resolve(base.map(Utf8Path::new), path), want, "{base:?} {path}");
        }
    }

    #[test]
    fn a_path_no_file_can_have_is_cut_and_a_long_way_to_a_short_one_is_not() {
        let long = resolve(Some(Utf8Path::new("/repo")), &"日/".repeat(500_000));
        assert!((4090..=4096).contains(&long.as_str().len()), "{}", long.as_str().len());
        assert_eq!(resolve(Some(Utf8Path::new("/repo")), &("x/../".repeat(5_000) + ".env")), "/repo/.env");
    }
}
