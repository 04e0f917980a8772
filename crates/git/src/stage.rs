//! Everything an agent changed, put together as one tree and judged, without touching the worktree's own index.
//!
//! The files are read behind the fence ([`crate::gather`]). What is refused was never staged; what is taken replaces the
//! real index in one rename.

use std::collections::BTreeMap;
use std::io;

use camino::Utf8Path;
use dandori_domain::paths::forbidden_by;
use dandori_domain::run::Changes;
use dandori_domain::{Finding, Oid};
use dandori_host::CmdOutput;

use crate::error::GitError;
use crate::gather::{Bounds, Gathered, Lasting, Nested};
use crate::repository::Repository;
use crate::tree::Tree;

const GITLINK: &str = "160000";

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StageAnswer {
    /// Nothing was staged and no file was touched.
    Refused { findings: Vec<Finding> },
    /// The index holds `tree`; `changes` is `None` when that is what `parent` holds and nothing was merged.
    Staged { tree: Oid, parent: Oid, changes: Option<Changes> },
}

impl Tree {
    /// Stages everything but ignored files, unless something is among it that must not be.
    pub fn stage(&self, forbidden: &[&str]) -> Result<StageAnswer, GitError> {
        self.stage_on(&self.head()?, forbidden)
    }

    /// As [`Self::stage`], by somebody who has just seen that HEAD stands on `parent`.
    pub(crate) fn stage_on(&self, parent: &Oid, forbidden: &[&str]) -> Result<StageAnswer, GitError> {
        self.stage_within(parent, forbidden, Bounds::default())
    }

    pub fn stage_within(&self, parent: &Oid, forbidden: &[&str], bounds: Bounds) -> Result<StageAnswer, GitError> {
        self.stage_merge(parent, None, forbidden, bounds)
    }

    /// The same of a tree that a merge has brought something into: what is as in `merges` is not the agent's doing.
    pub fn stage_merge(
        &self,
        parent: &Oid,
        merges: Option<&Oid>,
        forbidden: &[&str],
        bounds: Bounds,
    ) -> Result<StageAnswer, GitError> {
        let Gathered { tree, nested } = self.gather(Nested::LeftOut, Lasting::Repeatable, bounds)?;
        let delta = self.repository.delta(parent, &tree)?;
        let from_merged = merges.map(|merged| self.repository.delta(merged, &tree)).transpose()?;
        let is_own = |path: &String| from_merged.as_ref().is_none_or(|delta| delta.entries.contains_key(path));
        let mut findings: Vec<Finding> = nested.into_iter().map(|path| Finding::NestedRepository { path }).collect();
        for (path, entry) in delta.entries.iter().filter(|(path, _)| is_own(path)) {
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
        self.adopt(&tree)?;
        // A merge is one even when every conflict was resolved to this side: the other is then known to the branch.
        let changes = delta.changes().or_else(|| merges.map(|_| Changes::default()));
        Ok(StageAnswer::Staged { tree, parent: parent.clone(), changes })
    }

    /// Stages what git makes of `parent` and `merges`, and nothing that was written into the files since.
    pub fn stage_as_merged(&self, parent: &Oid, merges: Option<&Oid>) -> Result<StageAnswer, GitError> {
        let arrival = merges.map(|merged| self.repository.merge_in(parent, merged)).transpose()?.flatten();
        let (tree, nothing) = match arrival {
            // A merge is one even when both sides did the same: the other is then known to the branch.
            Some(arrival) if arrival.conflicts.is_empty() => (arrival.files, Some(Changes::default())),
            Some(arrival) => {
                return Err(GitError::unexpected(format!("a conflict in {}", arrival.conflicts.join(", "))));
            }
            None => (self.repository.commit_object(parent)?.tree, None),
        };
        let changes = self.repository.delta(parent, &tree)?.changes().or(nothing);
        self.adopt(&tree)?;
        Ok(StageAnswer::Staged { tree, parent: parent.clone(), changes })
    }

    /// The worktree's index holds this tree now, in one rename. What it knew of unchanged files stays; of changed ones the
    /// times are not known, because nobody outside of the fence has looked at them.
    fn adopt(&self, tree: &Oid) -> Result<(), GitError> {
        let (index, scratch) = (self.git_dir().join("index"), self.git_dir().join("dandori-index"));
        for leftover in [scratch.clone(), scratch.with_extension("lock")] {
            match std::fs::remove_file(&leftover) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(GitError::io(&leftover)(e)),
                _ => {}
            }
        }
        let read_tree = |how: &[&str]| {
            self.cmd().env("GIT_INDEX_FILE", &scratch).arg("read-tree").args(how).arg(tree.as_str()).run()
        };
        let merged = std::fs::copy(&index, &scratch).is_ok() && read_tree(&["-i", "-m"]).is_ok();
        if !merged {
            let _ = std::fs::remove_file(&scratch);
            read_tree(&[])?;
        }
        self.drop_stale_index_lock()?;
        std::fs::rename(&scratch, &index).map_err(GitError::io(&index))
    }

    /// The difference between two trees as a patch that `git apply` takes, binary files included.
    pub fn write_patch(&self, parent: &Oid, tree: &Oid, to: &Utf8Path) -> Result<(), GitError> {
        self.repository.write_patch(parent, tree, to)
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
