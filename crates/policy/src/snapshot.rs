//! The compiled rules beside what they were compiled from.
//!
//! A snapshot counts when it is of this version and place and every source still looks as it did: there or not, size,
//! inode, times of change. A source that was changed just before the snapshot was made does not count as unchanged: a
//! second edit in the same tick of the file system's clock would not show (git has the same rule for its index).
//! Sources are looked at *before* they are read, so that an edit in between shows the next time.
//!
//! Not synced: a snapshot lost in a power cut is made again. When it cannot be written the rules hold all the same.

use std::io;
use std::os::unix::fs::MetadataExt;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_config::{GuardTable, Powers, Source, TrustFile};
use dandori_domain::guard::{Profile, RulesNote};
use dandori_guard::rules::{self, Rules};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::compile::{Compiled, Sources, compile};
use crate::policy_paths::PolicyPaths;
use crate::protected_files;

/// Changes closer than this to the snapshot may not show: coarse clocks, and file systems with whole seconds.
const TICK_NS: i64 = 2_000_000_000;

const PROGRAM: &str = env!("CARGO_PKG_VERSION");

#[derive(Deserialize)]
struct Snapshot {
    version: u32,
    program: String,
    made_ns: i64,
    stamp: Stamp,
    rules: Rules,
    notes: Vec<RulesNote>,
}

/// The same, for writing, without a copy of the rules.
#[derive(Serialize)]
struct SnapshotOf<'r> {
    version: u32,
    program: &'r str,
    made_ns: i64,
    stamp: &'r Stamp,
    rules: &'r Rules,
    notes: &'r [RulesNote],
}

/// What must be the same for the same rules.
#[derive(PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Stamp {
    sources: Vec<Fingerprint>,
    /// Only whether there is a state.md: itself it changes all the time.
    is_disciplined: bool,
    is_run: bool,
    /// Paths that are in the rules, and come from the environment.
    paths: Vec<Utf8PathBuf>,
}

#[derive(PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Fingerprint {
    path: Utf8PathBuf,
    looks: Looks,
}

#[derive(PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Looks {
    Missing,
    /// Somebody may not even look at it: asked again every time.
    Unknown,
    File {
        size: u64,
        device: u64,
        inode: u64,
        modified_ns: i64,
        changed_ns: i64,
    },
}

/// The rules in force at a place, from the snapshot if it is fresh.
pub fn load(place: &PolicyPaths, now: Timestamp) -> (Rules, Vec<RulesNote>) {
    let stamp = Stamp::of(place);
    if let Some(fresh) = fresh(&place.snapshot(), &stamp) {
        return (fresh.rules, fresh.notes);
    }
    let Compiled { rules, notes, .. } = read(place);
    let made_ns = i64::try_from(now.as_nanosecond()).unwrap_or_default();
    let snapshot =
        SnapshotOf { version: rules::VERSION, program: PROGRAM, made_ns, stamp: &stamp, rules: &rules, notes: &notes };
    if let Ok(bytes) = serde_json::to_vec(&snapshot) {
        let put = || dandori_host::put_file(&place.snapshot(), &bytes, 0o600);
        // The folder is made on the first event only: a rename that fails for want of it is tried again.
        let _ = put().or_else(|_| std::fs::create_dir_all(&place.folder).and_then(|()| put()));
    }
    (rules, notes)
}

/// The rules in force at a place, from their sources.
pub fn read(place: &PolicyPaths) -> Compiled {
    let mut notes = Vec::new();
    let user = GuardTable::load(&place.user_config, Source::User);
    let is_user_unknown = user.is_err();
    let mut user = user.unwrap_or_else(|e| {
        notes.push(RulesNote::BadUserConfig { path: place.user_config.clone(), reason: reason(&e) });
        GuardTable::default()
    });
    note_unknown(&user, &place.user_config, &mut notes);
    let (mut repository, mut trusted) = repository(place, &mut notes);
    if let Some(path) = place.repository_config() {
        note_unknown(&repository, &path, &mut notes);
    }
    if place.is_run {
        // The discipline is between an agent and its user, whoever asks for it. What is not known of the user's file
        // loosens nothing in a run either.
        (user.profile, repository.profile) = (None, None);
        trusted &= !is_user_unknown;
    }
    let mut listed = Vec::new();
    if let Some(path) = place.protected_files() {
        match std::fs::read(&path) {
            Ok(bytes) => {
                let (found, odd) = protected_files::read(&path, &String::from_utf8_lossy(&bytes));
                listed = found;
                notes.extend(odd);
            }
            Err(e) if is_missing(&e) => {}
            Err(e) => notes.push(RulesNote::BadRepositoryConfig { path, reason: e.to_string() }),
        }
    }
    let is_disciplined = !place.is_run && place.is_disciplined();
    let mut compiled = compile(Sources {
        user,
        is_user_unknown: is_user_unknown && !place.is_run,
        repository,
        repository_path: place.repository_config().unwrap_or_default(),
        trusted,
        listed,
        default_profile: if is_disciplined { Profile::Discipline } else { Profile::Safety },
        control: place.control(),
        worktrees: place.worktrees(),
    });
    notes.append(&mut compiled.notes);
    Compiled { notes, ..compiled }
}

