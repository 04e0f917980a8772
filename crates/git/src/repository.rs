//! One repository: its main checkout, and the git directory all its worktrees share.

use std::fs::{File, OpenOptions};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Oid;
use rustix::fs::{FlockOperation, flock};

use crate::error::GitError;
use crate::git::{Call, Git};

/// Longer than any holder needs: making a record, moving a slot, removing a record.
const LOCK_PATIENCE: Duration = Duration::from_mins(5);

#[derive(Clone, Debug)]
pub struct Repository {
    pub(crate) git: Git,
    root: Utf8PathBuf,
    common_dir: Utf8PathBuf,
    /// Whether the user has filters of his own; asked once for as long as this is open.
    pub(crate) own_filters: Arc<OnceLock<bool>>,
}

impl Repository {
    /// From the user's own working directory, which is trusted. From inside a linked worktree it is the main
    /// checkout that is found.
    pub fn discover(git: &Git, from: &Utf8Path) -> Result<Self, GitError> {
        git.version()?;
        let text = where_is(git, from).run_any()?.text();
        let mut lines = text.lines();
        let (Some(bare), Some(common), Some(dir)) = (lines.next(), lines.next(), lines.next()) else {
            return Err(why_none(git, from)?);
        };
        let common_dir = canonical(Utf8Path::new(common))?;
        if bare == "true" {
            return Err(GitError::Bare { path: common_dir });
        }
        let inside_main = canonical(Utf8Path::new(dir))? == common_dir;
        if inside_main && let Some(top) = lines.next() {
            return Ok(Self::open(git, &canonical(Utf8Path::new(top))?, &common_dir));
        }
        // From a linked worktree, or from inside the git directory: the first worktree listed is the main one.
        let here = Self::open(git, &common_dir, &common_dir);
        let main = here.list()?.into_iter().next().filter(|w| !w.is_bare);
        match main {
            Some(main) => Ok(Self::open(git, &canonical(&main.path)?, &common_dir)),
            None => Err(GitError::Bare { path: common_dir }),
        }
    }

    /// Known from before: nothing is looked for.
    pub fn open(git: &Git, root: &Utf8Path, common_dir: &Utf8Path) -> Self {
        let (root, common_dir) = (root.to_owned(), common_dir.to_owned());
        Self { git: git.clone(), root, common_dir, own_filters: Arc::default() }
    }

    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    pub fn common_dir(&self) -> &Utf8Path {
        &self.common_dir
    }

    /// Whether there is anything to start from. Asked of the references and of our own HEAD: `--all` would ask the
    /// HEAD of every worktree too, and one that is being made this moment points nowhere yet.
    pub fn has_commit(&self) -> Result<bool, GitError> {
        Ok(self.cmd().reading().args(["for-each-ref", "--count=1", "--format=%(objectname)"]).answer()?.is_some()
            || self.cmd().reading().args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).answer()?.is_some())
    }

    /// A command on what all worktrees share. It runs in the main checkout: a remote may be a path relative to it.
    pub(crate) fn cmd(&self) -> Call {
        self.git.cmd().at(&self.root).env("GIT_DIR", &self.common_dir)
    }

    /// The one lock for whoever changes which worktrees there are, in this process or another: siblings can read
    /// each other's half-written records. It lies in the repository, because that is what it is about.
    pub(crate) fn lock_worktrees(&self) -> Result<WorktreesLock, GitError> {
        let path = self.common_dir.join("dandori.lock");
        let file =
            OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(GitError::io(&path))?;
        let until = Instant::now() + LOCK_PATIENCE;
        let mut pause = Duration::from_millis(1);
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(WorktreesLock { _file: file }),
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(GitError::Io { path, source: errno.into() }),
            }
            if Instant::now() >= until {
                return Err(GitError::Busy { seconds: LOCK_PATIENCE.as_secs() });
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// The commit a name stands for.
    pub(crate) fn commit_of(&self, name: &str) -> Result<Option<Oid>, GitError> {
        let wanted = format!("{name}^{{commit}}");
        let call = self.cmd().reading().args(["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted]);
        Ok(call.answer()?.map(Oid::new))
    }
}

pub(crate) fn where_is(git: &Git, from: &Utf8Path) -> Call {
    git.cmd()
        .at(from)
        .reading()
        .args(["rev-parse", "--path-format=absolute", "--is-bare-repository", "--git-common-dir", "--git-dir"])
        // Last, because it fails where there is no work tree, after the others have been answered.
        .arg("--show-toplevel")
}

/// git answers nothing where there is no repository and where there is somebody else's. It only looks here, at where
/// things are: for that any owner will do.
fn why_none(git: &Git, from: &Utf8Path) -> Result<GitError, GitError> {
    let text = where_is(git, from).setting("safe.directory", "*").run_any()?.text();
    let mut lines = text.lines().skip(2);
    let (dir, top) = (lines.next(), lines.next());
    Ok(match top.or(dir) {
        Some(path) => GitError::DubiousOwnership { path: path.into() },
        None => GitError::NotARepository { path: from.to_owned() },
    })
}

/// Held while it lives.
#[derive(Debug)]
pub(crate) struct WorktreesLock {
    _file: File,
}

pub(crate) fn canonical(path: &Utf8Path) -> Result<Utf8PathBuf, GitError> {
    path.canonicalize_utf8().map_err(GitError::io(path))
}
