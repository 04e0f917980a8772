//! Domain values as the wire shows them.

use dandori_api::{
    ChangesView, CollectedThing, ComparedFile, ComparedRun, Comparison, EventView, GuardStatsView, GuardView, Overlap,
    PullLink, PullView, RunView, TaskView, UsageView, WorktreeView,
};
use dandori_domain::WaitReason;
use dandori_domain::pull::Pull;
use dandori_domain::run::{BranchFate, Removal, Run, RunKind, Sandbox};
use dandori_domain::task::Task;
use dandori_domain::worktree::{Owner, Worktree};
use dandori_engine::guard_stats::{GuardStats, Stats};
use dandori_engine::{PullRecord, WorktreeReport, WorktreeState};
use dandori_store::Event;

/// How much of an instruction a listing carries.
const SHOWN_INSTRUCTION: usize = 4000;

pub(crate) fn task(task: &Task, repository: String, runs: Vec<RunView>) -> TaskView {
    TaskView {
        id: task.id.to_string(),
        number: task.number.to_string(),
        title: task.title.clone(),
        repository,
        created_at: task.created_at.to_string(),
        picked: task.picked.map(|run| run.to_string()),
        runs,
    }
}

/// A run, with the pull request of its branch.
pub(crate) fn run(run: &Run, pull: Option<&Pull>, place: Option<u64>, waits_for: Option<WaitReason>) -> RunView {
    let progress = &run.progress;
    let ready = progress.ready_workspace();
    let is_gone = matches!(run.removal, Removal::Done(_));
    // Of a follow-up that did not ask for it, the failure of an earlier one's pull request is not its own.
    let its_own = pull.filter(|pull| pull.wanted.run == run.spec.id);
    RunView {
        id: run.spec.id.to_string(),
        key: run.spec.id.key().to_string(),
        task: run.spec.number.to_string(),
        agent: run.spec.agent.to_string(),
        state: run.status(),
        settled: run.is_settled() && !its_own.is_some_and(Pull::is_pending),
        instruction: run.spec.instruction.chars().take(SHOWN_INSTRUCTION).collect(),
        follows: match &run.spec.kind {
            RunKind::First => None,
            RunKind::FollowUp { after, .. } => Some(after.to_string()),
        },
        branch: ready.filter(|_| run.removal != Removal::Done(BranchFate::Delete)).map(|w| w.branch.clone()),
        base: ready.map(|w| w.base.clone()),
        commit: progress.commit().map(|commit| commit.oid.to_string()),
        changes: progress.staged().and_then(|s| s.changes).map(|c| ChangesView {
            files: c.files,
            insertions: c.insertions,
            deletions: c.deletions,
        }),
        pr: pull.and_then(Pull::link).map(|link| PullLink { number: link.number, url: link.url.clone() }),
        session: run.conversation().map(ToString::to_string),
        worktree: ready.filter(|_| !is_gone).map(|w| w.path.to_string()),
        sandbox: progress.work().map(|work| sandbox(&work.sandbox)),
        preserved: run.preserved.as_ref().map(|p| p.reference.clone()),
        usage: progress.ended().map(|e| usage(&e.usage)),
        summary: run.summary().map(str::to_owned),
        place,
        waits_for,
        failure: run.failure().cloned(),
        pr_failure: its_own.and_then(Pull::problem).cloned(),
        notes: run.notes.clone(),
        created_at: run.spec.created_at.to_string(),
        launched_at: progress.work().map(|work| work.launched_at.to_string()),
        ended_at: progress.ended().map(|e| e.at.to_string()),
    }
}

/// `namespaces, landlock (ABI 7), calls`: the layers that hold.
pub(crate) fn sandbox(sandbox: &Sandbox) -> String {
    if let Sandbox::None { reason } = sandbox {
        return format!("none: {reason}");
    }
    let layers = sandbox.layers();
    let landlock = format!("landlock (ABI {})", layers.landlock);
    let all = [(layers.namespaces, "namespaces"), (layers.landlock > 0, &landlock), (layers.calls, "calls")];
    all.iter().filter(|(holds, _)| *holds).map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
}

