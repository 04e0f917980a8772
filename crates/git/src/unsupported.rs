//! What of a repository a worktree could not carry rightly, so that it is refused before anything is made.

use camino::Utf8PathBuf;
use dandori_domain::{Oid, Problem};

use crate::error::GitError;
use crate::repository::Repository;

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

impl Repository {
    pub fn unsupported(&self, base: &Oid) -> Result<Vec<Unsupported>, GitError> {
        let mut found = Vec::new();
        let paths = self.submodules(base)?;
        if !paths.is_empty() {
            found.push(Unsupported::Submodules { paths });
        }
        if self.uses_lfs(base)? && !self.has_lfs()? {
            found.push(Unsupported::LfsMissing);
        }
        Ok(found)
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
        let local = std::fs::read_to_string(self.common_dir().join("info/attributes")).unwrap_or_default();
        if local.contains("filter=lfs") {
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
