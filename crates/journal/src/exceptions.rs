//! Exceptions a person has given: for a while, for so many times, and on record.
//!
//! One file, changed under a lock and replaced whole. A file that cannot be read gives no exceptions: guards stay.

use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_guard::world::{About, Exception};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::lock::{self, Lock};

const VERSION: u32 = 1;
const PATIENCE: Duration = Duration::from_millis(200);

/// One exception as it is kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Given {
    pub id: String,
    pub guard: String,
    #[serde(with = "about")]
    pub about: About,
    pub until: Timestamp,
    /// `None` is as often as wanted until then.
    pub uses_left: Option<u32>,
    pub given_by: String,
    pub reason: String,
    pub given_at: Timestamp,
}

impl Given {
    pub fn holds(&self, now: Timestamp) -> bool {
        self.given_at <= now && now < self.until && self.uses_left != Some(0)
    }

    /// As the guards see it.
    pub fn seen(&self) -> Exception {
        Exception { id: self.id.clone(), guard: self.guard.clone(), about: self.about.clone() }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ExceptionError {
    #[error("{path} is being changed by another process")]
    Busy { path: Utf8PathBuf },
    #[error("cannot read {path}")]
    Unreadable {
        path: Utf8PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot write {path}")]
    Unwritable {
        path: Utf8PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("no active exception {id}")]
    None { id: String },
}

/// The exceptions of one checkout.
#[derive(Clone, Debug)]
pub struct Exceptions {
    path: Utf8PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Content {
    version: u32,
    exceptions: Vec<Given>,
}

impl Exceptions {
    /// `folder` is the checkout's guard folder.
    pub fn new(folder: &Utf8Path) -> Self {
        Self { path: folder.join("allow.json") }
    }

    /// Those that hold now.
    pub fn list(&self, now: Timestamp) -> Result<Vec<Given>, ExceptionError> {
        Ok(self.load()?.into_iter().filter(|given| given.holds(now)).collect())
    }

    /// Durable when it returns. Those that have run out go. What cannot be read is set aside first.
    pub fn add(&self, given: Given, now: Timestamp) -> Result<(), ExceptionError> {
        let _lock = self.lock()?;
        let mut exceptions = match self.load() {
            Ok(exceptions) => exceptions,
            Err(_) => {
                let aside = format!("{}.damaged-{}", self.path, now.as_millisecond());
                std::fs::rename(&self.path, aside).map_err(|e| self.unwritable(e))?;
                Vec::new()
            }
        };
        exceptions.retain(|known| known.holds(now) && known.id != given.id);
        exceptions.push(given);
        self.save(exceptions, Sync::Yes)
    }

    /// Takes one use of it; whoever comes after the last is refused.
    pub fn use_one(&self, id: &str, now: Timestamp) -> Result<(), ExceptionError> {
        let _lock = self.lock()?;
        let mut exceptions = self.load()?;
        let found = exceptions.iter_mut().find(|given| given.id == id && given.holds(now));
        let Some(given) = found else { return Err(ExceptionError::None { id: id.to_owned() }) };
        let Some(left) = given.uses_left else { return Ok(()) };
        given.uses_left = Some(left.saturating_sub(1));
        // A hook does this: a power cut may give the use back, a kill does not.
        self.save(exceptions, Sync::No)
    }

    pub fn revoke(&self, id: &str) -> Result<(), ExceptionError> {
        let _lock = self.lock()?;
        let mut exceptions = self.load()?;
        let before = exceptions.len();
        exceptions.retain(|given| given.id != id);
        if exceptions.len() == before {
            return Err(ExceptionError::None { id: id.to_owned() });
        }
        self.save(exceptions, Sync::Yes)
    }

    fn lock(&self) -> Result<Lock, ExceptionError> {
        lock::wait(&self.path.with_extension("lock"), PATIENCE)
            .ok_or_else(|| ExceptionError::Busy { path: self.path.clone() })
    }

    fn load(&self) -> Result<Vec<Given>, ExceptionError> {
        let unreadable = |source| ExceptionError::Unreadable { path: self.path.clone(), source };
        let bytes = match std::fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(unreadable(e)),
        };
        let content: Content = serde_json::from_slice(&bytes).map_err(|e| unreadable(e.into()))?;
        if content.version != VERSION {
            return Err(unreadable(io::Error::other(format!("its version is {}", content.version))));
        }
        Ok(content.exceptions)
    }

    fn save(&self, exceptions: Vec<Given>, sync: Sync) -> Result<(), ExceptionError> {
        let content = Content { version: VERSION, exceptions };
        let bytes = serde_json::to_vec_pretty(&content).map_err(|e| self.unwritable(e.into()))?;
        match sync {
            Sync::Yes => dandori_host::replace_file(&self.path, &bytes, 0o600),
            Sync::No => dandori_host::put_file(&self.path, &bytes, 0o600),
        }
        .map_err(|e| self.unwritable(e))
    }

    fn unwritable(&self, source: io::Error) -> ExceptionError {
        ExceptionError::Unwritable { path: self.path.clone(), source }
    }
}

#[derive(Clone, Copy)]
enum Sync {
    Yes,
    No,
}

/// The guards' type knows nothing of files.
mod about {
    use dandori_guard::world::About;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kept {
        All,
        Command(String),
        Path(String),
    }

    pub(super) fn serialize<S: Serializer>(about: &About, serializer: S) -> Result<S::Ok, S::Error> {
        match about.clone() {
            About::All => Kept::All,
            About::Command(pattern) => Kept::Command(pattern),
            About::Path(pattern) => Kept::Path(pattern),
        }
        .serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<About, D::Error> {
        Ok(match Kept::deserialize(deserializer)? {
            Kept::All => About::All,
            Kept::Command(pattern) => About::Command(pattern),
            Kept::Path(pattern) => About::Path(pattern),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn given(id: &str, uses_left: Option<u32>) -> Given {
        Given {
            id: id.to_owned(),
            guard: "main".to_owned(),
            about: About::Command("git push *".to_owned()),
            until: at(600),
            uses_left,
            given_by: "mei".to_owned(),
            reason: "a release".to_owned(),
            given_at: at(0),
        }
    }

    fn ids(exceptions: &Exceptions, now: Timestamp) -> Vec<String> {
        exceptions.list(now).unwrap().into_iter().map(|g| g.id).collect()
    }

    #[test]
    fn an_exception_holds_for_its_time_and_its_uses() {
        let dir = tempfile::tempdir().unwrap();
        let exceptions = Exceptions::new(Utf8Path::from_path(dir.path()).unwrap());
        assert!(ids(&exceptions, at(0)).is_empty());
        exceptions.add(given("a", Some(2)), at(0)).unwrap();
        exceptions.add(given("b", None), at(0)).unwrap();
        assert_eq!(exceptions.list(at(1)).unwrap(), [given("a", Some(2)), given("b", None)]);
        assert!(ids(&exceptions, at(-1)).is_empty(), "not before it was given");
        assert!(ids(&exceptions, at(600)).is_empty(), "nor after");
        for _ in 0..2 {
            exceptions.use_one("a", at(1)).unwrap();
            exceptions.use_one("b", at(1)).unwrap();
        }
        assert!(matches!(exceptions.use_one("a", at(1)), Err(ExceptionError::None { .. })));
        assert!(matches!(exceptions.use_one("b", at(700)), Err(ExceptionError::None { .. })));
        assert_eq!(ids(&exceptions, at(1)), ["b"]);
        exceptions.revoke("b").unwrap();
        assert!(matches!(exceptions.revoke("b"), Err(ExceptionError::None { .. })));
        assert!(ids(&exceptions, at(1)).is_empty());
    }

    #[test]
    fn a_damaged_file_gives_nothing_and_is_set_aside_when_one_is_given() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(dir.path()).unwrap();
        let exceptions = Exceptions::new(folder);
        for broken in ["", "{", r#"{"version":99,"exceptions":[]}"#] {
            dandori_host::put_file(&folder.join("allow.json"), broken.as_bytes(), 0o600).unwrap();
            assert!(matches!(exceptions.list(at(1)), Err(ExceptionError::Unreadable { .. })), "{broken}");
            assert!(matches!(exceptions.use_one("a", at(1)), Err(ExceptionError::Unreadable { .. })));
        }
        exceptions.add(given("a", None), at(1)).unwrap();
        assert_eq!(ids(&exceptions, at(1)), ["a"]);
        let aside = folder.join(format!("allow.json.damaged-{}", at(1).as_millisecond()));
        assert!(std::fs::read_to_string(aside).unwrap().contains("99"));
    }

    #[test]
    fn whoever_cannot_get_the_lock_is_told_within_a_moment() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(dir.path()).unwrap();
        let exceptions = Exceptions::new(folder);
        exceptions.add(given("a", Some(1)), at(0)).unwrap();
        let held = lock::try_now(&folder.join("allow.lock")).unwrap();
        assert!(matches!(exceptions.use_one("a", at(1)), Err(ExceptionError::Busy { .. })));
        drop(held);
        exceptions.use_one("a", at(1)).unwrap();
    }
}
