//! The rows, the clock, and everybody who still believes to have a message.

use std::collections::{BTreeMap, BTreeSet};

use dandori_domain::{CommandId, Epoch, MessageId, Oid, ResultId, TaskId};
use jiff::{SignedDuration, Timestamp};

use dandori_formation::assign::{Crew, Seat};
use dandori_formation::command::Review;
use dandori_formation::continuous::Continuous;
use dandori_formation::invariant::{self, Violation};
use dandori_formation::memory::Memory;
use dandori_formation::moves::{Answer, Move};
use dandori_formation::protocol::{Accepted, Claim, NewCommand, NewRetry, Released, ReportIn, Sight, Step, Verdict};
use dandori_formation::result::{Author, Of, Reported, Told};
use dandori_formation::{AgentId, Brief, Command, Delivery, Ledger, Message, MessageKind, Report, Rules, TaskState};

use super::plans;

const WORKERS: u8 = 4;
/// Commands that are over are looked at this many at a time.
const KEPT: usize = 3;

/// What is deliberately wrong: the checks have to notice each of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broken {
    Nothing,
    /// A report counts under whatever epoch stands.
    NoFence,
    /// A result and what it means are written one after the other.
    SplitResult,
    /// What is to be told is marked as told before it is.
    MarkBeforeSend,
    /// A plan and its tasks are written one after the other.
    TwoStepSubmit,
}

/// A step that was taken, and what it answered.
#[derive(Clone, Debug)]
pub struct Played {
    pub played: Move,
    pub now: Timestamp,
    pub seed: u128,
    pub answer: Result<Answer, String>,
}

/// Somebody has this message, or believes so.
#[derive(Clone, Debug)]
struct Hand {
    agent: AgentId,
    message: MessageId,
    kind: MessageKind,
    epoch: Epoch,
}

#[derive(Debug)]
pub struct World {
    pub rows: Memory,
    pub rules: Rules,
    pub crew: Crew,
    /// Every step, for whoever plays them again on a store.
    pub played: Vec<Played>,
    is_kept: bool,
    now: Timestamp,
    hands: Vec<Hand>,
    /// What a planner has really read.
    told: BTreeSet<ResultId>,
    /// Whose report was accepted for a task: counted to the epoch it was made under.
    worked: BTreeMap<TaskId, BTreeSet<i64>>,
    /// A report that counted although somebody else had the task.
    unfenced: Option<String>,
    seed: u128,
    steps: usize,
    broken: Broken,
    counts: BTreeMap<&'static str, u64>,
}

/// How many steps it took to fail, from the words of the failure.
pub fn failed_after(reason: &str) -> usize {
    reason.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(usize::MAX)
}

impl World {
    pub fn new(broken: Broken) -> Self {
        let seat = |number| Seat {
            agent: AgentId::Worker(number),
            client: "claude".to_owned(),
            model: None,
            capabilities: Vec::new(),
        };
        let mut rows = Memory::default();
        rows.continuous = Continuous { enabled: true, ..Continuous::default() };
        Self {
            rows,
            rules: Rules { pending_per_worker: 40, ..Rules::default() },
            crew: Crew { seats: (1..=WORKERS).map(seat).collect(), small: None, large: None, boost: false },
            now: "2026-01-01T00:00:00Z".parse().unwrap(),
            played: Vec::new(),
            is_kept: false,
            hands: Vec::new(),
            told: BTreeSet::new(),
            worked: BTreeMap::new(),
            unfenced: None,
            seed: 0,
            steps: 0,
            broken,
            counts: BTreeMap::new(),
        }
    }

    /// One that forgets nothing: neither its steps nor commands that are over.
    pub fn kept() -> Self {
        Self { is_kept: true, ..Self::new(Broken::Nothing) }
    }

    pub fn tell(&self, seed: u64) {
        println!("seed {seed}: {} steps, {:?}", self.steps, self.counts);
    }

