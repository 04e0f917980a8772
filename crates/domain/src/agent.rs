//! One model of what agents say, whichever agent it is.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::client::Client;
use crate::id::{SessionId, Usd};

/// Who works on a run. `exec:` names any program; a custom name is one from the configuration.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum AgentName {
    /// One whose words and settings are known.
    Client(Client),
    /// Any program: instruction on stdin, exit 0 is success.
    Exec(String),
    /// The built-in agent of `dandori demo`: plays a scene without a model.
    Rehearsal,
    /// A name from `[agents.<name>]` in dandori.toml.
    Custom(String),
}

impl AgentName {
    /// The client it is, when it is one.
    pub fn client(&self) -> Option<Client> {
        match self {
            Self::Client(client) => Some(*client),
            Self::Exec(_) | Self::Rehearsal | Self::Custom(_) => None,
        }
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(client) => client.fmt(f),
            Self::Exec(command) => write!(f, "exec:{command}"),
            Self::Rehearsal => f.write_str("rehearsal"),
            Self::Custom(name) => f.write_str(name),
        }
    }
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} is not an agent name")]
pub struct BadAgentName(String);

impl FromStr for AgentName {
    type Err = BadAgentName;
    fn from_str(text: &str) -> Result<Self, BadAgentName> {
        match text {
            "rehearsal" => Ok(Self::Rehearsal),
            _ if let Ok(client) = text.parse() => Ok(Self::Client(client)),
            _ => match text.strip_prefix("exec:") {
                Some(command) if !command.trim().is_empty() => Ok(Self::Exec(command.to_owned())),
                Some(_) => Err(BadAgentName(text.to_owned())),
                None if is_plain_name(text) => Ok(Self::Custom(text.to_owned())),
                None => Err(BadAgentName(text.to_owned())),
            },
        }
    }
}

fn is_plain_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

impl Serialize for AgentName {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AgentName {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Tokens and money of one agent process, as far as the agent tells. What it does not tell is `None`, not zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cached_tokens: u64,
    pub cost: Option<Usd>,
}

impl Usage {
    pub fn tokens(&self) -> u64 {
        self.input_tokens + self.output_tokens
    }
}

/// What an agent says while it works.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AgentEvent {
    Started {
        session: Option<SessionId>,
        model: Option<String>,
    },
    Message {
        text: String,
    },
    Thought {
        text: String,
    },
    ToolCall {
        id: String,
        name: String,
        input: String,
    },
    ToolResult {
        id: String,
        ok: bool,
        output: String,
    },
    /// Totals of this process so far, not an increment.
    Usage {
        usage: Usage,
    },
    /// The agent tries its API again; it is alive, though nothing else is heard of it.
    Retrying {
        attempt: u32,
        reason: String,
    },
    Warning {
        text: String,
    },
    Error {
        text: String,
    },
    Finished {
        verdict: Verdict,
    },
    /// A plain line of a program that has no protocol.
    Line {
        text: String,
    },
    /// A line we have no name for: kept, never fatal.
    Unknown {
        kind: String,
    },
    /// Before the agent: one of the project's set-up commands begins.
    SetUpBegan {
        command: String,
    },
    /// A line it printed.
    SetUpLine {
        text: String,
    },
    SetUpEnded {
        command: String,
        ok: bool,
        /// How long it took, where that is known.
        seconds: Option<u64>,
    },
}

/// What the terminal event says. Exit codes are not to be trusted: two of three agents exit 0 when interrupted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum Verdict {
    Done { summary: String },
    Failed { failure: AgentFailure },
}

/// Why an agent did not finish its work, in one word and its data.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum AgentFailure {
    /// 401, 403, or no login at all.
    NotAuthorised {
        detail: String,
    },
    /// 429, or the quota is used up.
    RateLimited {
        detail: String,
    },
    /// 5xx after the agent's own retries.
    Overloaded {
        status: Option<u16>,
        detail: String,
    },
    /// Connection refused, name not resolved, cut off.
    Unreachable {
        detail: String,
    },
    /// Any other answer of the API.
    Api {
        status: Option<u16>,
        detail: String,
    },
    ContextTooLong {
        detail: String,
    },
    MaxTurns,
    /// It may not say any more in one turn.
    MaxTokens,
    /// The model declined to go on.
    Declined,
    Interrupted,
    /// An agent of the Agent Client Protocol did not keep to it.
    Protocol {
        trouble: ProtocolTrouble,
    },
    /// It has no hooks, so that only the fence holds what it does unasked; and there is none.
    NeedsFence,
    /// It ended without saying how: no terminal event.
    NoVerdict {
        exit: Option<i32>,
        signal: Option<i32>,
        tail: String,
    },
    /// A program without a protocol ended with another code than 0.
    ExitCode {
        code: i32,
        tail: String,
    },
    /// It went on with another conversation than the one asked for.
    WrongSession {
        asked: SessionId,
        got: Option<SessionId>,
    },
    /// It could not be started.
    NotStarted {
        detail: String,
    },
    Other {
        detail: String,
    },
}

/// Where an agent left the protocol it was to speak.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum ProtocolTrouble {
    /// It prints something else on the stream of the protocol.
    NotJson { line: String },
    /// It speaks another version only.
    Version { offered: String },
    /// It answered a request of ours with an error.
    Refused { method: String, message: String },
    /// Its answer lacks what the protocol asks for.
    BadAnswer { method: String, detail: String },
    /// It wants a login before it works; these are the ways it offers.
    LoginNeeded { methods: Vec<String> },
    /// The model that was asked for is not among those it offers.
    NoSuchModel { model: String, offered: Vec<String> },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_names_print_and_parse() {
        let clients = Client::ALL.iter().map(|client| client.name());
        for text in clients.chain(["exec:make fix", "my-agent", "rehearsal"]) {
            assert_eq!(text.parse::<AgentName>().unwrap().to_string(), text);
        }
        for bad in ["", "exec:", "exec:  ", "a b", "../x", "a/b"] {
            assert!(bad.parse::<AgentName>().is_err(), "{bad:?}");
        }
    }
}
