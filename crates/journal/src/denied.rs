//! What a session was refused to write: appended, never rewritten, so that no lock is needed and none is lost.
//!
//! Only the end of the file is read. When it has become long it is put aside once, and read from there too.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_guard::world::Denied;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::append::{self, Rotation};
use crate::session::Session;

/// More are not remembered: the newest count.
const REMEMBERED: usize = 256;
/// As much of the file's end as is read.
const TAIL: u64 = 128 * 1024;
const ROTATION: Rotation = Rotation { bytes: 4 * TAIL, keep: 1 };

#[derive(Serialize, Deserialize)]
struct Entry {
    /// Milliseconds.
    at: i64,
    path: Utf8PathBuf,
    /// The guard that refused it.
    guard: String,
}

impl Session {
    pub fn deny(&self, paths: &[Utf8PathBuf], guard: &str, now: Timestamp) -> io::Result<()> {
        let mut lines = String::from("\n");
        for path in paths {
            let entry = Entry { at: now.as_millisecond(), path: path.clone(), guard: guard.to_owned() };
            lines.push_str(&serde_json::to_string(&entry)?);
            lines.push('\n');
        }
        let file = append::open_rotating(&self.denied_path(), ROTATION)?;
        append::write_once(&file, lines.as_bytes())
    }

    /// Newest first, each file once; what is longer ago than `window` is left out.
    pub fn denied(&self, now: Timestamp, window: Duration) -> Vec<Denied> {
        let path = self.denied_path();
        let newest = tail(&path);
        // A file that was just begun does not hold all that counts.
        let older = if newest.len() as u64 >= TAIL { String::new() } else { tail(&append::aside(&path, 1)) };
        let lines = newest.lines().rev().chain(older.lines().rev());
        let mut seen = HashSet::new();
        lines
            .filter_map(|line| serde_json::from_str::<Entry>(line).ok())
            .filter(|entry| seen.insert(entry.path.clone()))
            .filter_map(|entry| {
                // A clock that was set back must not let anything through.
                let age = now.as_millisecond().saturating_sub(entry.at).max(0);
                let seconds_ago = u64::try_from(age).unwrap_or(0) / 1000;
                let denied = Denied { path: entry.path, guard: entry.guard, seconds_ago };
                (seconds_ago <= window.as_secs()).then_some(denied)
            })
            .take(REMEMBERED)
            .collect()
    }

    fn denied_path(&self) -> Utf8PathBuf {
        self.own.join("denied")
    }
}

/// The end of a file, broken bytes replaced; nothing when it cannot be read. Half a line is no entry.
fn tail(path: &Utf8Path) -> String {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        let mut bytes = Vec::new();
        file.take(2 * TAIL).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dandori_guard::Client;

    const WINDOW: Duration = Duration::from_mins(10);

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn session(dir: &tempfile::TempDir) -> Session {
        Session::new(Utf8Path::from_path(dir.path()).unwrap(), Client::Claude, Some("s"))
    }

    fn paths(session: &Session, now: Timestamp) -> Vec<String> {
        session.denied(now, WINDOW).into_iter().map(|d| d.path.into_string()).collect()
    }

    #[test]
    fn a_denial_is_remembered_for_its_window() {
        let dir = tempfile::tempdir().unwrap();
        let session = session(&dir);
        assert_eq!(session.denied(at(0), WINDOW), []);
        session.deny(&["/r/a".into(), "/r/b".into()], "playbook", at(0)).unwrap();
        session.deny(&["/r/a".into()], "secrets", at(60)).unwrap();
        let denied = session.denied(at(90), WINDOW);
        assert_eq!(denied.len(), 2);
        assert_eq!(denied[0], Denied { path: "/r/a".into(), guard: "secrets".into(), seconds_ago: 30 });
        assert_eq!(denied[1], Denied { path: "/r/b".into(), guard: "playbook".into(), seconds_ago: 90 });
        assert_eq!(paths(&session, at(600)), ["/r/a", "/r/b"]);
        assert_eq!(paths(&session, at(601)), ["/r/a"]);
        assert_eq!(paths(&session, at(-100)), ["/r/a", "/r/b"], "the clock was set back");
    }

    #[test]
    fn a_damaged_file_costs_only_the_damaged_line() {
        let dir = tempfile::tempdir().unwrap();
        let session = session(&dir);
        session.deny(&["/r/a".into()], "g", at(0)).unwrap();
        let file = append::open(&session.denied_path()).unwrap();
        append::write_once(&file, b"\n\xff\xfe{\"at\":1,\"pa").unwrap();
        session.deny(&["/r/b".into()], "g", at(0)).unwrap();
        assert_eq!(paths(&session, at(1)), ["/r/b", "/r/a"]);
    }

    #[test]
    fn the_newest_count_however_many_there_are() {
        let dir = tempfile::tempdir().unwrap();
        let session = session(&dir);
        // Long names, so that the file is put aside on the way.
        let name = |i: usize| Utf8PathBuf::from(format!("/r/{}-{i}", "x".repeat(300)));
        for i in 0..2_000 {
            session.deny(&[name(i)], "g", at(0)).unwrap();
            if i % 37 != 0 {
                continue;
            }
            let denied = session.denied(at(0), WINDOW);
            assert_eq!(denied[0].path, name(i));
            assert_eq!(denied.len(), (i + 1).min(REMEMBERED), "after {i}");
        }
        assert!(append::aside(&session.denied_path(), 1).exists());
        assert!(session.denied_path().metadata().unwrap().len() <= ROTATION.bytes + 1_000);
    }
}
