//! What always holds, whatever was interrupted, repeated or reordered. Checked after every simulated step, after every crash, and
//! by `doctor --formation` on the live store.
//!
//! I1 to I17 of the engine's programme; those about processes, worktrees and branches are checked where these are seen.

use std::collections::{BTreeMap, BTreeSet};

use dandori_domain::{CommandId, TaskId};
use serde::{Deserialize, Serialize};

use crate::command::{Command, CommandState, Tally};
use crate::memory::Memory;
use crate::message::{Delivery, Message, MessageKind};
use crate::phase::{Phase, PhaseKind, PhaseState};
use crate::plan::cycle;
use crate::result::{Of, Outcome, Told};
use crate::rules::Rules;
use crate::task::{Task, TaskState};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Violation {
    /// `I5`
    pub invariant: String,
    pub what: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.invariant, self.what)
    }
}

/// Everything that does not hold in these rows.
pub fn check(rows: &Memory, rules: &Rules) -> Vec<Violation> {
    let mut checker = Checker { rows, rules, found: Vec::new() };
    checker.results();
    checker.messages();
    checker.tasks();
    checker.phases();
    checker.commands();
    checker.found
}

/// Everything that must not have happened between these two states of the rows.
pub fn check_step(before: &Memory, after: &Memory) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut wrong = |invariant: &str, what: String| found.push(Violation { invariant: invariant.to_owned(), what });
    for (id, message) in &before.messages {
        let Some(now) = after.messages.get(id) else {
            wrong("I1", format!("message {id} is gone"));
            continue;
        };
        if now.epoch < message.epoch {
            wrong("I5", format!("the epoch of {id} fell from {} to {}", message.epoch.0, now.epoch.0));
        }
        // A dead letter may be put back by a person.
        let may_change = matches!(message.delivery, Delivery::DeadLetter { .. });
        if message.delivery.is_over() && !may_change && now.delivery != message.delivery {
            wrong("I10", format!("{id} was {} and is {}", message.delivery.name(), now.delivery.name()));
        }
    }
    for (id, task) in &before.tasks {
        match after.tasks.get(id) {
            None => wrong("I1", format!("task {id} is gone")),
            Some(now) if task.state.is_over() && now.state != task.state => {
                wrong("I10", format!("{id} was {} and is {}", task.state.name(), now.state.name()));
            }
            Some(_) => {}
        }
    }
    for (id, command) in &before.commands {
        let Some(now) = after.commands.get(id) else {
            wrong("I1", format!("command {id} is gone"));
            continue;
        };
        if command.cancel.is_some() && now.cancel != command.cancel {
            wrong("I13", format!("the cancellation of {id} was changed"));
        }
        if command.is_over() && now.state != command.state {
            wrong("I10", format!("{id} was {} and is {}", command.state.name(), now.state.name()));
        }
        let dispatches = |memory: &Memory| {
            let of = |message: &&Message| message.kind.belongs_to(*id) && message.kind.task().is_some();
            memory.messages.values().filter(of).map(|message| message.attempts + message.interrupts).sum::<u32>()
        };
        if command.cancel.is_some() && dispatches(after) > dispatches(before) {
            wrong("I13", format!("a task of {id} was given out after its cancellation"));
        }
    }
    for (id, result) in &before.results {
        match after.results.get(id) {
            None => wrong("I1", format!("result {id} is gone")),
            Some(now) if result.told == Told::Told && now.told != Told::Told => {
                wrong("I7", format!("{id} was told, and is not any more"));
            }
            Some(_) => {}
        }
    }
    for (id, phase) in &before.phases {
        let filled = |phase: &Phase| matches!(phase.kind, PhaseKind::Deferred { is_filled: true, .. });
        match after.phases.get(id) {
            None => wrong("I1", format!("phase {id} is gone")),
            Some(now) if filled(phase) && !filled(now) => wrong("I15", format!("{id} was filled, and is not")),
            Some(_) => {}
        }
    }
    found
}

struct Checker<'m> {
    rows: &'m Memory,
    rules: &'m Rules,
    found: Vec<Violation>,
}

