//! From a policy to the paths that are allowed, one by one.

use std::fs;
use std::path::{Path, PathBuf};

use camino::Utf8PathBuf;

use super::mounts::other_names;
use super::{Otherwise, SandboxPolicy, resolved};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Right {
    /// Names in folders.
    List,
    /// Read and execute.
    Read,
    Write,
    /// Use a device node as a terminal or a stream.
    Device,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Grant {
    pub(crate) path: PathBuf,
    pub(crate) right: Right,
}

/// The nodes that ordinary programs open for writing. Terminals are among them because agents give their tools a
/// pseudo-terminal (`ptmx` makes it, `pts/N` is its other end). Not `/dev` as a whole: that holds disks, which a superuser
/// could read, and `/dev/shm`, where other programs' shared memory could be written.
const DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"];

/// In namespaces the view has taken away what is hidden, by path and for good, so that everything left may be read: also
/// what is made or replaced after the start.
pub(crate) fn grants(policy: &SandboxPolicy, in_namespaces: bool) -> Vec<Grant> {
    let mut hidden = resolve_all(&policy.hide);
    if !in_namespaces {
        hidden.extend(other_names(&hidden));
    }
    let guarded: Vec<PathBuf> = hidden.iter().cloned().chain(resolve_all(&policy.protect)).collect();
    let mut grants = vec![Grant { path: "/".into(), right: Right::List }];
    let mut give = |paths: Vec<PathBuf>, right| grants.extend(paths.into_iter().map(|path| Grant { path, right }));
    if in_namespaces {
        give(vec!["/".into()], Right::Read);
        give(own_places(policy), Right::Write);
    } else {
        hidden.push("/dev".into());
        let replaced = policy.replace.iter().filter(|copy| copy.otherwise != Otherwise::Seen);
        hidden.extend(replaced.map(|copy| resolved(copy.at.as_std_path())));
        give(all_but(Path::new("/"), &hidden), Right::Read);
        for path in resolve_all(&policy.read).into_iter().chain(resolve_all(&policy.reach)) {
            give(all_but(&path, &below(&path, &hidden)), Right::Read);
        }
    }
    let layers: Vec<Utf8PathBuf> = policy.stores.iter().map(|store| store.upper.clone()).collect();
    for path in resolve_all(&policy.write).into_iter().chain(resolve_all(&layers)) {
        give(all_but(&path, &below(&path, &guarded)), Right::Write);
        // What is protected inside it must stay readable when the whole lies below a hidden folder.
        give(all_but(&path, &below(&path, &hidden)), Right::Read);
    }
    give(DEVICES.iter().map(PathBuf::from).collect(), Right::Device);
    grants
}

/// What a namespace of its own makes the run's own.
fn own_places(policy: &SandboxPolicy) -> Vec<PathBuf> {
    let mut own = vec![super::runtime_folder(), "/dev/shm".into()];
    if policy.tmp.is_some() {
        own.extend(["/tmp".into(), "/var/tmp".into()]);
    }
    own.extend(policy.stores.iter().filter(|s| s.is_over).map(|store| resolved(store.at.as_std_path())));
    // Browsers say in there who is who in their own sandboxes. A superuser could say more than that.
    if !rustix::process::geteuid().is_root() {
        own.push("/proc".into());
    }
    own
}

fn resolve_all(paths: &[Utf8PathBuf]) -> Vec<PathBuf> {
    paths.iter().map(|p| resolved(p.as_std_path())).collect()
}

/// Exceptions that lie inside `path`: what is around it does not concern it, the nearest path decides.
fn below(path: &Path, exceptions: &[PathBuf]) -> Vec<PathBuf> {
    exceptions.iter().filter(|e| e.starts_with(path)).cloned().collect()
}

/// The fewest paths that together are `path` without the exceptions.
fn all_but(path: &Path, exceptions: &[PathBuf]) -> Vec<PathBuf> {
    if exceptions.iter().any(|e| path.starts_with(e)) {
        return Vec::new();
    }
    let inside = below(path, exceptions);
    if inside.is_empty() {
        return vec![path.to_owned()];
    }
    parts(path, &inside).iter().flat_map(|part| all_but(part, &inside)).collect()
}

/// What is in a folder. Links are left out: allowing one would allow its target, wherever that is. A folder that
/// cannot be listed yields only what we know to be in it.
fn parts(folder: &Path, known: &[PathBuf]) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        let next = |deep: &PathBuf| Some(folder.join(deep.strip_prefix(folder).ok()?.components().next()?));
        let mut parts: Vec<PathBuf> = known.iter().filter_map(next).collect();
        parts.dedup();
        return parts;
    };
    entries.flatten().filter(|e| e.file_type().is_ok_and(|t| !t.is_symlink())).map(|e| e.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(paths: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        for path in paths {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        (dir, root)
    }

    fn names(root: &Path, mut paths: Vec<PathBuf>) -> Vec<String> {
        paths.sort();
        paths.iter().map(|p| p.strip_prefix(root).unwrap().display().to_string()).collect()
    }

    #[test]
    fn hiding_a_folder_allows_its_siblings_all_the_way() {
        let (_dir, root) = tree(&["home/user/work", "home/user/state/secret/deep", "home/user/state/open", "usr"]);
        std::os::unix::fs::symlink(root.join("home/user/state/secret"), root.join("home/user/shortcut")).unwrap();
        let allowed = all_but(&root, &[root.join("home/user/state/secret")]);
        assert_eq!(names(&root, allowed), ["home/user/state/open", "home/user/work", "usr"]);
        assert!(all_but(&root.join("home/user/state/secret/deep"), &[root.join("home/user/state/secret")]).is_empty());
    }

    #[test]
    fn a_path_that_is_not_there_yet_is_hidden_all_the_same() {
        let (_dir, root) = tree(&["a/b"]);
        let later = resolved(&root.join("a/later/token"));
        assert_eq!(later, root.join("a/later/token"));
        assert_eq!(names(&root, all_but(&root, &[later])), ["a/b"]);
    }

    #[test]
    fn two_hidden_folders_are_both_left_out() {
        let (_dir, root) = tree(&["a/one", "a/two", "a/three", "b"]);
        let allowed = all_but(&root, &[root.join("a/one"), root.join("a/two")]);
        assert_eq!(names(&root, allowed), ["a/three", "b"]);
    }
}
