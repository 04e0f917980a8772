//! A formation's rows as the wire shows them.

use dandori_api::formation::{
    Acceptance, AgentFact, AgentState, AgentView, BudgetScope, BudgetView, Channel, CommandView, ContinuousView,
    DeadLetterView, FormationCounters, FormationSound, FormationView, OrderView, PlanView, QuarantinedView, RepairKind,
    RepairView, ResultView, ResultWritten, StandingView, TaskCounts, TokenView, ViolationView, WorkView,
};
use dandori_domain::pull::{Pull, PullState};
use dandori_domain::run::Status;
use dandori_domain::{CommandId, Problem, TaskId};
use dandori_engine::{Repair, SeenAgent, SeenFormation, SeenOrder, Soundness};
use dandori_formation::command::Command;
use dandori_formation::protocol::Accepted;
use dandori_formation::result::{Author, Of, Outcome};
use dandori_formation::{Delivery, Message, Phase, ResultRow, Standing, Task};
use dandori_store::{FormationCounts, KeptInput};
use dandori_text::Lang;

use super::pull::link;
use crate::words;

pub fn formation(seen: &SeenFormation) -> FormationView {
    FormationView {
        repository: seen.root.to_string(),
        is_up: seen.standing.is_up,
        seen_at: seen.at,
        agents: seen.agents.iter().map(|agent| agent_view(seen, agent)).collect(),
        commands: seen.commands.iter().map(|(command, phases)| CommandView::of(command, phases, None)).collect(),
        budgets: budgets(seen),
        tokens: TokenView { limit_percent: seen.coordination_limit, ..TokenView::default() },
        continuous: ContinuousView::of(&seen.continuous),
        counters: counters(&seen.counts),
    }
}

fn budgets(seen: &SeenFormation) -> Vec<BudgetView> {
    let day = seen.budget.day.map(|limit| BudgetView {
        scope: BudgetScope::Day,
        name: seen.at.strftime("%Y-%m-%d").to_string(),
        limit_cost: limit.dollars(),
        cost: None,
    });
    day.into_iter().collect()
}

fn agent_view(seen: &SeenFormation, agent: &SeenAgent) -> AgentView {
    let (state, since_at, fact) = standing_of(seen, agent);
    AgentView {
        agent: agent.agent,
        role: agent.agent.role(),
        client: agent.client.clone(),
        model: agent.model.clone(),
        channel: if seen.is_tmux { Channel::Tmux } else { Channel::Headless },
        state,
        since_at,
        fact,
        queued: agent.waiting,
        work: agent.message.as_ref().map(|message| work(agent, message)),
    }
}

/// What an agent does follows from the message it has and from the run that works on it.
fn standing_of(seen: &SeenFormation, agent: &SeenAgent) -> (AgentState, Option<jiff::Timestamp>, AgentFact) {
    let lease = agent.message.as_ref().and_then(Message::lease);
    match (lease, &agent.run) {
        (Some(lease), Some(run)) => {
            let state = match run.status() {
                Status::Pending => AgentState::Starting,
                _ => AgentState::Busy,
            };
            let fact = AgentFact::Run { run: run.spec.id.key().to_string(), state: run.status().to_string() };
            (state, Some(lease.since), fact)
        }
        (Some(lease), None) => (AgentState::Delivering, Some(lease.since), AgentFact::Delivered),
        (None, _) if seen.standing.is_up => (AgentState::Idle, seen.standing.since, AgentFact::NoMessage),
        (None, _) if seen.standing.since.is_some() => {
            (AgentState::Stopped, seen.standing.since, AgentFact::StoppedByPerson)
        }
        (None, _) => (AgentState::Stopped, None, AgentFact::NotStarted),
    }
}

fn work(agent: &SeenAgent, message: &Message) -> WorkView {
    WorkView {
        kind: (&message.kind).into(),
        command: message.kind.command(),
        number: agent.number,
        task: message.kind.task(),
        name: agent.name.clone(),
        attempt: message.attempt(),
        lease_epoch: message.epoch.0,
        since_at: message.lease().map_or(message.created_at, |lease| lease.since),
    }
}

fn counters(counts: &FormationCounts) -> FormationCounters {
    FormationCounters {
        commands: by_outcome(&counts.commands),
        tasks: by_outcome(&counts.tasks),
        deliveries: counts.deliveries,
        failed_deliveries: counts.failed_deliveries,
        late_reports: counts.late_reports,
        repairs: counts.repairs,
        dead_letters: counts.dead_letters,
    }
}

fn by_outcome(states: &[(String, u64)]) -> TaskCounts {
    let mut counts = TaskCounts::default();
    for (state, count) in states {
        match state.as_str() {
            "completed" => counts.completed += count,
            "failed" => counts.failed += count,
            "cancelled" => counts.cancelled += count,
            _ => counts.open += count,
        }
    }
    counts
}

pub(crate) fn command(command: &Command, phases: &[Phase], pull: Option<&Pull>) -> CommandView {
    CommandView::of(command, phases, pull.and_then(link))
}

