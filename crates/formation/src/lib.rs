//! The formation's rules: an order, its plan of phases and tasks, the queue that carries them to agents, and what comes back.
//!
//! Every step of the protocol is a function of [`protocol`] over a [`Ledger`]: rows in, rows out, one transaction each. The store
//! implements the ledger on SQLite and PostgreSQL, the simulation in memory; there is one set of rules. Nothing here reads a
//! clock, a file or the network, and nothing knows how an agent is reached.
//!
//! Two layers are kept apart. *Delivery* is the life of a message in an agent's queue ([`Message`]): who has it, under which
//! epoch, how often it was tried. *Meaning* is the life of a task ([`Task`]), a phase and a command: only results change it.

pub mod access;
pub mod agent;
pub mod assign;
pub mod command;
pub mod continuous;
pub mod invariant;
pub mod ledger;
pub mod memory;
pub mod message;
pub mod mint;
pub mod moves;
pub mod phase;
pub mod plan;
pub mod protocol;
pub mod result;
pub mod rules;
pub mod standing;
pub mod task;
pub mod typing;

pub use agent::{AgentId, MOST_WORKERS, Role};
pub use assign::{Crew, Seat};
pub use command::{Command, CommandState, Tally};
pub use ledger::Ledger;
pub use message::{Delivery, Lease, Message, MessageKind};
pub use mint::Mint;
pub use phase::{Phase, PhaseKind, PhaseState};
pub use protocol::Refused;
pub use result::{Outcome, Report, ResultRow};
pub use rules::Rules;
pub use standing::Standing;
pub use task::{Brief, Task, TaskState};
