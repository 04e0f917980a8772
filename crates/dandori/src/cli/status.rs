//! `dandori` alone, and `dandori status`: what needs you, what is at work, what was done, and what to type next.

use std::process::ExitCode;

use clap::Args;
use dandori_api::{AtWork, Front, FrontStatus, NextCommand, RunView, TaskView};
use dandori_domain::front::{Done, Situation, Suggestion, suggestions};
use dandori_domain::run::Status;
use dandori_domain::{AgentEvent, Problem};
use dandori_text::{LogLines, front as text, inbox, table, ui};

use super::inbox::{Shown, here};
use super::{Context, told};
use crate::client::{Client, in_path};
use crate::out::{Failed, Out, bold, dim, state};

/// More are counted.
const NEEDS: usize = 3;
const RECENT: usize = 3;

#[derive(Args, Default)]
pub(crate) struct StatusArgs {
    /// All repositories
    #[arg(long, short = 'A')]
    all: bool,
}

pub(crate) async fn run(args: StatusArgs, context: &Context) -> Result<ExitCode, Failed> {
    let here = here(context).filter(|_| !args.all);
    let found = look(context, here.as_deref()).await?;
    let out = &context.out;
    let shown = Shown { lang: out.lang, here: here.map(camino::Utf8PathBuf::into_string), now: dandori_host::now() };
    let next = suggestions(&situation(&shown, &found));
    out.object(&FrontStatus {
        repository: found.repository.clone(),
        needs: found.needs.iter().map(|need| shown.worded(need)).collect(),
        snoozed: found.snoozed,
        running: found.running.clone(),
        running_total: found.running_total,
        recent: found.recent.clone(),
        total: found.total,
        next: next
            .iter()
            .map(|one| NextCommand { command: text::command(out.lang, one), purpose: text::purpose(out.lang, one) })
            .collect(),
    });
    print(out, &shown, &found, &next);
    Ok(ExitCode::SUCCESS)
}

/// Asked of the daemon. Where there is none and never was one, there is nothing to ask: it is not started for that.
async fn look(context: &Context, here: Option<&camino::Utf8Path>) -> Result<Front, Problem> {
    let is_fresh = !context.layout.database().exists() && uses_own_store(context);
    if is_fresh && Client::reach(context).await?.is_none() {
        return Ok(Front {
            repository: here.map(ToString::to_string),
            needs: Vec::new(),
            snoozed: 0,
            running: Vec::new(),
            running_total: 0,
            recent: Vec::new(),
            total: 0,
        });
    }
    let client = Client::connect(context).await?;
    let path = here.map(|root| format!("?path={}", in_path(root))).unwrap_or_default();
    client.get(&format!("/v1/front{path}")).await
}

fn uses_own_store(context: &Context) -> bool {
    let path = dandori_host::layout::user_config(&context.env);
    dandori_config::Config::load(&path, None).is_ok_and(|config| config.store.is_none())
}

fn situation(shown: &Shown, found: &Front) -> Situation {
    let done = found.recent.iter().find_map(|task| {
        let run = task.runs.iter().rev().find(|run| run.state == Status::Succeeded)?;
        Some(Done {
            task: task.number.clone(),
            run: if task.runs.len() == 1 { task.number.clone() } else { run.key.clone() },
            has_changes: run.changes.is_some(),
            has_pull: run.pr.is_some(),
        })
    });
    let watchable = |at_work: &&AtWork| at_work.task.runs.iter().any(|run| run.state == Status::Running);
    let running = found.running.iter().find(watchable).or(found.running.first());
    Situation {
        in_repository: shown.here.is_some(),
        has_tasks: found.total > 0,
        resolve: found.needs.first().map(|need| shown.command(need)),
        needs: found.needs.len(),
        running: running.map(|at_work| at_work.task.number.clone()),
        done,
    }
}

