//! The checkout a guard verb is about, and what is kept about it.

use std::sync::Arc;
use std::time::Instant;

use camino::Utf8PathBuf;
use dandori_domain::Problem;
use dandori_guard::{Asking, Event};
use dandori_hook::{Judged, Request, Session, find_checkout, guard_folder};

use crate::cli::Context;

pub(crate) struct Guarded {
    /// The checkout's guard folder.
    pub(crate) folder: Utf8PathBuf,
}

impl Guarded {
    /// The checkout the user stands in; outside of any, what is kept for everywhere else.
    pub(crate) fn here(context: &Context) -> Result<Self, Problem> {
        let root = find_checkout(&context.here()?).map(|checkout| checkout.root);
        Ok(Self { folder: guard_folder(&context.layout, root.as_deref()) })
    }

    pub(crate) fn io(&self, error: &std::io::Error) -> Problem {
        Problem::Io { path: self.folder.clone(), reason: error.to_string() }
    }
}

/// What every guard would say about an event; nothing is noted.
pub(crate) fn judge_all(context: &Context, event: &Event) -> Result<(Session, Judged), Problem> {
    // The clients' own words about the project are not the user's who asks here.
    let mut env = context.env.clone();
    env.remove("CLAUDE_PROJECT_DIR").remove("GEMINI_PROJECT_DIR");
    let request = Request { event, env: &env, run: None, begun: Instant::now(), allowance: Arc::default() };
    let session = Session::open(&request).map_err(|reason| Problem::Internal { reason })?;
    let judged = session.judge(&request, Asking::Everyone);
    Ok((session, judged))
}

/// Whether a rule of the user's own has this name.
pub(crate) fn has_own_rule(context: &Context, name: &str) -> bool {
    let event = dandori_guard::decode(b"{\"hook_event_name\":\"Stop\"}", None).ok();
    let here = context.here().ok();
    let event = event.map(|event| Event { cwd: here, ..event });
    let judged = event.and_then(|event| judge_all(context, &event).ok());
    judged.is_some_and(|(session, _)| session.rules.custom.iter().any(|rule| rule.name == name))
}
