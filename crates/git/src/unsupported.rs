//! What of a repository a worktree could not carry rightly, so that it is refused before anything is made.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::{Oid, Problem};

use crate::error::GitError;
use crate::repository::Repository;

/// Far more than the bases in use; when it is full it begins anew.
const MOST_REMEMBERED: usize = 1_000;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unsupported {
    /// Submodules are refused: a worktree's submodule is a repository an agent can write (its configuration could
    /// run a program in us), its commits would have to be pushed to another remote, and git cannot move a worktree
    /// that has one checked out.
    Submodules { paths: Vec<Utf8PathBuf> },
    /// Files are kept in git-lfs, and git-lfs is not there or not set up: checkouts would hold pointers, commits
    /// would put whole files where pointers belong.
    LfsMissing,
}

impl Unsupported {
    pub fn problem(&self) -> Problem {
        match self {
            Self::Submodules { paths } => Problem::Submodules { path: paths.first().cloned().unwrap_or_default() },
            Self::LfsMissing => Problem::LfsMissing,
        }
    }
}

/// Commits that were found to hold nothing of it: a commit does not change, so it is looked at once. What was found
/// is not remembered, because the user is about to do something about it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carried(Arc<Mutex<HashSet<(Utf8PathBuf, Oid)>>>);

impl Carried {
    fn has(&self, repository: &Utf8Path, commit: &Oid) -> bool {
        let carried = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        carried.contains(&(repository.to_owned(), commit.clone()))
    }

    fn remember(&self, repository: &Utf8Path, commit: &Oid) {
        let mut carried = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if carried.len() >= MOST_REMEMBERED {
            carried.clear();
        }
        carried.insert((repository.to_owned(), commit.clone()));
    }
}

impl Repository {
    pub fn unsupported(&self, base: &Oid) -> Result<Vec<Unsupported>, GitError> {
        if self.git.carried.has(self.common_dir(), base) && !self.local_attributes_use_lfs() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        let paths = self.submodules(base)?;
        if !paths.is_empty() {
            found.push(Unsupported::Submodules { paths });
        }
        let uses_lfs = self.uses_lfs(base)?;
        if uses_lfs && !self.has_lfs()? {
            found.push(Unsupported::LfsMissing);
        }
        // git-lfs may be taken away again; files without it stay files without it.
        if found.is_empty() && !uses_lfs {
            self.git.carried.remember(self.common_dir(), base);
        }
        Ok(found)
    }

    fn local_attributes_use_lfs(&self) -> bool {
        let local = std::fs::read_to_string(self.common_dir().join("info/attributes")).unwrap_or_default();
        local.contains("filter=lfs")
    }

    fn submodules(&self, base: &Oid) -> Result<Vec<Utf8PathBuf>, GitError> {
        let blob = format!("{}:.gitmodules", base.as_str());
        if !self.cmd().reading().args(["cat-file", "-e", &blob]).run_any()?.status.success() {
            return Ok(Vec::new());
        }
        let call =
            self.cmd().reading().args(["config", "--blob", &blob, "-z", "--get-regexp", r"^submodule\..*\.path$"]);
        let named: Vec<String> =
            call.run_any()?.fields().iter().filter_map(|field| Some(field.split_once('\n')?.1.to_owned())).collect();
        if named.is_empty() {
            return Ok(Vec::new());
        }
        // A file that names submodules which are no longer there refuses nothing.
        let output = self
            .cmd()
            .reading()
            .env("GIT_LITERAL_PATHSPECS", "1")
            .args(["ls-tree", "-z", "--format=%(objectmode) %(path)", base.as_str(), "--"])
            .args(&named)
            .run()?;
        Ok(output.fields().iter().filter_map(|f| f.strip_prefix("160000 ")).map(Utf8PathBuf::from).collect())
    }

    /// Whether any `.gitattributes` of the commit, or the clone's own, gives files to git-lfs.
    pub(crate) fn uses_lfs(&self, commit: &Oid) -> Result<bool, GitError> {
        if self.local_attributes_use_lfs() {
            return Ok(true);
        }
        let call = self.cmd().reading().args([
            "grep",
            "--quiet",
            "--no-textconv",
            "--fixed-strings",
            "filter=lfs",
            commit.as_str(),
            "--",
            ":(glob)**/.gitattributes",
        ]);
        Ok(call.run_any()?.status.success())
    }

    fn has_lfs(&self) -> Result<bool, GitError> {
        let is_set_up = self.cmd().reading().args(["config", "--get-regexp", r"^filter\.lfs\.(clean|process)$"]);
        Ok(is_set_up.answer()?.is_some() && self.cmd().args(["lfs", "version"]).run_any()?.status.success())
    }
}