fn print(out: &Out, shown: &Shown, found: &Front, next: &[Suggestion]) {
    let lang = out.lang;
    if found.repository.is_none() && found.total > 0 {
        out.line(dim(&text::everywhere(lang)));
    }
    if !found.needs.is_empty() {
        out.line(bold(&text::needs_you(lang, found.needs.len())));
        for need in found.needs.iter().take(NEEDS) {
            shown.print(out, 2, need, false);
        }
        if let more @ 1.. = found.needs.len().saturating_sub(NEEDS) {
            out.line(format!("  {}", text::more_needs(lang, more)));
        }
    }
    if found.running_total > 0 {
        out.line(bold(&text::running(lang, usize::try_from(found.running_total).unwrap_or(usize::MAX))));
        for at_work in &found.running {
            print_at_work(out, shown, at_work);
        }
        if let more @ 1.. = found.running_total.saturating_sub(found.running.len() as u64) {
            out.line(format!("  {}", text::more_running(lang, more)));
        }
    }
    if found.needs.is_empty() && found.running_total == 0 {
        out.line(match (found.total, &found.repository) {
            (0, Some(_)) => text::nothing_yet(lang),
            (0, None) => text::nothing_anywhere(lang),
            _ => text::quiet(lang),
        });
    }
    if found.snoozed > 0 {
        out.line(format!("  {}", inbox::hidden(lang, usize::try_from(found.snoozed).unwrap_or(usize::MAX))));
    }
    // What needs somebody stands above already.
    let needed = |task: &&TaskView| !found.needs.iter().any(|need| need.task.as_ref() == Some(&task.number));
    let recent: Vec<&TaskView> = found.recent.iter().filter(needed).take(RECENT).collect();
    if !recent.is_empty() {
        out.line(bold(text::recent(lang)));
        for task in recent {
            print_recent(out, shown, task);
        }
    }
    out.line(bold(text::next(lang)));
    print_next(out, next);
}

fn print_at_work(out: &Out, shown: &Shown, at_work: &AtWork) {
    let task = &at_work.task;
    for run in task.runs.iter().filter(|run| !run.state.is_terminal()) {
        let (agent, state) = (table::fit(&run.agent, 16), state(run.state));
        let since = shown.lasting(run.launched_at.as_deref().unwrap_or(&run.created_at));
        let parts = [task.number.as_str(), &state, &since, &agent];
        // Of several at work on one task, who does it tells them apart, also where there is little room.
        let count = if is_wide() || task.runs.len() > 1 { parts.len() } else { parts.len() - 1 };
        line(out, parts.get(..count).unwrap_or_default(), &task.title);
        let doing = at_work.doing.iter().find(|doing| doing.run == run.key).map(|doing| &doing.event);
        if let Some(words) = doing.and_then(|event| doing_now(out, run, event)).or_else(|| told::waiting(out, run)) {
            out.line(format!("    {}", dim(&table::fit(&words, Out::width().saturating_sub(4)))));
        }
    }
}

/// The last line of what its agent said or did.
fn doing_now(out: &Out, run: &RunView, event: &AgentEvent) -> Option<String> {
    let mut lines = LogLines::new(out.lang, run.worktree.as_deref());
    let said = lines.of(event);
    let text = said.last()?.text.lines().rev().map(str::trim).find(|line| !line.is_empty())?.to_owned();
    Some(text)
}

fn print_recent(out: &Out, shown: &Shown, task: &TaskView) {
    let Some(run) = task.runs.last() else { return };
    let changes = run.changes.map(|c| ui::changes(out.lang, c.files, c.insertions, c.deletions));
    let ended = run.ended_at.as_deref().unwrap_or(&run.created_at);
    let mut parts = vec![task.number.clone(), state(run.state), shown.age(ended)];
    parts.extend(changes.filter(|_| is_wide()));
    line(out, &parts.iter().map(String::as_str).collect::<Vec<_>>(), &task.title);
}

/// On a narrow screen the title is worth more than the rest.
fn is_wide() -> bool {
    Out::width() >= 60
}

/// Parts with a gap between them, and as much of the title as fits.
fn line(out: &Out, parts: &[&str], title: &str) {
    let head = parts.join("  ");
    let room = Out::width().saturating_sub(table::width(&head) + 4);
    let title = if room >= 8 { format!("  {}", table::fit(title, room)) } else { String::new() };
    out.line(format!("  {head}{title}"));
}

/// Commands in a column, what they are good for in another; below each other where there is no room.
fn print_next(out: &Out, next: &[Suggestion]) {
    let commands: Vec<(String, String)> =
        next.iter().map(|one| (text::command(out.lang, one), text::purpose(out.lang, one))).collect();
    let column = commands.iter().map(|(command, _)| table::width(command)).max().unwrap_or(0);
    let widest = commands.iter().map(|(_, purpose)| table::width(purpose)).max().unwrap_or(0);
    let fits = column + widest + 6 <= Out::width();
    for (command, purpose) in commands {
        if fits {
            let gap = " ".repeat(column - table::width(&command) + 2);
            out.line(format!("  {command}{gap}{}", dim(&purpose)));
        } else {
            out.line(format!("  {command}"));
            out.prose(4, dim(&purpose));
        }
    }
}
