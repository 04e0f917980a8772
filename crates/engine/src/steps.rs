//! The steps of a run, each with its probe: what is already done is found, not done again.

mod again;
mod clean;
mod guard;
mod launch;
mod publish;
mod set_up;
mod stage;
mod watch;
mod workspace;

pub(crate) use clean::{preserved_ref_at, preserved_ref_of};
pub(crate) use watch::Stream;
pub(crate) use workspace::lock_reason;