pub(crate) fn worktree(report: &WorktreeReport) -> WorktreeView {
    let w = &report.worktree;
    WorktreeView {
        key: w.key.to_string(),
        path: w.path.to_string(),
        branch: w.branch.clone(),
        base: w.base.clone(),
        run: match &w.owner {
            Owner::Run { run } => Some(run.to_string()),
            _ => None,
        },
        owner: owner(w),
        state: report.state.as_str().to_owned(),
        dirty: report.dirty,
        unpushed: report.unpushed,
        bytes: report.bytes,
        suggestion: match report.state {
            WorktreeState::Live | WorktreeState::Idle | WorktreeState::Unknown => None,
            WorktreeState::Unrecorded => Some(format!("dandori worktree adopt {}", w.path)),
            _ => Some("dandori worktree gc".to_owned()),
        },
        created_at: (w.created_at.as_second() > 0).then(|| w.created_at.to_string()),
    }
}

pub(crate) fn owner(worktree: &Worktree) -> String {
    match &worktree.owner {
        Owner::Run { run } => run.to_string(),
        Owner::Session { session } => session.clone(),
        Owner::Nobody => String::new(),
    }
}

pub(crate) fn pull(pull: PullRecord) -> PullView {
    PullView {
        number: pull.number,
        title: pull.draft.title,
        body: pull.draft.body,
        state: pull.state,
        head: pull.draft.head,
        base: pull.draft.base,
        commit: pull.commit,
        url: pull.url,
        forge: pull.forge.to_owned(),
        run: pull.run.map(|run| run.to_string()),
        created_at: pull.created_at.to_string(),
    }
}

pub(crate) fn event(event: Event) -> EventView {
    EventView {
        seq: event.seq,
        at: event.at.to_string(),
        repo: event.repo.map(|id| id.to_string()),
        task: event.task.map(|id| id.to_string()),
        run: event.run.map(|id| id.to_string()),
        machine: event.machine,
        subject: event.subject,
        status: event.status,
        kind: event.kind,
        body: event.body,
    }
}

fn usage(usage: &dandori_domain::Usage) -> UsageView {
    UsageView {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cached_tokens: usage.cached_tokens,
        cost: usage.cost.map(dandori_domain::Usd::dollars),
    }
}

pub(crate) fn comparison(task: &Task, comparison: dandori_engine::Comparison) -> Comparison {
    let runs = comparison
        .runs
        .into_iter()
        .map(|compared| {
            let candidate = &compared.candidate;
            let view = run(candidate.latest(), None, None, None);
            ComparedRun {
                run: view.id,
                key: view.key,
                agent: view.agent,
                state: view.state,
                insertions: compared.files.iter().map(|f| f.insertions).sum(),
                deletions: compared.files.iter().map(|f| f.deletions).sum(),
                files: compared
                    .files
                    .into_iter()
                    .map(|f| ComparedFile { path: f.path, insertions: f.insertions, deletions: f.deletions })
                    .collect(),
                usage: candidate.usage().as_ref().map(usage),
                chain: candidate.runs().map(|r| r.spec.id.key().to_string()).collect(),
            }
        })
        .collect();
    let overlap = comparison
        .overlap
        .into_iter()
        .map(|(path, (runs, same))| Overlap { path, runs: runs.iter().map(|r| r.key().to_string()).collect(), same })
        .collect();
    Comparison { task: task.number.to_string(), runs, overlap }
}

pub(crate) fn collected(thing: dandori_engine::CollectedThing) -> CollectedThing {
    CollectedThing {
        kind: thing.kind.to_owned(),
        name: thing.name,
        why: thing.why.code().to_owned(),
        detail: thing.why.detail().map(str::to_owned),
        preserved: thing.preserved,
    }
}

pub(crate) fn guard_stats(stats: Stats) -> GuardStatsView {
    let guard = |of: GuardStats| GuardView {
        guard: of.guard,
        calls: of.counts.calls,
        blocks: of.counts.blocks,
        asks: of.counts.asks,
        warnings: of.counts.warnings,
        infos: of.counts.infos,
        errors: of.counts.errors,
        exceptions: of.counts.exceptions,
        likely_false_alarms: of.counts.likely_false_alarms,
        p50_micros: of.p50_micros,
        p99_micros: of.p99_micros,
    };
    GuardStatsView {
        events: stats.events,
        blocked: stats.blocked,
        asked: stats.asked,
        p50_micros: stats.p50_micros,
        p99_micros: stats.p99_micros,
        guards: stats.guards.into_iter().map(guard).collect(),
    }
}
