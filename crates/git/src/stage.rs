//! Everything an agent changed, put together as one tree and judged, without touching the worktree's own index.
//!
//! The work goes into a scratch index beside the real one. What is refused was never staged; what is taken replaces
//! the real index in one rename. Repositories inside the worktree are found first and never entered: `git add` would
//! ask `git status` of one it already knows, and that runs what its configuration says.

use std::collections::BTreeMap;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::paths::forbidden_by;
use dandori_domain::run::Changes;
use dandori_domain::{Finding, Oid};
use dandori_host::CmdOutput;

use crate::error::GitError;
use crate::git::Call;
use crate::repository::Repository;
use crate::tree::Tree;

const GITLINK: &str = "160000";

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StageAnswer {
    /// Nothing was staged and no file was touched.
    Refused { findings: Vec<Finding> },
    /// The index holds `tree`; `changes` is `None` when that is what `parent` holds.
    Staged { tree: Oid, parent: Oid, changes: Option<Changes> },
}

impl Tree {
    /// Stages everything but ignored files, unless something is among it that must not be.
    pub fn stage(&self, forbidden: &[&str]) -> Result<StageAnswer, GitError> {
        self.stage_on(&self.head()?, forbidden)
    }

    /// As [`Self::stage`], by somebody who has just seen that HEAD stands on `parent`.
    pub fn stage_on(&self, parent: &Oid, forbidden: &[&str]) -> Result<StageAnswer, GitError> {
        let scratch = ScratchIndex::of(self)?;
        let nested = scratch.nested_repositories()?;
        scratch.add_all(&nested)?;
        let tree = scratch.write_tree()?;
        let delta = self.repository.delta(parent, &tree)?;
        let mut findings: Vec<Finding> = nested.into_iter().map(|path| Finding::NestedRepository { path }).collect();
        for (path, entry) in &delta.entries {
            if let Some(pattern) = forbidden_by(path, forbidden) {
                findings.push(Finding::ForbiddenPath { path: path.clone(), pattern: pattern.to_owned() });
            }
            if entry.mode == GITLINK {
                findings.push(Finding::NestedRepository { path: path.clone() });
            }
        }
        if !findings.is_empty() {
            return Ok(StageAnswer::Refused { findings });
        }
        scratch.take_over()?;
        Ok(StageAnswer::Staged { tree, parent: parent.clone(), changes: delta.changes() })
    }

    /// The difference between two trees as a patch that `git apply` takes, binary files included.
    pub fn write_patch(&self, parent: &Oid, tree: &Oid, to: &Utf8Path) -> Result<(), GitError> {
        self.repository.write_patch(parent, tree, to)
    }
}

/// An index of our own for one operation, beside the worktree's. There is one name for it: what a kill leaves
/// behind is overwritten by the next.
pub(crate) struct ScratchIndex<'t> {
    tree: &'t Tree,
    path: Utf8PathBuf,
    is_durable: bool,
}

