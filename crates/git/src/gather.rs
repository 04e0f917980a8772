//! Everything a work tree holds as one tree object, without trusting anything in it.
//!
//! git reads the files behind the fence, with the user's filters, an index of its own and an object folder of its own
//! (the quarantine, beside the worktree's record). What it made comes out as one pack, and the repository takes it in
//! the way it takes a fetch: every object is hashed anew, and all that the tree names must be there. So neither a filter
//! nor a file can reach the repository in any other way, and what is refused has left nothing behind.
//!
//! Before that the folders are looked at ([`crate::inspect`]): what git would wait for, or leave out without a word, is
//! named.

mod look;
mod take_in;
pub(crate) mod worker;

use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::{Oid, Unfit};
use dandori_host::{CmdError, Env};
use serde::{Deserialize, Serialize};

use crate::error::GitError;
use crate::inspect::{Purpose, inspect};
use crate::tree::Tree;

/// How much is taken in at once. A limit is for accidents: a file without end, a folder of everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Bounds {
    pub seconds: u64,
    /// Of what changed.
    pub bytes: u64,
    pub files: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { seconds: 30 * 60, bytes: 16 << 30, files: 1_000_000 }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Nested {
    /// Repositories inside are named and left out.
    LeftOut,
    /// Their files are taken as if they were ours, their history is not.
    AsFiles,
}

/// What is to be put together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) worktree: Utf8PathBuf,
    pub(crate) quarantine: Utf8PathBuf,
    /// What the repository has already.
    pub(crate) known: Option<Oid>,
    pub(crate) nested: Nested,
    pub(crate) bounds: Bounds,
}

/// What the worker says. Nothing in it is believed: a tree that is not whole is not taken in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    Gathered {
        tree: Oid,
        nested: Vec<String>,
        objects: u64,
    },
    /// What cannot be taken: the path and why.
    Refused {
        paths: Vec<Unfit>,
    },
    Failed {
        reason: String,
    },
}

pub(crate) struct Gathered {
    pub(crate) tree: Oid,
    /// Repositories inside the worktree.
    pub(crate) nested: Vec<String>,
}

/// The folder of one gathering. There is one name for it: what a kill leaves behind is cleared by the next.
struct Quarantine(Utf8PathBuf);

impl Quarantine {
    fn of(tree: &Tree) -> Result<Self, GitError> {
        Self::at(&tree.git_dir().join("dandori-quarantine"), tree)
    }

    fn at(folder: &Utf8Path, tree: &Tree) -> Result<Self, GitError> {
        let quarantine = Self(folder.to_owned());
        quarantine.clear()?;
        for folder in ["objects/pack", "objects/info", "lfs", "tmp"] {
            let path = quarantine.0.join(folder);
            std::fs::create_dir_all(&path).map_err(GitError::io(&path))?;
        }
        // A copy of the worktree's index, so that unchanged files are known by their times.
        let copy = std::fs::copy(tree.git_dir().join("index"), quarantine.index());
        match copy {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(GitError::io(&quarantine.index())(e)),
            _ => Ok(quarantine),
        }
    }

    fn index(&self) -> Utf8PathBuf {
        self.0.join("index")
    }

    fn clear(&self) -> Result<(), GitError> {
        match std::fs::remove_dir_all(&self.0) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(GitError::io(&self.0)(e)),
            _ => Ok(()),
        }
    }
}

impl Drop for Quarantine {
    fn drop(&mut self) {
        let _ = self.clear();
    }
}

/// How lasting what is taken in has to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lasting {
    /// Made again from the same files after a power cut.
    Repeatable,
    /// The files it is made of are about to go.
    Durable,
}

impl Tree {
    /// Everything but ignored files.
    pub(crate) fn gather(&self, nested: Nested, lasting: Lasting, bounds: Bounds) -> Result<Gathered, GitError> {
        let purpose = if nested == Nested::AsFiles { Purpose::Keeping } else { Purpose::Staging };
        let unfit = inspect(self.path(), purpose);
        if !unfit.is_empty() {
            return Err(GitError::Unfit { paths: unfit });
        }
        let known = self.head_if_any()?;
        let gather = |index| self.gather_with(&Quarantine::of(self)?, nested, lasting, bounds, known.clone(), index);
        match gather(IndexFrom::Worktree) {
            // An index an agent damaged is not worth reading.
            Err(GitError::Gathering { .. }) => gather(IndexFrom::Head),
            other => other,
        }
    }

    fn gather_with(
        &self,
        quarantine: &Quarantine,
        nested: Nested,
        lasting: Lasting,
        bounds: Bounds,
        known: Option<Oid>,
        index: IndexFrom,
    ) -> Result<Gathered, GitError> {
        if index == IndexFrom::Head || !quarantine.index().exists() {
            let _ = std::fs::remove_file(quarantine.index());
            if let Some(head) = &known {
                self.cmd().env("GIT_INDEX_FILE", quarantine.index()).args(["read-tree", head.as_str()]).run()?;
            }
        }
        let order = Order { worktree: self.path().to_owned(), quarantine: quarantine.0.clone(), known, nested, bounds };
        match self.let_work(&order)? {
            Report::Gathered { tree, nested, objects } => {
                self.take_in(&order, &tree, objects, lasting)?;
                Ok(Gathered { tree, nested })
            }
            Report::Refused { paths } => Err(GitError::Unfit { paths }),
            Report::Failed { reason } => Err(GitError::Gathering { reason }),
        }
    }

    fn let_work(&self, order: &Order) -> Result<Report, GitError> {
        let env = self.worker_env(order);
        let Some(fence) = &self.repository.git.fence else { return Ok(worker::run(order, &env)) };
        let text = serde_json::to_string(order).map_err(|e| GitError::unexpected(e.to_string()))?;
        let mut policy = (fence.policy)().map_err(GitError::io(&order.quarantine))?;
        policy.write.push(order.quarantine.clone());
        policy.read.extend([order.worktree.clone(), self.git_dir().to_owned(), fence.program.clone()]);
        policy.read.push(self.repository.common_dir().to_owned());
        let answer = dandori_host::Cmd::new(fence.program.as_str(), &env)
            .args(["gather", &text])
            .cwd(&order.worktree)
            .deadline(Duration::from_secs(order.bounds.seconds))
            .behind(&fence.program, &policy)
            .run();
        match answer {
            Ok(output) => serde_json::from_slice(&output.stdout)
                .map_err(|e| GitError::unexpected(format!("{e}: {}", String::from_utf8_lossy(&output.stdout)))),
            Err(CmdError::TimedOut { seconds, .. }) => Err(GitError::StagingTooLong { seconds }),
            Err(error) => Err(error.into()),
        }
    }

    fn worker_env(&self, order: &Order) -> Env {
        let mut env = self.repository.git.env().clone();
        env.set("GIT_DIR", self.git_dir().as_str());
        env.set("GIT_COMMON_DIR", self.repository.common_dir().as_str());
        env.set("GIT_WORK_TREE", order.worktree.as_str());
        env.set("GIT_INDEX_FILE", order.quarantine.join("index").as_str());
        env.set("GIT_OBJECT_DIRECTORY", order.quarantine.join("objects").as_str());
        env.set("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted(&self.repository.common_dir().join("objects")));
        env.set("TMPDIR", order.quarantine.join("tmp").as_str());
        env
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum IndexFrom {
    Worktree,
    Head,
}

/// A list of paths is divided by colons, unless they are quoted.
fn quoted(path: &Utf8Path) -> String {
    if path.as_str().contains([':', '"', '\\']) {
        format!("\"{}\"", path.as_str().replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        path.to_string()
    }
}
