//! dandori through its binary, as a user meets it.

mod bad_input;
mod cancel;
mod daemon;
mod follow_up;
mod many;
mod runs;
mod stores;
mod worktrees;

use dandori_testkit::env::TestEnv;

/// A fresh machine with a repository.
fn machine() -> TestEnv {
    TestEnv::new(env!("CARGO_BIN_EXE_dandori"))
}