impl<'t> ScratchIndex<'t> {
    /// A copy of the worktree's index, so that unchanged files are known by their times; without one, HEAD's.
    pub(crate) fn of(tree: &'t Tree) -> Result<Self, GitError> {
        let scratch = Self::blank(tree)?;
        match std::fs::copy(tree.git_dir().join("index"), &scratch.path) {
            Ok(_) => Ok(scratch),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                scratch.reset_to_head()?;
                Ok(scratch)
            }
            Err(e) => Err(GitError::io(&scratch.path)(e)),
        }
    }

    /// One that knows nothing: an index an agent damaged is not worth reading.
    pub(crate) fn of_head(tree: &'t Tree) -> Result<Self, GitError> {
        let scratch = Self::blank(tree)?;
        scratch.reset_to_head()?;
        Ok(scratch)
    }

    pub(crate) fn blank(tree: &'t Tree) -> Result<Self, GitError> {
        let path = tree.git_dir().join("dandori-index");
        for leftover in [path.clone(), path.with_extension("lock")] {
            match std::fs::remove_file(&leftover) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(GitError::io(&leftover)(e)),
                _ => {}
            }
        }
        Ok(Self { tree, path, is_durable: false })
    }

    fn reset_to_head(&self) -> Result<(), GitError> {
        if let Some(head) = self.tree.head_if_any()? {
            self.cmd().args(["read-tree", head.as_str()]).run()?;
        }
        Ok(())
    }

    pub(crate) fn cmd(&self) -> Call {
        let call = self.tree.cmd().env("GIT_INDEX_FILE", &self.path);
        if self.is_durable { call.durably() } else { call }
    }

    /// What is written through it outlives a power cut: the files it is made of are about to go.
    pub(crate) fn durably(mut self) -> Self {
        self.is_durable = true;
        self
    }

    pub(crate) fn tree_path(&self) -> &Utf8Path {
        self.tree.path()
    }

    /// The name of an index that is not there: to look at a folder as if nothing of it were known.
    pub(crate) fn no_index(&self) -> Utf8PathBuf {
        self.path.with_file_name("dandori-no-index")
    }

    /// Folders that are repositories of their own: untracked ones, and submodules that somebody filled.
    pub(crate) fn nested_repositories(&self) -> Result<Vec<String>, GitError> {
        let output = self.cmd().reading().args(["ls-files", "-z", "-t", "--stage", "--others"]);
        let output = output.arg("--exclude-standard").run()?;
        let mut nested = Vec::new();
        for field in output.fields() {
            if let Some(path) = field.strip_prefix("? ").and_then(|p| p.strip_suffix('/')) {
                nested.push(path.to_owned());
            } else if let Some((entry, path)) = field.split_once('\t')
                && entry.contains(GITLINK)
                && self.tree.path().join(path).join(".git").symlink_metadata().is_ok()
            {
                nested.push(path.to_owned());
            }
        }
        Ok(nested)
    }

    pub(crate) fn add_all(&self, without: &[String]) -> Result<(), GitError> {
        let mut call = self.cmd().args(["add", "--all"]);
        if !without.is_empty() {
            let excluded = without.iter().map(|path| format!(":(exclude,top,literal){path}"));
            call = call.args(["--", "."]).args(excluded);
        }
        call.run_patiently()?;
        Ok(())
    }

    pub(crate) fn write_tree(&self) -> Result<Oid, GitError> {
        Ok(Oid::new(self.cmd().arg("write-tree").run()?.text()))
    }

    /// The worktree's index is now this one.
    pub(crate) fn take_over(self) -> Result<(), GitError> {
        self.tree.drop_stale_index_lock()?;
        let index = self.tree.git_dir().join("index");
        std::fs::rename(&self.path, &index).map_err(GitError::io(&index))
    }
}

impl Drop for ScratchIndex<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// One path in a tree: `000000` and zeros when it is not there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) mode: String,
    pub(crate) oid: String,
}

/// What differs between two trees.
#[derive(Debug, Default)]
pub(crate) struct Delta {
    /// Each changed path with what it is afterwards.
    pub(crate) entries: BTreeMap<String, Entry>,
    /// Lines added and deleted; `None` for binary files.
    pub(crate) lines: Vec<(String, Option<(u64, u64)>)>,
}

impl Delta {
    pub(crate) fn changes(&self) -> Option<Changes> {
        if self.entries.is_empty() {
            return None;
        }
        let counted = || self.lines.iter().filter_map(|(_, lines)| *lines);
        Some(Changes {
            files: u32::try_from(self.entries.len()).unwrap_or(u32::MAX),
            insertions: counted().map(|(added, _)| added).sum(),
            deletions: counted().map(|(_, deleted)| deleted).sum(),
        })
    }

    fn parse(output: &CmdOutput) -> Self {
        let mut delta = Self::default();
        let mut fields = output.fields().into_iter();
        while let Some(field) = fields.next() {
            if let Some(raw) = field.strip_prefix(':') {
                let mut words = raw.split(' ');
                if let (Some(mode), Some(oid), Some(path)) = (words.nth(1), words.nth(1), fields.next()) {
                    delta.entries.insert(path, Entry { mode: mode.to_owned(), oid: oid.to_owned() });
                }
                continue;
            }
            let mut words = field.splitn(3, '\t');
            if let (Some(added), Some(deleted), Some(path)) = (words.next(), words.next(), words.next()) {
                let lines = added.parse().ok().zip(deleted.parse().ok());
                delta.lines.push((path.to_owned(), lines));
            }
        }
        delta
    }
}

impl Repository {
    pub(crate) fn delta(&self, from: &Oid, to: &Oid) -> Result<Delta, GitError> {
        let output = self
            .cmd()
            .reading()
            .args(["diff-tree", "-r", "-z", "--raw", "--numstat", "--no-abbrev", "--no-renames"])
            .args(["--no-ext-diff", "--no-textconv", "--ignore-submodules=none"])
            .args([from.as_str(), to.as_str(), "--"])
            .run()?;
        Ok(Delta::parse(&output))
    }
}
