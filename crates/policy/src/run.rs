//! The rules of one run: what the user and the main checkout say, and on top of it what no run may do.
//!
//! Compiled once, before the agent starts, into a file it can read and not write: what it or anybody else does to the
//! configuration meanwhile does not change them.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_guard::rules::{self, Constraints, Rules};
use serde::{Deserialize, Serialize};

use crate::compile::Compiled;
use crate::policy_paths::{PolicyPaths, both_names, settings_in};
use crate::snapshot::read;

/// Guards that wait for a person. In a run there is none, and the agent would wait for ever.
const NEED_A_PERSON: &[&str] = &["consent"];

/// A run, as far as its guards need to know it.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// Its folder: the rules themselves, and all else about it.
    pub folder: &'a Utf8Path,
    /// What its guards write down, inside what it may write.
    pub guards: &'a Utf8Path,
    pub worktree: &'a Utf8Path,
    pub tmp: &'a Utf8Path,
    /// The agent's private state folder.
    pub home: &'a Utf8Path,
    /// Paths of the project's own that it may not touch, besides those no run may.
    pub forbidden: &'a [String],
    /// It changes nothing in its worktree.
    pub read_only: bool,
}

/// What is written down for the hooks of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunRules {
    /// Where it works, wherever its agent goes.
    pub worktree: Utf8PathBuf,
    pub rules: Rules,
}

impl RunRules {
    /// `place` is of the run's worktree, with `is_run`.
    pub fn compile(place: &PolicyPaths, run: &Run<'_>) -> Self {
        let Compiled { mut rules, .. } = read(place);
        rules.order.retain(|active| !NEED_A_PERSON.contains(&active.name.as_str()));
        let mut constraints = Constraints::default();
        constraints.paths.extend(run.forbidden.iter().cloned());
        if run.read_only {
            constraints.read_only = both_names([run.worktree.to_owned()]);
        }
        rules.constraints = Some(constraints);
        let own = [run.folder.to_owned(), run.guards.to_owned()];
        rules.control.extend(both_names(own.into_iter().chain(settings_in(run.home))));
        rules.worktrees = both_names([run.worktree, run.tmp, run.home].map(Utf8Path::to_owned));
        Self { worktree: run.worktree.to_owned(), rules }
    }

    pub fn load(path: &Utf8Path) -> io::Result<Self> {
        let found: Self = serde_json::from_slice(&std::fs::read(path)?)?;
        let version = found.rules.version;
        if version == rules::VERSION { Ok(found) } else { Err(io::Error::other(format!("of version {version}"))) }
    }
}
