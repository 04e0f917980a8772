//! What somebody handed over, as the next one reads it.

use dandori_formation::result::Author;
use dandori_formation::{Outcome, ResultRow, Task};

use crate::Lang;
use crate::lang::say;

/// A task with what came back from it.
#[derive(Clone, Copy, Debug)]
pub struct Handoff<'h> {
    pub task: &'h Task,
    pub result: &'h ResultRow,
}

impl Handoff<'_> {
    /// Its name, how it went and who did it, then its summary and what it touched below.
    pub(super) fn said(&self, lang: Lang) -> String {
        let (name, id, outcome) = (&self.task.name, self.task.id, self.result.outcome.name());
        let mut text = match self.result.by {
            Author::Agent(agent) => format!("{name} ({id}, {agent}): {outcome}"),
            Author::Engine => format!("{name} ({id}, dandori): {outcome}"),
        };
        let report = &self.result.report;
        let mut below = |line: &str| {
            text.push('\n');
            text.push_str(line);
        };
        report.summary.trim().lines().for_each(&mut below);
        if !report.files_changed.is_empty() {
            let files = report.files_changed.join(", ");
            below(&format!("files_changed: {files}"));
        }
        if self.result.outcome != Outcome::Completed {
            if let Some(code) = report.exit_code {
                below(&format!("exit_code: {code}"));
            }
            if report.partial_changes {
                below(&say!(
                    lang,
                    "partial_changes: it may have left changes behind",
                    "partial_changes: 変更が途中まで残っている可能性があります"
                ));
            }
            if !report.retry_safe {
                below(&say!(
                    lang,
                    "retry_safe: no, doing it again could do harm",
                    "retry_safe: いいえ。もう一度行うと問題が起きる可能性があります"
                ));
            }
        }
        text
    }
}