    /// One choice: what happens, to whom, and whether it is rolled back or its answer lost.
    pub fn step(&mut self, choice: u64) -> Result<(), String> {
        self.steps += 1;
        let (before, worked) = (self.rows.clone(), self.worked.clone());
        let (what, rest) = (choice % 100, choice >> 8);
        let name = match what {
            0..=4 => self.give_order(rest),
            5..=29 => self.claim(rest),
            30..=37 => self.accept(rest),
            38..=41 => self.beat(rest),
            42..=59 => self.report(rest, rest.is_multiple_of(8)),
            60..=69 => self.plan(rest),
            70..=74 => self.verify(rest, rest.is_multiple_of(4)),
            75..=79 => self.lose(rest),
            80..=84 => self.pass(rest),
            85..=88 => self.reclaim(rest),
            89..=91 => self.complete(rest),
            92 => self.cancel(rest),
            93 => self.hold(rest),
            94..=95 => self.retry(rest),
            96 => self.requeue(rest),
            97 => self.commit(rest),
            98 => self.scan(),
            _ => self.forget_hands(rest),
        };
        *self.counts.entry(name).or_default() += 1;
        // Now and then the process dies before its transaction is written.
        if (choice >> 56).is_multiple_of(17) && !self.is_kept {
            self.rows = before.clone();
            self.worked = worked;
            *self.counts.entry("rolled back").or_default() += 1;
        }
        self.check(name, &before)?;
        self.prune();
        Ok(())
    }

    fn check(&self, name: &str, before: &Memory) -> Result<(), String> {
        let mut found = invariant::check(&self.rows, &self.rules);
        found.extend(invariant::check_step(before, &self.rows));
        found.extend(self.unfenced.iter().map(|what| Violation { invariant: "I5".to_owned(), what: what.clone() }));
        for (task, epochs) in self.worked.iter().filter(|(_, epochs)| epochs.len() > 1) {
            let repairs = self.rows.tasks.get(task).map_or(0, |task| task.repairs);
            if epochs.len() > 1 + usize::try_from(repairs).unwrap_or(0) {
                let what = format!("{task} was finished under {epochs:?}");
                found.push(Violation { invariant: "I3".to_owned(), what });
            }
        }
        for result in self.rows.results.values() {
            if result.told == Told::Told && result.of != Of::Command && !self.told.contains(&result.id) {
                let what = format!("{} counts as told, and nobody was told", result.id);
                found.push(Violation { invariant: "I8".to_owned(), what });
            }
        }
        match found.first() {
            None => Ok(()),
            Some(first) => Err(format!("step {} ({name}): {first} and {} more", self.steps, found.len() - 1)),
        }
    }

    fn run(&mut self, played: Move) -> Option<Answer> {
        self.seed += 1;
        let seed = self.seed << 32;
        let mut step = Step::new(&self.rules, self.now, seed);
        let mut rows = self.rows.clone();
        let answer = played.play(&mut rows, &mut step, &self.crew);
        if self.is_kept {
            let answer = answer.clone().map_err(|refused| refused.to_string());
            self.played.push(Played { played, now: self.now, seed, answer });
        }
        // What is refused is rolled back.
        let answer = answer.ok()?;
        self.rows = rows;
        Some(answer)
    }

    fn take(&mut self, agent: AgentId) -> Option<Claim> {
        match self.run(Move::Claim { agent, holder: "host".to_owned() }) {
            Some(Answer::Claim(claim)) => claim.map(|claim| *claim),
            _ => None,
        }
    }

