//! How a phase goes on: over when its tasks are, filled when those it depends on are completed, cancelled when one of them is not.

use dandori_domain::{CommandId, PhaseId};

use super::order::send;
use super::settle::let_go;
use super::{Step, require_command};
use crate::agent::AgentId;
use crate::ledger::Ledger;
use crate::message::{Delivery, MessageKind};
use crate::phase::{Phase, PhaseKind, PhaseState};
use crate::result::Outcome;
use crate::rules::after;
use crate::task::TaskState;

/// The counts of a phase have changed.
pub(super) fn phase_changed<L: Ledger>(ledger: &mut L, step: &mut Step<'_>, phase: PhaseId) -> Result<(), L::Error> {
    let Some(mut phase) = ledger.phase(phase)? else { return Ok(()) };
    let (PhaseState::Active, Some(outcome)) = (&phase.state, phase.tally.outcome()) else { return Ok(()) };
    phase.state = match outcome {
        Outcome::Completed => PhaseState::Completed,
        Outcome::Failed => PhaseState::Failed,
        Outcome::Cancelled => PhaseState::Cancelled { because_of: None },
    };
    ledger.put_phase(&phase)?;
    follow(ledger, step, phase.command)
}

/// Nobody has filled it in time, or nobody could be asked to.
pub(super) fn time_out<L: Ledger>(ledger: &mut L, step: &mut Step<'_>, mut phase: Phase) -> Result<(), L::Error> {
    phase.state = PhaseState::TimedOut;
    ledger.put_phase(&phase)?;
    drop_fill(ledger, step, &phase)?;
    follow(ledger, step, phase.command)
}

/// What the states of a command's phases mean for those that depend on them, until nothing changes any more.
pub(super) fn follow<L: Ledger>(ledger: &mut L, step: &mut Step<'_>, command: CommandId) -> Result<(), L::Error> {
    loop {
        let phases = ledger.phases(command)?;
        let state_of = |id: &PhaseId| phases.iter().find(|phase| phase.id == *id).map(|phase| &phase.state);
        let next = phases.iter().filter(|phase| phase.state == PhaseState::Pending).find_map(|phase| {
            let fallen = phase
                .depends_on
                .iter()
                .find(|id| state_of(id).is_some_and(|state| state.is_over() && *state != PhaseState::Completed));
            let is_ready = phase.depends_on.iter().all(|id| state_of(id) == Some(&PhaseState::Completed));
            match fallen {
                Some(because_of) => Some((phase.clone(), Some(*because_of))),
                None => is_ready.then(|| (phase.clone(), None)),
            }
        });
        match next {
            None => break,
            Some((mut phase, Some(because_of))) => {
                phase.state = PhaseState::Cancelled { because_of: Some(because_of) };
                ledger.put_phase(&phase)?;
            }
            Some((phase, None)) => ask_for_tasks(ledger, step, phase)?,
        }
    }
    release_commit_step(ledger, step, command)
}

fn ask_for_tasks<L: Ledger>(ledger: &mut L, step: &mut Step<'_>, mut phase: Phase) -> Result<(), L::Error> {
    let minutes = match &phase.kind {
        PhaseKind::Deferred { constraints, .. } => constraints.timeout_minutes,
        PhaseKind::Concrete => 0,
    };
    let deadline = after(step.now, i64::from(minutes) * 60);
    phase.state = PhaseState::AwaitingFill { deadline };
    ledger.put_phase(&phase)?;
    let command = require_command(ledger, phase.command)?;
    if command.cancel.is_none() {
        let kind = MessageKind::Fill { command: phase.command, phase: phase.id };
        // Asked for once each time it comes to that: a phase that was cancelled can come back.
        let key = format!("fill:{}:{}", phase.id, deadline.as_millisecond());
        send(ledger, step, AgentId::Planner, kind, command.priority, key)?;
    }
    Ok(())
}

pub(super) fn drop_fill<L: Ledger>(ledger: &mut L, step: &mut Step<'_>, phase: &Phase) -> Result<(), L::Error> {
    for mut message in ledger.open_messages(phase.command)? {
        if matches!(message.kind, MessageKind::Fill { phase: of, .. } if of == phase.id) {
            message.delivery = Delivery::Cancelled { at: step.now };
            ledger.put_message(&message)?;
        }
    }
    Ok(())
}

/// The commit step of a plan with phases waits for all of them, however they ended.
fn release_commit_step<L: Ledger>(ledger: &mut L, step: &mut Step<'_>, command: CommandId) -> Result<(), L::Error> {
    let phases = ledger.phases(command)?;
    if phases.is_empty() || phases.iter().any(|phase| !phase.state.is_over()) {
        return Ok(());
    }
    let waiting = ledger.tasks(command)?.into_iter().find(|task| task.is_system() && task.state == TaskState::Planned);
    if let Some(mut task) = waiting {
        task.state = TaskState::Ready;
        ledger.put_task(&task)?;
        let_go(ledger, step, &task)?;
    }
    Ok(())
}