pub(crate) fn order(seen: &SeenOrder) -> OrderView {
    let pull = seen.pull.as_ref().and_then(link);
    let is_landed = pull.as_ref().is_none_or(|pull| pull.state != Some(PullState::Open));
    let has_pull = pull.is_some();
    let own = seen.results.iter().rev().find(|result| result.of == Of::Command);
    OrderView {
        plan: PlanView::of(CommandView::of(&seen.command, &seen.phases, pull), &seen.tasks),
        is_up: seen.is_up,
        results: seen.results.iter().map(|row| result(row, &seen.tasks)).collect(),
        summary: own.map(|row| row.report.summary.clone()),
        is_done: seen.command.is_over() && is_landed,
        awaits_pull: seen.is_up
            && seen.is_untold
            && !has_pull
            && own.is_some_and(|row| row.outcome == Outcome::Completed),
    }
}

fn result(row: &ResultRow, tasks: &[Task]) -> ResultView {
    let task = match row.of {
        Of::Task(task) => Some(task),
        Of::Command => None,
    };
    ResultView {
        id: row.id,
        task,
        name: task.and_then(|id| tasks.iter().find(|task| task.id == id)).map(|task| task.name.clone()),
        by: match row.by {
            Author::Agent(agent) => Some(agent),
            Author::Engine => None,
        },
        outcome: row.outcome,
        summary: row.report.summary.clone(),
        files_changed: row.report.files_changed.clone(),
        partial_changes: row.report.partial_changes,
        retry_safe: row.report.retry_safe,
        applied: row.applied,
        at: row.at,
    }
}

pub(crate) fn standing(seen: &SeenFormation, standing: Standing, canceled: &[Command]) -> StandingView {
    StandingView {
        repository: seen.root.to_string(),
        is_up: standing.is_up,
        since_at: standing.since,
        boost: standing.boost,
        continuous: seen.continuous.goes_on(),
        notify: !standing.is_quiet,
        canceled: canceled.iter().map(|command| CommandView::of(command, &[], None)).collect(),
        open: seen.commands.iter().filter(|(command, _)| !command.is_over()).count() as u64,
    }
}

pub(crate) fn written(task_id: TaskId, accepted: Accepted) -> ResultWritten {
    let (accepted, result_id, kept_because) = match accepted {
        Accepted::Now { result } => (Acceptance::Now, Some(result), None),
        Accepted::Noted => (Acceptance::Noted, None, None),
        Accepted::Before { result } => (Acceptance::Before, Some(result), None),
        Accepted::Adopted { result } => (Acceptance::Adopted, Some(result), None),
        Accepted::Kept { why } => (Acceptance::Kept, None, Some(why)),
    };
    ResultWritten { task_id, accepted, result_id, kept_because }
}

pub(crate) fn dead_letter(message: &Message, number: Option<u32>, name: Option<String>) -> DeadLetterView {
    DeadLetterView {
        id: message.id,
        to: message.to,
        kind: (&message.kind).into(),
        command: message.kind.command(),
        number,
        task: message.kind.task(),
        name,
        attempts: message.attempt(),
        reason: match &message.delivery {
            Delivery::DeadLetter { why, .. } => Some(why.clone()),
            _ => message.last_error.clone(),
        },
        created_at: message.created_at,
        dead_at: match &message.delivery {
            Delivery::DeadLetter { at, .. } => Some(*at),
            _ => None,
        },
    }
}

pub(crate) fn quarantined(lang: Lang, number: i64, kept: KeptInput) -> QuarantinedView {
    let problem = serde_json::from_value::<Problem>(kept.why.clone())
        .unwrap_or_else(|e| Problem::Internal { reason: e.to_string() });
    QuarantinedView {
        number,
        kind: kept.kind.as_str().to_owned(),
        command: kept.command,
        task: kept.task,
        phase: kept.phase,
        by: kept.by,
        at: kept.at,
        refusal: words::problem(lang, &problem),
        content: kept.content,
        restored_at: kept.restored_at,
    }
}

pub(crate) fn sound(repository: String, found: Soundness) -> FormationSound {
    let violations = found.violations.into_iter();
    FormationSound {
        repository,
        commands: found.commands as u64,
        tasks: found.tasks as u64,
        messages: found.messages as u64,
        violations: violations.map(|v| ViolationView { invariant: v.invariant, what: v.what }).collect(),
        repairs: found.repairs.into_iter().map(repair).collect(),
    }
}

fn repair(repair: Repair) -> RepairView {
    let of = |repair, command: CommandId, name| RepairView { repair, command: Some(command), name, message: None };
    match repair {
        Repair::TimedOut { command, phase } => of(RepairKind::TimedOut, command, Some(phase)),
        Repair::GivenUp { command, task } => of(RepairKind::GivenUp, command, Some(task)),
        Repair::WokenToMerge { command, task } => of(RepairKind::WokenToMerge, command, Some(task)),
        Repair::Told { command } => of(RepairKind::Told, command, None),
        Repair::LeaseExpired { message } => {
            RepairView { repair: RepairKind::LeaseExpired, command: None, name: None, message: Some(message) }
        }
    }
}
