//! Marks: a file each, so that none is lost when two hooks set theirs at once, and one is found without looking at the
//! others.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_guard::Mark;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::append;
use crate::session::{Session, short_hash};

#[derive(Serialize, Deserialize)]
struct Content {
    /// For whoever looks into the folder: the file's name is only its hash.
    key: String,
    value: String,
}

impl Session {
    /// The mark's value, when it stands.
    pub fn mark(&self, mark: &Mark) -> Option<String> {
        let path = self.path(mark);
        match std::fs::read(&path) {
            Ok(bytes) if matches!(mark, Mark::PostLoop) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            // A mark that cannot be read stands all the same; after a power cut it may be empty.
            Ok(bytes) => Some(serde_json::from_slice(&bytes).map_or_else(|_| String::new(), |c: Content| c.value)),
            Err(e) if e.kind() == io::ErrorKind::NotFound || e.kind() == io::ErrorKind::NotADirectory => None,
            // Of what cannot be looked at, what holds back is believed, and what lets through is not.
            Err(_) => {
                (!matches!(mark, Mark::Read(_) | Mark::Called(_) | Mark::Confirmed | Mark::Finished)).then(String::new)
            }
        }
    }

    pub fn set(&self, mark: &Mark, value: &str, now: Timestamp) -> io::Result<()> {
        let bytes = match mark {
            Mark::PostLoop => post_loop_content(value, now).into_bytes(),
            _ => serde_json::to_vec(&Content { key: key(mark).to_owned(), value: value.to_owned() })?,
        };
        let path = self.path(mark);
        // Looking costs a tenth of what a new file does, and an agent writes the same file over and over.
        if std::fs::read(&path).is_ok_and(|standing| standing == bytes) {
            return Ok(());
        }
        append::put(&path, &bytes)
    }

    /// A mark that does not stand is cleared already.
    pub fn clear(&self, mark: &Mark) -> io::Result<()> {
        remove(&self.path(mark))
    }

    fn path(&self, mark: &Mark) -> Utf8PathBuf {
        let kind = match mark {
            Mark::PostLoop => return post_loop(&self.folder),
            Mark::Pending => return self.own.join("pending"),
            Mark::Consent => return self.own.join("consent"),
            Mark::Discipline => return self.own.join("discipline"),
            Mark::Confirmed => return self.own.join("confirmed"),
            Mark::Finished => return self.own.join("finished"),
            Mark::Read(_) => "read",
            Mark::Wrote(_) => "wrote",
            Mark::Told(_) => "told",
            Mark::Called(_) => "called",
        };
        self.own.join(format!("{kind}-{}", short_hash(key(mark).as_bytes())))
    }
}

pub(crate) fn remove(path: &Utf8Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(()),
        other => other,
    }
}

pub(crate) fn post_loop(folder: &Utf8Path) -> Utf8PathBuf {
    folder.join("post-loop-pending")
}

fn key(mark: &Mark) -> &str {
    match mark {
        Mark::Pending | Mark::Consent | Mark::Confirmed | Mark::Discipline | Mark::PostLoop | Mark::Finished => "",
        Mark::Read(path) | Mark::Wrote(path) | Mark::Told(path) => path.as_str(),
        Mark::Called(name) => name,
    }
}

/// `{status, playbook, timestamp}`: what the guard says of it, the rest filled in. A plain word is the playbook.
fn post_loop_content(value: &str, now: Timestamp) -> String {
    let given = match serde_json::from_str(value) {
        Ok(Value::Object(given)) => given,
        _ => Map::from_iter([("playbook".to_owned(), Value::from(value))]),
    };
    let mut content = Map::from_iter([
        ("status".to_owned(), json!("pending")),
        ("playbook".to_owned(), Value::Null),
        ("timestamp".to_owned(), json!(now)),
    ]);
    content.extend(given);
    Value::Object(content).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dandori_guard::Client;
    use std::os::unix::fs::PermissionsExt;

    fn marks(path: &str) -> [Mark; 9] {
        let called = Mark::Called(path.to_owned());
        let (read, wrote) = (Mark::Read(path.into()), Mark::Wrote(path.into()));
        let (confirmed, discipline) = (Mark::Confirmed, Mark::Discipline);
        [Mark::Pending, Mark::Consent, Mark::PostLoop, confirmed, discipline, Mark::Finished, read, wrote, called]
    }

    fn mode(path: &Utf8Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn each_mark_stands_alone_and_only_in_its_session() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(dir.path()).unwrap().join("checkout");
        let one = Session::new(&folder, Client::Claude, Some("one"));
        let other = Session::new(&folder, Client::Claude, Some("other"));
        for (i, mark) in marks("/repo/a.rs").into_iter().enumerate() {
            assert_eq!(one.mark(&mark), None);
            one.set(&mark, &format!("{{\"n\":{i}}}"), Timestamp::UNIX_EPOCH).unwrap();
            assert!(one.mark(&mark).unwrap().contains(&format!("\"n\":{i}")), "{mark:?}");
            assert_eq!(other.mark(&mark).is_some(), mark == Mark::PostLoop, "{mark:?}");
        }
        assert_eq!(one.mark(&Mark::Read("/repo/b.rs".into())), None);
        assert_eq!(mode(&folder), 0o700);
        assert_eq!(mode(&one.own), 0o700);
        assert_eq!(mode(&one.own.join("pending")), 0o600);
        one.clear(&Mark::Pending).unwrap();
        one.clear(&Mark::Pending).unwrap();
        assert_eq!(one.mark(&Mark::Pending), None);
        one.end().unwrap();
        one.end().unwrap();
        assert!(marks("/repo/a.rs").iter().all(|mark| one.mark(mark).is_none() || *mark == Mark::PostLoop));
        assert_eq!(folder.join("sessions").read_dir_utf8().unwrap().count(), 0);
        crate::clear_post_loop(&folder).unwrap();
        assert_eq!(other.mark(&Mark::PostLoop), None);
    }

    #[test]
    fn the_post_loop_mark_says_status_playbook_and_time() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(dir.path()).unwrap();
        let session = Session::new(folder, Client::Codex, Some("s"));
        session.set(&Mark::PostLoop, "plan/playbook-x.md", Timestamp::UNIX_EPOCH).unwrap();
        let content: Value = serde_json::from_str(&std::fs::read_to_string(post_loop(folder)).unwrap()).unwrap();
        let want =
            json!({ "status": "pending", "playbook": "plan/playbook-x.md", "timestamp": "1970-01-01T00:00:00Z" });
        assert_eq!(content, want);
        session.set(&Mark::PostLoop, r#"{"status":"done","playbook":"p"}"#, Timestamp::UNIX_EPOCH).unwrap();
        assert!(session.mark(&Mark::PostLoop).unwrap().contains(r#""status":"done""#));
    }

    #[test]
    fn a_mark_that_lost_its_content_still_stands() {
        let dir = tempfile::tempdir().unwrap();
        let session = Session::new(Utf8Path::from_path(dir.path()).unwrap(), Client::Codex, None);
        session.set(&Mark::Pending, "x", Timestamp::UNIX_EPOCH).unwrap();
        for broken in [&b""[..], b"{\"key\":", b"\xff\xfe"] {
            dandori_host::put_file(&session.own.join("pending"), broken, 0o600).unwrap();
            assert_eq!(session.mark(&Mark::Pending), Some(String::new()));
        }
    }
}
