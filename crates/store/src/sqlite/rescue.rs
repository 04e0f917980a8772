//! Damage and its remedy: a damaged database is set aside whole, the newest good backup takes its place.
//!
//! Nothing is deleted here but backups beyond the number to keep. What counts as damage is said by SQLite alone
//! (not a database, malformed, or a failed check); a file that is locked or unreadable is an error, not damage.

use std::fs::File;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rusqlite::Connection;

use super::connection::{Check, Connect, MOMENT, SqliteTx, connect, failed, quick_check};
use crate::error::{Result, StoreError};
use crate::event;
use crate::migrate::migrate;
use crate::store::Rescue;

const PREFIX: &str = "dandori-";

/// How many backups stay however close together they were made, and how far apart the others are.
const NEWEST: usize = 3;
const APART: jiff::SignedDuration = jiff::SignedDuration::from_mins(30);

pub(super) struct Opened {
    pub(super) connection: Connection,
    pub(super) schema: i64,
    pub(super) newest: i64,
    pub(super) check: Check,
}

pub(super) fn open_or_rescue(path: &Utf8Path, now: Timestamp) -> Result<(Opened, Option<Rescue>)> {
    let damage = match open(path, now) {
        Ok(opened) => return Ok((opened, None)),
        Err(StoreError::Damaged { reason }) => reason,
        Err(other) => return Err(other),
    };
    tracing::error!(%path, %damage, "the database is damaged");
    let quarantine = set_aside(path, now)?;
    let restored = restore(path)?;
    let rescue = Rescue { damage, quarantine, restored };
    Ok((open(path, now)?, Some(rescue)))
}

fn open(path: &Utf8Path, now: Timestamp) -> Result<Opened> {
    // Somebody emptied the file: it would pass for a new database and everything would silently be gone.
    if path.metadata().is_ok_and(|m| m.len() == 0) && !backups(path).is_empty() {
        return Err(StoreError::Damaged { reason: "the file is empty".into() });
    }
    let mut connection = connect(path, Connect::ToWrite)?;
    let marker = marker(path);
    let limit = if marker.exists() { None } else { MOMENT };
    let check = quick_check(&mut connection, limit)?;
    let (schema, newest) = in_transaction(&connection, |tx| Ok((migrate(tx, now)?, event::newest(tx)?)))?;
    if limit.is_none() {
        std::fs::remove_file(&marker).map_err(|e| StoreError::io(&marker, e))?;
    }
    Ok(Opened { connection, schema, newest, check })
}

fn in_transaction<T>(connection: &Connection, work: impl FnOnce(&mut SqliteTx<'_>) -> Result<T>) -> Result<T> {
    connection.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
    let done = work(&mut SqliteTx(connection)).and_then(|value| {
        connection.execute_batch("COMMIT").map_err(failed)?;
        Ok(value)
    });
    if done.is_err() && !connection.is_autocommit() {
        // The first error is the one to tell.
        let _ = connection.execute_batch("ROLLBACK");
    }
    done
}

/// The next opening looks at everything, however long it takes.
pub(super) fn mark_damaged(path: &Utf8Path) -> Result<()> {
    let marker = marker(path);
    File::create(&marker).and_then(|f| f.sync_all()).map_err(|e| StoreError::io(&marker, e))
}

fn marker(path: &Utf8Path) -> Utf8PathBuf {
    format!("{path}-damaged").into()
}

fn folder(path: &Utf8Path) -> &Utf8Path {
    path.parent().filter(|p| !p.as_str().is_empty()).unwrap_or(Utf8Path::new("."))
}

/// Sorts by time, and is a file name everywhere.
fn stamp(now: Timestamp) -> String {
    now.strftime("%Y%m%dT%H%M%S%3fZ").to_string()
}

fn sync_folder(folder: &Utf8Path) -> Result<()> {
    File::open(folder).and_then(|f| f.sync_all()).map_err(|e| StoreError::io(folder, e))
}

fn set_aside(path: &Utf8Path, now: Timestamp) -> Result<Utf8PathBuf> {
    let base = folder(path).join("quarantine");
    std::fs::create_dir_all(&base).map_err(|e| StoreError::io(&base, e))?;
    let mut quarantine = base.join(stamp(now));
    let mut count = 1;
    while let Err(error) = std::fs::create_dir(&quarantine) {
        if error.kind() != std::io::ErrorKind::AlreadyExists || count > 99 {
            return Err(StoreError::io(&quarantine, error));
        }
        count += 1;
        quarantine = base.join(format!("{}-{count}", stamp(now)));
    }
    // The journal first: a kill in between leaves a database without it to be looked at again, never another
    // database's journal beside a restored one.
    for end in ["-wal", "-shm", "-damaged", ""] {
        let from = Utf8PathBuf::from(format!("{path}{end}"));
        let to = quarantine.join(from.file_name().unwrap_or_default());
        match std::fs::rename(&from, &to) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(StoreError::io(&from, error)),
        }
    }
    sync_folder(&quarantine)?;
    sync_folder(folder(path))?;
    Ok(quarantine)
}

