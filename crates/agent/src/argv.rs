//! The command line of an agent, and the prompt it reads from stdin.
//!
//! The prompt never travels as an argument: an argument holds at most 128 KiB and is seen by every user of the
//! machine, an instruction may have 1 MiB.

use camino::Utf8Path;
use dandori_domain::run::CustomAgent;
use dandori_domain::{AgentName, SessionId};

use crate::driver::{Driver, Line};
use crate::{Order, PrepareError};

pub(crate) struct Command {
    pub(crate) argv: Vec<String>,
    pub(crate) session: Option<SessionId>,
}

/// What the agent reads from stdin.
pub(crate) fn prompt(order: &Order<'_>) -> Result<String, PrepareError> {
    if let Some(CustomAgent::Acp { acp, auth }) = order.custom.filter(|_| order.is_acp()) {
        return crate::acp::order(order, acp, auth.as_deref());
    }
    Ok(match order.agent {
        AgentName::Client(client) => (Driver::of(*client).prompt)(order),
        AgentName::Exec(_) | AgentName::Custom(_) | AgentName::Rehearsal => order.instruction.to_owned(),
    })
}

pub(crate) fn command(order: &Order<'_>, program: &Utf8Path) -> Result<Command, PrepareError> {
    let mut line = Line(vec![program.to_string()]);
    let session = match order.agent {
        AgentName::Client(client) => (Driver::of(*client).command)(order, &mut line),
        AgentName::Exec(command) => {
            line.add(&["-c", &whole_output(command)]);
            None
        }
        AgentName::Custom(name) => {
            match order.custom.ok_or_else(|| PrepareError::NoCommand { name: name.clone() })? {
                CustomAgent::Command(command) => line.add(&["-c", &whole_output(command)]),
                CustomAgent::Acp { .. } => line.add(&["acp"]),
            }
            None
        }
        AgentName::Rehearsal => {
            line.add(&["rehearse"]);
            None
        }
    };
    Ok(Command { argv: line.0, session })
}

/// A program without a protocol has one log: what it says to either side, in the order it says it.
fn whole_output(command: &str) -> String {
    format!("exec 2>&1\n{command}")
}
