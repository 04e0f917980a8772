//! A command is complete when its plan is. What it has come to follows from its tasks and phases; nobody says it.

use dandori_domain::{CommandId, ResultId, TaskId};
use serde::{Deserialize, Serialize};

use super::order::send;
use super::settle::stand_in;
use super::{Effect, Refused, Step, require_command};
use crate::agent::AgentId;
use crate::command::{Command, CommandState};
use crate::ledger::Ledger;
use crate::message::{Delivery, MessageKind};
use crate::phase::PhaseState;
use crate::result::{Author, Of, Outcome, Report, Reported, ResultRow, Told};
use crate::task::{CancelCause, TaskState};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Completed {
    pub command_id: CommandId,
    pub status: Outcome,
    pub result_id: ResultId,
}

/// What is still open.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Unfinished {
    /// How many required tasks.
    pub tasks: u32,
    pub phases: Vec<String>,
}

/// What the command has come to, if it is complete.
pub fn can_complete<L: Ledger>(ledger: &mut L, command: &Command) -> Result<Result<Outcome, Unfinished>, L::Error> {
    let phases = ledger.phases(command.id)?;
    let open: Vec<String> = phases.iter().filter(|p| !p.state.is_over()).map(|p| p.name.clone()).collect();
    let Some(outcome) = command.tally.outcome().filter(|_| open.is_empty()) else {
        return Ok(Err(Unfinished { tasks: command.tally.open, phases: open }));
    };
    let has = |is: fn(&PhaseState) -> bool| phases.iter().any(|phase| is(&phase.state));
    let has_failed = outcome == Outcome::Failed || has(|s| matches!(s, PhaseState::Failed | PhaseState::TimedOut));
    let is_cancelled = outcome == Outcome::Cancelled || has(|s| matches!(s, PhaseState::Cancelled { .. }));
    Ok(Ok(if has_failed {
        Outcome::Failed
    } else if is_cancelled {
        Outcome::Cancelled
    } else {
        Outcome::Completed
    }))
}

/// `plan complete`: writes nothing when it may not be.
pub fn complete<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    command: CommandId,
    summary: &str,
    by: Author,
) -> Result<Completed, L::Error> {
    let command = require_command(ledger, command)?;
    match &command.state {
        CommandState::Queued => return Err(Refused::NotSubmitted { command: command.id }.into()),
        CommandState::Over { outcome, result: Some(result), .. } => {
            return Ok(Completed { command_id: command.id, status: *outcome, result_id: *result });
        }
        over @ CommandState::Over { .. } => {
            return Err(Refused::Over { command: command.id, state: over.name().to_owned() }.into());
        }
        CommandState::Sealed { .. } => {}
    }
    if summary.trim().is_empty() {
        return Err(Refused::Empty.into());
    }
    if let Err(unfinished) = can_complete(ledger, &command)? {
        let tasks = ledger.tasks(command.id)?;
        let tasks = tasks.iter().filter(|task| task.required && task.is_current() && !task.state.is_over());
        let tasks = tasks.map(|task| format!("{} ({})", task.name, task.state.name())).collect();
        return Err(Refused::NotComplete { tasks, phases: unfinished.phases }.into());
    }
    finish(ledger, step, command, summary, by)
}

/// The command is over, and the orchestrator is told: in the same step, so that neither is ever without the other.
pub(super) fn finish<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    mut command: Command,
    summary: &str,
    by: Author,
) -> Result<Completed, L::Error> {
    let outcome = match can_complete(ledger, &command)? {
        Ok(outcome) => outcome,
        Err(unfinished) => {
            return Err(Refused::NotComplete { tasks: Vec::new(), phases: unfinished.phases }.into());
        }
    };
    drop_the_rest(ledger, step, &mut command)?;
    let result = end_command(ledger, step, &mut command, outcome, summary, by)?;
    Ok(Completed { command_id: command.id, status: outcome, result_id: result })
}

/// Writes its result and sends the notice, whatever it has come to.
pub(super) fn end_command<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    command: &mut Command,
    outcome: Outcome,
    summary: &str,
    by: Author,
) -> Result<ResultId, L::Error> {
    let result = ResultRow {
        id: step.mint.result(),
        command: command.id,
        of: Of::Command,
        by,
        outcome,
        report: Report {
            outcome: if outcome == Outcome::Completed { Reported::Completed } else { Reported::Failed },
            summary: summary.to_owned(),
            files_changed: Vec::new(),
            partial_changes: false,
            retry_safe: true,
            exit_code: None,
            work: None,
        },
        at: step.now,
        applied: true,
        told: Told::Told,
    };
    ledger.put_result(&result)?;
    command.state = CommandState::Over { at: step.now, outcome, result: Some(result.id) };
    ledger.put_command(command)?;
    for mut message in ledger.open_messages(command.id)? {
        message.delivery = Delivery::Cancelled { at: step.now };
        ledger.put_message(&message)?;
    }
    let kind = MessageKind::Notice { command: command.id, source: result.id };
    send(ledger, step, AgentId::Orchestrator, kind, 0, format!("notice:{}", result.id))?;
    let continuous = ledger.continuous()?;
    let counted = continuous.count(command.id, outcome);
    if counted != continuous {
        ledger.put_continuous(&counted)?;
    }
    step.effect(Effect::Over { command: command.id });
    Ok(result.id)
}

/// What was not required and is not done is no longer wanted.
fn drop_the_rest<L: Ledger>(ledger: &mut L, step: &mut Step<'_>, command: &mut Command) -> Result<(), L::Error> {
    if command.open == 0 {
        return Ok(());
    }
    let open: Vec<TaskId> =
        ledger.tasks(command.id)?.iter().filter(|t| t.is_current() && !t.state.is_over()).map(|t| t.id).collect();
    for id in open {
        let Some(mut task) = ledger.task(id)? else { continue };
        if let TaskState::Dispatched { epoch } | TaskState::Running { epoch } = task.state {
            step.effect(Effect::Interrupt { task: id, epoch });
        }
        let result = stand_in(ledger, step, &task, Outcome::Cancelled, "not required, and the command is complete")?;
        task.state = TaskState::Cancelled { result, cause: CancelCause::NotRequired };
        ledger.put_task(&task)?;
        command.open = command.open.saturating_sub(1);
    }
    Ok(())
}
