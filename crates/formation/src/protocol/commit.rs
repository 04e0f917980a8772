//! dandori has taken its own step: what was to be committed is, or there was nothing.

use dandori_domain::TaskId;

use super::settle::{End, end_task};
use super::{Refused, Step, require_task};
use crate::ledger::Ledger;
use crate::result::{Author, Of, Outcome, Report, Reported, ResultRow, Told};
use crate::task::TaskState;

pub fn committed<L: Ledger>(ledger: &mut L, step: &mut Step<'_>, task: TaskId, summary: &str) -> Result<(), L::Error> {
    let task = require_task(ledger, task)?;
    if !task.is_system() || task.state != TaskState::Ready || !task.is_current() {
        return Err(Refused::TaskOver { task: task.id, state: task.state.name().to_owned() }.into());
    }
    let result = ResultRow {
        id: step.mint.result(),
        command: task.command,
        of: Of::Task(task.id),
        by: Author::Engine,
        outcome: Outcome::Completed,
        report: Report {
            outcome: Reported::Completed,
            summary: summary.to_owned(),
            files_changed: Vec::new(),
            partial_changes: false,
            retry_safe: true,
            exit_code: None,
            work: None,
        },
        at: step.now,
        applied: true,
        told: Told::NotYet,
    };
    ledger.put_result(&result)?;
    end_task(ledger, step, task.id, result.id, End::Completed)
}
