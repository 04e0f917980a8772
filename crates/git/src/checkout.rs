//! The checkout a user stands in, the main one or a linked one: where it stands, and what of it a run does not see.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Oid;
use dandori_domain::run::LeftOut;

use crate::error::GitError;
use crate::git::Call;
use crate::repository::{Repository, canonical, where_is};
use crate::tree::parse_status;

/// Where a checkout stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checkout {
    /// Its top folder.
    pub path: Utf8PathBuf,
    /// `None`: there is no commit yet.
    pub head: Option<Oid>,
    /// `None` when HEAD is detached.
    pub branch: Option<String>,
}

impl Repository {
    /// The top of the checkout that a folder of the user's is in; `None` when that is none of ours. From inside the git
    /// directory it is the main one.
    pub fn checkout_of(&self, from: &Utf8Path) -> Result<Option<Utf8PathBuf>, GitError> {
        let text = where_is(&self.git, from).run_any()?.text();
        // Bare, common directory, own directory, top: the last is missing where there is no work tree.
        let mut lines = text.lines().skip(1);
        let common = lines.next().map(|common| canonical(Utf8Path::new(common))).transpose()?;
        if common.as_deref() != Some(self.common_dir()) {
            return Ok(None);
        }
        let top = lines.nth(1).map(|top| canonical(Utf8Path::new(top))).transpose()?;
        Ok(Some(top.unwrap_or_else(|| self.root().to_owned())))
    }

    /// Where a checkout stands, by its top folder; `None` when there is none of ours any more.
    pub fn checkout(&self, path: &Utf8Path) -> Result<Option<Checkout>, GitError> {
        let Some(call) = self.call_in(path)? else { return Ok(None) };
        let branch = call.clone().reading().args(["symbolic-ref", "--quiet", "--short", "HEAD"]).answer()?;
        let head = call.reading().args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).answer()?;
        Ok(Some(Checkout { path: path.to_owned(), head: head.map(Oid::new), branch }))
    }

    /// What a name such as `HEAD~2` stands for there.
    pub fn commit_in(&self, checkout: &Utf8Path, name: &str) -> Result<Option<Oid>, GitError> {
        let Some(call) = self.call_in(checkout)? else { return Ok(None) };
        let wanted = format!("{name}^{{commit}}");
        let call = call.reading().args(["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted]);
        Ok(call.answer()?.map(Oid::new))
    }

    /// How many of its files have changes that are not committed; `None` when it is gone.
    pub fn changed_in(&self, checkout: &Utf8Path) -> Result<Option<u32>, GitError> {
        let Some(call) = self.files_call_in(checkout)? else { return Ok(None) };
        let status = call.reading().args(["status", "--porcelain=v2", "-z", "--no-renames", "--ignore-submodules=all"]);
        let changed = parse_status(&status.run()?).dirty.len();
        Ok(Some(u32::try_from(changed).unwrap_or(u32::MAX)))
    }

    /// What a run that starts at `start` does not see of a checkout in which so many files are changed; `None` when it is gone.
    pub fn left_out(&self, checkout: &Utf8Path, start: &Oid, changed: u32) -> Result<Option<LeftOut>, GitError> {
        let Some(call) = self.call_in(checkout)? else { return Ok(None) };
        let count = |not: &[&str]| -> Result<u32, GitError> {
            let counted =
                call.clone().reading().args(["rev-list", "--count", "HEAD", "--not", start.as_str()]).args(not);
            // Before the first commit there is nothing to count from.
            Ok(counted.answer()?.and_then(|text| text.parse().ok()).unwrap_or_default())
        };
        let commits = count(&[])?;
        let unpushed = match (self.is_on_its_own(), commits) {
            (true, _) => None,
            (false, 0) => Some(0),
            (false, _) => Some(count(&["--remotes"])?),
        };
        let branch = call.reading().args(["symbolic-ref", "--quiet", "--short", "HEAD"]).answer()?;
        Ok(Some(LeftOut { branch, commits, unpushed, changed }))
    }

    fn call_in(&self, checkout: &Utf8Path) -> Result<Option<Call>, GitError> {
        if checkout == self.root() {
            return Ok(Some(self.cmd().env("GIT_WORK_TREE", self.root()).at(self.root())));
        }
        Ok(self.worktree(checkout)?.filter(crate::Tree::is_there).map(|tree| tree.cmd()))
    }

    /// A linked checkout may be one that an agent has written: what reads its files is behind the fence where it has to be.
    fn files_call_in(&self, checkout: &Utf8Path) -> Result<Option<Call>, GitError> {
        if checkout == self.root() {
            return self.call_in(checkout);
        }
        let tree = self.worktree(checkout)?.filter(crate::Tree::is_there);
        tree.map(|tree| tree.cmd_on_files()).transpose()
    }
}
