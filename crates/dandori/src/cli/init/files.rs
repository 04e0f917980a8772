//! The settings files themselves: what is to become of each, done whole or not at all.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Problem;
use dandori_domain::problem::SettingsTrouble;
use dandori_install::{Call, Client, Memory, Trouble};
use dandori_text::init::Action;
use serde::{Deserialize, Serialize};

use super::places::Places;

/// What is to become of one file.
pub(in crate::cli) struct Deed {
    pub(super) client: Client,
    pub(in crate::cli) path: Utf8PathBuf,
    before: Option<String>,
    pub(super) after: Option<String>,
    record: Option<Record>,
    /// Its owner has taken the permission to write away.
    pub(super) was_read_only: bool,
}

impl Deed {
    pub(super) fn install(client: Client, path: Utf8PathBuf, call: &Call, records: &Records) -> Result<Self, Problem> {
        let before = read(&path)?;
        let known = records.files.get(&path);
        let installed = dandori_install::install(client, call, before.as_deref(), known.map(|r| &r.memory))
            .map_err(|trouble| bad_settings(&path, trouble))?;
        // The folder is ours as long as we have been in it without a break.
        let was_here = before.as_deref().is_some_and(|text| dandori_install::has_ours(client, text));
        let folder_made = match known {
            Some(known) if was_here => known.folder_made,
            _ => path.parent().is_some_and(|folder| !folder.exists() || records.made(folder)),
        };
        let record = installed.memory.map(|memory| Record { memory, folder_made });
        let was_read_only = is_read_only(&path);
        Ok(Self { client, path, before, after: Some(installed.text), record, was_read_only })
    }

    /// `None` when nothing of ours is there.
    pub(super) fn uninstall(
        client: Client,
        path: Utf8PathBuf,
        program: &str,
        records: &Records,
    ) -> Result<Option<Self>, Problem> {
        let Some(before) = read(&path)? else { return Ok(None) };
        let record = records.files.get(&path).cloned();
        let memory = record.as_ref().map(|r| &r.memory);
        let left = match dandori_install::uninstall(client, Some(program), &before, memory) {
            Ok(left) => left.text,
            // It cannot be read, but we are not in it either.
            Err(_) if !before.contains("dandori") => return Ok(None),
            Err(trouble) => return Err(bad_settings(&path, trouble)),
        };
        let is_there = left.as_deref() != Some(before.as_str());
        let was_read_only = is_read_only(&path);
        Ok(is_there.then_some(Self { client, path, before: Some(before), after: left, record, was_read_only }))
    }

    pub(super) fn action(&self) -> Action {
        match (&self.before, &self.after) {
            (None, Some(_)) => Action::Created,
            (Some(_), None) => Action::Removed,
            (before, after) if before == after => Action::Unchanged,
            _ => Action::Changed,
        }
    }

    /// Ours go out with it.
    pub(super) fn takes_out(&self) -> bool {
        !self.after.as_deref().is_some_and(|text| dandori_install::has_ours(self.client, text))
    }

    pub(super) fn diff(&self, places: &Places) -> String {
        dandori_install::unified(places.short(&self.path), self.before.as_deref(), self.after.as_deref())
    }

    pub(in crate::cli) fn carry_out(&self) -> Result<(), Problem> {
        let target = behind_links(&self.path);
        let failed = |e: std::io::Error| Problem::Io { path: self.path.clone(), reason: e.to_string() };
        match (self.action(), &self.after) {
            (Action::Unchanged, _) => Ok(()),
            (_, Some(text)) => write(&target, text).map_err(failed),
            (_, None) => {
                std::fs::remove_file(&target).map_err(failed)?;
                if self.record.as_ref().is_some_and(|r| r.folder_made)
                    && let Some(folder) = self.path.parent()
                {
                    // Somebody else's things in it keep it.
                    let _ = std::fs::remove_dir(folder);
                }
                Ok(())
            }
        }
    }
}

/// The text of a settings file; `None` when there is none.
pub(in crate::cli) fn read(path: &Utf8Path) -> Result<Option<String>, Problem> {
    match std::fs::read(path) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(Problem::BadSettings { path: path.to_owned(), trouble: SettingsTrouble::NotText }),
        },
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Problem::Io { path: path.to_owned(), reason: e.to_string() }),
    }
}

/// Where a file is that is a link, also when the link leads to nothing yet.
fn behind_links(path: &Utf8Path) -> Utf8PathBuf {
    let mut path = path.to_owned();
    // As many as the system follows.
    for _ in 0..40 {
        let Ok(target) = path.read_link_utf8() else { break };
        path = path.parent().unwrap_or(Utf8Path::new("/")).join(target);
    }
    path
}

fn is_read_only(path: &Utf8Path) -> bool {
    path.metadata().is_ok_and(|found| found.permissions().mode() & 0o222 == 0)
}

fn write(path: &Utf8Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mode = path.metadata().ok().map(|found| found.permissions().mode() & 0o777);
    dandori_host::replace_file(path, text.as_bytes(), mode.unwrap_or(0o644))?;
    match mode {
        // The umask has a say in a new file's mode; this one is not new to its owner.
        Some(mode) => std::fs::set_permissions(path, PermissionsExt::from_mode(mode)),
        None => Ok(()),
    }
}

fn bad_settings(path: &Utf8Path, trouble: Trouble) -> Problem {
    Problem::BadSettings { path: path.to_owned(), trouble: told(trouble) }
}

pub(in crate::cli) fn told(trouble: Trouble) -> SettingsTrouble {
    match trouble {
        Trouble::NotJson { line, column, reason } => SettingsTrouble::NotJson { line, column, reason },
        Trouble::NotAnObject { line, column, key } => SettingsTrouble::NotAnObject { line, column, key },
        Trouble::NotAList { line, column, key } => SettingsTrouble::NotAList { line, column, key },
    }
}

/// What was there before us, by file. Kept below the state root, where no agent comes.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Records {
    version: u32,
    files: BTreeMap<Utf8PathBuf, Record>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Record {
    memory: Memory,
    folder_made: bool,
}

const VERSION: u32 = 1;

impl Records {
    /// One that cannot be read is none: what is ours is known without it, only what became empty is guessed.
    pub(super) fn load(path: &Utf8Path) -> Self {
        let read = std::fs::read(path).ok().and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        read.filter(|records| records.version == VERSION).unwrap_or_default()
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &Utf8PathBuf> {
        self.files.keys()
    }

    pub(super) fn keep(&mut self, deeds: &[Deed]) {
        for deed in deeds {
            if let Some(record) = &deed.record {
                self.files.insert(deed.path.clone(), record.clone());
            }
        }
    }

    /// We made this folder, for another file in it.
    fn made(&self, folder: &Utf8Path) -> bool {
        self.files.iter().any(|(path, record)| record.folder_made && path.parent() == Some(folder))
    }

    pub(super) fn forget(&mut self, path: &Utf8Path) {
        self.files.remove(path);
    }

    pub(super) fn save(&mut self, path: &Utf8Path) -> Result<(), Problem> {
        let failed = |e: std::io::Error| Problem::Io { path: path.to_owned(), reason: e.to_string() };
        if self.files.is_empty() {
            return match std::fs::remove_file(path) {
                Err(e) if e.kind() != ErrorKind::NotFound => Err(failed(e)),
                _ => Ok(()),
            };
        }
        self.version = VERSION;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let bytes = serde_json::to_vec(self).map_err(|e| Problem::Internal { reason: e.to_string() })?;
        dandori_host::replace_file(path, &bytes, 0o600).map_err(failed)
    }
}
