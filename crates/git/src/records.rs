//! Git's records of worktrees, read as often as asked and from the disk only where they changed.
//!
//! A repository may keep thousands of worktrees, and every step of every run asks about one of them. Where one is said to
//! be is remembered and looked at again in its own record alone; only "there is none" takes a look at all of them, and
//! that costs a question of the file system each, not a file. Nothing is believed that the record itself does not say.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Oid;
use rustix::fs::{AtFlags, statat};

use crate::error::GitError;
use crate::repository::Repository;
use crate::tree::Tree;
use crate::worktrees::{Listed, real};

/// A file that was written less than this before it was looked at may be written again without showing it: clocks of file
/// systems are coarse.
const FRESH_SECONDS: i64 = 2;

/// Shared by everybody who calls the same git.
#[derive(Clone, Debug, Default)]
pub(crate) struct Records(Arc<Mutex<HashMap<Utf8PathBuf, OfRepository>>>);

#[derive(Debug, Default)]
struct OfRepository {
    /// By the name of the record.
    texts: HashMap<String, Texts>,
    /// Which record a worktree had when it was last looked for.
    hints: HashMap<Utf8PathBuf, String>,
}

#[derive(Debug, Default)]
struct Texts {
    git_dir: Option<(Print, String)>,
    head: Option<(Print, String)>,
}

/// What changes with a file's content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Print {
    inode: u64,
    size: i64,
    modified: (i64, u64),
    changed: (i64, u64),
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
            if recorded_path(&git_dir).is_some_and(|at| at == wanted) {
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
        let Some(folder) = Folder::open(self)? else { return Ok(None) };
        let found: Vec<&String> = self.with_records(|all| {
            let has_it = |name: &&String| all.text(&folder, name, File::Head).is_some_and(|t| t.trim_end() == wanted);
            folder.names.iter().filter(has_it).collect()
        });
        Ok(found.into_iter().find_map(|name| recorded_path(&folder.path.join(name))))
    }

    /// Every linked worktree as its record has it, by its real path; from the records alone, without starting git. Where each head
    /// stands is not among it ([`Self::heads`]).
    pub fn recorded(&self) -> Result<Vec<Listed>, GitError> {
        if !self.has_ref_files() {
            let linked = self.list()?.into_iter().filter(|listed| !listed.is_main);
            return Ok(linked.map(|listed| Listed { path: real(&listed.path), ..listed }).collect());
        }
        let Some(folder) = Folder::open(self)? else { return Ok(Vec::new()) };
        let records = self.all_records()?;
        let listed = |all: &mut OfRepository, record: Record| {
            let name = record.git_dir.file_name()?;
            let head = all.text(&folder, name, File::Head)?;
            let head = head.trim_end();
            let branch = head.strip_prefix("ref: ").map(|full| full.strip_prefix("refs/heads/").unwrap_or(full));
            let is_oid = head.bytes().all(|byte| byte.is_ascii_hexdigit());
            Some(Listed {
                branch: branch.map(str::to_owned),
                head: Some(Oid::new(head)).filter(|_| branch.is_none() && is_oid),
                locked: std::fs::read_to_string(record.git_dir.join("locked")).ok().map(|l| l.trim_end().to_owned()),
                prunable: None,
                is_main: false,
                is_bare: false,
                path: record.path,
                git_dir: Some(record.git_dir),
            })
        };
        Ok(self.with_records(|all| records.into_iter().filter_map(|record| listed(all, record)).collect()))
    }

    /// Finds out where those stand that are on a branch.
    pub fn heads(&self, listed: &mut [&mut Listed]) -> Result<(), GitError> {
        if listed.iter().all(|one| one.head.is_some()) {
            return Ok(());
        }
        let branches: HashMap<String, Oid> = self.branches("")?.into_iter().collect();
        for one in listed.iter_mut().filter(|one| one.head.is_none()) {
            one.head = one.branch.as_ref().and_then(|branch| branches.get(branch).cloned());
        }
        Ok(())
    }

    /// The worktree of a record that was just read.
    pub fn tree_of(&self, listed: &Listed) -> Result<Option<Tree>, GitError> {
        match &listed.git_dir {
            Some(git_dir) => Ok(Some(Tree::new(self, &listed.path, git_dir))),
            None => self.worktree(&listed.path),
        }
    }

    /// Whether HEADs and refs lie in files of their own, as they do unless the repository was made otherwise.
    pub(crate) fn has_ref_files(&self) -> bool {
        !self.common_dir().join("reftable").is_dir()
    }

    fn all_records(&self) -> Result<Vec<Record>, GitError> {
        let Some(folder) = Folder::open(self)? else { return Ok(Vec::new()) };
        // Most worktrees lie in one folder: its real path is asked for once.
        let mut parents: HashMap<Utf8PathBuf, Utf8PathBuf> = HashMap::new();
        let mut records = Vec::with_capacity(folder.names.len());
        self.with_records(|all| {
            all.forget_all_but(&folder.names);
            for name in &folder.names {
                let Some(text) = all.text(&folder, name, File::GitDir) else { continue };
                let git_dir = folder.path.join(name);
                let Some(at) = worktree_in(&git_dir, &text) else { continue };
                let (Some(parent), Some(last)) = (at.parent(), at.file_name()) else { continue };
                if !parents.contains_key(parent) {
                    let real = parent.canonicalize_utf8().unwrap_or_else(|_| parent.to_owned());
                    parents.insert(parent.to_owned(), real);
                }
                let parent = parents.get(parent).map_or(parent, Utf8PathBuf::as_path);
                records.push(Record { path: parent.join(last), git_dir });
            }
        });
        Ok(records)
    }

    fn with_records<T>(&self, look: impl FnOnce(&mut OfRepository) -> T) -> T {
        let mut all = self.git.records.0.lock().unwrap_or_else(PoisonError::into_inner);
        look(all.entry(self.common_dir().to_owned()).or_default())
    }
}

