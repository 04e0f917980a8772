//! The pull request of an order: what was asked for, and what each task did.

use dandori_domain::wording::title;
use dandori_formation::{Command, Outcome, ResultRow, Task};

use crate::Lang;
use crate::lang::say;

#[derive(Clone, Copy, Debug)]
pub struct OrderDone<'p> {
    pub command: &'p Command,
    pub summary: &'p str,
    pub tasks: &'p [(Task, Option<ResultRow>)],
}

/// A title, a blank line, the body.
pub fn pull(lang: Lang, given: OrderDone<'_>) -> String {
    let OrderDone { command, summary, tasks } = given;
    let mut lines = vec![title(&command.content), String::new(), summary.trim().to_owned(), String::new()];
    lines.extend([format!("## {}", say!(lang, "Tasks", "タスク")), String::new()]);
    for (task, result) in tasks {
        let mark = if result.as_ref().is_some_and(|r| r.outcome == Outcome::Completed) { "x" } else { " " };
        let said = result.as_ref().map(|r| r.report.summary.trim().replace('\n', " ")).unwrap_or_default();
        lines.push(format!("- [{mark}] **{}**: {said}", task.name));
    }
    if title(&command.content) != command.content.trim() {
        lines.extend([String::new(), format!("## {}", say!(lang, "Order", "依頼")), String::new()]);
        lines.extend(command.content.trim().lines().map(|line| format!("> {line}")));
    }
    lines.extend([String::new(), format!("Dandori-Command: {}", command.id), String::new()]);
    lines.join("\n")
}
