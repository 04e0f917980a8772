//! `dandori` alone, and `dandori status`: what needs you, what is at work, what was done, and what to type next.

use std::process::ExitCode;

use clap::Args;
use dandori_api::{AtWork, Front, FrontStatus, NextCommand, RunView, TaskView};
use dandori_domain::front::{Done, Situation, Suggestion, suggestions};
use dandori_domain::pull::PullState;
use dandori_domain::run::Status;
use dandori_domain::{AgentEvent, Problem};
use dandori_text::{LogLines, Table, front as text, inbox, pulls, table, ui};

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
    /// Only show this repository's formation: its agents and orders
    #[arg(long, conflicts_with = "all")]
    formation: bool,
    /// Keep showing it as it changes, until Ctrl-C
    #[arg(long, short = 'w', conflicts_with = "all")]
    watch: bool,
}

pub(crate) async fn run(args: StatusArgs, context: &Context) -> Result<ExitCode, Failed> {
    if args.watch && context.out.is_watched() {
        return super::formation_status::watch(context).await;
    }
    if crate::client::is_at_door(context) {
        return super::formation_status::alone(context).await;
    }
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
        formation: found.formation.clone(),
        moved_from: found.moved_from.clone(),
        next: next
            .iter()
            .map(|one| NextCommand { command: text::command(out.lang, one), purpose: text::purpose(out.lang, one) })
            .collect(),
    });
    if args.formation {
        super::formation_status::show(found.formation, context).await?;
    } else {
        print(out, &shown, &found, &next);
        super::formation_status::beside(out, found.formation.as_ref());
    }
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
            formation: None,
            moved_from: None,
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
    // What is merged or closed is over.
    let is_over = |run: &RunView| run.pr.as_ref().and_then(|pr| pr.state).is_some_and(|now| now != PullState::Open);
    let done = found.recent.iter().find_map(|task| {
        let is_meant = |run: &&RunView| task.picked.as_ref().is_none_or(|picked| *picked == run.key);
        let run = task.runs.iter().rev().filter(is_meant).find(|run| run.state == Status::Succeeded)?;
        if is_over(run) {
            return None;
        }
        Some(Done {
            task: task.number.clone(),
            run: if is_clear(task) { task.number.clone() } else { run.key.clone() },
            has_changes: run.changes.is_some(),
            pull: run.pr.as_ref().map(|pr| pr.number),
        })
    });
    let watchable = |at_work: &&AtWork| at_work.task.runs.iter().any(|run| run.state == Status::Running);
    let running = found.running.iter().find(watchable).or(found.running.first());
    Situation {
        in_repository: shown.here.is_some(),
        has_tasks: found.total > 0 || found.moved_from.is_some(),
        resolve: found.needs.first().map(|need| shown.command(need)),
        needs: found.needs.len(),
        running: running.map(|at_work| at_work.task.number.clone()),
        done,
    }
}

/// Whether the task's own name says which run is meant: one agent, or one that was picked.
fn is_clear(task: &TaskView) -> bool {
    task.picked.is_some() || task.runs.iter().filter(|run| run.follows.is_none()).count() == 1
}

fn print(out: &Out, shown: &Shown, found: &Front, next: &[Suggestion]) {
    let lang = out.lang;
    if found.repository.is_none() && found.total > 0 {
        out.line(dim(&text::everywhere(lang)));
        out.line("");
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
        if !found.needs.is_empty() {
            out.line("");
        }
        out.line(bold(&text::running(lang, usize::try_from(found.running_total).unwrap_or(usize::MAX))));
        for at_work in &found.running {
            print_at_work(out, shown, at_work);
        }
        if let more @ 1.. = found.running_total.saturating_sub(found.running.len() as u64) {
            out.line(format!("  {}", text::more_running(lang, more)));
        }
    }
    if let (Some(from), Some(here)) = (&found.moved_from, &shown.here) {
        out.prose(0, text::moved(lang, from));
        out.prose(0, text::moved_hint(lang, here, from));
    } else if found.needs.is_empty() && found.running_total == 0 {
        out.prose(
            0,
            match (found.total, &found.repository) {
                (0, Some(_)) => text::nothing_yet(lang),
                (0, None) => text::nothing_anywhere(lang),
                _ => text::quiet(lang),
            },
        );
    }
    if found.snoozed > 0 {
        out.line(format!("  {}", inbox::hidden(lang, usize::try_from(found.snoozed).unwrap_or(usize::MAX))));
    }
    // What needs somebody stands above already.
    let needed = |task: &&TaskView| !found.needs.iter().any(|need| need.task.as_ref() == Some(&task.number));
    let recent: Vec<&TaskView> = found.recent.iter().filter(needed).take(RECENT).collect();
    if !recent.is_empty() {
        out.line("");
        out.line(bold(text::recent(lang)));
        print_recent(out, shown, &recent);
    }
    out.line("");
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

/// In columns, as far as there is room for them; where the repository is not the one here, it is named.
fn print_recent(out: &Out, shown: &Shown, recent: &[&TaskView]) {
    // The head is not shown: the words say what they are.
    let mut rows = Table::new([""; 6]).rank([0, 0, 1, 3, 2, 0]).title_last();
    for task in recent {
        let picked = task.runs.iter().find(|run| Some(&run.key) == task.picked.as_ref());
        let Some(run) = picked.or(task.runs.last()) else { continue };
        let place = task.repository.rsplit('/').next().unwrap_or_default();
        let changes = run.changes.map(|c| ui::changes(out.lang, c.files, c.insertions, c.deletions));
        let pull = run.pr.as_ref().and_then(|pr| Some(format!("#{} {}", pr.number, pulls::state(out.lang, pr.state?))));
        rows.row([
            task.number.clone(),
            state(run.state),
            // On a narrow screen the title is worth more.
            if is_wide() { shown.age(run.ended_at.as_deref().unwrap_or(&run.created_at)) } else { String::new() },
            pull.or(changes).unwrap_or_default(),
            if shown.here.is_none() { place.to_owned() } else { String::new() },
            task.title.clone(),
        ]);
    }
    let width = Out::width().saturating_sub(2);
    for line in rows.lines(Some(width)).iter().skip(1) {
        out.line(format!("  {line}"));
    }
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