/// Our backups, oldest first.
pub(super) fn backups(path: &Utf8Path) -> Vec<Utf8PathBuf> {
    let Ok(entries) = folder(path).join("backups").read_dir_utf8() else { return Vec::new() };
    let mut found: Vec<_> = entries
        .flatten()
        .filter(|e| e.file_name().starts_with(PREFIX) && e.path().extension() == Some("db"))
        .map(|e| e.path().to_owned())
        .collect();
    found.sort();
    found
}

/// Puts the newest backup that is well in the database's place; its name.
fn restore(path: &Utf8Path) -> Result<Option<String>> {
    for backup in backups(path).into_iter().rev() {
        if let Err(error) = look_whole(&backup) {
            tracing::warn!(%backup, %error, "a backup is passed over");
            continue;
        }
        let sibling = Utf8PathBuf::from(format!("{path}.restoring"));
        std::fs::copy(&backup, &sibling)
            .and_then(|_| File::open(&sibling)?.sync_all())
            .and_then(|()| std::fs::rename(&sibling, path))
            .map_err(|e| StoreError::io(&sibling, e))?;
        sync_folder(folder(path))?;
        return Ok(backup.file_name().map(str::to_owned));
    }
    Ok(None)
}

/// A backup is one plain file; it is only read.
fn look_whole(backup: &Utf8Path) -> Result<()> {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY | rusqlite::OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(backup, flags).map_err(failed)?;
    quick_check(&mut connection, None)?;
    super::connection::schema(&connection).map(drop)
}

/// A copy of this moment, made beside the work, verified, then given its name.
pub(crate) fn backup(path: &Utf8Path, now: Timestamp, keep: usize) -> Result<Utf8PathBuf> {
    let target = folder(path).join("backups");
    std::fs::create_dir_all(&target).map_err(|e| StoreError::io(&target, e))?;
    let unfinished = target.join("unfinished");
    remove_if_there(&unfinished)?;
    let made = copy(path, &unfinished).and_then(|()| look_whole(&unfinished));
    if let Err(error) = made {
        remove_if_there(&unfinished)?;
        return Err(error);
    }
    let name = target.join(format!("{PREFIX}{}.db", stamp(now)));
    File::open(&unfinished)
        .and_then(|f| f.sync_all())
        .and_then(|()| std::fs::rename(&unfinished, &name))
        .map_err(|e| StoreError::io(&name, e))?;
    sync_folder(&target)?;
    for old in surplus(&backups(path), keep.max(1)) {
        remove_if_there(&old)?;
    }
    Ok(name)
}

/// What goes: of many made in a row the newest few stay, and before them one for each half hour.
fn surplus(all: &[Utf8PathBuf], keep: usize) -> Vec<Utf8PathBuf> {
    let mut kept: Vec<&Utf8PathBuf> = Vec::new();
    let mut surplus = Vec::new();
    for (age, backup) in all.iter().rev().enumerate() {
        let is_apart = kept.last().is_none_or(|later| {
            made_at(later).zip(made_at(backup)).is_none_or(|(later, earlier)| later.duration_since(earlier) >= APART)
        });
        // Among the newest every one counts, however close they are.
        let is_among_newest = age < NEWEST.min(keep);
        if kept.len() < keep && (is_among_newest || is_apart) {
            kept.push(backup);
        } else {
            surplus.push(backup.clone());
        }
    }
    surplus
}

/// From its name.
fn made_at(backup: &Utf8Path) -> Option<Timestamp> {
    let stamp = backup.file_stem()?.strip_prefix(PREFIX)?.get(..15)?;
    let time = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%S", stamp).ok()?;
    time.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

fn copy(path: &Utf8Path, target: &Utf8Path) -> Result<()> {
    let from = connect(path, Connect::ToRead)?;
    let mut to = Connection::open(target).map_err(failed)?;
    {
        let backup = rusqlite::backup::Backup::new(&from, &mut to).map_err(failed)?;
        // All pages in one step: a copy in several begins anew with every write in between. The writer goes on
        // meanwhile, into the journal.
        backup.run_to_completion(i32::MAX, Duration::from_millis(10), None).map_err(failed)?;
    }
    // One plain file, without a journal beside it.
    to.pragma_update(None, "journal_mode", "DELETE").map_err(failed)
}

fn remove_if_there(path: &Utf8Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(StoreError::io(path, error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_backups_stay_and_older_ones_apart_from_each_other() {
        let named = |minutes: i64| -> Utf8PathBuf {
            let at = Timestamp::from_second(1_700_000_000 + 60 * minutes).unwrap();
            format!("/b/{PREFIX}{}.db", stamp(at)).into()
        };
        let all: Vec<Utf8PathBuf> = [0, 10, 40, 75, 80, 118, 119, 120].map(named).to_vec();
        let gone = surplus(&all, 5);
        let left: Vec<&Utf8PathBuf> = all.iter().filter(|b| !gone.contains(b)).collect();
        assert_eq!(left, [&named(40), &named(80), &named(118), &named(119), &named(120)]);
        assert_eq!(surplus(&all, 1).len(), 7);
        assert!(surplus(&[named(1)], 3).is_empty());
    }
}
