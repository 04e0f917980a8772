//! A failed task is replaced by another, and what was cancelled because of it comes back.
//!
//! Nothing that is over changes: the new tasks have ids of their own, and the old ones say what stands in their place.

use std::collections::BTreeMap;

use dandori_domain::{CommandId, TaskId};
use serde::{Deserialize, Serialize};

use super::phases::follow;
use super::settle::{let_go, stand_in};
use super::submit::{Crewing, add_task};
use super::{Refused, Step, require_command, require_task};
use crate::agent::AgentId;
use crate::assign::Crew;
use crate::command::CommandState;
use crate::ledger::Ledger;
use crate::phase::PhaseState;
use crate::result::Outcome;
use crate::task::{Brief, CancelCause, Doer, Task, TaskState};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewRetry {
    pub of: TaskId,
    pub brief: Brief,
    pub bloom_level: u8,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Retried {
    pub task_id: TaskId,
    pub worker: Option<AgentId>,
    pub model: Option<String>,
    pub replaced: TaskId,
    pub cascade_recovered: Vec<RetriedTask>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RetriedTask {
    pub task_id: TaskId,
    pub worker: Option<AgentId>,
    pub model: Option<String>,
    pub replaced: TaskId,
}

pub fn add_retry<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    command: CommandId,
    new: &NewRetry,
    crew: &Crew,
) -> Result<Retried, L::Error> {
    let command_row = require_command(ledger, command)?;
    match &command_row.state {
        CommandState::Queued => return Err(Refused::NotSubmitted { command }.into()),
        over @ CommandState::Over { .. } => {
            return Err(Refused::Over { command, state: over.name().to_owned() }.into());
        }
        CommandState::Sealed { .. } if command_row.cancel.is_some() => {
            return Err(Refused::Cancelling { command }.into());
        }
        CommandState::Sealed { .. } => {}
    }
    let task = require_task(ledger, new.of)?;
    if task.command != command {
        return Err(Refused::UnknownTask { task: new.of }.into());
    }
    if let Some(by) = task.replaced_by {
        return Err(Refused::Replaced { task: task.id, by }.into());
    }
    let is_paused = matches!(task.state, TaskState::PausedForReplan { .. });
    if task.is_system() || !(is_paused || matches!(task.state, TaskState::Failed { .. })) {
        return Err(Refused::NotFailed { task: task.id, state: task.state.name().to_owned() }.into());
    }
    require_phase_open(ledger, &task)?;
    if is_paused {
        // It ends as failed, and is replaced in the same step: nobody who waits for it hears of it.
        let why = task.misfit.clone().unwrap_or_default();
        let result = stand_in(ledger, step, &task, Outcome::Failed, &why)?;
        count(ledger, &task, None, Some(Outcome::Failed))?;
        let mut failed = task.clone();
        failed.state = TaskState::Failed { result };
        ledger.put_task(&failed)?;
    }
    let mut fallen = fallen_with(ledger, &task)?;
    let commit_step = ledger.tasks(command)?.into_iter().find(|other| other.is_system() && other.is_current());
    if let Some(mut commit_step) = commit_step
        && !fallen.contains(&commit_step.id)
    {
        // What was committed without this task is committed again with it.
        if commit_step.state.is_over() {
            fallen.push(commit_step.id);
        } else if commit_step.state == TaskState::Ready {
            commit_step.state = TaskState::Planned;
            ledger.put_task(&commit_step)?;
        }
    }
    let mut crewing = Crewing::begin(ledger, crew)?;
    let mut replaced: BTreeMap<TaskId, TaskId> = BTreeMap::new();
    let mut made = Vec::new();
    let old = require_task(ledger, task.id)?;
    made.push(replace(ledger, step, &old, &new.brief, new.bloom_level, &mut replaced, &mut crewing)?);
    for id in fallen {
        let old = require_task(ledger, id)?;
        let brief = ledger.brief(id)?;
        made.push(replace(ledger, step, &old, &brief, old.bloom_level, &mut replaced, &mut crewing)?);
    }
    crewing.check(step)?;
    repoint(ledger, step, command, &replaced, &made)?;
    reopen_phase(ledger, &task)?;
    follow(ledger, step, command)?;
    let mut listed = made.into_iter().map(|(new, old)| RetriedTask {
        task_id: new.id,
        worker: new.doer.worker(),
        model: new.model,
        replaced: old,
    });
    let Some(first) = listed.next() else { return Err(Refused::UnknownTask { task: new.of }.into()) };
    Ok(Retried {
        task_id: first.task_id,
        worker: first.worker,
        model: first.model,
        replaced: first.replaced,
        cascade_recovered: listed.collect(),
    })
}

fn require_phase_open<L: Ledger>(ledger: &mut L, task: &Task) -> Result<(), L::Error> {
    let Some(phase) = task.phase.map(|phase| ledger.phase(phase)).transpose()?.flatten() else { return Ok(()) };
    match phase.state {
        PhaseState::Active | PhaseState::Failed => Ok(()),
        state => Err(Refused::PhaseClosed { task: task.id, state: state.name().to_owned() }.into()),
    }
}

/// Everything that was cancelled because this task did not complete, in the order of the plan.
fn fallen_with<L: Ledger>(ledger: &mut L, task: &Task) -> Result<Vec<TaskId>, L::Error> {
    let mut found: Vec<(u32, TaskId)> = Vec::new();
    let mut open = vec![task.id];
    while let Some(of) = open.pop() {
        for id in ledger.dependents(of)? {
            let dependent = require_task(ledger, id)?;
            let fell_with = matches!(
                &dependent.state,
                TaskState::Cancelled { cause: CancelCause::BlockedDependencyTerminal { task }, .. } if *task == of
            );
            if fell_with && dependent.is_current() && !found.iter().any(|(_, known)| *known == id) {
                found.push((dependent.ordinal, id));
                open.push(id);
            }
        }
    }
    found.sort_unstable();
    Ok(found.into_iter().map(|(_, id)| id).collect())
}

fn replace<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    old: &Task,
    brief: &Brief,
    bloom_level: u8,
    replaced: &mut BTreeMap<TaskId, TaskId>,
    crewing: &mut Crewing<'_>,
) -> Result<(Task, TaskId), L::Error> {
    let (doer, model) = if old.is_system() {
        (Doer::System, None)
    } else {
        let (worker, model) = crewing.assign(&old.name, bloom_level, brief)?;
        (Doer::Worker(worker), model)
    };
    let task = Task {
        id: step.mint.task(),
        bloom_level,
        doer,
        model,
        waits_for: 0,
        state: TaskState::Planned,
        repairs: 0,
        misfit: None,
        retry_of: Some(old.id),
        replaced_by: None,
        ..old.clone()
    };
    ledger.put_brief(task.id, brief)?;
    let mut old_row = old.clone();
    old_row.replaced_by = Some(task.id);
    ledger.put_task(&old_row)?;
    count(ledger, old, outcome_of(old), None)?;
    replaced.insert(old.id, task.id);
    Ok((task, old.id))
}

