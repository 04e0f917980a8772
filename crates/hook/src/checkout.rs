//! Which checkout a path lies in and where it stands, read from git's own files: asking git would cost more than all
//! guards together.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_guard::Checkout;
use dandori_guard::world::Head;

/// Larger files are not git's pointers.
const MAX_POINTER: u64 = 64 * 1024;

/// The checkout that holds `path`, which need not exist.
pub fn find(path: &Utf8Path) -> Option<Checkout> {
    find_among(path, |_| None)
}

/// The same, where some checkouts are known by their top folder.
pub(crate) fn find_among(path: &Utf8Path, known: impl Fn(&Utf8Path) -> Option<Checkout>) -> Option<Checkout> {
    for folder in path.ancestors() {
        if let Some(checkout) = known(folder) {
            return Some(checkout);
        }
        // What only looks like a checkout is none for git either, and it looks further up.
        if let Some(checkout) = at(folder) {
            return Some(checkout);
        }
    }
    None
}

/// The checkout whose top folder this is.
fn at(folder: &Utf8Path) -> Option<Checkout> {
    let dot_git = folder.join(".git");
    let metadata = dot_git.symlink_metadata().ok()?;
    let root = dandori_host::layout::real(folder);
    let git_dir = if metadata.is_dir() {
        root.join(".git")
    } else if metadata.is_symlink() && dot_git.is_dir() {
        dandori_host::layout::real(&dot_git)
    } else {
        dandori_host::layout::real(&pointed(folder, &dot_git)?)
    };
    let common_dir = common(&git_dir);
    let head = head(&git_dir, &common_dir)?;
    Some(Checkout { root, git_dir, common_dir, head })
}

/// The folder of the main work tree, when the repository has one.
pub fn main_root(checkout: &Checkout) -> Utf8PathBuf {
    if checkout.git_dir == checkout.common_dir {
        return checkout.root.clone();
    }
    match checkout.common_dir.file_name() {
        Some(".git") => checkout.common_dir.parent().unwrap_or(&checkout.root).to_owned(),
        _ => checkout.root.clone(),
    }
}

fn small(path: &Utf8Path) -> Option<String> {
    let metadata = path.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > MAX_POINTER {
        return None;
    }
    std::fs::read_to_string(path).ok()
}

/// The `gitdir:` of a linked worktree or submodule.
fn pointed(folder: &Utf8Path, dot_git: &Utf8Path) -> Option<Utf8PathBuf> {
    let text = small(dot_git)?;
    Some(folder.join(text.strip_prefix("gitdir:")?.trim()))
}

fn common(git_dir: &Utf8Path) -> Utf8PathBuf {
    match small(&git_dir.join("commondir")) {
        Some(text) => dandori_host::layout::real(&git_dir.join(text.trim())),
        None => git_dir.to_owned(),
    }
}

fn head(git_dir: &Utf8Path, common_dir: &Utf8Path) -> Option<Head> {
    let text = small(&git_dir.join("HEAD"))?;
    let Some(branch) = text.trim_end().strip_prefix("ref: refs/heads/") else { return Some(Head::Detached) };
    if branch == ".invalid" {
        return Some(from_reftable(git_dir));
    }
    let name = format!("refs/heads/{branch}");
    let is_born = common_dir.join(&name).is_file() || is_packed(common_dir, &name);
    Some(if is_born { Head::Branch(branch.to_owned()) } else { Head::Unborn(branch.to_owned()) })
}

fn is_packed(common_dir: &Utf8Path, name: &str) -> bool {
    let packed = std::fs::read(common_dir.join("packed-refs")).unwrap_or_default();
    packed.split(|b| *b == b'\n').any(|line| line.get(41..).is_some_and(|rest| rest == name.as_bytes()))
}

