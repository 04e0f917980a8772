//! Which project a session works in, wherever its agent has gone since.
//!
//! Most clients tell it in a variable the agent cannot reach; for the others the folder of a session's first event is
//! remembered. An agent that goes to another folder stays under the rules it began with.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_guard::{Agent, Event};
use dandori_host::layout::RunLayout;
use dandori_host::shim::RUN_MARKER;
use dandori_host::{Env, Layout};

use crate::Given;

/// Any path in the project.
pub(crate) fn project(event: &Event, env: &Env, layout: &Layout) -> Option<Utf8PathBuf> {
    let told = told(event.agent, env);
    if told.is_some() {
        return told;
    }
    let cwd = event.cwd.clone();
    let Some(file) = remembered_at(event, layout) else { return cwd };
    if let Ok(text) = std::fs::read_to_string(&file) {
        return Some(Utf8PathBuf::from(text.trim_end_matches('\n')));
    }
    let cwd = cwd?;
    // Whoever is first wins: the session began there.
    if let Some(folder) = file.parent() {
        let _ = std::fs::create_dir_all(folder);
    }
    let _ = dandori_host::put_file(&file, cwd.as_str().as_bytes(), 0o600);
    Some(cwd)
}

/// What the client itself says.
fn told(agent: Agent, env: &Env) -> Option<Utf8PathBuf> {
    env.path(agent.hooks()?.project_variable?)
}

/// Whether the client works for a run: then the run's own hook judges, and an installation of the user's has nothing to
/// say. The variable alone does not make it so: whoever starts a client can set it. It has to work in a worktree of the
/// run's repository, below the state folder that is known, and the run to have rules.
pub(crate) fn is_in_run(event: &Event, env: &Env, given: &Given) -> bool {
    let Some(run) = env.text(RUN_MARKER).and_then(|id| id.parse().ok()) else { return false };
    let Some(project) = told(event.agent, env).or_else(|| event.cwd.clone()) else { return false };
    let found = RunLayout::of_worktree(&dandori_host::layout::real(&project), run);
    let is_ours = |run: &RunLayout| given.state.as_ref().is_none_or(|state| run.root().starts_with(state));
    found.filter(is_ours).is_some_and(|run| run.rules().is_file())
}

/// Forgets an ended session.
pub(crate) fn forget(event: &Event, layout: &Layout) {
    if let Some(file) = remembered_at(event, layout) {
        let _ = std::fs::remove_file(file);
    }
}

fn remembered_at(event: &Event, layout: &Layout) -> Option<Utf8PathBuf> {
    let session = event.session.as_ref()?.to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let fits = !session.is_empty() && session.len() <= 100 && session.chars().all(is_plain);
    fits.then(|| sessions(layout).join(format!("{}-{session}", event.agent)))
}

fn sessions(layout: &Layout) -> Utf8PathBuf {
    layout.root().join("guards").join(".sessions")
}

/// The folder of what is kept about a checkout; one for all that is in no checkout.
pub fn guard_folder(layout: &Layout, root: Option<&Utf8Path>) -> Utf8PathBuf {
    match root {
        Some(root) => layout.guard(root),
        None => layout.root().join("guards").join(".anywhere"),
    }
}
