//! A bare origin and a clone of it, with a home and an identity of their own.

use std::io::Write;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Oid;
use dandori_git::{Added, ExistingBranch, Fetch, Git, NewWorktree, Repository, StageAnswer, Tree};
use dandori_host::{Cmd, Env};
use jiff::Timestamp;

pub(crate) struct Bed {
    _dir: tempfile::TempDir,
    pub(crate) home: Utf8PathBuf,
    pub(crate) env: Env,
    pub(crate) git: Git,
    pub(crate) repo: Repository,
}

impl Bed {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = Utf8PathBuf::from_path_buf(dir.path().canonicalize().unwrap()).unwrap();
        let mut env = Env::of_process().filtered(|n| n == "PATH");
        env.set("HOME", home.as_str()).set("GIT_CONFIG_NOSYSTEM", "1").set("TMPDIR", home.as_str());
        write(
            &home.join(".gitconfig"),
            "[user]\n name = Test\n email = t@example.com\n[init]\n defaultBranch = main\n",
        );
        let git = Git::new(&env, "test");
        sh(&env, &home, "git init -q --bare origin.git && git clone -q origin.git clone 2>/dev/null");
        let clone = home.join("clone");
        for i in 0..20 {
            write(&clone.join(format!("src/file{i}.txt")), format!("line one\nline two\nfile {i}\n"));
        }
        write(&clone.join("README.md"), "hello\n");
        write(&clone.join(".gitignore"), "ignored/\n*.log\n");
        sh(&env, &clone, "git add -A && git commit -qm first && git push -q origin HEAD 2>/dev/null");
        let repo = Repository::discover(&git, &clone).unwrap();
        Self { _dir: dir, home, env, git, repo }
    }

    /// Runs a shell line in a folder of the bed.
    pub(crate) fn sh(&self, folder: &Utf8Path, line: &str) -> String {
        sh(&self.env, folder, line)
    }

    pub(crate) fn clone_path(&self) -> Utf8PathBuf {
        self.home.join("clone")
    }

    pub(crate) fn root(&self) -> Utf8PathBuf {
        self.home.join("state/worktrees")
    }

    pub(crate) fn trash(&self) -> Utf8PathBuf {
        self.home.join("state/trash")
    }

    pub(crate) fn base(&self) -> Oid {
        self.repo.resolve_base(None, None, Fetch::Never).unwrap().oid
    }

    pub(crate) fn wanted(&self, name: &str) -> NewWorktree {
        NewWorktree {
            path: self.root().join(name),
            root: self.root(),
            branch: format!("dandori/{name}"),
            base: self.base(),
            existing: ExistingBranch::Refuse,
        }
    }

    pub(crate) fn tree(&self, name: &str) -> Tree {
        self.add(name).tree
    }

    pub(crate) fn add(&self, name: &str) -> Added {
        self.repo.add_worktree(&self.wanted(name)).unwrap()
    }

    /// A commit somebody else pushes to a branch of the origin.
    pub(crate) fn push_by_another(&self, branch: &str, file: &str, text: &str) -> Oid {
        let other = self.home.join("other");
        if !other.exists() {
            self.sh(&self.home, "git clone -q origin.git other");
        }
        self.sh(&other, &format!("git fetch -q origin && (git checkout -q -B {branch} origin/{branch} 2>/dev/null || git checkout -q -B {branch} origin/main)"));
        write(&other.join(file), text);
        self.sh(
            &other,
            &format!(
                "git add -A && git commit -qm 'by another: {file}' && git push -q origin HEAD:refs/heads/{branch}"
            ),
        );
        Oid::new(self.sh(&other, "git rev-parse HEAD"))
    }

    pub(crate) fn commit_all(tree: &Tree, branch: &str, message: &str) -> Oid {
        let (staged, parent) = stage(tree);
        tree.commit(&staged, std::slice::from_ref(&parent), message, at(1_700_000_000), branch).unwrap()
    }

    pub(crate) fn branches(&self) -> Vec<String> {
        self.repo.branches("dandori/").unwrap().into_iter().map(|(name, _)| name).collect()
    }

    pub(crate) fn records(&self) -> usize {
        self.clone_path().join(".git/worktrees").read_dir_utf8().map_or(0, Iterator::count)
    }

    pub(crate) fn assert_clean(&self, tree: &Tree) {
        assert_eq!(self.sh(tree.path(), "git status --porcelain"), "");
    }
}

pub(crate) fn stage(tree: &Tree) -> (Oid, Oid) {
    match tree.stage(dandori_domain::paths::FORBIDDEN).unwrap() {
        StageAnswer::Staged { tree, parent, .. } => (tree, parent),
        StageAnswer::Refused { findings } => panic!("{findings:?}"),
    }
}

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

pub(crate) fn write(path: &Utf8Path, text: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::File::create(path).unwrap().write_all(text.as_ref()).unwrap();
}

pub(crate) fn read(path: &Utf8Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn sh(env: &Env, folder: &Utf8Path, line: &str) -> String {
    Cmd::new("sh", env).args(["-c", line]).cwd(folder).run().unwrap_or_else(|e| panic!("{line}: {e}")).text()
}