impl Checker<'_> {
    fn wrong(&mut self, invariant: &str, what: String) {
        self.found.push(Violation { invariant: invariant.to_owned(), what });
    }

    /// I3: at most one applied result each. I4: over if and only if there is one.
    fn results(&mut self) {
        let mut applied: BTreeMap<TaskId, u32> = BTreeMap::new();
        let mut of_commands: BTreeMap<CommandId, u32> = BTreeMap::new();
        for result in self.rows.results.values().filter(|result| result.applied) {
            match result.of {
                Of::Task(task) => *applied.entry(task).or_default() += 1,
                Of::Command => *of_commands.entry(result.command).or_default() += 1,
            }
        }
        for (task, count) in applied.iter().filter(|(_, count)| **count > 1) {
            self.wrong("I3", format!("{count} results of {task} count"));
        }
        for (command, count) in of_commands.iter().filter(|(_, count)| **count > 1) {
            self.wrong("I3", format!("{count} results of {command} count"));
        }
        for task in self.rows.tasks.values() {
            let has = applied.contains_key(&task.id);
            if task.state.is_over() != has {
                let what = if has { "has a result" } else { "has no result" };
                self.wrong("I4", format!("{} is {} and {what}", task.id, task.state.name()));
            }
            let named = task.state.result().and_then(|id| self.rows.results.get(&id));
            let outcome = match task.state {
                TaskState::Completed { .. } => Some(Outcome::Completed),
                TaskState::Failed { .. } => Some(Outcome::Failed),
                TaskState::Cancelled { .. } => Some(Outcome::Cancelled),
                _ => None,
            };
            if named.map(|result| result.outcome) != outcome {
                self.wrong("I6", format!("{} is {}, its result says otherwise", task.id, task.state.name()));
            }
        }
        for command in self.rows.commands.values() {
            if let CommandState::Over { result: Some(id), outcome, .. } = &command.state {
                let notice = self
                    .rows
                    .messages
                    .values()
                    .find(|m| matches!(&m.kind, MessageKind::Notice { source, .. } if source == id));
                if notice.is_none() {
                    self.wrong("I7", format!("nobody is told that {} is over", command.id));
                }
                if self.rows.results.get(id).map(|result| result.outcome) != Some(*outcome) {
                    self.wrong("I14", format!("{} is {}, its result says otherwise", command.id, outcome.name()));
                }
            }
        }
    }

    /// I5: a lease stands under the newest epoch. I9: an agent has one message at most. I2: attempts are bounded.
    fn messages(&mut self) {
        let mut leases: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let mut keys = BTreeSet::new();
        for message in self.rows.messages.values() {
            if !keys.insert(&message.key) {
                self.wrong("I7", format!("two messages {}", message.key));
            }
            if let Some(lease) = message.lease() {
                leases.entry(message.to).or_default().push(message.id);
                if lease.epoch != message.epoch {
                    self.wrong(
                        "I5",
                        format!("{} is held under {}, not {}", message.id, lease.epoch.0, message.epoch.0),
                    );
                }
            }
            if message.attempts > self.rules.attempts_for(&message.kind)
                || message.interrupts > self.rules.interrupts + 1
            {
                self.wrong("I2", format!("{} was tried {} times", message.id, message.attempt()));
            }
        }
        for (agent, held) in leases.into_iter().filter(|(_, held)| held.len() > 1) {
            self.wrong("I9", format!("{agent} has {} messages", held.len()));
        }
    }

    /// I6: the message of a task is where its task is. I12: given out only when nothing is waited for. I16: no circle.
    fn tasks(&mut self) {
        let mut by_task: BTreeMap<TaskId, Vec<&Message>> = BTreeMap::new();
        for message in self.rows.messages.values() {
            if let Some(task) = message.kind.task().filter(|_| !message.delivery.is_over()) {
                by_task.entry(task).or_default().push(message);
            }
        }
        for task in self.rows.tasks.values() {
            let open = by_task.get(&task.id).map(Vec::as_slice).unwrap_or_default();
            let command = self.rows.commands.get(&task.command);
            let is_workable = command.is_some_and(Command::is_workable);
            let fits = match (&task.state, open) {
                (_, []) if task.is_system() => true,
                (TaskState::Planned, [one]) => one.delivery == Delivery::Held,
                (TaskState::Ready | TaskState::RepairPending, [one]) => {
                    // What is being cancelled is ended in the same step.
                    (one.delivery == Delivery::Held) != is_workable && one.lease().is_none()
                }
                (TaskState::Dispatched { epoch } | TaskState::Running { epoch }, [one]) => one.is_held_under(*epoch),
                (TaskState::VerifyPending { .. } | TaskState::PausedForReplan { .. }, []) => true,
                (state, []) => state.is_over(),
                _ => false,
            };
            if !fits {
                let deliveries: Vec<&str> = open.iter().map(|message| message.delivery.name()).collect();
                self.wrong("I6", format!("{} is {}, its message {deliveries:?}", task.id, task.state.name()));
            }
            let unfinished = self.unfinished(task);
            if !task.state.is_over() && task.waits_for != unfinished {
                self.wrong("I12", format!("{} waits for {unfinished}, not {}", task.id, task.waits_for));
            }
            if task.state.is_with_agent() && unfinished > 0 {
                self.wrong("I12", format!("{} was given out and waits for {unfinished}", task.id));
            }
            if let Some(by) = task.replaced_by {
                let back = self.rows.tasks.get(&by).and_then(|other| other.retry_of);
                if back != Some(task.id) || !task.state.is_over() {
                    self.wrong("I16", format!("{} is replaced by {by}, which does not know it", task.id));
                }
            }
        }
    }

    fn unfinished(&self, task: &Task) -> u32 {
        let is_open = |id: &&TaskId| !self.rows.tasks.get(id).is_some_and(|other| other.state.is_completed());
        u32::try_from(task.blocked_by.iter().filter(is_open).count()).unwrap_or(u32::MAX)
    }

    /// I14, I15: a phase is what its tasks make it.
    fn phases(&mut self) {
        for phase in self.rows.phases.values() {
            let of = |task: &&Task| task.phase == Some(phase.id) && task.is_current();
            let counted = tally(self.rows.tasks.values().filter(of).filter(|task| phase.counts(task.required)));
            if counted != phase.tally {
                self.wrong("I14", format!("{} counts {:?}, and it is {counted:?}", phase.id, phase.tally));
            }
            let fits = match (&phase.state, counted.outcome()) {
                (PhaseState::Active, outcome) => outcome.is_none(),
                (PhaseState::Completed, outcome) => outcome == Some(Outcome::Completed),
                (PhaseState::Failed, outcome) => outcome == Some(Outcome::Failed),
                (PhaseState::Cancelled { .. }, Some(Outcome::Cancelled)) => true,
                (PhaseState::Cancelled { .. } | PhaseState::TimedOut, _) => counted.all() == 0,
                (PhaseState::Pending | PhaseState::AwaitingFill { .. }, _) => counted.all() == 0,
            };
            if !fits {
                self.wrong("I14", format!("{} is {}, its tasks {counted:?}", phase.id, phase.state.name()));
            }
            if let PhaseKind::Deferred { constraints, is_filled } = &phase.kind {
                let tasks = self.rows.tasks.values().filter(of).count();
                if tasks > usize::try_from(constraints.max_tasks).unwrap_or(usize::MAX) || (tasks > 0 && !is_filled) {
                    self.wrong("I15", format!("{} has {tasks} tasks", phase.id));
                }
            }
        }
    }

    /// I11: a plan is whole. I14: a command is what its tasks make it. I16: required tasks keep their number, without a circle.
    fn commands(&mut self) {
        for command in self.rows.commands.values() {
            let all: Vec<&Task> = self.rows.tasks.values().filter(|task| task.command == command.id).collect();
            let current: Vec<&Task> = all.iter().copied().filter(|task| task.is_current()).collect();
            if current.len() != usize::try_from(command.expected).unwrap_or(usize::MAX) {
                self.wrong("I11", format!("{} has {} tasks, not {}", command.id, current.len(), command.expected));
            }
            let counted = tally(current.iter().copied().filter(|task| task.required));
            if counted != command.tally {
                self.wrong("I14", format!("{} counts {:?}, and it is {counted:?}", command.id, command.tally));
            }
            let open = current.iter().filter(|task| !task.state.is_over()).count();
            if open != usize::try_from(command.open).unwrap_or(usize::MAX) {
                self.wrong("I14", format!("{} has {open} open tasks, not {}", command.id, command.open));
            }
            let places: BTreeMap<TaskId, usize> = current.iter().enumerate().map(|(i, task)| (task.id, i)).collect();
            let edges: Vec<Vec<usize>> = current
                .iter()
                .map(|task| task.blocked_by.iter().filter_map(|id| places.get(id).copied()).collect())
                .collect();
            if cycle(&edges).is_some() {
                self.wrong("I16", format!("the tasks of {} go in a circle", command.id));
            }
            if command.is_over() {
                let open = self.rows.messages.values().any(|m| m.kind.belongs_to(command.id) && !m.delivery.is_over());
                let phases = self.rows.phases.values().any(|p| p.command == command.id && !p.state.is_over());
                if open || phases || command.open > 0 {
                    self.wrong("I14", format!("{} is over, and something of it is open", command.id));
                }
            }
        }
    }
}

fn tally<'t>(tasks: impl Iterator<Item = &'t Task>) -> Tally {
    let mut tally = Tally::default();
    for task in tasks {
        tally.add(match task.state {
            TaskState::Completed { .. } => Some(Outcome::Completed),
            TaskState::Failed { .. } => Some(Outcome::Failed),
            TaskState::Cancelled { .. } => Some(Outcome::Cancelled),
            _ => None,
        });
    }
    tally
}
