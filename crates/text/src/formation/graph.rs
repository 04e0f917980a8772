//! A plan on a terminal: a block per phase, in it the tasks by layers. What stands in the same layer can be done at the same time;
//! what a task waits for is named behind it.

use std::collections::BTreeMap;

use dandori_api::formation::{CommandView, PhaseStage, PhaseType, PhaseView, PlanTaskView, PlanView, TaskCounts};
use dandori_domain::TaskId;
use dandori_domain::plain::plain_line;
use dandori_formation::command::Review;

use super::stage;
use crate::lang::say;
use crate::table::{fit, width};
use crate::{Lang, Table, wrap};

/// Its lines, no wider than the screen as far as names allow.
pub fn plan(lang: Lang, plan: &PlanView, screen: Option<usize>) -> Vec<String> {
    let command = &plan.command;
    let mut lines = head(lang, command, screen);
    for phase in &command.phases {
        lines.push(String::new());
        lines.extend(block(&phase_head(lang, phase, command), phase_body(lang, plan, phase, screen), screen));
    }
    let outside: Vec<&PlanTaskView> = current(plan).filter(|task| task.phase.is_none()).collect();
    if !outside.is_empty() {
        lines.push(String::new());
        let title = match (command.phases.is_empty(), outside.iter().all(|task| task.worker.is_none())) {
            (false, true) => say!(lang, "after all phases", "全フェーズの後"),
            _ => say!(lang, "tasks", "タスク"),
        };
        lines.extend(block(&title, tasks(lang, plan, &outside, screen), screen));
    }
    if command.phases.is_empty() && plan.tasks.is_empty() {
        lines.push(String::new());
        lines.push(say!(lang, "no plan yet", "計画はまだありません"));
    }
    lines
}

/// The order itself and what holds it up.
fn head(lang: Lang, command: &CommandView, screen: Option<usize>) -> Vec<String> {
    let (number, state) = (command.number, stage::command(lang, command.state));
    let counted = done(lang, command.counts);
    let mut lines = vec![format!("#{number} {state} {counted}").trim_end().to_owned()];
    let cells = screen.unwrap_or(usize::MAX);
    lines.push(fit(&title(command), cells));
    let mut note = |text: String| lines.extend(wrap(&plain_line(&text), cells));
    if command.review == Review::Wanted {
        note(say!(lang, "the plan waits for approval", "計画は承認待ちです"));
    }
    if let Some(reason) = &command.paused {
        note(say!(lang, "paused: {reason}", "一時停止中: {reason}"));
    }
    if let Some(reason) = &command.cancelling {
        note(say!(lang, "being cancelled: {reason}", "取り消し中: {reason}"));
    }
    if let Some(pr) = &command.pr {
        let url = &pr.url;
        note(say!(lang, "pull request: {url}", "プルリクエスト: {url}"));
    }
    lines
}

/// The first line of an order.
pub(super) fn title(command: &CommandView) -> String {
    let first = command.content.lines().map(str::trim).find(|line| !line.is_empty());
    plain_line(first.unwrap_or_default())
}

/// `2/7, 1 failed`; nothing where there are no tasks.
pub(super) fn counted(lang: Lang, counts: TaskCounts) -> String {
    let (completed, all) = (counts.completed, counts.all());
    if all == 0 { String::new() } else { format!("{completed}/{all}{}", not_completed(lang, counts)) }
}

/// `2/7 done, 1 failed`, where it stands alone.
fn done(lang: Lang, counts: TaskCounts) -> String {
    let (completed, all) = (counts.completed, counts.all());
    if all == 0 {
        return String::new();
    }
    let rest = not_completed(lang, counts);
    say!(lang, "{completed}/{all} done{rest}", "{completed}/{all} 完了{rest}")
}

fn not_completed(lang: Lang, counts: TaskCounts) -> String {
    let mut text = String::new();
    let (failed, cancelled) = (counts.failed, counts.cancelled);
    if failed > 0 {
        text.push_str(&say!(lang, ", {failed} failed", "、{failed} 失敗"));
    }
    if cancelled > 0 {
        text.push_str(&say!(lang, ", {cancelled} cancelled", "、{cancelled} 取り消し"));
    }
    text
}

fn phase_head(lang: Lang, phase: &PhaseView, command: &CommandView) -> String {
    let name = &phase.name;
    let kind = match phase.kind {
        PhaseType::Concrete => "concrete",
        PhaseType::Deferred => "deferred",
    };
    let state = stage::phase(lang, phase.state);
    let mut text = format!("{name} ({kind}): {state}");
    let counted = done(lang, phase.counts);
    if !counted.is_empty() {
        text.push_str(&say!(lang, ", {counted}", "、{counted}"));
    }
    let before: Vec<&str> = phase.depends_on.iter().filter_map(|id| phase_name(command, id)).collect();
    if !before.is_empty() {
        let before = before.join(", ");
        text.push_str(&say!(lang, ", after {before}", "、{before} の後"));
    }
    text
}

fn phase_name<'c>(command: &'c CommandView, id: &dandori_domain::PhaseId) -> Option<&'c str> {
    command.phases.iter().find(|phase| phase.id == *id).map(|phase| phase.name.as_str())
}

fn phase_body(lang: Lang, plan: &PlanView, phase: &PhaseView, screen: Option<usize>) -> Vec<String> {
    let own: Vec<&PlanTaskView> = current(plan).filter(|task| task.phase == Some(phase.id)).collect();
    if !own.is_empty() {
        return tasks(lang, plan, &own, screen);
    }
    vec![not_planned(lang, phase)]
}

