//! A checkout of somebody's own that has to follow its branch: moved when nothing of the user's is in the way, and never a
//! file of his with it.

use std::collections::BTreeSet;

use dandori_domain::Oid;

use crate::error::GitError;
use crate::tree::Tree;

/// The index a checkout is compared by, beside its own.
const SCRATCH: &str = "dandori-compared-index";

impl Tree {
    /// What would be lost if files and index went from `from`, where HEAD is, to `to`: edits of files that git follows, and
    /// files it does not follow where one of `to` belongs. What is already as in `to`, because an earlier call was
    /// killed half-way, is no edit.
    pub(crate) fn edits_in_the_way(&self, from: &Oid, to: &Oid) -> Result<Vec<String>, GitError> {
        let added: Vec<String> = self.changed("A", from, to)?.into_iter().filter(|path| self.has(path)).collect();
        let edited = self.followed_changes()?;
        if edited.is_empty() && added.is_empty() {
            return Ok(Vec::new());
        }
        let mut unlike = self.unlike(to)?;
        unlike.extend(self.changed("D", from, to)?.into_iter().filter(|path| self.has(path)));
        let staged: BTreeSet<String> =
            self.staged_against(from)?.intersection(&self.staged_against(to)?).cloned().collect();
        let is_edit = |path: &&String| unlike.contains(*path) || staged.contains(*path);
        let mut found: BTreeSet<String> = edited.iter().filter(is_edit).cloned().collect();
        found.extend(added.into_iter().filter(|path| unlike.contains(path)));
        Ok(found.into_iter().collect())
    }

    /// Brings files and index from `from` to `to`; with edits in the way nothing is touched.
    pub(crate) fn bring_checkout(&self, from: &Oid, to: &Oid) -> Result<(), GitError> {
        self.drop_stale_index_lock()?;
        let files = self.edits_in_the_way(from, to)?;
        if !files.is_empty() {
            return Err(GitError::EditsInTheWay { path: self.path().to_owned(), files });
        }
        let is_begun =
            !self.followed_changes()?.is_empty() || self.changed("A", from, to)?.iter().any(|path| self.has(path));
        if is_begun {
            // All that differs is as it has to become: the rest is brought there.
            return self.write_files(&["read-tree", "--reset", "-u", to.as_str()]);
        }
        self.write_files(&["read-tree", "-m", "-u", from.as_str(), to.as_str()])
    }

    fn has(&self, path: &str) -> bool {
        self.path().join(path).symlink_metadata().is_ok()
    }

    /// Files that come with `to` (`A`), or go with it (`D`).
    fn changed(&self, how: &str, from: &Oid, to: &Oid) -> Result<Vec<String>, GitError> {
        let call = self.repository.cmd().reading().args(["diff-tree", "-r", "-z", "--name-only", "--no-renames"]);
        let filter = format!("--diff-filter={how}");
        let call = call.args([&filter, "--ignore-submodules=none", from.as_str(), to.as_str(), "--"]);
        Ok(call.run()?.fields())
    }

    /// Files git follows that are changed, staged or not.
    fn followed_changes(&self) -> Result<Vec<String>, GitError> {
        let output = self
            .cmd_on_files()?
            .reading()
            .args(["status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=all"])
            .run()?;
        Ok(crate::tree::parse_status(&output).dirty)
    }

    /// Files of `commit` that are there and not as in it, or are missing.
    fn unlike(&self, commit: &Oid) -> Result<BTreeSet<String>, GitError> {
        let scratch = self.git_dir().join(SCRATCH);
        // The times in it spare git reading every file.
        let _ = std::fs::copy(self.git_dir().join("index"), &scratch);
        let found = self.cmd().env("GIT_INDEX_FILE", &scratch).args(["read-tree", "--reset", commit.as_str()]).run();
        let found = found.map_err(GitError::from).and_then(|_| {
            let call = self.cmd_on_files()?.env("GIT_INDEX_FILE", &scratch).reading();
            let call = call.args(["status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=no"]);
            Ok(call.arg("--ignore-submodules=all").run()?)
        });
        let _ = std::fs::remove_file(&scratch);
        let changed_file = |field: &String| {
            let mut words = field.splitn(9, ' ');
            let (kind, states) = (words.next()?, words.next()?);
            let is_unlike = kind == "1" && !states.ends_with('.');
            words.last().filter(|_| is_unlike).map(str::to_owned)
        };
        Ok(found?.fields().iter().filter_map(changed_file).collect())
    }

    /// Files whose version in the index is another than in `commit`.
    fn staged_against(&self, commit: &Oid) -> Result<BTreeSet<String>, GitError> {
        let call = self.cmd().reading().args(["diff-index", "--cached", "-z", "--name-only", "--no-renames"]);
        let call = call.args(["--ignore-submodules=all", commit.as_str(), "--"]);
        Ok(call.run()?.fields().into_iter().collect())
    }
}
