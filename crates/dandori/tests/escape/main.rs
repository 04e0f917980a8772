//! Everything a hostile agent can think of, tried for real behind the fence: as a superuser and as an ordinary user, with
//! namespaces and without. None of it gets out; what a missing layer cannot stop is what `doctor` lists, word for word.
//!
//! The attempts are in `attempts.py`; here is the ground they are tried on, and what is seen of them from outside.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests: a panic is how they report"
)]

mod browser;
mod builds;
mod filters;
mod ground;
mod lures;
mod races;
mod shelf;
mod staging;
mod tries;
mod warm;
