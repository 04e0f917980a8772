//! A run in a few lines, for people, and in the documented object, for scripts.

use dandori_api::{RunView, TaskRuns, TaskView, UsageView};
use dandori_domain::run::Status;
use dandori_domain::{Usage, Usd, WaitReason};
use dandori_text::{pulls, table, ui};

use super::begin;
use crate::out::{Out, bold, dim, good, padded_state};

/// The documented object: `{"task":…,"runs":[…]}`.
pub(crate) fn object(task: &TaskView, runs: &[&RunView]) -> TaskRuns {
    TaskRuns { task: task.number.clone(), runs: runs.iter().map(|run| (*run).clone()).collect() }
}

/// Why it failed, or what of it failed, in one sentence.
pub(crate) fn error(out: &Out, run: &RunView) -> Option<String> {
    let own = run.error.as_ref().map(|error| error.message.clone());
    own.or_else(|| run.pr_error.as_ref().map(|error| ui::pull_failed_because(out.lang, &error.message, &run.key)))
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

/// The whole of a run that was picked.
pub(crate) fn show_picked(out: &Out, run: &RunView) {
    show_marked(out, run, &format!("  {}", good(pulls::picked(out.lang))));
}

/// The whole of a run.
pub(crate) fn show(out: &Out, run: &RunView) {
    show_marked(out, run, "");
}

fn show_marked(out: &Out, run: &RunView, mark: &str) {
    let head = format!("{}  {}  {}", bold(&run.key), padded_state(run.state), table::fit(&run.agent, 40));
    out.line(format!("{}{mark}", format!("{head}  {}", result(out, run)).trim_end()));
    if run.follows.is_some() {
        out.line(format!("  “{}”", dandori_domain::wording::title(&run.instruction)));
    }
    if let Some(waiting) = waiting(out, run) {
        out.prose(2, waiting);
    }
    if let Some(reason) = error(out, run) {
        out.prose(2, &reason);
        // Some failures name their own remedy.
        if run.state == Status::Failed && !reason.contains("`dandori ") {
            out.prose(2, ui::after_failure(out.lang, &run.key));
        }
    }
    if let Some(end) = begin::end(out, run) {
        out.prose(2, end);
    }
    if let Some(pr) = &run.pr {
        out.prose(2, pulls::linked(out.lang, pr.number, &pr.url, pr.state));
    }
    if let Some(reference) = &run.preserved {
        out.prose(2, ui::preserved(out.lang, reference));
        out.prose(2, ui::restore_hint(out.lang, &run.key));
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