/// The one format of references that is not text: git has to be asked.
fn from_reftable(git_dir: &Utf8Path) -> Head {
    let env = dandori_host::Env::of_process().filtered(|name| matches!(name, "PATH" | "HOME"));
    let answer = dandori_host::Cmd::new("git", &env)
        .args(["--git-dir", git_dir.as_str(), "symbolic-ref", "--short", "HEAD"])
        .deadline(std::time::Duration::from_secs(2))
        .run();
    match answer {
        Ok(output) => Head::Branch(output.text()),
        Err(_) => Head::Detached,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(folder: &Utf8Path, args: &[&str]) {
        let env = dandori_host::Env::from_pairs([
            ("PATH", std::env::var_os("PATH").unwrap().to_str().unwrap()),
            ("GIT_AUTHOR_NAME", "a"),
            ("GIT_AUTHOR_EMAIL", "a@b"),
            ("GIT_COMMITTER_NAME", "a"),
            ("GIT_COMMITTER_EMAIL", "a@b"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ]);
        dandori_host::Cmd::new("git", &env).args(["-C", folder.as_str()]).args(args).run().unwrap();
    }

    fn place() -> (tempfile::TempDir, Utf8PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::try_from(dir.path().canonicalize().unwrap()).unwrap();
        (dir, path)
    }

    #[test]
    fn branch_worktree_unborn_packed_and_detached_are_told_apart() {
        let (_dir, root) = place();
        let repo = root.join("repo");
        std::fs::create_dir(&repo).unwrap();
        git(&repo, &["init", "-q", "-b", "main"]);
        assert_eq!(find(&repo.join("a/b.rs")).unwrap().head, Head::Unborn("main".to_owned()));
        git(&repo, &["commit", "-q", "--allow-empty", "-m", "x"]);
        let main = find(&repo).unwrap();
        assert_eq!((main.head.clone(), main.root.clone()), (Head::Branch("main".to_owned()), repo.clone()));
        git(&repo, &["worktree", "add", "-q", "-b", "work/x", "../wt"]);
        let linked = find(&root.join("wt/src/new.rs")).unwrap();
        assert_eq!(linked.head, Head::Branch("work/x".to_owned()));
        assert_eq!(linked.common_dir, main.common_dir);
        assert_ne!(linked.git_dir, linked.common_dir);
        assert_eq!(main_root(&linked), repo);
        git(&repo, &["pack-refs", "--all"]);
        assert_eq!(find(&repo).unwrap().head, Head::Branch("main".to_owned()));
        git(&repo, &["checkout", "-q", "--detach"]);
        assert_eq!(find(&repo).unwrap().head, Head::Detached);
        std::os::unix::fs::symlink(&repo, root.join("link")).unwrap();
        assert_eq!(find(&root.join("link/a.rs")).unwrap().root, repo, "by its real path");
        assert_eq!(find(&root.join("plain/a.rs")), None);
        for (folder, make) in [
            ("empty", (|at| std::fs::create_dir(at).unwrap()) as fn(&Utf8Path)),
            ("garbled", |at| dandori_host::put_file(at, b"gitdir", 0o600).unwrap()),
            ("dangling", |at| std::os::unix::fs::symlink("nowhere", at).unwrap()),
            ("pointing", |at| dandori_host::put_file(at, b"gitdir: nowhere\n", 0o600).unwrap()),
        ] {
            std::fs::create_dir(repo.join(folder)).unwrap();
            make(&repo.join(folder).join(".git"));
            assert_eq!(find(&repo.join(folder).join("a.rs")).map(|c| c.root), Some(repo.clone()), "{folder}");
        }
        std::fs::create_dir(root.join("apart")).unwrap();
        std::os::unix::fs::symlink(repo.join(".git"), root.join("apart/.git")).unwrap();
        let apart = find(&root.join("apart/a.rs")).unwrap();
        assert_eq!((apart.root, apart.git_dir), (root.join("apart"), repo.join(".git")));
    }

    #[test]
    fn a_repository_with_reftable_is_asked_of_git() {
        let (_dir, repo) = place();
        git(&repo, &["init", "-q", "-b", "topic", "--ref-format=reftable"]);
        assert_eq!(find(&repo).unwrap().head, Head::Branch("topic".to_owned()));
    }
}
