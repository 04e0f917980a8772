//! A plan is submitted: all of it becomes rows, or nothing does. Nobody ever sees half a plan.

use std::collections::BTreeMap;

use dandori_domain::{CommandId, PhaseId, TaskId};
use serde::{Deserialize, Serialize};

use super::order::new_message;
use super::{Effect, Refused, Step, require_command};
use crate::agent::AgentId;
use crate::assign::{Crew, Wish};
use crate::command::{Command, CommandState, Tally};
use crate::ledger::Ledger;
use crate::message::{Delivery, MessageKind};
use crate::phase::{Phase, PhaseKind, PhaseState};
use crate::plan::{Body, Plan, PlannedKind, PlannedTask};
use crate::task::{Brief, Doer, SYSTEM_COMMIT, Task, TaskState};

/// What a plan has become.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Submitted {
    pub command_id: CommandId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Vec<SubmittedTask>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phases: Option<Vec<SubmittedPhase>>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SubmittedTask {
    pub name: String,
    pub task_id: TaskId,
    /// `null`: dandori takes the step itself.
    pub worker: Option<AgentId>,
    pub model: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SubmittedPhase {
    pub name: String,
    pub phase_id: PhaseId,
    #[serde(rename = "type")]
    pub kind: String,
    pub status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Vec<SubmittedTask>>,
}

/// The plan has been checked ([`crate::plan::check`]).
pub fn submit<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    command: CommandId,
    plan: &Plan,
    crew: &Crew,
) -> Result<Submitted, L::Error> {
    let mut command = require_command(ledger, command)?;
    match &command.state {
        CommandState::Queued => {}
        CommandState::Sealed { .. } => return Err(Refused::Submitted { command: command.id }.into()),
        over @ CommandState::Over { .. } => {
            return Err(Refused::Over { command: command.id, state: over.name().to_owned() }.into());
        }
    }
    let is_committed = ledger.continuous()?.enabled;
    let mut crewing = Crewing::begin(ledger, crew)?;
    let mut answer = Submitted { command_id: command.id, tasks: None, phases: None };
    command.state = CommandState::Sealed { at: step.now };
    match &plan.body {
        Body::Tasks(tasks) => {
            let mut listed = add_tasks(ledger, step, &mut command, None, tasks, &mut crewing)?;
            if is_committed {
                let all: Vec<TaskId> = listed.iter().map(|task| task.task_id).collect();
                listed.push(add_commit_step(ledger, step, &mut command, all)?);
            }
            answer.tasks = Some(listed);
        }
        Body::Phases(phases) => {
            let ids: BTreeMap<&str, PhaseId> =
                phases.iter().map(|phase| (phase.name.as_str(), step.mint.phase())).collect();
            let mut listed = Vec::with_capacity(phases.len());
            for (ordinal, planned) in (0u32..).zip(phases) {
                let id_of = |name: &String| ids.get(name.as_str()).copied();
                let Some(id) = id_of(&planned.name) else { continue };
                let (kind, state) = match &planned.kind {
                    PlannedKind::Concrete(_) => (PhaseKind::Concrete, PhaseState::Active),
                    PlannedKind::Deferred(constraints) => {
                        let constraints = constraints.clone();
                        (PhaseKind::Deferred { constraints, is_filled: false }, PhaseState::Pending)
                    }
                };
                let mut phase = Phase {
                    id,
                    command: command.id,
                    name: planned.name.clone(),
                    ordinal,
                    kind,
                    depends_on: planned.depends_on.iter().filter_map(id_of).collect(),
                    state,
                    tally: Tally::default(),
                    counts_all: false,
                };
                let tasks = match &planned.kind {
                    PlannedKind::Concrete(tasks) => {
                        Some(add_tasks(ledger, step, &mut command, Some(&mut phase), tasks, &mut crewing)?)
                    }
                    PlannedKind::Deferred(_) => None,
                };
                ledger.put_phase(&phase)?;
                listed.push(SubmittedPhase {
                    name: phase.name.clone(),
                    phase_id: id,
                    kind: phase.kind.name().to_owned(),
                    status: phase.state.name().to_owned(),
                    tasks,
                });
            }
            if is_committed {
                let step_of = add_commit_step(ledger, step, &mut command, Vec::new())?;
                answer.tasks = Some(vec![step_of]);
            }
            answer.phases = Some(listed);
        }
    }
    crewing.check(step)?;
    ledger.put_command(&command)?;
    if let Some(mut message) = ledger.message_by_key(&format!("command:{}", command.id))?
        && !message.delivery.is_over()
    {
        message.delivery = Delivery::Completed { at: step.now };
        ledger.put_message(&message)?;
    }
    Ok(answer)
}

/// Who has how much to do, before and with the new tasks.
pub(super) struct Crewing<'c> {
    crew: &'c Crew,
    loads: BTreeMap<AgentId, usize>,
    given: BTreeMap<AgentId, usize>,
}

impl<'c> Crewing<'c> {
    pub(super) fn begin<L: Ledger>(ledger: &mut L, crew: &'c Crew) -> Result<Self, L::Error> {
        let mut loads = BTreeMap::new();
        for seat in &crew.seats {
            let busy = usize::from(ledger.in_flight(seat.agent)?.is_some());
            loads.insert(seat.agent, ledger.waiting(seat.agent)? + busy);
        }
        Ok(Self { crew, loads, given: BTreeMap::new() })
    }

