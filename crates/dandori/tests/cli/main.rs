//! dandori through its binary, as a user meets it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests: a panic is how they report"
)]

mod bad_input;
mod begin;
mod callers;
mod cancel;
mod clean_up;
mod commits;
mod completion;
mod config;
mod consent;
mod control_characters;
mod daemon;
mod diff;
mod doctor;
mod documents;
mod door;
mod errands;
mod follow_up;
mod guard_list;
mod guard_stats;
mod guard_verbs;
mod hints;
mod hook;
mod hook_runs;
mod init;
mod instruction;
mod json;
mod lifecycle;
mod lists;
mod man;
mod many;
mod notices;
mod pulls;
mod reality;
mod reference;
mod remote;
mod restored;
mod retry;
mod role_doors;
mod runs;
mod socket;
mod stores;
mod strain;
mod transcript;
mod uninstall;
mod usage;
mod versions;
mod waiting;
mod walk_through;
mod watch;
mod worktrees;

use dandori_testkit::env::TestEnv;

/// A fresh machine with a repository.
fn machine() -> TestEnv {
    TestEnv::new(env!("CARGO_BIN_EXE_dandori"))
}

/// Where a run of a task works.
fn worktree_of(env: &TestEnv, task: &str, run: usize) -> camino::Utf8PathBuf {
    dandori_testkit::env::wait_for("its worktree is there", || {
        let shown = env.dandori(["task", "show", task, "--json"]).json();
        shown["runs"][run]["worktree"].as_str().map(Into::into)
    })
}
