//! Everything a formation says: to its agents, about plans that were refused, and about itself.
//!
//! What is delivered to an agent is made from the rows as they are when it is delivered. The names of fields and states are
//! those of the protocol in every language, because they are also what is typed back.

pub mod advice;
pub mod asked;
pub mod dashboard;
pub mod fault;
pub mod graph;
mod handoff;
mod lines;
pub mod mermaid;
pub mod metrics;
pub mod notice;
pub mod planner;
mod prompt;
pub mod pull;
pub mod refused;
pub mod roles;
mod stage;
pub mod status;
pub mod template;
pub mod worker;

pub use handoff::Handoff;