impl OfRepository {
    /// A small file of a record, from memory when it is still the same.
    fn text(&mut self, folder: &Folder, name: &str, file: File) -> Option<String> {
        let below = format!("{name}/{}", file.name());
        // From the open folder: a whole path would be walked for each.
        let found = statat(&folder.handle, below.as_str(), AtFlags::empty()).ok()?;
        let print = Print {
            inode: found.st_ino,
            size: found.st_size,
            modified: (found.st_mtime, found.st_mtime_nsec),
            changed: (found.st_ctime, found.st_ctime_nsec),
        };
        let kept = self.texts.get(name).and_then(|texts| texts.of(file));
        if let Some((_, text)) = kept.filter(|(then, _)| *then == print) {
            return Some(text.clone());
        }
        let text = std::fs::read_to_string(folder.path.join(&below)).ok()?;
        if print.changed.0 + FRESH_SECONDS < dandori_host::now().as_second() {
            let texts = self.texts.entry(name.to_owned()).or_default();
            *texts.of_mut(file) = Some((print, text.clone()));
        }
        Some(text)
    }

    fn forget_all_but(&mut self, names: &[String]) {
        if self.texts.len() > names.len() {
            let there: HashSet<&str> = names.iter().map(String::as_str).collect();
            self.texts.retain(|name, _| there.contains(name.as_str()));
        }
    }
}

/// All records, held open while they are looked at.
struct Folder {
    path: Utf8PathBuf,
    handle: std::fs::File,
    names: Vec<String>,
}

impl Folder {
    /// `None` where there has never been a worktree.
    fn open(repository: &Repository) -> Result<Option<Self>, GitError> {
        let path = repository.common_dir().join("worktrees");
        let handle = match std::fs::File::open(&path) {
            Ok(handle) => handle,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(GitError::io(&path)(e)),
        };
        let mut names = Vec::new();
        for entry in path.read_dir_utf8().map_err(GitError::io(&path))? {
            names.push(entry.map_err(GitError::io(&path))?.file_name().to_owned());
        }
        Ok(Some(Self { path, handle, names }))
    }
}

/// What is read of a record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum File {
    GitDir,
    Head,
}

impl File {
    fn name(self) -> &'static str {
        match self {
            Self::GitDir => "gitdir",
            Self::Head => "HEAD",
        }
    }
}

impl Texts {
    fn of(&self, file: File) -> Option<&(Print, String)> {
        match file {
            File::GitDir => self.git_dir.as_ref(),
            File::Head => self.head.as_ref(),
        }
    }

    fn of_mut(&mut self, file: File) -> &mut Option<(Print, String)> {
        match file {
            File::GitDir => &mut self.git_dir,
            File::Head => &mut self.head,
        }
    }
}

/// Where a record's `gitdir` says its worktree is. A sibling may be half written: then it says nothing yet.
pub(crate) fn worktree_in(git_dir: &Utf8Path, text: &str) -> Option<Utf8PathBuf> {
    let file = Utf8PathBuf::from(Some(text.trim_end_matches('\n')).filter(|text| !text.is_empty())?);
    let file = if file.is_absolute() { file } else { git_dir.join(file) };
    file.parent().map(Utf8Path::to_owned)
}

/// The same, read now.
pub(crate) fn written_path(git_dir: &Utf8Path) -> Option<Utf8PathBuf> {
    worktree_in(git_dir, &std::fs::read_to_string(git_dir.join("gitdir")).ok()?)
}

/// The same by its real path.
pub(crate) fn recorded_path(git_dir: &Utf8Path) -> Option<Utf8PathBuf> {
    written_path(git_dir).map(|at| real(&at))
}
