//! What time alone brings about: deadlines, and planners that have to be told again.

use dandori_domain::CommandId;

use super::phases::time_out;
use super::tell::wake_planner;
use super::verify::give_up;
use super::{Step, require_task};
use crate::ledger::Ledger;
use crate::phase::PhaseState;
use crate::rules::after;
use crate::task::TaskState;

/// Looks at a command that is not over. Safe at any time and any number of times.
pub fn scan<L: Ledger>(ledger: &mut L, step: &mut Step<'_>, command: CommandId) -> Result<(), L::Error> {
    for task in ledger.paused_tasks(command)? {
        let task = require_task(ledger, task)?;
        if let TaskState::PausedForReplan { since, .. } = task.state
            && after(since, step.rules.replan_seconds) <= step.now
        {
            give_up(ledger, step, &task)?;
        }
    }
    for phase in ledger.phases(command)? {
        if matches!(phase.state, PhaseState::AwaitingFill { deadline } if deadline < step.now) {
            time_out(ledger, step, phase)?;
        }
    }
    wake_planner(ledger, step, command)
}
