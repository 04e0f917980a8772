//! Who works in a formation. Agents never talk to each other: each has a queue, and each result goes up.

use std::fmt;
use std::str::FromStr;

pub use dandori_domain::run::Role;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// More panes than this are not readable, and more agents do not fit a desktop.
pub const MOST_WORKERS: u8 = 8;

/// One agent of a formation: `orchestrator`, `planner`, `worker3`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum AgentId {
    Orchestrator,
    Planner,
    Worker(u8),
}

impl AgentId {
    pub fn role(self) -> Role {
        match self {
            Self::Orchestrator => Role::Orchestrator,
            Self::Planner => Role::Planner,
            Self::Worker(_) => Role::Worker,
        }
    }

    /// A formation's agents, the workers last.
    pub fn all(workers: u8) -> impl Iterator<Item = Self> {
        [Self::Orchestrator, Self::Planner].into_iter().chain((1..=workers).map(Self::Worker))
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Orchestrator => f.pad("orchestrator"),
            Self::Planner => f.pad("planner"),
            Self::Worker(number) => f.pad(&format!("worker{number}")),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0} is not an agent: orchestrator, planner or worker1 to worker{MOST_WORKERS}")]
pub struct BadAgentId(String);

impl FromStr for AgentId {
    type Err = BadAgentId;

    fn from_str(text: &str) -> Result<Self, BadAgentId> {
        let bad = || BadAgentId(text.to_owned());
        match text {
            "orchestrator" => Ok(Self::Orchestrator),
            "planner" => Ok(Self::Planner),
            _ => {
                let number = text.strip_prefix("worker").filter(|n| !n.starts_with(['0', '+'])).ok_or_else(bad)?;
                let number = number.parse().ok().filter(|n| (1..=MOST_WORKERS).contains(n));
                number.map(Self::Worker).ok_or_else(bad)
            }
        }
    }
}

impl Serialize for AgentId {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AgentId {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_known_by_its_name_alone() {
        for agent in AgentId::all(MOST_WORKERS) {
            assert_eq!(agent.to_string().parse::<AgentId>().unwrap(), agent);
        }
        for bad in ["worker0", "worker9", "worker01", "worker", "worker+1", "Planner", ""] {
            assert!(bad.parse::<AgentId>().is_err(), "{bad}");
        }
    }
}
