//! The client of an agent that speaks the Agent Client Protocol, version 1 (<https://agentclientprotocol.com>).
//!
//! Such an agent is a process that talks JSON-RPC on its stdin and stdout, and needs somebody on the other side for as long
//! as it lives. That is `dandori acp`: a small process inside the run's shim and behind its fence, which reads an
//! [`AcpOrder`] from stdin, starts the agent, has one turn with it and ends it. On stdout it says what happens, one
//! [`AgentEvent`](dandori_domain::AgentEvent) as JSON a line, the verdict last; `dandori-agent` reads it.
//!
//! The agent has no hooks. What it *asks* for (permission for a tool, reading and writing files, terminals) is put to the
//! run's guards first and carried out here, behind the fence, with limits of its own. What it does *without* asking only
//! the fence holds; nothing here pretends otherwise.
//!
//! Threads and channels, no runtime: the process waits for the agent nearly all of its life.

mod agent;
mod capabilities;
mod desk;
mod files;
mod judge;
mod outcome;
mod permission;
mod quirks;
mod rpc;
#[cfg(test)]
mod stage;
mod teller;
mod terminals;
mod turn;
mod updates;

use std::io::Read;
use std::sync::Arc;

use dandori_domain::acp::{AcpOrder, VERSION};
use dandori_domain::{AgentEvent, AgentFailure, Verdict};
use dandori_host::Env;

use crate::teller::Teller;

/// `dandori acp`: the order is on stdin. The exit code says nothing: the last line has the verdict.
pub fn main(env: Env) -> i32 {
    let teller = Teller::to_stdout();
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text).map_err(|e| e.to_string());
    let order = read.and_then(|_| serde_json::from_str::<AcpOrder>(&text).map_err(|e| e.to_string()));
    let order = order.and_then(|order| match order.version {
        VERSION => Ok(order),
        other => Err(format!("an order of version {other}")),
    });
    match order {
        Ok(order) => turn::have(&Arc::new(order), Arc::new(env), &teller),
        Err(detail) => {
            let failure = AgentFailure::NotStarted { detail };
            teller.tell(&AgentEvent::Finished { verdict: Verdict::Failed { failure } });
        }
    }
    0
}
