//! What an agent is about to do, and what is said about it.
//!
//! `wire` reads the hook events of the clients into one `Event` and writes one `Ruling` back in
//! each client's own protocol. Guards stand between the two: they see an `Event`, give a `Decision` each, and never
//! learn which client asked.
//!
//! Pure: no clock, no files, no processes. Paths are what the client would open, made absolute by name only; who needs
//! to know where a symlink leads asks the file system itself.

mod aliases;
pub mod change;
mod computed_writes;
pub mod context;
#[cfg(test)]
mod corpus;
pub mod decision;
pub mod event;
pub mod glob;
pub mod guards;
pub mod judge;
pub(crate) mod papers;
pub mod patch;
pub mod quiet;
pub mod rules;
#[cfg(test)]
mod stage;
mod state_verb;
pub(crate) mod verb;
pub mod voice;
pub mod wire;
pub mod world;

pub use change::{Change, ChangeKind};
pub use context::{Context, Documents, Target};
pub use dandori_domain::Client;
pub use dandori_domain::guard::{ErrorPolicy, Level, Profile};
pub use decision::{Audience, Chain, Decision, GuardName, Note, Permission, Reason, Ruling};
pub use event::{Agent, EditTool, Event, Kind, Oddity, Outcome, PermissionMode, Source, Subagent, Tool};
pub use judge::{Asking, Judgement, Step, judge};
pub use rules::Rules;
pub use voice::Trouble;
pub use wire::{Answer, DecodeError, answer_unreadable, decode, decode_acp, encode};
pub use world::{Checkout, Effect, Mark, World};
