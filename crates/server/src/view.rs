//! Domain values as the wire shows them.

pub(crate) mod formation;
mod pull;

use dandori_api::{
    ChangedFile, ChangesView, CollectedThing, ComparedFile, ComparedRun, Comparison, DiffView, EventView,
    GuardStatsView, GuardView, NamedWorktree, OfflineView, Overlap, RunView, StartView, TaskView, UsageView,
    WorktreeNames, WorktreeView,
};
use dandori_domain::WaitReason;
use dandori_domain::pull::Pull;
use dandori_domain::run::{BranchFate, Removal, Run, RunKind, Sandbox, Start};
use dandori_domain::task::Task;
use dandori_domain::worktree::Owner;
use dandori_engine::guard_stats::{GuardStats, Stats};
use dandori_engine::{FileChange, Traces, WorkDiff, WorktreeName, WorktreeReport, WorktreeState};
use dandori_store::Event;
use dandori_text::Lang;

use crate::words;

pub(crate) use pull::{pull, pull_done, pull_moved, pull_page, pull_put};

/// How much of an instruction a listing carries.
const SHOWN_INSTRUCTION: usize = 4000;

pub(crate) fn task(task: &Task, repository: String, runs: Vec<RunView>) -> TaskView {
    TaskView {
        id: task.id.to_string(),
        number: task.number.to_string(),
        title: task.title.clone(),
        repository,
        created_at: task.created_at.to_string(),
        picked: task.picked.map(|run| run.key().to_string()),
        runs,
    }
}

/// A run, with the pull request of its branch.
pub(crate) fn run(
    lang: Lang,
    run: &Run,
    traces: Traces,
    pull: Option<&Pull>,
    place: Option<u64>,
    waits_for: Option<WaitReason>,
) -> RunView {
    let progress = &run.progress;
    let ready = progress.ready_workspace();
    let is_gone = matches!(run.removal, Removal::Done(_)) || !traces.worktree;
    let has_branch = traces.branch && run.removal != Removal::Done(BranchFate::Delete);
    // Of a follow-up that did not ask for it, the failure of an earlier one's pull request is not its own.
    let its_own = pull.filter(|pull| pull.wanted.run == run.spec.id);
    // What was made after the merge is not in it.
    let is_in =
        |pull: &&Pull| progress.commit().is_none() || pull.merged_at().is_none_or(|at| run.spec.created_at < at);
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
            RunKind::FollowUp { after, .. } => Some(after.key().to_string()),
        },
        branch: ready.filter(|_| has_branch).map(|w| w.branch.clone()),
        base: ready.map(|w| w.base.clone()),
        start: run.start.as_ref().map(start),
        commit: progress.commit().map(|commit| commit.oid.to_string()),
        pushed: progress.delivered().map(|_| progress.pushed().is_some()),
        changes: progress.staged().and_then(|s| s.changes).map(|c| ChangesView {
            files: c.files,
            insertions: c.insertions,
            deletions: c.deletions,
        }),
        pr: pull.filter(is_in).and_then(pull::link),
        session: run.conversation().map(ToString::to_string),
        worktree: ready.filter(|_| !is_gone).map(|w| w.path.to_string()),
        sandbox: progress.work().map(|work| sandbox(&work.sandbox)),
        preserved: run.preserved.as_ref().filter(|_| traces.preserved).map(|p| p.reference.clone()),
        usage: progress.ended().and_then(|e| usage(&e.usage)),
        summary: run.summary().map(str::to_owned),
        place,
        waits_for,
        error: words::of_run(lang, run),
        pr_error: its_own.and_then(|pull| words::of_pull(lang, pull)),
        notes: run.notes.clone(),
        created_at: run.spec.created_at.to_string(),
        launched_at: progress.work().map(|work| work.launched_at.to_string()),
        ended_at: progress.ended().map(|e| e.at.to_string()),
    }
}

