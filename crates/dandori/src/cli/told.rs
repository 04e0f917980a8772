//! A run in a few lines, for people, and in the documented object, for scripts.

use dandori_api::{PullLink, RunView, TaskView, UsageView};
use dandori_domain::run::Status;
use dandori_domain::{Usage, Usd, WaitReason};
use dandori_text::{table, ui};
use serde::Serialize;

use crate::out::{Out, bold, dim, padded_state};

/// `{"task":…,"runs":[{"id","agent","state","branch","commit","pr","session","error"}]}`
#[derive(Serialize)]
pub(crate) struct Object<'a> {
    task: &'a str,
    runs: Vec<RunObject<'a>>,
}

#[derive(Serialize)]
struct RunObject<'a> {
    id: &'a str,
    agent: &'a str,
    state: Status,
    branch: Option<&'a str>,
    commit: Option<&'a str>,
    pr: Option<&'a PullLink>,
    session: Option<&'a str>,
    error: Option<String>,
}

pub(crate) fn object<'a>(out: &Out, task: &'a TaskView, runs: &[&'a RunView]) -> Object<'a> {
    let told = |run: &&'a RunView| RunObject {
        id: &run.id,
        agent: &run.agent,
        state: run.state,
        branch: run.branch.as_deref(),
        commit: run.commit.as_deref(),
        pr: run.pr.as_ref(),
        session: run.session.as_deref(),
        error: error(out, run),
    };
    Object { task: &task.number, runs: runs.iter().map(told).collect() }
}

/// Why it failed, or what of it failed, in one sentence.
pub(crate) fn error(out: &Out, run: &RunView) -> Option<String> {
    // That its agent was killed is what was asked for.
    if run.state == Status::Canceled {
        return None;
    }
    let failure = run.failure.as_ref().map(|f| dandori_text::failure(out.lang, f));
    failure.or_else(|| run.pr_failure.as_ref().map(|problem| ui::pull_failed(out.lang, problem)))
}

pub(crate) fn notes(out: &Out, run: &RunView) -> Vec<String> {
    run.notes.iter().map(|note| dandori_text::note(out.lang, note)).collect()
}

/// Its place in the queue, and what it waits for.
pub(crate) fn waiting(out: &Out, run: &RunView) -> Option<String> {
    Some(ui::waiting(out.lang, run.place?, &waits_for(run)))
}

pub(crate) fn waits_for(run: &RunView) -> WaitReason {
    run.waits_for.clone().unwrap_or(WaitReason::Place)
}

/// What came of it.
pub(crate) fn result(out: &Out, run: &RunView) -> String {
    match (&run.changes, run.state) {
        (Some(c), _) => ui::changes(out.lang, c.files, c.insertions, c.deletions),
        (None, Status::Succeeded) => ui::no_changes(out.lang).to_owned(),
        _ => String::new(),
    }
}

/// The whole of a run.
pub(crate) fn show(out: &Out, run: &RunView) {
    let head = format!("{}  {}  {}", bold(&run.key), padded_state(run.state), table::fit(&run.agent, 40));
    out.line(format!("{head}  {}", result(out, run)).trim_end());
    if run.follows.is_some() {
        out.line(format!("  “{}”", dandori_domain::wording::title(&run.instruction)));
    }
    if let Some(waiting) = waiting(out, run) {
        out.line(format!("  {waiting}"));
    }
    if let Some(reason) = error(out, run) {
        out.line(format!("  {reason}"));
        // Some failures name their own remedy.
        if run.state == Status::Failed && !reason.contains("`dandori ") {
            out.line(format!("  {}", ui::after_failure(out.lang, &run.key)));
        }
    }
    if let (Some(branch), Some(commit)) = (&run.branch, &run.commit)
        && run.state == Status::Succeeded
    {
        out.line(format!("  {}", ui::pushed(out.lang, branch, commit.get(..10).unwrap_or(commit))));
    }
    if let Some(pr) = &run.pr {
        out.line(format!("  {}", ui::pull_opened(out.lang, pr.number, &pr.url)));
    }
    if let Some(reference) = &run.preserved {
        out.line(format!("  {}", ui::preserved(out.lang, reference)));
        out.line(format!("  {}", ui::restore_hint(out.lang, &run.key)));
    }
    if let Some(usage) = run.usage.map(usage).filter(|u| u.tokens() > 0) {
        out.line(format!("  {}", dim(&dandori_text::used(out.lang, &usage))));
    }
    if let Some(worktree) = &run.worktree {
        out.line(format!("  {}", dim(worktree)));
    }
    for note in notes(out, run) {
        out.line(format!("  {}", dim(&note)));
    }
}

fn usage(view: UsageView) -> Usage {
    Usage {
        input_tokens: view.input_tokens,
        output_tokens: view.output_tokens,
        cached_tokens: view.cached_tokens,
        cost: view.cost.map(Usd::from_dollars),
    }
}
