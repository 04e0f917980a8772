//! What `dandori acp` is asked to do: the order for one turn with an agent of the Agent Client Protocol.
//!
//! Written by the driver, read from stdin by the process that speaks with the agent. What it answers, line by line, are
//! [`AgentEvent`](crate::AgentEvent)s.

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use crate::id::SessionId;

pub const VERSION: u32 = 1;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AcpOrder {
    pub version: u32,
    /// The shell line that starts the agent.
    pub command: String,
    /// Where it works: a conversation is bound to this folder.
    pub worktree: Utf8PathBuf,
    /// Where it may write besides: its temporary folder and its private one.
    pub also: Vec<Utf8PathBuf>,
    /// The run's folder, with the rules the guards go by.
    pub run: Utf8PathBuf,
    pub prompt: String,
    /// The conversation to go on with.
    pub session: Option<SessionId>,
    /// What is said instead of `prompt` where the agent cannot go on with it: the same, with what came before.
    pub prompt_anew: Option<String>,
    pub model: Option<String>,
    /// The agent's own name of the way to log in, for when it asks for one.
    pub auth: Option<String>,
    /// How long it may take to end its turn once it is asked to stop.
    pub grace_seconds: u64,
}