    pub(super) fn assign(
        &mut self,
        name: &str,
        bloom_level: u8,
        brief: &Brief,
    ) -> Result<(AgentId, Option<String>), Refused> {
        let wish =
            Wish { bloom_level, required: &brief.required_capabilities, preferred: &brief.preferred_capabilities };
        let nobody = || Refused::NobodyCan { name: name.to_owned() };
        let (agent, model) = self.crew.assign(wish, &mut self.loads).ok_or_else(nobody)?;
        *self.given.entry(agent).or_default() += 1;
        Ok((agent, model))
    }

    /// Nobody gets more than the queue may hold.
    pub(super) fn check(&self, step: &Step<'_>) -> Result<(), Refused> {
        let most = step.rules.pending_per_worker;
        let over = self.given.keys().find_map(|agent| {
            let count = self.loads.get(agent).copied().unwrap_or(0);
            (count > most).then_some((*agent, count))
        });
        match over {
            Some((agent, count)) => Err(Refused::TooManyTasks { agent, count, most }),
            None => Ok(()),
        }
    }
}

/// Tasks of a plan without phases, of a concrete phase, or of one that is filled.
pub(super) fn add_tasks<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    command: &mut Command,
    mut phase: Option<&mut Phase>,
    tasks: &[PlannedTask],
    crewing: &mut Crewing<'_>,
) -> Result<Vec<SubmittedTask>, L::Error> {
    let ids: BTreeMap<&str, TaskId> = tasks.iter().map(|task| (task.name.as_str(), step.mint.task())).collect();
    let mut listed = Vec::with_capacity(tasks.len());
    if let Some(phase) = phase.as_deref_mut() {
        phase.counts_all = !tasks.iter().any(|task| task.required);
    }
    for planned in tasks {
        let id_of = |name: &String| ids.get(name.as_str()).copied();
        let Some(id) = id_of(&planned.name) else { continue };
        let (worker, model) = crewing.assign(&planned.name, planned.bloom_level, &planned.brief)?;
        let blocked_by: Vec<TaskId> = planned.blocked_by.iter().filter_map(id_of).collect();
        let waits_for = u32::try_from(blocked_by.len()).unwrap_or(u32::MAX);
        let task = Task {
            id,
            command: command.id,
            phase: phase.as_ref().map(|phase| phase.id),
            name: planned.name.clone(),
            ordinal: command.expected,
            bloom_level: planned.bloom_level,
            required: planned.required,
            doer: Doer::Worker(worker),
            model: model.clone(),
            blocked_by,
            waits_for,
            state: if waits_for == 0 { TaskState::Ready } else { TaskState::Planned },
            repairs: 0,
            misfit: None,
            retry_of: None,
            replaced_by: None,
        };
        command.expected += 1;
        command.open += 1;
        if task.required {
            command.tally.open += 1;
        }
        if let Some(phase) = phase.as_deref_mut()
            && phase.counts(task.required)
        {
            phase.tally.open += 1;
        }
        ledger.put_brief(id, &planned.brief)?;
        add_task(ledger, step, command, &task)?;
        listed.push(SubmittedTask { name: task.name, task_id: id, worker: Some(worker), model });
    }
    Ok(listed)
}

/// A task with the message that brings it to its worker, once nothing holds it back.
pub(super) fn add_task<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    command: &Command,
    task: &Task,
) -> Result<(), L::Error> {
    ledger.put_task(task)?;
    let Some(worker) = task.doer.worker() else { return Ok(()) };
    let is_free = task.waits_for == 0 && command.is_workable();
    let delivery = if is_free { Delivery::Pending { not_before: None } } else { Delivery::Held };
    let kind = MessageKind::Task { command: command.id, task: task.id };
    let message = new_message(step, worker, kind, command.priority, format!("task:{}:0", task.id), delivery);
    ledger.put_message(&message)?;
    if is_free {
        step.effect(Effect::Wake { agent: worker });
    }
    Ok(())
}

/// dandori's own step: after all tasks, or, outside the phases, after all of those.
fn add_commit_step<L: Ledger>(
    ledger: &mut L,
    step: &mut Step<'_>,
    command: &mut Command,
    blocked_by: Vec<TaskId>,
) -> Result<SubmittedTask, L::Error> {
    let task = Task {
        id: step.mint.task(),
        command: command.id,
        phase: None,
        name: SYSTEM_COMMIT.to_owned(),
        ordinal: command.expected,
        bloom_level: 1,
        required: true,
        doer: Doer::System,
        model: None,
        waits_for: u32::try_from(blocked_by.len()).unwrap_or(u32::MAX),
        blocked_by,
        state: TaskState::Planned,
        repairs: 0,
        misfit: None,
        retry_of: None,
        replaced_by: None,
    };
    command.expected += 1;
    command.open += 1;
    command.tally.open += 1;
    ledger.put_brief(task.id, &Brief::default())?;
    ledger.put_task(&task)?;
    Ok(SubmittedTask { name: task.name, task_id: task.id, worker: None, model: None })
}