    fn give_order(&mut self, choice: u64) -> &'static str {
        if self.rows.commands.values().filter(|command| !command.is_over()).count() >= 3 {
            return "order not given";
        }
        let new = NewCommand {
            content: "do it".to_owned(),
            demands: Vec::new(),
            priority: u32::try_from(choice % 5).unwrap_or(0) * 50,
            review: if choice & 0xf00 == 0 { Review::Wanted } else { Review::NotWanted },
        };
        self.run(Move::Order(new));
        "order"
    }

    fn claim(&mut self, choice: u64) -> &'static str {
        let all: Vec<AgentId> = AgentId::all(WORKERS).collect();
        let Some(agent) = pick(&all, choice).copied() else { return "claim" };
        let claim = self.take(agent);
        if let Some(claim) = claim {
            if self.broken == Broken::MarkBeforeSend && matches!(claim.message.kind, MessageKind::Digest { .. }) {
                self.run(Move::Accepted { message: claim.message.id, epoch: claim.lease.epoch });
                return "claim marked before it is sent";
            }
            let hand = Hand { agent, message: claim.message.id, kind: claim.message.kind, epoch: claim.lease.epoch };
            self.hands.push(hand);
            // Nobody works on a notice: without this they would pile up.
            if agent == AgentId::Orchestrator && choice & 0x300 != 0 {
                self.run(Move::Accepted { message: claim.message.id, epoch: claim.lease.epoch });
            }
        }
        "claim"
    }

    fn hand(&self, choice: u64) -> Option<Hand> {
        pick(&self.hands, choice).cloned()
    }

    fn accept(&mut self, choice: u64) -> &'static str {
        let Some(hand) = self.hand(choice) else { return "accept" };
        // Delivered first, written down after: a planner may read the same twice.
        if let MessageKind::Digest { .. } = hand.kind
            && let Some(MessageKind::Digest { results, .. }) = self.rows.messages.get(&hand.message).map(|m| &m.kind)
        {
            self.told.extend(results.iter().copied());
        }
        self.run(Move::Accepted { message: hand.message, epoch: hand.epoch });
        "accept"
    }

    fn beat(&mut self, choice: u64) -> &'static str {
        let Some(hand) = self.hand(choice) else { return "beat" };
        if choice & 0x1000 == 0 {
            self.run(Move::Heartbeat { message: hand.message, epoch: hand.epoch });
        } else {
            self.run(Move::Progress { message: hand.message, epoch: hand.epoch });
        }
        "beat"
    }

    /// The hand stays: what was reported once may be reported again.
    fn report(&mut self, choice: u64, has_failed: bool) -> &'static str {
        let Some(hand) = self.hand(choice) else { return "report" };
        let MessageKind::Task { task, .. } = hand.kind else { return "report" };
        let epoch = match self.broken {
            Broken::NoFence => self.rows.messages.get(&hand.message).map_or(hand.epoch, |message| message.epoch),
            _ => hand.epoch,
        };
        let report = Report {
            outcome: if has_failed { Reported::Failed } else { Reported::Completed },
            summary: format!("what came of {task} under {}", hand.epoch.0),
            files_changed: Vec::new(),
            partial_changes: false,
            retry_safe: true,
            exit_code: None,
            work: (choice & 0x30 != 0).then(|| Oid::new("a".repeat(40))),
        };
        let before = self.rows.clone();
        let new = ReportIn { task, by: hand.agent, epoch, report };
        let answer = self.run(Move::Report(new));
        if self.broken == Broken::SplitResult && choice & 0xf00 == 0 {
            // Killed between the two.
            let mut half = before.clone();
            half.results = self.rows.results.clone();
            half.messages = self.rows.messages.clone();
            self.rows = half;
        }
        let current = before.messages.get(&hand.message).filter(|message| message.lease().is_some());
        if let (Some(Answer::Report(Accepted::Now { .. })), Some(message)) = (&answer, current)
            && message.epoch != hand.epoch
        {
            self.unfenced = Some(format!("{task}: {} counted while {} had it", hand.epoch.0, message.epoch.0));
        }
        if let Some(Answer::Report(Accepted::Now { .. } | Accepted::Adopted { .. })) = answer {
            self.worked.entry(task).or_default().insert(hand.epoch.0);
        }
        "report"
    }

    fn plan(&mut self, choice: u64) -> &'static str {
        let Some(hand) = self.hand(choice) else { return "plan" };
        match hand.kind {
            MessageKind::Command { command } => {
                let plan = plans::plan(choice);
                let before = self.rows.clone();
                self.run(Move::Submit { command, plan });
                if self.broken == Broken::TwoStepSubmit && choice & 0xf00 == 0 {
                    let mut half = before;
                    half.commands = self.rows.commands.clone();
                    half.phases = self.rows.phases.clone();
                    self.rows = half;
                }
            }
            MessageKind::Fill { command, phase } => {
                let Some(name) = self.rows.phases.get(&phase).map(|phase| phase.name.clone()) else { return "fill" };
                let tasks = plans::tasks(choice, &name);
                self.run(Move::Fill { command, phase: name, tasks });
                return "fill";
            }
            _ => {}
        }
        "plan"
    }

    fn verify(&mut self, choice: u64, is_misfit: bool) -> &'static str {
        let pending: Vec<(TaskId, ResultId)> = self.verifiable();
        let Some((task, result)) = pick(&pending, choice).copied() else { return "verify" };
        let verdict = if is_misfit { Verdict::Misfit { why: "both wrote a.txt".to_owned() } } else { Verdict::Fits };
        self.run(Move::Verified { task, result, verdict });
        "verify"
    }

    fn verifiable(&self) -> Vec<(TaskId, ResultId)> {
        let tasks = self.rows.tasks.values();
        tasks
            .filter_map(|task| match task.state {
                TaskState::VerifyPending { result, .. } => Some((task.id, result)),
                _ => None,
            })
            .collect()
    }

    fn lose(&mut self, choice: u64) -> &'static str {
        let Some(hand) = self.hand(choice) else { return "lose" };
        let why = "lost".to_owned();
        let released = match choice % 3 {
            0 => Released::NotDelivered { why },
            1 => Released::Interrupted { why },
            _ => Released::CameToNothing { why },
        };
        self.run(Move::Release { message: hand.message, epoch: hand.epoch, released });
        "lose"
    }

    /// Mostly a little time, sometimes more than a lease, sometimes backwards.
    fn pass(&mut self, choice: u64) -> &'static str {
        let seconds = match choice % 16 {
            0 => 3600,
            1 => -600,
            2 => 86_400,
            3..=5 => 150,
            other => i64::try_from(other).unwrap_or(1),
        };
        self.now = self.now.checked_add(SignedDuration::from_secs(seconds)).unwrap();
        "pass"
    }

    fn reclaim(&mut self, choice: u64) -> &'static str {
        let now = self.now;
        let expired = self.rows.expired(now).unwrap();
        let Some(message) = pick(&expired, choice) else { return "reclaim" };
        let sight = match choice % 3 {
            0 => Sight::Busy,
            1 => Sight::Idle,
            _ => Sight::Gone,
        };
        let (id, epoch) = (message.id, message.epoch);
        self.run(Move::Expire { message: id, epoch, sight });
        "reclaim"
    }

    fn open(&self) -> Vec<CommandId> {
        self.rows.commands.values().filter(|command| !command.is_over()).map(|command| command.id).collect()
    }

    fn complete(&mut self, choice: u64) -> &'static str {
        let Some(command) = pick(&self.open(), choice).copied() else { return "complete" };
        let by = Author::Agent(AgentId::Planner);
        self.run(Move::Complete { command, summary: "all of it".to_owned(), by });
        "complete"
    }

    fn cancel(&mut self, choice: u64) -> &'static str {
        let cancelled: Vec<(TaskId, Epoch)> = self.to_be_stopped();
        if choice & 1 == 0
            && let Some((task, epoch)) = pick(&cancelled, choice >> 1).copied()
        {
            self.run(Move::Interrupted { task, epoch });
            return "interrupted";
        }
        let Some(command) = pick(&self.open(), choice).copied() else { return "cancel" };
        self.run(Move::Cancel { command, by: "user".to_owned(), reason: "not wanted".to_owned() });
        "cancel"
    }

    fn to_be_stopped(&self) -> Vec<(TaskId, Epoch)> {
        let is_cancelled = |command: &CommandId| self.rows.commands.get(command).is_some_and(|c| c.cancel.is_some());
        let tasks = self.rows.tasks.values().filter(|task| is_cancelled(&task.command));
        tasks
            .filter_map(|task| match task.state {
                TaskState::Dispatched { epoch } | TaskState::Running { epoch } => Some((task.id, epoch)),
                _ => None,
            })
            .collect()
    }

    fn hold(&mut self, choice: u64) -> &'static str {
        let Some(command) = pick(&self.open(), choice >> 4).copied() else { return "hold" };
        match choice % 3 {
            0 => self.run(Move::Pause { command, reason: "lunch".to_owned() }),
            1 => self.run(Move::Resume { command }),
            _ => self.run(Move::Approve { command }),
        };
        "hold"
    }

    fn retry(&mut self, choice: u64) -> &'static str {
        let can = |state: &TaskState| matches!(state, TaskState::Failed { .. } | TaskState::PausedForReplan { .. });
        let failed: Vec<(CommandId, TaskId)> =
            self.rows.tasks.values().filter(|t| can(&t.state)).map(|t| (t.command, t.id)).collect();
        let Some((command, of)) = pick(&failed, choice).copied() else { return "retry" };
        let new = NewRetry { of, brief: Brief::default(), bloom_level: 2 };
        self.run(Move::Retry { command, new });
        "retry"
    }

    fn requeue(&mut self, choice: u64) -> &'static str {
        let dead = |message: &&Message| matches!(message.delivery, Delivery::DeadLetter { .. });
        let dead: Vec<MessageId> = self.rows.messages.values().filter(dead).map(|message| message.id).collect();
        let Some(message) = pick(&dead, choice).copied() else { return "requeue" };
        self.run(Move::Requeue { message });
        "requeue"
    }

    /// dandori's own step is taken by the engine.
    fn commit(&mut self, choice: u64) -> &'static str {
        let ready: Vec<TaskId> =
            self.rows.tasks.values().filter(|t| t.is_system() && t.state == TaskState::Ready).map(|t| t.id).collect();
        let Some(task) = pick(&ready, choice).copied() else { return "commit" };
        self.run(Move::Committed { task, summary: "nothing to commit".to_owned() });
        "commit"
    }

    fn scan(&mut self) -> &'static str {
        for command in self.open() {
            self.run(Move::Scan { command });
        }
        "scan"
    }

    /// An agent dies with what it believed.
    fn forget_hands(&mut self, choice: u64) -> &'static str {
        if !self.hands.is_empty() {
            let at = usize::try_from(choice).unwrap_or(0) % self.hands.len();
            self.hands.remove(at);
        }
        "forget"
    }

    fn prune(&mut self) {
        if self.is_kept {
            return;
        }
        if self.hands.len() > 24 {
            self.hands.drain(..8);
        }
        let over: Vec<CommandId> = self.rows.commands.values().filter(|c| c.is_over()).map(|c| c.id).collect();
        let told = |rows: &Memory, command: CommandId| {
            rows.messages.values().all(|message| message.kind.command() != Some(command) || message.delivery.is_over())
        };
        let done: Vec<CommandId> = over.into_iter().filter(|command| told(&self.rows, *command)).collect();
        for command in done.iter().take(done.len().saturating_sub(KEPT)) {
            *self.counts.entry("commands over").or_default() += 1;
            self.worked.retain(|task, _| self.rows.tasks.get(task).is_none_or(|task| task.command != *command));
            self.rows.forget(*command);
        }
    }

    /// Everybody does what he should from here on: everything has to come to an end (I2).
    pub fn drain(&mut self) -> Result<(), String> {
        self.hands.clear();
        for round in 0..1_000 {
            let before = self.rows.clone();
            self.now = self.now.checked_add(SignedDuration::from_secs(130)).unwrap();
            for message in self.rows.expired(self.now).unwrap() {
                self.run(Move::Expire { message: message.id, epoch: message.epoch, sight: Sight::Gone });
            }
            for (task, epoch) in self.to_be_stopped() {
                self.run(Move::Interrupted { task, epoch });
            }
            for command in self.open() {
                self.run(Move::Resume { command });
                self.run(Move::Approve { command });
            }
            for agent in AgentId::all(WORKERS) {
                let Some(claim) = self.take(agent) else {
                    continue;
                };
                let hand =
                    Hand { agent, message: claim.message.id, kind: claim.message.kind, epoch: claim.lease.epoch };
                self.hands = vec![hand.clone()];
                self.accept(0);
                match hand.kind {
                    MessageKind::Task { .. } => {
                        self.report(0x10, false);
                    }
                    MessageKind::Command { .. } | MessageKind::Fill { .. } => {
                        self.plan(1 + round);
                    }
                    MessageKind::Digest { command, .. } => {
                        let by = Author::Agent(AgentId::Planner);
                        self.run(Move::Complete { command, summary: "all of it".to_owned(), by });
                    }
                    MessageKind::Notice { .. } | MessageKind::Words { .. } => {}
                }
            }
            for (task, result) in self.verifiable() {
                self.run(Move::Verified { task, result, verdict: Verdict::Fits });
            }
            self.commit(0);
            self.scan();
            self.check("drain", &before)?;
            let is_over = self.rows.commands.values().all(Command::is_over)
                && self.rows.messages.values().all(|message| message.delivery.is_over());
            if is_over {
                return Ok(());
            }
        }
        let open: Vec<String> = self.open().iter().map(|command| self.describe(*command)).collect();
        Err(format!("step {} (drain): I2: not over: {open:#?}", self.steps))
    }

    fn describe(&self, command: CommandId) -> String {
        let tasks = self.rows.tasks.values().filter(|task| task.command == command);
        let tasks: Vec<String> = tasks.map(|task| format!("{} {}", task.name, task.state.name())).collect();
        let phases = self.rows.phases.values().filter(|phase| phase.command == command);
        let phases: Vec<&str> = phases.map(|phase: &dandori_formation::Phase| phase.state.name()).collect();
        let state = self.rows.commands.get(&command).map_or("gone", |command| command.state.name());
        format!("{command} {state}: {tasks:?} {phases:?}")
    }
}

fn pick<T>(of: &[T], choice: u64) -> Option<&T> {
    let count = u64::try_from(of.len()).ok().filter(|count| *count > 0)?;
    of.get(usize::try_from(choice % count).ok()?)
}
