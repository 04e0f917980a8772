//! Git's records of worktrees, read as often as asked and from the disk only where they changed.
//!
//! A repository may keep thousands of worktrees, and every step of every run asks about one of them. Where one is said to
//! be is remembered and looked at again in its own record alone; only "there is none" takes a look at all of them, and
//! that costs a question of the file system each, not a file. Nothing is believed that the record itself does not say.

use std::collections::HashMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::GitError;
use crate::repository::Repository;
use crate::worktrees::real;

/// A file that was written less than this before it was looked at may be written again without showing it: clocks of file
/// systems are coarse.
const FRESH_SECONDS: i64 = 2;

/// Shared by everybody who calls the same git.
#[derive(Clone, Debug, Default)]
pub(crate) struct Records(Arc<Mutex<HashMap<Utf8PathBuf, OfRepository>>>);

#[derive(Debug, Default)]
struct OfRepository {
    /// By the name of the record.
    texts: HashMap<String, Text>,
    /// Which record a worktree had when it was last looked for.
    hints: HashMap<Utf8PathBuf, String>,
}

#[derive(Debug)]
struct Text {
    gitdir: Option<(Print, String)>,
    head: Option<(Print, String)>,
}

/// What changes with a file's content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Print {
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// One record as it stands.
struct Record {
    git_dir: Utf8PathBuf,
    /// Where it says its worktree is.
    path: Utf8PathBuf,
}

impl Repository {
    /// The git directory of the worktree that is recorded at `wanted`, a real path.
    pub(crate) fn record_of(&self, wanted: &Utf8Path) -> Result<Option<Utf8PathBuf>, GitError> {
        let folder = self.common_dir().join("worktrees");
        let hint = self.with_records(|all| all.hints.get(wanted).cloned());
        // git names a record after its worktree, unless that is taken or the worktree was a slot before.
        for name in hint.as_deref().into_iter().chain(wanted.file_name()) {
            let git_dir = folder.join(name);
            if crate::worktrees::recorded_path(&git_dir).is_some_and(|at| at == wanted) {
                self.with_records(|all| all.hints.insert(wanted.to_owned(), name.to_owned()));
                return Ok(Some(git_dir));
            }
        }
        let records = self.all_records()?;
        let found = records.iter().find(|record| record.path == wanted).map(|record| record.git_dir.clone());
        self.with_records(|all| {
            // Whoever looks for one of many often looks for the next.
            let names = records.into_iter().filter_map(|r| Some((r.path, r.git_dir.file_name()?.to_owned())));
            all.hints = names.collect();
        });
        Ok(found)
    }

    /// Where a worktree's record is, for whoever has just made or moved it.
    pub(crate) fn remember_record(&self, path: &Utf8Path, git_dir: &Utf8Path) {
        if let Some(name) = git_dir.file_name() {
            self.with_records(|all| all.hints.insert(path.to_owned(), name.to_owned()));
        }
    }

    /// Which worktree has this ref checked out, the main checkout included. `None` also where HEADs are not files.
    pub(crate) fn checked_out_at(&self, reference: &str) -> Result<Option<Utf8PathBuf>, GitError> {
        let wanted = format!("ref: {reference}");
        let main = std::fs::read_to_string(self.common_dir().join("HEAD")).unwrap_or_default();
        if main.trim_end() == wanted {
            return Ok(Some(self.root().to_owned()));
        }
        for record in self.all_records()? {
            if self.text_of(&record.git_dir, "HEAD").is_some_and(|text| text.trim_end() == wanted) {
                return Ok(Some(record.path));
            }
        }
        Ok(None)
    }

    /// Where a record says its worktree is, links not followed.
    pub(crate) fn recorded_in(&self, git_dir: &Utf8Path) -> Option<Utf8PathBuf> {
        worktree_in(git_dir, &self.text_of(git_dir, "gitdir")?)
    }