/// What stands in a phase that has no tasks.
pub(super) fn not_planned(lang: Lang, phase: &PhaseView) -> String {
    let most = phase.max_tasks.unwrap_or(0);
    match phase.state {
        PhaseStage::Cancelled | PhaseStage::TimedOut | PhaseStage::Failed | PhaseStage::Completed => {
            say!(lang, "no tasks", "タスクなし")
        }
        PhaseStage::Pending | PhaseStage::AwaitingFill | PhaseStage::Active => {
            say!(lang, "not planned yet, at most {most} tasks", "タスクは未定 (最大 {most} 個)")
        }
    }
}

/// A head over lines that belong to it.
fn block(head: &str, body: Vec<String>, screen: Option<usize>) -> Vec<String> {
    let room = screen.map_or(usize::MAX, |screen| screen.saturating_sub(2));
    let mut lines: Vec<String> = wrap(&plain_line(head), room)
        .into_iter()
        .enumerate()
        .map(|(i, line)| if i == 0 { format!("┌ {line}") } else { format!("│ {line}") })
        .collect();
    lines.extend(body.into_iter().map(|line| format!("│ {line}").trim_end().to_owned()));
    lines.push("└".to_owned());
    lines
}

fn tasks(lang: Lang, plan: &PlanView, own: &[&PlanTaskView], screen: Option<usize>) -> Vec<String> {
    let layers = layers(own);
    let mut sorted: Vec<(usize, &PlanTaskView)> =
        own.iter().map(|task| (layers.get(&task.id).copied().unwrap_or(0), *task)).collect();
    sorted.sort_by_key(|(layer, _)| *layer);
    let room = screen.map(|screen| screen.saturating_sub(2));
    let fits = |lines: &[String]| room.is_none_or(|room| lines.iter().all(|line| width(line) <= room));
    let mut lines = Vec::new();
    // A name is worth more than who has the task, and that more than the model.
    for detail in [Detail::Model, Detail::Worker, Detail::Neither, Detail::ShortNames] {
        lines = table(lang, plan, &sorted, detail).lines(room).into_iter().skip(1).collect();
        if fits(&lines) {
            return lines;
        }
    }
    lines.into_iter().map(|line| fit(&line, room.unwrap_or(usize::MAX))).collect()
}

/// How much is said about a task and who does it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    ShortNames,
    Neither,
    Worker,
    Model,
}

fn table(lang: Lang, plan: &PlanView, sorted: &[(usize, &PlanTaskView)], detail: Detail) -> Table {
    let table = Table::default().rank([0, 0, 0, 1, 2, 0]).wrapping();
    let mut table = if detail == Detail::ShortNames { table.shrink(1, 14) } else { table };
    table.row([""; 6]);
    let mut last = None;
    for (layer, task) in sorted {
        let shown = if last == Some(layer) { String::new() } else { (layer + 1).to_string() };
        last = Some(layer);
        let who = task.worker.map_or_else(|| "dandori".to_owned(), |worker| worker.to_string());
        table.row([
            shown,
            format!("{} {}", stage::sign(task.state), plain_line(&task.name)),
            stage::task(lang, task.state).to_owned(),
            if detail >= Detail::Worker { who } else { String::new() },
            task.model.clone().filter(|_| detail == Detail::Model).unwrap_or_default(),
            notes(lang, plan, task),
        ]);
    }
    table
}

/// What a task waits for, and what is special about it.
fn notes(lang: Lang, plan: &PlanView, task: &PlanTaskView) -> String {
    let mut notes = Vec::new();
    let before = waits_for(plan, task);
    if !before.is_empty() {
        notes.push(before);
    }
    if !task.required {
        notes.push(say!(lang, "optional", "任意"));
    }
    if task.retry_of.is_some() {
        notes.push(say!(lang, "retry", "再試行"));
    }
    let repairs = task.repairs;
    if repairs > 0 {
        notes.push(say!(lang, "repair {repairs}", "修正 {repairs} 回目"));
    }
    notes.join(" · ")
}

/// `← a, b`
fn waits_for(plan: &PlanView, task: &PlanTaskView) -> String {
    let name = |id: &TaskId| plan.tasks.iter().find(|other| other.id == *id).map(|other| plain_line(&other.name));
    let names: Vec<String> = task.blocked_by.iter().filter_map(name).collect();
    // Everything: naming each says nothing.
    if task.worker.is_none() || names.is_empty() { String::new() } else { format!("← {}", names.join(", ")) }
}

/// Tasks that count: what was replaced is history.
pub(super) fn current(plan: &PlanView) -> impl Iterator<Item = &PlanTaskView> {
    plan.tasks.iter().filter(|task| task.replaced_by.is_none())
}

/// How many others stand before each, on the longest way.
fn layers(tasks: &[&PlanTaskView]) -> BTreeMap<TaskId, usize> {
    let mut layers: BTreeMap<TaskId, usize> = tasks.iter().map(|task| (task.id, 0)).collect();
    // A plan has no circles; if one did, this ends all the same.
    for _ in 0..tasks.len() {
        let mut changed = false;
        for task in tasks {
            let before = task.blocked_by.iter().filter_map(|id| layers.get(id)).max();
            let layer = before.map_or(0, |before| before + 1);
            if layers.get(&task.id).is_some_and(|known| *known != layer) {
                layers.insert(task.id, layer);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    layers
}
