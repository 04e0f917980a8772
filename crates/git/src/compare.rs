//! What differs between two commits, for people and for patches.

use std::collections::BTreeMap;

use camino::Utf8Path;
use dandori_domain::Oid;
use dandori_domain::run::Changes;

use crate::error::GitError;
use crate::git::Call;
use crate::repository::Repository;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Diff {
    pub files: Vec<FileChange>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileChange {
    pub path: String,
    pub added: u64,
    pub deleted: u64,
    /// Its lines are not counted.
    pub is_binary: bool,
}

/// What a patch is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// `git apply` takes it, binary files included.
    Apply,
    /// To read: renames recognised, binary files only named.
    Read,
    /// The files with their counts, so many cells wide.
    Stat { cells: u16 },
}

/// Whether git puts in the user's colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colours {
    None,
    Users,
}

impl Diff {
    /// `None` when nothing differs.
    pub fn changes(&self) -> Option<Changes> {
        (!self.files.is_empty()).then(|| Changes {
            files: u32::try_from(self.files.len()).unwrap_or(u32::MAX),
            insertions: self.files.iter().map(|f| f.added).sum(),
            deletions: self.files.iter().map(|f| f.deleted).sum(),
        })
    }
}

impl Repository {
    pub fn diff_between(&self, base: &Oid, tip: &Oid) -> Result<Diff, GitError> {
        let delta = self.delta(base, tip)?;
        let files = delta.lines.into_iter().map(|(path, lines)| {
            let (added, deleted) = lines.unwrap_or_default();
            FileChange { path, added, deleted, is_binary: lines.is_none() }
        });
        Ok(Diff { files: files.collect() })
    }

    /// The difference as a patch to read, renames recognised, binary files only named.
    pub fn patch_between(&self, base: &Oid, tip: &Oid) -> Result<String, GitError> {
        let output = self.patch().arg("--find-renames").args([base.as_str(), tip.as_str(), "--"]).run()?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The difference between two commits or trees, as it is to be shown. No byte of it is changed: it may hold anything.
    pub fn shown_between(&self, from: &Oid, to: &Oid, form: Form, colours: Colours) -> Result<Vec<u8>, GitError> {
        let call = self
            .cmd()
            .reading()
            .args(["diff-tree", "-r", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"])
            .args([
                "--ignore-submodules=none",
                if colours == Colours::Users { "--color=always" } else { "--no-color" },
            ]);
        let call = match form {
            Form::Apply => call.args(["--patch", "--binary", "--full-index", "--no-renames"]),
            Form::Read => call.args(["--patch", "--find-renames"]),
            Form::Stat { cells } => call.arg("--find-renames").arg(format!("--stat={cells}")),
        };
        Ok(call.args([from.as_str(), to.as_str(), "--"]).run()?.stdout)
    }

    /// Whether there is such a commit or tree here.
    pub fn has_tree(&self, oid: &Oid) -> Result<bool, GitError> {
        let call = self.cmd().reading().args(["cat-file", "-e", &format!("{}^{{tree}}", oid.as_str())]);
        Ok(call.run_any()?.status.success())
    }

    /// The version of each of these files at a commit; a file that is not there has none.
    pub fn versions(&self, tip: &Oid, paths: &[String]) -> Result<BTreeMap<String, Oid>, GitError> {
        if paths.is_empty() {
            return Ok(BTreeMap::new());
        }
        let call = self.cmd().reading().args(["--literal-pathspecs", "ls-tree", "-r", "-z", tip.as_str(), "--"]);
        let fields = call.args(paths).run()?.fields();
        // `<mode> <type> <oid>\t<path>`
        let version = |field: &String| {
            let (about, path) = field.split_once('\t')?;
            Some((path.to_owned(), Oid::new(about.rsplit(' ').next()?)))
        };
        Ok(fields.iter().filter_map(version).collect())
    }

    /// The files in which two sides that began at `base` do not go together.
    pub fn conflicts_between(&self, base: &Oid, one: &Oid, other: &Oid) -> Result<Vec<String>, GitError> {
        match self.merge_trees(base, one, other)? {
            crate::rebase::Merged::Clean { .. } => Ok(Vec::new()),
            crate::rebase::Merged::Conflict { files, .. } => Ok(files),
        }
    }

    /// The difference between two commits or trees as a patch that `git apply` takes, binary files included. The
    /// file is there whole or not at all.
    pub fn write_patch(&self, from: &Oid, to_tree: &Oid, to: &Utf8Path) -> Result<(), GitError> {
        let name = to.file_name().unwrap_or("patch");
        let part = to.with_file_name(format!(".{name}.part"));
        let call = self.patch().args(["--binary", "--full-index", "--no-renames"]);
        call.args([from.as_str(), to_tree.as_str(), "--"]).stdout_to(&part).run()?;
        std::fs::File::open(&part).and_then(|f| f.sync_all()).map_err(GitError::io(&part))?;
        std::fs::rename(&part, to).map_err(GitError::io(to))
    }

    fn patch(&self) -> Call {
        self.cmd()
            .reading()
            .args(["diff-tree", "-r", "--patch", "--no-ext-diff", "--no-textconv", "--no-color"])
            .args(["--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=none"])
    }
}
