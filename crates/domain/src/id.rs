//! Ids and units as types, so that one cannot be handed in where another is meant.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// Crockford's alphabet in lower case: no i, l, o, u, so an id read aloud is not misheard.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{text} is not a {expected} id")]
pub struct BadId {
    text: String,
    expected: &'static str,
}

fn encode(uuid: Uuid) -> String {
    let value = uuid.as_u128();
    (0..26)
        .rev()
        .map(|i| char::from(ALPHABET.get(((value >> (5 * i)) & 31) as usize).copied().unwrap_or(b'0')))
        .collect()
}

fn decode(text: &str) -> Option<Uuid> {
    if text.len() != 26 {
        return None;
    }
    let mut value: u128 = 0;
    for (i, byte) in text.bytes().enumerate() {
        let digit = ALPHABET.iter().position(|a| *a == byte)?;
        // 26 × 5 = 130 bits: the first digit may only use three of its five.
        if i == 0 && digit > 7 {
            return None;
        }
        value = (value << 5) | digit as u128;
    }
    Some(Uuid::from_u128(value))
}

/// An id that prints as `prefix_01j9…`, sorts by time and parses only its own prefix.
macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Uuid);

        impl $name {
            pub const PREFIX: &'static str = $prefix;

            /// Time and randomness are arguments: below the binary nobody makes them up.
            pub fn mint(now: Timestamp, random: u128) -> Self {
                let millis = u64::try_from(now.as_millisecond()).unwrap_or(0);
                let bytes = random.to_be_bytes();
                let mut tail = [0u8; 10];
                tail.copy_from_slice(bytes.first_chunk::<10>().unwrap_or(&[0; 10]));
                Self(uuid::Builder::from_unix_timestamp_millis(millis, &tail).into_uuid())
            }

            pub fn uuid(&self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}_{}", $prefix, encode(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = BadId;
            fn from_str(text: &str) -> Result<Self, BadId> {
                text.strip_prefix(concat!($prefix, "_"))
                    .and_then(decode)
                    .map(Self)
                    .ok_or_else(|| BadId { text: text.to_owned(), expected: $prefix })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

id_type!(
    /// Something to be done, in words.
    TaskId, "task"
);
id_type!(
    /// One agent's attempt at a task, in its own worktree.
    RunId, "run"
);
id_type!(
    /// A pull request, wherever it is shown.
    PullId, "pull"
);
id_type!(
    /// A repository as this state root knows it.
    RepoId, "repo"
);
id_type!(
    /// A state root: the daemon that owns its runs, wherever the store is.
    HostId, "host"
);

id_type!(
    /// An order to the formation.
    CommandId, "cmd"
);
id_type!(
    /// A stage of a command's plan.
    PhaseId, "phase"
);
id_type!(
    /// An entry of the formation's queue, for one agent.
    MessageId, "msg"
);
id_type!(
    /// What came of a task or a command.
    ResultId, "res"
);

/// A name of plain text: not interchangeable with any other text.
macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    };
}

name_type!(
    /// The eight characters by which people know a run; its branch is `dandori/<key>`.
    RunKey
);
name_type!(
    /// The eight characters by which people know a worktree: a run's key, or one of its own.
    WorktreeKey
);
name_type!(
    /// An agent's conversation, in the agent's own words.
    SessionId
);
name_type!(
    /// A git object id.
    Oid
);

impl Oid {
    /// As much of it as people use, the same everywhere.
    pub fn short(&self) -> &str {
        self.as_str().get(..7).unwrap_or(self.as_str())
    }
}

impl RunId {
    /// The last eight characters: forty random bits. The first ones are the clock, and runs that start together
    /// would share them.
    pub fn key(&self) -> RunKey {
        let text = encode(self.0);
        RunKey::new(text.get(18..).unwrap_or_default())
    }
}

impl From<RunKey> for WorktreeKey {
    fn from(key: RunKey) -> Self {
        Self(key.0)
    }
}

impl RepoId {
    /// A short folder name below the state root.
    pub fn folder(&self) -> String {
        encode(self.0).get(18..).unwrap_or_default().to_owned()
    }
}

/// What people call a task: `T-12`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskNumber(pub i64);

impl fmt::Display for TaskNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "T-{}", self.0)
    }
}

/// Which life of a daemon writes. A write by an earlier life is refused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Epoch(pub i64);

/// Money in millionths of a US dollar: sums do not drift.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Usd(pub u64);

impl Usd {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to zero and finite first")]
    pub fn from_dollars(dollars: f64) -> Self {
        if dollars.is_finite() && dollars > 0.0 { Self((dollars * 1_000_000.0).round() as u64) } else { Self(0) }
    }

    #[expect(clippy::cast_precision_loss, reason = "an amount of money a person reads")]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1_000_000.0
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${:.4}", self.dollars())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_parses_back_and_only_with_its_own_prefix() {
        let id = RunId::mint(Timestamp::UNIX_EPOCH, u128::MAX);
        let text = id.to_string();
        assert_eq!(text.parse::<RunId>().unwrap(), id);
        assert!(text.parse::<TaskId>().is_err());
        assert!("run_short".parse::<RunId>().is_err());
        assert!(format!("run_{}", "z".repeat(26)).parse::<RunId>().is_err(), "more than 128 bits");
    }

    #[test]
    fn runs_minted_in_the_same_millisecond_have_different_keys() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let keys: std::collections::HashSet<_> =
            (0..1000u128).map(|i| RunId::mint(now, (i * 0x1234_5678_9abc_def1) << 48).key()).collect();
        assert_eq!(keys.len(), 1000);
    }

    #[test]
    fn money_is_exact() {
        assert_eq!(Usd::from_dollars(0.1), Usd(100_000));
        assert_eq!(Usd::from_dollars(-1.0), Usd(0));
        assert_eq!(Usd(1_250_000).to_string(), "$1.2500");
    }
}
