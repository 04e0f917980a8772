//! The crate against the real git, in folders of its own.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail as a test does")]

mod alone;
mod bed;
mod checkout;
mod hostile;
mod keeping;
mod making;
mod merging;
mod pooling;
mod pushing;
mod records;
mod staging;
