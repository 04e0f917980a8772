//! The checkout a guard verb is about, and what is kept about it.

use std::sync::Arc;
use std::time::Instant;

use camino::Utf8PathBuf;
use dandori_domain::Problem;
use dandori_domain::guard::Profile;
use dandori_guard::{Asking, Event};
use dandori_hook::{Given, Judged, Request, Session, find_checkout, guard_folder, policy_paths};
use dandori_policy::PolicyPaths;

use crate::cli::Context;

pub(crate) struct Guarded {
    /// The checkout's guard folder.
    pub(crate) folder: Utf8PathBuf,
    /// Where its rules come from.
    pub(crate) rules: PolicyPaths,
}

impl Guarded {
    /// The checkout the user stands in; outside of any, what is kept for everywhere else.
    pub(crate) fn here(context: &Context) -> Result<Self, Problem> {
        let checkout = find_checkout(&context.here()?);
        let folder = guard_folder(&context.layout, checkout.as_ref().map(|c| c.root.as_path()));
        let rules = policy_paths(checkout.as_ref(), &context.env, &Given::default(), &context.layout, &folder);
        Ok(Self { folder, rules })
    }

    /// Whether a rule of the user's own has this name.
    pub(crate) fn has_own_rule(&self, name: &str) -> bool {
        dandori_policy::read(&self.rules).rules.custom.iter().any(|rule| rule.name == name)
    }

    /// The profile in force.
    pub(crate) fn profile(&self) -> Profile {
        dandori_policy::read(&self.rules).rules.profile
    }

    /// The profile that would be in force if there were a state.md.
    pub(crate) fn profile_with_state(&self) -> Profile {
        let rules = PolicyPaths { was_disciplined: true, ..self.rules.clone() };
        dandori_policy::read(&rules).rules.profile
    }

    pub(crate) fn io(&self, error: &std::io::Error) -> Problem {
        Problem::Io { path: self.folder.clone(), reason: error.to_string() }
    }
}

/// What every guard would say about an event; nothing is noted.
pub(crate) fn judge_all(context: &Context, event: &Event) -> Result<(Session, Judged), Problem> {
    let given = Given::default();
    let begun = Instant::now();
    let request = Request {
        event,
        env: &context.env,
        given: &given,
        run: None,
        begun,
        allowance: Arc::default(),
        call: Arc::default(),
    };
    let failed = |why| Problem::Internal { reason: dandori_text::guard::unjudged(context.out.lang, &why) };
    let mut session = Session::look(&request).map_err(failed)?;
    // Whoever asks here is told in the language of this command, not in that of the agents.
    session.lang = context.out.lang;
    let judged = session.judge(&request, Asking::Everyone);
    Ok((session, judged))
}
