//! What people type for a run of a task. Tasks and runs in general are found by the store
//! (`store::verb::find`), which knows all of them.

use dandori_api::{RunView, TaskView};

/// The run of this task that was named by itself and not by the task: its key or id, as much of them as no other of the task
/// shares, or its branch.
pub(crate) fn run_among<'t>(task: &'t TaskView, text: &str) -> Option<&'t RunView> {
    let text = text.trim();
    let is_task = [&task.number, &task.id].iter().any(|name| name.eq_ignore_ascii_case(text))
        || text.trim_start_matches('#').eq_ignore_ascii_case(task.number.trim_start_matches("T-"));
    if is_task || text.is_empty() {
        return None;
    }
    let part = text.strip_prefix("dandori/").unwrap_or(text).to_ascii_lowercase();
    let is_meant = |run: &&RunView| run.key.starts_with(&part) || run.id.starts_with(&part) || run.key.ends_with(&part);
    let mut on_branch = task.runs.iter().rev().filter(|run| run.branch.as_deref() == Some(text));
    let mut fitting = task.runs.iter().filter(is_meant);
    match (on_branch.next(), fitting.next(), fitting.next()) {
        (Some(newest), _, _) => Some(newest),
        (None, one, None) => one,
        (None, ..) => None,
    }
}
