//! A deferred phase gets its tasks: once, in time, and within what the plan allowed.

use dandori_domain::CommandId;

use super::submit::{Crewing, Submitted, SubmittedPhase, add_tasks};
use super::{Refused, Step, require_command};
use crate::assign::Crew;
use crate::command::CommandState;
use crate::ledger::Ledger;
use crate::message::Delivery;
use crate::phase::{PhaseKind, PhaseState};
use crate::plan::PlannedTask;

/// The tasks have been checked ([`crate::plan::check_fill`]).
pub fn fill<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    command: CommandId,
    phase: &str,
    tasks: &[PlannedTask],
    crew: &Crew,
) -> Result<Submitted, L::Error> {
    let mut command = require_command(ledger, command)?;
    match &command.state {
        CommandState::Sealed { .. } if command.cancel.is_some() => {
            return Err(Refused::Cancelling { command: command.id }.into());
        }
        CommandState::Sealed { .. } => {}
        CommandState::Queued => return Err(Refused::NotSubmitted { command: command.id }.into()),
        over @ CommandState::Over { .. } => {
            return Err(Refused::Over { command: command.id, state: over.name().to_owned() }.into());
        }
    }
    let found = ledger.phases(command.id)?.into_iter().find(|known| known.name == phase);
    let mut phase = found.ok_or_else(|| Refused::UnknownPhase { name: phase.to_owned() })?;
    let PhaseState::AwaitingFill { deadline } = phase.state else {
        return Err(Refused::NotAwaitingFill { phase: phase.id, state: phase.state.name().to_owned() }.into());
    };
    if step.now > deadline {
        return Err(Refused::TooLate { phase: phase.id }.into());
    }
    let known = ledger.tasks(command.id)?;
    if let Some(taken) = tasks.iter().find(|task| known.iter().any(|known| known.name == task.name)) {
        return Err(Refused::NameTaken { name: taken.name.clone() }.into());
    }
    let mut crewing = Crewing::begin(ledger, crew)?;
    phase.state = PhaseState::Active;
    if let PhaseKind::Deferred { is_filled, .. } = &mut phase.kind {
        *is_filled = true;
    }
    let listed = add_tasks(ledger, step, &mut command, Some(&mut phase), tasks, &mut crewing)?;
    crewing.check(step)?;
    ledger.put_phase(&phase)?;
    ledger.put_command(&command)?;
    for mut message in ledger.open_messages(command.id)? {
        if matches!(message.kind, crate::message::MessageKind::Fill { phase: of, .. } if of == phase.id) {
            message.delivery = Delivery::Completed { at: step.now };
            ledger.put_message(&message)?;
        }
    }
    let listed = SubmittedPhase {
        name: phase.name.clone(),
        phase_id: phase.id,
        kind: phase.kind.name().to_owned(),
        status: phase.state.name().to_owned(),
        tasks: Some(listed),
    };
    Ok(Submitted { command_id: command.id, tasks: None, phases: Some(vec![listed]) })
}