pub(crate) fn start(start: &Start) -> StartView {
    let left_out = start.left_out.as_ref();
    StartView {
        base: start.base.clone(),
        commit: start.commit.to_string(),
        branch: left_out.and_then(|left_out| left_out.branch.clone()),
        commits: left_out.map(|left_out| left_out.commits),
        unpushed: left_out.and_then(|left_out| left_out.unpushed),
        changed: left_out.map(|left_out| left_out.changed),
        offline: start.offline.as_ref().map(|offline| OfflineView {
            reason: offline.reason.clone(),
            fetched_at: offline.fetched_at.map(|at| at.to_string()),
        }),
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

pub(crate) fn names(listed: &[WorktreeName], total: usize) -> WorktreeNames {
    let name = |of: &WorktreeName| NamedWorktree {
        branch: known(&of.branch),
        path: of.path.to_string(),
        task: of.made_for.as_ref().map(|made| made.task.to_string()),
        owner: owner(&of.owner),
    };
    WorktreeNames { names: listed.iter().map(name).collect(), total: u64::try_from(total).unwrap_or(u64::MAX) }
}

pub(crate) fn worktree(report: &WorktreeReport) -> WorktreeView {
    let w = &report.worktree;
    WorktreeView {
        key: w.key.to_string(),
        path: w.path.to_string(),
        branch: known(&w.branch),
        base: known(&w.base),
        task: report.made_for.as_ref().map(|made| made.task.to_string()),
        run: report.made_for.as_ref().map(|made| made.run.key().to_string()),
        owner: owner(&w.owner),
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

fn owner(owner: &Owner) -> Option<String> {
    match owner {
        Owner::Run { run } => Some(run.key().to_string()),
        Owner::Session { session } => Some(session.clone()),
        Owner::Nobody => None,
    }
}

/// What is empty is not known.
pub(crate) fn known(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
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

/// Nothing where the agent does not tell.
fn usage(usage: &dandori_domain::Usage) -> Option<UsageView> {
    let is_told = usage.tokens() > 0 || usage.cost.is_some();
    is_told.then(|| UsageView {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cached_tokens: usage.cached_tokens,
        cost: usage.cost.map(dandori_domain::Usd::dollars),
    })
}

pub(crate) fn comparison(task: &Task, comparison: dandori_engine::Comparison) -> Comparison {
    let runs = comparison
        .runs
        .into_iter()
        .map(|compared| {
            let candidate = &compared.candidate;
            let latest = candidate.latest();
            ComparedRun {
                key: latest.spec.id.key().to_string(),
                id: latest.spec.id.to_string(),
                agent: latest.spec.agent.to_string(),
                state: latest.status(),
                insertions: compared.files.iter().map(|f| f.insertions).sum(),
                deletions: compared.files.iter().map(|f| f.deletions).sum(),
                files: compared
                    .files
                    .into_iter()
                    .map(|f| ComparedFile { path: f.path, insertions: f.insertions, deletions: f.deletions })
                    .collect(),
                usage: candidate.usage().as_ref().and_then(usage),
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

pub(crate) fn diff(task: &Task, diff: &WorkDiff) -> DiffView {
    let run = &diff.run;
    let first = diff.runs.first().unwrap_or(run);
    let count = |file: &FileChange, lines: u64| (!file.is_binary).then_some(lines);
    DiffView {
        task: task.number.to_string(),
        run: run.spec.id.key().to_string(),
        runs: diff.runs.iter().map(|run| run.spec.id.key().to_string()).collect(),
        agent: run.spec.agent.to_string(),
        state: run.status(),
        branch: run.branch().map(str::to_owned),
        base: first.workspace().map(|workspace| workspace.base.clone()),
        from: diff.from.as_ref().map(ToString::to_string),
        to: diff.to.as_ref().map(ToString::to_string),
        commit: diff.commit.as_ref().map(ToString::to_string),
        insertions: diff.files.iter().map(|f| f.added).sum(),
        deletions: diff.files.iter().map(|f| f.deleted).sum(),
        files: diff
            .files
            .iter()
            .map(|f| ChangedFile {
                path: f.path.clone(),
                insertions: count(f, f.added),
                deletions: count(f, f.deleted),
            })
            .collect(),
    }
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

/// Also for whoever adds up the hooks' records without a daemon.
pub fn guard_stats(stats: Stats) -> GuardStatsView {
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
        p50_micros: (stats.events > 0).then_some(stats.p50_micros),
        p99_micros: (stats.events > 0).then_some(stats.p99_micros),
        guards: stats.guards.into_iter().map(guard).collect(),
    }
}