fn outcome_of(task: &Task) -> Option<Outcome> {
    match task.state {
        TaskState::Completed { .. } => Some(Outcome::Completed),
        TaskState::Failed { .. } => Some(Outcome::Failed),
        TaskState::Cancelled { .. } => Some(Outcome::Cancelled),
        _ => None,
    }
}

/// Moves a task from one count to another, in its command and its phase.
fn count<L: Ledger>(ledger: &mut L, task: &Task, from: Option<Outcome>, to: Option<Outcome>) -> Result<(), L::Error> {
    let mut command = require_command(ledger, task.command)?;
    command.open = match (from, to) {
        (None, Some(_)) => command.open.saturating_sub(1),
        (Some(_), None) => command.open + 1,
        _ => command.open,
    };
    if task.required {
        command.tally.take(from);
        command.tally.add(to);
    }
    ledger.put_command(&command)?;
    if let Some(mut phase) = task.phase.map(|phase| ledger.phase(phase)).transpose()?.flatten()
        && phase.counts(task.required)
    {
        phase.tally.take(from);
        phase.tally.add(to);
        ledger.put_phase(&phase)?;
    }
    Ok(())
}

/// Everything that waited for what was replaced waits for what stands in its place.
fn repoint<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    command: CommandId,
    replaced: &BTreeMap<TaskId, TaskId>,
    made: &[(Task, TaskId)],
) -> Result<(), L::Error> {
    let at_new = |id: &TaskId| replaced.get(id).copied().unwrap_or(*id);
    let command_row = require_command(ledger, command)?;
    for (task, _) in made {
        let mut task = task.clone();
        task.blocked_by = task.blocked_by.iter().map(at_new).collect();
        task.waits_for = unfinished(ledger, &task.blocked_by)?;
        if task.waits_for == 0 && !(task.is_system() && has_phases(ledger, command)?) {
            task.state = TaskState::Ready;
        }
        add_task(ledger, step, &command_row, &task)?;
        if task.is_system() && task.state == TaskState::Ready {
            let_go(ledger, step, &task)?;
        }
    }
    for old in replaced.keys() {
        for id in ledger.dependents(*old)? {
            let mut waiting = require_task(ledger, id)?;
            if waiting.is_current() && !waiting.state.is_over() {
                waiting.blocked_by = waiting.blocked_by.iter().map(at_new).collect();
                waiting.waits_for = unfinished(ledger, &waiting.blocked_by)?;
                ledger.put_task(&waiting)?;
            }
        }
    }
    Ok(())
}

fn has_phases<L: Ledger>(ledger: &mut L, command: CommandId) -> Result<bool, L::Error> {
    Ok(!ledger.phases(command)?.is_empty())
}

fn unfinished<L: Ledger>(ledger: &mut L, tasks: &[TaskId]) -> Result<u32, L::Error> {
    let mut count = 0;
    for id in tasks {
        // One that is made in this step and not written yet is not completed either.
        count += u32::from(!ledger.task(*id)?.is_some_and(|task| task.state.is_completed()));
    }
    Ok(count)
}

/// A failed phase goes on, and those that were cancelled because of it wait again.
fn reopen_phase<L: Ledger>(ledger: &mut L, task: &Task) -> Result<(), L::Error> {
    let Some(mut phase) = task.phase.map(|phase| ledger.phase(phase)).transpose()?.flatten() else { return Ok(()) };
    // A task that does not count for its phase does not open it either.
    if phase.state != PhaseState::Failed || phase.tally.open == 0 {
        return Ok(());
    }
    phase.state = PhaseState::Active;
    ledger.put_phase(&phase)?;
    let mut healed = vec![phase.id];
    while let Some(because) = healed.pop() {
        for mut later in ledger.phases(phase.command)? {
            if later.state == (PhaseState::Cancelled { because_of: Some(because) }) {
                later.state = PhaseState::Pending;
                ledger.put_phase(&later)?;
                healed.push(later.id);
            }
        }
    }
    Ok(())
}
