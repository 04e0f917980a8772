//! The records of one checkout: appended by hooks, read by `guard stats` and by the daemon.
//!
//! A segment per hour (UTC), each written by appending alone: how many records there are is no matter to the next one.
//! Segments are the source for thirty days, or for as long as they take less than 64 MB together; the present hour's and
//! the one before are never removed. The daemon remembers how far it has read each and needs no claim on them.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use rustix::fs::OFlags;
use serde::Deserialize;

use crate::append;
use crate::record::{Record, VERSION};

const KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);
const KEPT_BYTES: u64 = 64 * 1024 * 1024;
/// Longer than any record: a file without line ends is not taken into memory.
const LONGEST_LINE: u64 = 256 * 1024;

/// Appends a record; when this returns, a kill cannot undo it.
pub fn append(folder: &Utf8Path, record: &Record) -> io::Result<()> {
    let at = Timestamp::from_millisecond(record.at).unwrap_or(Timestamp::UNIX_EPOCH);
    let path = spool(folder).join(format!("{}.jsonl", segment_of(at)));
    let file = append::open(&path)?;
    let is_new = file.metadata()?.len() == 0;
    append::write_once(&file, format!("\n{}\n", serde_json::to_string(record)?).as_bytes())?;
    if is_new {
        prune(folder, at);
    }
    Ok(())
}

/// An hour of records.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// `20260101-12`: in the order of time.
    pub name: String,
    pub path: Utf8PathBuf,
    pub bytes: u64,
}

/// Oldest first.
pub fn segments(folder: &Utf8Path) -> Vec<Segment> {
    let mut found: Vec<Segment> = spool(folder)
        .read_dir_utf8()
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().strip_suffix(".jsonl").filter(|name| is_segment(name))?.to_owned();
            let bytes = entry.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
            Some(Segment { name, path: entry.path().to_owned(), bytes })
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// A line of a segment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Line {
    Record(Box<Record>),
    /// A later version wrote it.
    Newer,
    /// Its writer was killed, or the disk was full.
    Broken,
}

/// A line where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placed {
    /// Of its first byte in the segment.
    pub position: u64,
    pub text: String,
    pub line: Line,
}

/// What was read of a segment, and where to go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Batch {
    pub lines: Vec<Placed>,
    pub next: u64,
}

/// Reads whole lines from `from` on, at most about `bytes` of them. A last line without its end may still be being
/// written: the next reading begins with it.
pub fn read(segment: &Segment, from: u64, bytes: u64) -> io::Result<Batch> {
    let mut lines = Vec::new();
    let next = walk(segment, from, |placed, next| {
        lines.push(placed);
        next - from < bytes
    })?;
    Ok(Batch { lines, next })
}

/// What a reading of all segments came upon besides records.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Skipped {
    pub newer: u64,
    pub broken: u64,
    /// Last lines without an end: being written just now, or cut off.
    pub unfinished: u64,
    /// Segments that could not be read to their end.
    pub unreadable: u64,
}

/// Every record since then, oldest first.
pub fn each(folder: &Utf8Path, since: Timestamp, mut take: impl FnMut(Record)) -> Skipped {
    let mut skipped = Skipped::default();
    let first = segment_of(since);
    for segment in segments(folder).iter().filter(|segment| segment.name >= first) {
        let walked = walk(segment, 0, |placed, _| {
            match placed.line {
                Line::Record(record) if record.at >= since.as_millisecond() => take(*record),
                Line::Record(_) => {}
                Line::Newer => skipped.newer += 1,
                Line::Broken => skipped.broken += 1,
            }
            true
        });
        match walked {
            Ok(end) => skipped.unfinished += u64::from(end < segment.bytes),
            Err(_) => skipped.unreadable += 1,
        }
    }
    skipped
}

/// Hands over each whole line with the place behind it, until told to stop; answers where the next one begins.
fn walk(segment: &Segment, from: u64, mut take: impl FnMut(Placed, u64) -> bool) -> io::Result<u64> {
    let mut file = open(&segment.path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut reader = BufReader::with_capacity(64 * 1024, file);
    let mut position = from;
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let length = reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut bytes)? as u64;
        let is_whole = bytes.last() == Some(&b'\n');
        if !is_whole && length < LONGEST_LINE {
            return Ok(position);
        }
        let begin = position;
        position += length;
        let text = bytes.trim_ascii();
        if text.is_empty() {
            continue;
        }
        let line = if is_whole { understood(text) } else { Line::Broken };
        let placed = Placed { position: begin, text: String::from_utf8_lossy(text).into_owned(), line };
        if !take(placed, position) {
            return Ok(position);
        }
    }
}

/// A plain file, and no other: an agent can write where the segments of its run are, and a pipe in the place of one would
/// keep its reader for ever.
fn open(path: &Utf8Path) -> io::Result<File> {
    let how = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(how.bits().cast_signed()).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a file")) }
}

fn understood(text: &[u8]) -> Line {
    #[derive(Deserialize)]
    struct Versioned {
        version: u32,
    }
    match serde_json::from_slice::<Record>(text) {
        Ok(record) if record.version <= VERSION => Line::Record(Box::new(record)),
        _ => match serde_json::from_slice::<Versioned>(text) {
            Ok(Versioned { version }) if version > VERSION => Line::Newer,
            _ => Line::Broken,
        },
    }
}

/// Done by whoever begins a segment: once an hour at most.
fn prune(folder: &Utf8Path, now: Timestamp) {
    let segments = segments(folder);
    let name_before = |ago: SignedDuration| now.checked_sub(ago).map_or_else(|_| String::new(), segment_of);
    let (oldest, safe) = (name_before(KEPT), name_before(SignedDuration::from_hours(1)));
    let mut bytes: u64 = segments.iter().map(|segment| segment.bytes).sum();
    for segment in segments.iter().take_while(|segment| segment.name < safe) {
        if (segment.name < oldest || bytes > KEPT_BYTES) && std::fs::remove_file(&segment.path).is_ok() {
            bytes -= segment.bytes;
        }
    }
}

fn spool(folder: &Utf8Path) -> Utf8PathBuf {
    folder.join("spool")
}

/// The name of the segment that has the records of this time.
pub fn segment_of(at: Timestamp) -> String {
    let at = TimeZone::UTC.to_datetime(at);
    format!("{:04}{:02}{:02}-{:02}", at.year(), at.month(), at.day(), at.hour())
}

fn is_segment(name: &str) -> bool {
    name.len() == 11 && name.bytes().enumerate().all(|(i, b)| if i == 8 { b == b'-' } else { b.is_ascii_digit() })
}

#[cfg(test)]
mod tests;