    /// Whether HEADs and refs lie in files of their own, as they do unless the repository was made otherwise.
    pub(crate) fn has_ref_files(&self) -> bool {
        !self.common_dir().join("reftable").is_dir()
    }

    fn all_records(&self) -> Result<Vec<Record>, GitError> {
        let folder = self.common_dir().join("worktrees");
        let entries = match folder.read_dir_utf8() {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(GitError::io(&folder)(e)),
        };
        let mut names = Vec::new();
        for entry in entries {
            names.push(entry.map_err(GitError::io(&folder))?.file_name().to_owned());
        }
        self.with_records(|all| {
            if all.texts.len() > names.len() {
                let there: std::collections::HashSet<&str> = names.iter().map(String::as_str).collect();
                all.texts.retain(|name, _| there.contains(name.as_str()));
                all.hints.retain(|_, name| there.contains(name.as_str()));
            }
        });
        // Most worktrees lie in one folder: its real path is asked for once.
        let mut parents: HashMap<Utf8PathBuf, Utf8PathBuf> = HashMap::new();
        let mut records = Vec::with_capacity(names.len());
        for name in names {
            let git_dir = folder.join(&name);
            let Some(text) = self.text_of(&git_dir, "gitdir") else { continue };
            let Some(at) = worktree_in(&git_dir, &text) else { continue };
            let (Some(parent), Some(last)) = (at.parent(), at.file_name()) else { continue };
            let parent = parents
                .entry(parent.to_owned())
                .or_insert_with(|| parent.canonicalize_utf8().unwrap_or_else(|_| parent.to_owned()));
            records.push(Record { path: parent.join(last), git_dir });
        }
        Ok(records)
    }

    /// A small file of a record, from memory when it is still the same.
    fn text_of(&self, git_dir: &Utf8Path, file: &str) -> Option<String> {
        let name = git_dir.file_name()?;
        let path = git_dir.join(file);
        let found = path.metadata().ok()?;
        let print = Print {
            inode: found.ino(),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        };
        let known = self.with_records(|all| {
            let text = all.texts.get(name)?;
            let kept = if file == "HEAD" { &text.head } else { &text.gitdir };
            kept.as_ref().filter(|(then, _)| *then == print).map(|(_, text)| text.clone())
        });
        if known.is_some() {
            return known;
        }
        let text = std::fs::read_to_string(&path).ok()?;
        let is_settled = print.changed.0 + FRESH_SECONDS < dandori_host::now().as_second();
        if is_settled {
            self.with_records(|all| {
                let kept = all.texts.entry(name.to_owned()).or_insert(Text { gitdir: None, head: None });
                let place = if file == "HEAD" { &mut kept.head } else { &mut kept.gitdir };
                *place = Some((print, text.clone()));
            });
        }
        Some(text)
    }

    fn with_records<T>(&self, look: impl FnOnce(&mut OfRepository) -> T) -> T {
        let mut all = self.git.records.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Asked for every time, made once.
        if !all.contains_key(self.common_dir()) {
            all.insert(self.common_dir().to_owned(), OfRepository::default());
        }
        match all.get_mut(self.common_dir()) {
            Some(of) => look(of),
            None => look(&mut OfRepository::default()),
        }
    }
}

/// Where a record's `gitdir` says its worktree is. A sibling may be half written: then it says nothing yet.
pub(crate) fn worktree_in(git_dir: &Utf8Path, text: &str) -> Option<Utf8PathBuf> {
    let file = Utf8PathBuf::from(Some(text.trim_end_matches('\n')).filter(|text| !text.is_empty())?);
    let file = if file.is_absolute() { file } else { git_dir.join(file) };
    file.parent().map(Utf8Path::to_owned)
}

/// The same, read now and by its real path.
pub(crate) fn recorded_path(git_dir: &Utf8Path) -> Option<Utf8PathBuf> {
    let text = std::fs::read_to_string(git_dir.join("gitdir")).ok()?;
    worktree_in(git_dir, &text).map(|at| real(&at))
}
