//! How runs that were waited for have ended: what the agent said last, what it changed, where that is, and what to type next.

use dandori_api::{ChangedFile, DiffView, RunView, TaskView};
use dandori_domain::plain::plain_path;
use dandori_domain::pull::PullState;
use dandori_domain::run::Status;
use dandori_domain::shell_word;
use dandori_text::begin as text;
use dandori_text::watch::{Ending, next_commands, next_of_several};
use dandori_text::{first_rows, pulls, table, ui, watch};

use super::inbox::here;
use super::{Context, begin, told};
use crate::client::{Client, quoted};
use crate::out::{Out, added, bold, deleted, dim, padded_state};

/// Rows of what the agent said last.
const SUMMARY_ROWS: usize = 4;
/// More files are counted.
const MOST_FILES: usize = 10;

/// What keeps a commit from the remote, and may not the next time.
const UNPUSHED: [&str; 3] = ["push_refused", "remote_unreachable", "push_overtaken"];

/// `shown`: the runs whose last words stand right above.
pub(crate) async fn show(context: &Context, client: &Client, task: &TaskView, runs: &[&RunView], shown: &[String]) {
    let out = &context.out;
    if out.json {
        return;
    }
    for run in runs {
        let files = files(client, task, run).await;
        one(out, run, &files, !shown.contains(&run.id));
        if let Some(before) = pull_before(task, run) {
            out.prose(2, pulls::not_in(out.lang, before));
        }
    }
    let commands = match runs {
        [run] => next_commands(&ending(out, task, run)),
        several => next_of_several(&task.number, &with_state(several, Status::Failed)),
    };
    out.next(&where_it_is(context, task, commands));
}

/// What fits a task as it is by now; nothing of one that is still at work or whose failure names the commands already.
pub(crate) fn next(context: &Context, task: &TaskView) -> Vec<String> {
    where_it_is(context, task, fitting(&context.out, task))
}

/// Numbers of pull requests and worktrees mean those of the repository one stands in.
fn where_it_is(context: &Context, task: &TaskView, commands: Vec<String>) -> Vec<String> {
    if here(context).is_some_and(|root| root == task.repository) {
        return commands;
    }
    let depends = |command: &str| ["dandori pr ", "dandori worktree "].iter().any(|verb| command.starts_with(verb));
    let there = shell_word(&task.repository);
    let placed = |command: String| if depends(&command) { format!("cd {there} && {command}") } else { command };
    commands.into_iter().map(placed).collect()
}

fn fitting(out: &Out, task: &TaskView) -> Vec<String> {
    if task.runs.iter().any(|run| !run.state.is_terminal()) {
        return vec![format!("dandori task log {}", task.number), format!("dandori task cancel {}", task.number)];
    }
    let picked = task.runs.iter().find(|run| Some(&run.key) == task.picked.as_ref());
    let Some(run) = picked.or(task.runs.last()) else { return Vec::new() };
    let ending = ending(out, task, run);
    match run.state {
        Status::Succeeded if ending.has_rivals => next_of_several(&task.number, &[]),
        Status::Succeeded => next_commands(&ending),
        _ => Vec::new(),
    }
}

fn with_state<'r>(runs: &[&'r RunView], state: Status) -> Vec<&'r str> {
    runs.iter().filter(|run| run.state == state).map(|run| run.key.as_str()).collect()
}

/// What this run changed; unknown is nothing to show.
async fn files(client: &Client, task: &TaskView, run: &RunView) -> Vec<ChangedFile> {
    if run.changes.is_none() && run.preserved.is_none() && run.state != Status::Failed {
        return Vec::new();
    }
    let path = format!("/v1/tasks/{}/diff?run={}", quoted(&task.id), quoted(&run.id));
    client.get::<DiffView>(&path).await.map(|diff| diff.files).unwrap_or_default()
}

