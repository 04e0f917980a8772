//! Whom a run works for, when it was not a person who asked for it.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::{CommandId, Epoch, MessageId, RunId};

/// What an agent of a formation is there for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Orchestrator,
    Planner,
    Worker,
}

impl Role {
    pub const ALL: [Self; 3] = [Self::Orchestrator, Self::Planner, Self::Worker];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Orchestrator => "orchestrator",
            Self::Planner => "planner",
            Self::Worker => "worker",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What is done for a message in a run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// What the message asks for.
    #[default]
    Work,
    /// Its work is brought into the order's branch.
    Integrate,
    /// Its work did not fit into the order's branch and is mended.
    Repair,
    /// Somebody decides what is done, and changes nothing himself.
    Plan,
}

impl Purpose {
    pub const ALL: [Self; 4] = [Self::Work, Self::Integrate, Self::Repair, Self::Plan];

    /// What the id of its run is made of. Stored ids have to stay what they are.
    fn mark(self) -> &'static [u8] {
        match self {
            Self::Work => &[],
            Self::Integrate => b"integrate",
            Self::Repair => b"repair",
            Self::Plan => b"plan",
        }
    }
}

/// A message of a formation's queue that became a run. What comes of it is the formation's business.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Errand {
    /// The order it belongs to; a message of mere words may belong to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandId>,
    pub message: MessageId,
    /// Under which the message is held: a result that comes under an earlier one is late.
    pub epoch: Epoch,
    #[serde(default)]
    pub purpose: Purpose,
    /// `worker3`
    pub agent: String,
    pub role: Role,
    /// What it is about, in a line: what lists, commits and pull requests say of it.
    #[serde(default)]
    pub about: String,
}

impl Errand {
    /// Asked for again, perhaps in other words.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.message, self.epoch, self.purpose) == (other.message, other.epoch, other.purpose)
    }

    /// The run of a message for one purpose under an epoch: whoever starts it again after a crash starts the same one. Its
    /// time is the message's.
    pub fn run_id(&self) -> RunId {
        let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let seed = self.message.uuid();
        let bytes = || {
            let held = seed.as_bytes().iter().copied().chain(self.epoch.0.to_be_bytes());
            held.chain(self.purpose.mark().iter().copied())
        };
        // Twice over, from two beginnings: an id has eighty bits of it. Mixed, so that neighbours differ in all of them.
        let half = |start: u64| {
            let hash = bytes().fold(start, fnv);
            let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
            hash ^ (hash >> 33)
        };
        let random = (u128::from(half(0xcbf2_9ce4_8422_2325)) << 64) | u128::from(half(0x9e37_79b9_7f4a_7c15));
        let millis = i64::try_from(seed.as_u128() >> 80).unwrap_or(0);
        RunId::mint(Timestamp::from_millisecond(millis).unwrap_or_default(), random)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn errand(message: MessageId, epoch: i64, purpose: Purpose) -> Errand {
        let (agent, role, about) = ("worker1".to_owned(), Role::Worker, String::new());
        Errand { command: None, message, epoch: Epoch(epoch), purpose, agent, role, about }
    }

    #[test]
    fn the_same_message_epoch_and_purpose_are_the_same_run_and_no_others_are() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let messages: Vec<_> = (0..100u128).map(|i| MessageId::mint(now, i << 48)).collect();
        let ids = || {
            let held = messages.iter().flat_map(|message| (1..50).map(move |epoch| (*message, epoch)));
            held.flat_map(|(message, epoch)| Purpose::ALL.map(|purpose| errand(message, epoch, purpose).run_id()))
        };
        assert!(ids().eq(ids()));
        assert_eq!(ids().map(|id| id.key()).collect::<HashSet<_>>().len(), 100 * 49 * 4, "people know them apart, too");
        let time = |uuid: uuid::Uuid| uuid.as_u128() >> 80;
        assert!(ids().all(|id| time(id.uuid()) == time(messages[0].uuid())));
        // Stored ids have to stay what they are.
        let stored = Purpose::ALL.map(|purpose| errand(messages[1], 1, purpose).run_id().to_string());
        let expected = [
            "run_01kdvdna00e24tpht6e7wt6hwj",
            "run_01kdvdna00e809s1xw535sc0wq",
            "run_01kdvdna00ffnbp6k6yk86dj2a",
            "run_01kdvdna00fcpse96aj1fn8sqh",
        ];
        assert_eq!(stored, expected);
    }

    #[test]
    fn an_errand_without_a_purpose_is_work() {
        let work = errand(MessageId::mint(Timestamp::UNIX_EPOCH, 7), 2, Purpose::Work);
        let mut stored = serde_json::to_value(&work).unwrap();
        assert_eq!(stored.as_object_mut().unwrap().remove("purpose").unwrap(), "work");
        assert_eq!(serde_json::from_value::<Errand>(stored).unwrap(), work);
    }
}
