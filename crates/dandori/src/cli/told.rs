//! A run in a few lines, for people, and in the documented object, for scripts.

use std::io::IsTerminal;

use dandori_api::{RunView, TaskRuns, TaskView, UsageView};
use dandori_domain::run::Status;
use dandori_domain::{Usage, Usd, WaitReason};
use dandori_text::{pulls, table, ui, watch};
use jiff::Timestamp;

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

/// How much it changed, how long its agent worked, and what that cost, in one line.
pub(crate) fn numbers(out: &Out, run: &RunView, changed: &str) {
    let spent = run.usage.and_then(|used| watch::spent(out.lang, &usage(used)));
    let time = duration(out, run);
    let parts = [Some(changed.to_owned()), time.clone(), spent];
    let parts: Vec<String> = parts.into_iter().flatten().filter(|text| !text.is_empty()).collect();
    match (parts.as_slice(), time) {
        ([], _) => {}
        ([_], Some(time)) => out.prose(2, watch::lasted(out.lang, &time)),
        // A number stays with its unit.
        (parts, _) if std::io::stdout().is_terminal() => {
            out.prose(2, parts.iter().map(|part| part.replace(' ', "\u{a0}")).collect::<Vec<_>>().join(" · "));
        }
        (parts, _) => out.prose(2, parts.join(" · ")),
    }
}

/// How long its agent worked.
fn duration(out: &Out, run: &RunView) -> Option<String> {
    let time = |text: &Option<String>| text.as_ref()?.parse::<Timestamp>().ok().map(Timestamp::as_second);
    let seconds = time(&run.ended_at)? - time(&run.launched_at)?;
    u64::try_from(seconds).ok().map(|seconds| watch::span(out.lang, seconds))
}

/// The whole of a run.
pub(crate) fn show(out: &Out, run: &RunView, is_picked: bool) {
    let mark = if is_picked { format!("  {}", good(pulls::picked(out.lang))) } else { String::new() };
    let head = format!("{}  {}", bold(&run.key), padded_state(run.state));
    let room = Out::width().saturating_sub(table::width(&head) + 2 + table::width(&mark)).clamp(8, 40);
    out.line(format!("{head}  {}{mark}", table::fit(&run.agent, room)));
    if run.follows.is_some() {
        out.prose(2, format!("“{}”", dandori_domain::wording::title(&run.instruction)));
    }
    if let Some(waiting) = waiting(out, run) {
        out.prose(2, waiting);
    }
    if let Some(start) = &run.start {
        out.prose(2, begin::line(out, start));
    }
    if let Some(reason) = error(out, run) {
        out.prose(2, &reason);
        // Some failures name their own remedy.
        if run.state == Status::Failed && !reason.contains("`dandori ") {
            out.prose(2, ui::after_failure(out.lang, &run.key));
        }
    }
    numbers(out, run, &result(out, run));
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
    if let Some(worktree) = &run.worktree {
        out.line(format!("  {}", dim(&out.path(worktree))));
    }
    for note in notes(out, run) {
        out.prose(2, dim(&note));
    }
}

pub(crate) fn usage(view: UsageView) -> Usage {
    Usage {
        input_tokens: view.input_tokens,
        output_tokens: view.output_tokens,
        cached_tokens: view.cached_tokens,
        cost: view.cost.map(Usd::from_dollars),
    }
}