fn one(out: &Out, run: &RunView, files: &[ChangedFile], with_summary: bool) {
    let lang = out.lang;
    let cells = Out::width();
    let head = format!("{}  {}", bold(&run.key), padded_state(run.state));
    let agent = table::fit(&run.agent, cells.saturating_sub(table::width(&head) + 2).clamp(8, 40));
    out.line(format!("{head}  {agent}"));
    let summary = run.summary.as_deref().filter(|_| with_summary).unwrap_or_default();
    for row in first_rows(summary, SUMMARY_ROWS, cells.saturating_sub(2)) {
        out.line(format!("  {row}"));
    }
    if let Some(reason) = told::error(out, run) {
        out.prose(2, &reason);
    }
    let counts: Vec<(String, String)> = files.iter().map(|file| counts(out, file)).collect();
    let widest = |of: fn(&(String, String)) -> &String| counts.iter().map(|c| table::width(of(c))).max().unwrap_or(0);
    let (plus, minus) = (widest(|c| &c.0), widest(|c| &c.1));
    for (file, (more, less)) in files.iter().zip(&counts).take(MOST_FILES) {
        let pad = |text: &str, to: usize| " ".repeat(to.saturating_sub(table::width(text)));
        let numbers = format!("{}{}{} {}", pad(more, plus), added(more), pad(less, minus), deleted(less));
        let path = table::fit(&plain_path(&file.path), cells.saturating_sub(plus + minus + 5).max(8));
        out.line(format!("  {numbers}  {path}"));
    }
    if let more @ 1.. = files.len().saturating_sub(MOST_FILES) {
        out.line(format!("  {}", dim(&watch::more_files(lang, more))));
    }
    told::numbers(out, run, &changed(out, run, files));
    if let Some(end) = begin::end(out, run) {
        out.prose(2, end);
    } else if let (Some(branch), Some(commit)) = (&run.branch, &run.commit) {
        out.prose(2, watch::committed(lang, branch, text::short(commit)));
    }
    if let Some(pr) = &run.pr {
        out.prose(2, pulls::linked(lang, pr.number, &pr.url, pr.state));
    }
    if let Some(reference) = &run.preserved {
        out.prose(2, ui::preserved(lang, reference));
    }
}

/// The pull request of the branch that was merged before this run pushed to it.
fn pull_before(task: &TaskView, run: &RunView) -> Option<u64> {
    if run.pr.is_some() || run.commit.is_none() || run.branch.is_none() {
        return None;
    }
    let mut on_branch = task.runs.iter().rev().filter(|other| other.branch == run.branch);
    on_branch.find_map(|other| other.pr.as_ref()).map(|pr| pr.number)
}

/// How much that is, also of work that was not committed.
fn changed(out: &Out, run: &RunView, files: &[ChangedFile]) -> String {
    if run.changes.is_some() || files.is_empty() {
        return told::result(out, run);
    }
    let count = u32::try_from(files.len()).unwrap_or(u32::MAX);
    let sum = |of: fn(&ChangedFile) -> Option<u64>| files.iter().filter_map(of).sum();
    ui::changes(out.lang, count, sum(|file| file.insertions), sum(|file| file.deletions))
}

fn counts(out: &Out, file: &ChangedFile) -> (String, String) {
    match (file.insertions, file.deletions) {
        (Some(more), Some(less)) => (format!("+{more}"), format!("−{less}")),
        _ => (watch::binary(out.lang).to_owned(), String::new()),
    }
}

fn ending<'a>(out: &Out, task: &'a TaskView, run: &'a RunView) -> Ending<'a> {
    // Attempts of one agent at the same thing are no rivals.
    let mut agents: Vec<&str> = task.runs.iter().filter(|r| r.follows.is_none()).map(|r| r.agent.as_str()).collect();
    agents.sort_unstable();
    agents.dedup();
    Ending {
        task: &task.number,
        run: &run.key,
        state: run.state,
        has_changes: run.changes.is_some(),
        is_pushed: run.state == Status::Succeeded && run.commit.is_some(),
        pull: run.pr.as_ref().map(|pr| (pr.number, pr.state.is_none_or(|now| now == PullState::Open))),
        has_rivals: task.picked.is_none() && agents.len() > 1,
        is_kept: run.preserved.is_some(),
        has_log: run.launched_at.is_some() || run.error.as_ref().is_some_and(|error| error.code == "set_up"),
        is_only: task.runs.len() == 1,
        is_unpushed: run.error.as_ref().is_some_and(|error| UNPUSHED.contains(&error.code.as_str())),
        is_told: told::error(out, run).is_some_and(|reason| reason.contains("`dandori ")),
    }
}
