//! One session's folder.

use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_guard::{Agent, Mark};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

/// A client that was killed says no goodbye: a session that noted nothing for so long is over.
const FORGOTTEN_AFTER: Duration = Duration::from_hours(14 * 24);
/// What a killed writer left beside a file.
const LEFTOVER_AFTER: Duration = Duration::from_hours(24);
const NAME_CHARS: usize = 64;

/// What is noted about one session, and about its checkout.
#[derive(Clone, Debug)]
pub struct Session {
    /// The checkout's.
    pub(crate) folder: Utf8PathBuf,
    /// This session's own.
    pub(crate) own: Utf8PathBuf,
}

impl Session {
    /// `folder` is the checkout's guard folder. The id is the client's and can be anything.
    pub fn new(folder: &Utf8Path, agent: impl Into<Agent>, id: Option<&str>) -> Self {
        let agent: Agent = agent.into();
        let own = folder.join("sessions").join(format!("{agent}-{}", file_name(id.unwrap_or_default())));
        Self { folder: folder.to_owned(), own }
    }

    /// Its marks and denials go, all at once: renamed first, so that nobody sees half of them.
    pub fn end(&self) -> io::Result<()> {
        let gone = self.folder.join("sessions").join(format!(".ended-{:x}", dandori_host::random()));
        match std::fs::rename(&self.own, &gone) {
            Ok(()) => std::fs::remove_dir_all(&gone),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(e) => Err(e),
        }
    }
}

/// Every session of a checkout that something is noted about.
pub fn sessions(folder: &Utf8Path) -> Vec<Session> {
    let entries = folder.join("sessions").read_dir_utf8().into_iter().flatten().flatten();
    let kept = entries.filter(|entry| !entry.file_name().starts_with('.'));
    kept.map(|entry| Session { folder: folder.to_owned(), own: entry.path().to_owned() }).collect()
}

/// Sessions of a checkout that were refused a change, not longer ago than `window`, because nobody has confirmed what they
/// understood; each with its name and the time of the refusal. One that was never refused anything waits for nobody.
pub fn waiting_for_consent(folder: &Utf8Path, now: Timestamp, window: Duration) -> Vec<(String, Timestamp)> {
    let waits = |session: &Session| {
        session.mark(&Mark::Consent)?;
        if session.mark(&Mark::Confirmed).is_some() {
            return None;
        }
        let refused = session.denied(now, window).into_iter().find(|denied| denied.guard == "consent")?;
        let ago = jiff::SignedDuration::from_secs(i64::try_from(refused.seconds_ago).ok()?);
        Some((session.own.file_name()?.to_owned(), now - ago))
    };
    sessions(folder).iter().filter_map(waits).collect()
}

/// The checkout's mark goes: for `post-loop`, which belongs to no session.
pub fn clear_post_loop(folder: &Utf8Path) -> io::Result<()> {
    crate::marks::remove(&crate::marks::post_loop(folder))
}

/// Removes what sessions and writers that were killed have left behind. Not for every event: it looks at all of them.
pub fn sweep(folder: &Utf8Path, now: Timestamp) {
    let sessions = folder.join("sessions");
    for entry in sessions.read_dir_utf8().into_iter().flatten().flatten() {
        let is_ended = entry.file_name().starts_with(".ended-");
        if is_ended || is_older(&entry, now, FORGOTTEN_AFTER) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    crate::taken::sweep(folder, |entry| is_older(entry, now, FORGOTTEN_AFTER));
    for entry in folder.read_dir_utf8().into_iter().flatten().flatten() {
        let is_leftover = entry.file_name().starts_with('.') && entry.path().extension() == Some("new");
        if is_leftover && is_older(&entry, now, LEFTOVER_AFTER) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn is_older(entry: &camino::Utf8DirEntry, now: Timestamp, age: Duration) -> bool {
    let changed = entry.metadata().and_then(|found| found.modified()).ok().and_then(|t| Timestamp::try_from(t).ok());
    changed.is_some_and(|changed| now.duration_since(changed).unsigned_abs() > age && changed < now)
}

/// An id that is a plain name is itself; any other is made one, and its hash keeps it apart from the rest.
fn file_name(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !id.is_empty() && id.len() <= NAME_CHARS && id.chars().all(is_plain) {
        return id.to_owned();
    }
    let readable: String = id.chars().filter(|c| is_plain(*c)).take(NAME_CHARS / 2).collect();
    // `~` stands in no plain name: no id can be chosen that lands in another one's folder.
    format!("{readable}~{}", short_hash(id.as_bytes()))
}

/// 128 bits that nobody can find a second text for: agents choose the paths that are hashed.
pub(crate) fn short_hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes), 16)
}

/// The first so many bytes.
pub(crate) fn hex(digest: &[u8], bytes: usize) -> String {
    use std::fmt::Write;
    digest.iter().take(bytes).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dandori_guard::Client;
    use proptest::prelude::*;

    fn name(id: &str) -> String {
        let session = Session::new(Utf8Path::new("/f"), Client::Claude, Some(id));
        session.own.strip_prefix("/f/sessions").unwrap().as_str().to_owned()
    }

    #[test]
    fn the_clients_ids_are_their_folders_names() {
        assert_eq!(name("0a1b2c3d-0000-4000-8000-000000000001"), "claude-0a1b2c3d-0000-4000-8000-000000000001");
    }

    #[test]
    fn hostile_ids_stay_one_plain_folder_each() {
        let long = "a".repeat(10_000);
        let ids = ["", ".", "..", "../..", "/etc", "a/b", "a\0b", "a\nb", "セッション", "x~y", long.as_str()];
        let names: std::collections::BTreeSet<String> = ids.iter().map(|id| name(id)).collect();
        assert_eq!(names.len(), ids.len());
        for name in names {
            assert!(name.len() < 100 && !name.contains(['/', '\0', '\n', '.']), "{name:?}");
        }
    }

    proptest! {
        #[test]
        fn two_ids_never_share_a_folder(a in ".{0,80}", b in ".{0,80}") {
            prop_assume!(a != b);
            prop_assert_ne!(name(&a), name(&b));
            prop_assert_eq!(Utf8Path::new(&name(&a)).components().count(), 1);
        }
    }

    #[test]
    fn sweeping_removes_only_what_was_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(dir.path()).unwrap();
        for name in ["claude-live", ".ended-1"] {
            std::fs::create_dir_all(folder.join("sessions").join(name)).unwrap();
        }
        std::fs::File::create(folder.join(".allow.json.1.new")).unwrap();
        std::fs::File::create(folder.join("allow.json")).unwrap();
        let names = |folder: &Utf8Path| {
            let mut names: Vec<String> =
                folder.read_dir_utf8().unwrap().map(|e| e.unwrap().file_name().to_owned()).collect();
            names.sort();
            names
        };
        let now = dandori_host::now();
        sweep(folder, now);
        assert_eq!(names(&folder.join("sessions")), ["claude-live"]);
        assert_eq!(names(folder), [".allow.json.1.new", "allow.json", "sessions"]);
        sweep(folder, now + Duration::from_hours(25));
        assert_eq!(names(folder), ["allow.json", "sessions"]);
        assert_eq!(names(&folder.join("sessions")), ["claude-live"]);
        sweep(folder, now + Duration::from_hours(15 * 24));
        assert!(names(&folder.join("sessions")).is_empty());
    }
}