fn note_unknown(table: &GuardTable, path: &Utf8Path, notes: &mut Vec<RulesNote>) {
    let note = |(key, meant): &(String, Option<String>)| RulesNote::UnknownKey {
        path: path.to_owned(),
        key: key.clone(),
        meant: meant.clone(),
    };
    notes.extend(table.unknown.iter().map(note));
}

/// The repository's table, and whether it is trusted: both from one reading, so that what is trusted is what is used.
fn repository(place: &PolicyPaths, notes: &mut Vec<RulesNote>) -> (GuardTable, bool) {
    let (Some(path), Some(git_dir)) = (place.repository_config(), &place.git_dir) else {
        return (GuardTable::default(), false);
    };
    let mut bad = |reason: String| {
        notes.push(RulesNote::BadRepositoryConfig { path: path.clone(), reason });
        (GuardTable::default(), false)
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if is_missing(&e) => return (GuardTable::default(), false),
        Err(e) => return bad(e.to_string()),
    };
    match GuardTable::read(&path, &text, Source::Repository) {
        Ok(table) => {
            // What cannot be read whole cannot have been trusted as it is.
            let powers = Powers::of_text(&path, &text);
            let trusted = powers.is_ok_and(|powers| TrustFile::load(&place.trust).trusts(git_dir, &powers));
            (table, trusted)
        }
        Err(e) => bad(reason(&e)),
    }
}

/// In one line, without the path that stands beside it.
fn reason(error: &dandori_config::ConfigError) -> String {
    let text = match error {
        dandori_config::ConfigError::Unreadable { source, .. } => source.to_string(),
        dandori_config::ConfigError::Bad { reason, suggestion: Some(meant), .. } => format!("{reason} ({meant}?)"),
        dandori_config::ConfigError::Bad { reason, .. } => reason.clone(),
    };
    dandori_config::in_one_line(&text)
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn fresh(path: &Utf8Path, stamp: &Stamp) -> Option<Snapshot> {
    let bytes = std::fs::read(path).ok()?;
    let snapshot: Snapshot = serde_json::from_slice(&bytes).ok()?;
    let is_ours = snapshot.version == rules::VERSION
        && snapshot.rules.version == rules::VERSION
        && snapshot.program == PROGRAM
        && snapshot.stamp == *stamp
        && stamp.sources.iter().all(|source| source.looks.is_settled(snapshot.made_ns));
    is_ours.then_some(snapshot)
}

impl Stamp {
    fn of(place: &PolicyPaths) -> Self {
        let files = [Some(place.user_config.clone()), place.repository_config(), place.protected_files()];
        // The program too: another build may have other defaults under the same version.
        let files = files.into_iter().flatten().chain([place.trust.clone()]).chain(place.binary.clone());
        let sources = files.map(|path| Fingerprint { looks: Looks::of(&path), path }).collect();
        let paths = [&place.checkout, &place.git_dir].into_iter().flatten().chain(place.homes.paths());
        let paths = paths.chain([&place.state_root]).cloned().collect();
        Self { sources, is_disciplined: place.is_disciplined(), is_run: place.is_run, paths }
    }
}

impl Looks {
    fn of(path: &Utf8Path) -> Self {
        match std::fs::metadata(path) {
            Ok(found) => Self::File {
                size: found.size(),
                device: found.dev(),
                inode: found.ino(),
                modified_ns: nanoseconds(found.mtime(), found.mtime_nsec()),
                changed_ns: nanoseconds(found.ctime(), found.ctime_nsec()),
            },
            Err(e) if is_missing(&e) => Self::Missing,
            Err(_) => Self::Unknown,
        }
    }

    /// Whether a later change would show.
    fn is_settled(&self, made_ns: i64) -> bool {
        match self {
            Self::Missing => true,
            Self::Unknown => false,
            Self::File { modified_ns, changed_ns, .. } => {
                (*modified_ns).max(*changed_ns) < made_ns.saturating_sub(TICK_NS)
            }
        }
    }
}

fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

#[cfg(test)]
mod tests;
