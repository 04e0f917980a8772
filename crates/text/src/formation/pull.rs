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
    let mut text = format!("{}\n\n{}\n", title(&command.content), summary.trim());
    let heading = say!(lang, "Tasks", "タスク");
    text.push_str(&format!("\n## {heading}\n\n"));
    for (task, result) in tasks {
        let mark = if result.as_ref().is_some_and(|r| r.outcome == Outcome::Completed) { "x" } else { " " };
        let said = result.as_ref().map(|r| r.report.summary.trim().replace('\n', " ")).unwrap_or_default();
        text.push_str(&format!("- [{mark}] **{}**: {said}\n", task.name));
    }
    if title(&command.content) != command.content.trim() {
        let heading = say!(lang, "Order", "依頼");
        let quoted: String = command.content.trim().lines().map(|line| format!("> {line}\n")).collect();
        text.push_str(&format!("\n## {heading}\n\n{quoted}"));
    }
    text.push_str(&format!("\nDandori-Command: {}\n", command.id));
    text
}
