//! What needs a person, derived from facts and never stored.
//!
//! A need is an *occurrence*: its id comes from what it is about and from the fact that caused it, so the same failure is
//! the same need after a restart, and a second failure of the same task is another. It is gone when its fact is gone (a
//! retry, a follow-up, a merge); what a person did about it (snoozed, dismissed) is kept elsewhere, by the id.
//!
//! Never a need: what the machine still works on, what a person has already answered, and what nobody can do anything
//! about. A need that is no need is worse than one that is missing: it teaches people to look away.
//!
//! To add a kind, see `docs/guides/add-a-need.md`.

use std::fmt;

use camino::Utf8PathBuf;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::agent::AgentName;
use crate::candidate::candidates;
use crate::failure::{Failure, Limit};
use crate::id::{Oid, RepoId, RunId, TaskId, TaskNumber, Usd};
use crate::problem::Problem;
use crate::pull::{Pull, Standing};
use crate::run::{Run, Status};
use crate::task::Task;

mod id;

pub use id::NeedId;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Need {
    pub id: NeedId,
    #[serde(flatten)]
    pub kind: NeedKind,
    pub since: Timestamp,
    pub subject: Subject,
}

/// What it is about; what it is not about is `None`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Subject {
    pub repo: Option<RepoId>,
    pub task: Option<TaskId>,
    pub number: Option<TaskNumber>,
    /// The task's.
    pub title: Option<String>,
    pub run: Option<RunId>,
    /// The task's name means this run as well: it is the newest of its only agent.
    #[serde(default)]
    pub is_sole: bool,
    /// A pull request's number.
    pub pull: Option<u64>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NeedKind {
    /// A run failed, and nobody has tried again.
    Failed {
        failure: Failure,
        kept: bool,
    },
    /// What others pushed contradicts what the run made.
    Conflict {
        files: Vec<String>,
    },
    /// It was ended because it cost what it may cost.
    BudgetReached {
        budget: Usd,
        spent: Usd,
    },
    /// It was ended because it said nothing for too long.
    Silent {
        limit: Limit,
        seconds: u64,
    },
    /// It runs, and has said nothing for long.
    Quiet,
    /// Several agents are done, and nobody has chosen.
    Choice {
        agents: Vec<String>,
    },
    /// Work of a canceled run that nobody has looked at.
    KeptWork {
        reference: String,
    },
    PullFailed {
        problem: Problem,
    },
    /// A pull request in the embedded forge waits to be looked at and merged.
    PullReady {
        url: String,
        base: String,
        commit: Oid,
        /// How many commits of its base it does not have; `None`: not known.
        behind: Option<u32>,
    },
    /// The same, and it cannot be merged before both sides are brought together.
    PullConflict {
        url: String,
        base: String,
        commit: Oid,
        files: Vec<String>,
    },
    /// A run was refused: what the configuration could execute is not trusted.
    Trust {
        path: Utf8PathBuf,
        what: Vec<String>,
    },
    /// A session of an agent was kept from changes until a person confirms what it understood.
    Consent {
        session: String,
    },
    /// The database was damaged, and another took its place.
    StoreRestored {
        quarantine: Utf8PathBuf,
        backup: Option<String>,
    },
    /// Anything else the daemon found wrong with itself.
    DaemonTrouble {
        problem: Problem,
    },
    /// No new run starts before there is room.
    DiskLow {
        path: Utf8PathBuf,
        free: u64,
        needed: u64,
    },
}

impl NeedKind {
    /// The stable name, as it is serialised.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Failed { .. } => "failed",
            Self::Conflict { .. } => "conflict",
            Self::BudgetReached { .. } => "budget_reached",
            Self::Silent { .. } => "silent",
            Self::Quiet => "quiet",
            Self::Choice { .. } => "choice",
            Self::KeptWork { .. } => "kept_work",
            Self::PullFailed { .. } => "pull_failed",
            Self::PullReady { .. } => "pull_ready",
            Self::PullConflict { .. } => "pull_conflict",
            Self::Trust { .. } => "trust",
            Self::Consent { .. } => "consent",
            Self::StoreRestored { .. } => "store_restored",
            Self::DaemonTrouble { .. } => "daemon_trouble",
            Self::DiskLow { .. } => "disk_low",
        }
    }
}

/// Everything needs are derived from.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'f> {
    pub tasks: &'f [TaskFacts<'f>],
    pub repos: &'f [RepoFacts],
    pub daemon: &'f DaemonFacts,
    pub now: Timestamp,
}

#[derive(Clone, Copy, Debug)]
pub struct TaskFacts<'f> {
    pub task: &'f Task,
    /// Oldest first.
    pub runs: &'f [Run],
    pub pulls: &'f [Pull],
    /// Numbers of the pull requests that are open in the embedded forge.
    pub open_here: &'f [u64],
    /// Since when running agents have said nothing; one whose tool is at work is not among them.
    pub silences: &'f [(RunId, Timestamp)],
}

#[derive(Clone, PartialEq, Debug)]
pub struct RepoFacts {
    pub repo: RepoId,
    pub untrusted: Option<Untrusted>,
    pub unconfirmed: Vec<Unconfirmed>,
}

/// A run was refused for this, and it is still not trusted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Untrusted {
    pub path: Utf8PathBuf,
    pub what: Vec<String>,
    /// Of what was refused.
    pub digest: String,
    pub refused_at: Timestamp,
}

/// A session that was refused a change until somebody confirms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unconfirmed {
    pub session: String,
    pub refused_at: Timestamp,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct DaemonFacts {
    pub notices: Vec<(Problem, Timestamp)>,
    pub disk: Option<DiskFacts>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiskFacts {
    pub path: Utf8PathBuf,
    pub free: u64,
    pub needed: u64,
    pub since: Timestamp,
}

/// All that needs a person, newest first.
pub fn needs(facts: &Facts<'_>) -> Vec<Need> {
    let of_tasks = facts.tasks.iter().flat_map(|task| of_task(task, facts.now));
    let of_repos = facts.repos.iter().flat_map(of_repo);
    let mut found: Vec<Need> = of_tasks.chain(of_repos).chain(of_daemon(facts.daemon)).collect();
    found.sort_by(|a, b| (b.since, &b.id).cmp(&(a.since, &a.id)));
    found
}

/// Whether a run alone can be a reason for a need: the others need not be looked at.
pub fn may_need(run: &Run) -> bool {
    if run.spec.errand.is_some() {
        return false;
    }
    !run.is_settled() || run.failure().is_some() || run.preserved.is_some() && run.status() == Status::Canceled
}

fn of_task(facts: &TaskFacts<'_>, now: Timestamp) -> Vec<Need> {
    // What was asked for before the merge is done with it.
    let merged_at = facts.pulls.iter().filter_map(Pull::merged_at).max();
    let is_after = |run: &Run| merged_at.is_none_or(|at| run.spec.created_at > at);
    let asked_after = |id: RunId| facts.runs.iter().any(|run| run.spec.id == id && is_after(run));
    let is_open = |id: RunId| merged_at.is_none() || asked_after(id);
    let mut found: Vec<Need> =
        facts.runs.iter().filter(|run| is_after(run)).filter_map(|run| of_run(facts, run)).collect();
    let silences = facts.silences.iter().filter(|(run, _)| is_open(*run));
    found.extend(silences.filter_map(|(run, since)| quiet(facts, *run, *since, now)));
    let pulls = facts.pulls.iter().filter(|pull| is_open(pull.wanted.run));
    found.extend(pulls.filter_map(|pull| of_pull(facts, pull)));
    found.extend(choice(facts));
    found
}

fn of_run(facts: &TaskFacts<'_>, run: &Run) -> Option<Need> {
    // Before it is settled, what failed is still being cleaned up.
    let since = run.settled_at?;
    // What becomes of an errand, its formation decides.
    if run.spec.errand.is_some() || is_answered(facts, run) {
        return None;
    }
    let about = subject(facts, Some(run.spec.id), None);
    match (run.status(), run.failure()) {
        (Status::Failed, Some(failure)) => {
            let id = NeedId::of(&["failed", &run.spec.id.to_string(), &since.to_string()]);
            let kept = run.preserved.is_some();
            Some(Need { id, kind: of_failure(failure, kept), since, subject: about })
        }
        (Status::Canceled, _) => {
            let reference = run.preserved.as_ref()?.reference.clone();
            let id = kept_work_id(run)?;
            Some(Need { id, kind: NeedKind::KeptWork { reference }, since, subject: about })
        }
        _ => None,
    }
}

/// The need to look at a canceled run's kept work: put away by whoever has looked at it.
pub fn kept_work_id(run: &Run) -> Option<NeedId> {
    let kept = run.preserved.as_ref()?;
    Some(NeedId::of(&["kept", &run.spec.id.to_string(), kept.oid.as_str()]))
}

fn of_failure(failure: &Failure, kept: bool) -> NeedKind {
    match failure {
        Failure::PushConflict { files } | Failure::ConflictLeft { files } | Failure::DoesNotMerge { files, .. } => {
            NeedKind::Conflict { files: files.clone() }
        }
        Failure::OverBudget { budget, spent } => NeedKind::BudgetReached { budget: *budget, spent: *spent },
        Failure::TimedOut { limit: limit @ (Limit::Silence | Limit::Start), seconds } => {
            NeedKind::Silent { limit: *limit, seconds: *seconds }
        }
        Failure::TimedOut { limit: Limit::Run, .. }
        | Failure::Worktree { .. }
        | Failure::RepositoryGone { .. }
        | Failure::DandoriGone { .. }
        | Failure::SetUp { .. }
        | Failure::AgentMissing { .. }
        | Failure::Agent { .. }
        | Failure::Check { .. }
        | Failure::SupervisorLost
        | Failure::ProcessesLeft { .. }
        | Failure::Tampered { .. }
        | Failure::Unstageable { .. }
        | Failure::Staging { .. }
        | Failure::DiskFull { .. }
        | Failure::Commit { .. }
        | Failure::PushRefused { .. }
        | Failure::RemoteUnreachable { .. }
        | Failure::PushOvertaken { .. } => NeedKind::Failed { failure: failure.clone(), kept },
    }
}

/// Somebody has done something about it since: a later run of the same agent on the task, or another run was picked.
fn is_answered(facts: &TaskFacts<'_>, run: &Run) -> bool {
    let spec = &run.spec;
    let is_later = |other: &Run| {
        let names_it = other.spec.retry_of == Some(spec.id) || other.spec.kind.after() == Some(spec.id);
        names_it || other.spec.agent == spec.agent && other.spec.created_at > spec.created_at
    };
    let picked_another = || {
        let picked = facts.task.picked?;
        let all = candidates(facts.runs);
        Some(!all.iter().any(|candidate| candidate.has(picked) && candidate.has(spec.id)))
    };
    facts.runs.iter().any(|other| other.spec.id != spec.id && is_later(other)) || picked_another().unwrap_or(false)
}

/// A program without a protocol may be quiet for as long as it likes; one that speaks is worth a look after a third of
/// the time in which it would be ended.
fn quiet(facts: &TaskFacts<'_>, id: RunId, since: Timestamp, now: Timestamp) -> Option<Need> {
    let run = facts.runs.iter().find(|run| run.spec.id == id && run.status() == Status::Running)?;
    let speaks = matches!(run.spec.agent, AgentName::Client(_)) || run.spec.settings.is_acp();
    let patience = run.spec.settings.limits.silence_seconds / 3;
    let patience = SignedDuration::from_secs(i64::try_from(patience).unwrap_or(i64::MAX));
    if !speaks || run.spec.errand.is_some() || run.is_canceling() || now.duration_since(since) < patience {
        return None;
    }
    let id = NeedId::of(&["quiet", &id.to_string(), &since.to_string()]);
    Some(Need { id, kind: NeedKind::Quiet, since, subject: subject(facts, Some(run.spec.id), None) })
}

fn of_pull(facts: &TaskFacts<'_>, pull: &Pull) -> Option<Need> {
    let wanted = &pull.wanted;
    let is_at_work = facts.runs.iter().any(|run| !run.is_settled() && run.branch() == Some(wanted.head.as_str()));
    if is_at_work {
        return None;
    }
    let (name, kind) = match &pull.standing {
        Standing::Failed { problem, .. } => ("pull_failed", NeedKind::PullFailed { problem: problem.clone() }),
        // GitHub tells people about its own.
        Standing::Open { link } if facts.open_here.contains(&link.number) => {
            let (base, commit) = (wanted.base.clone(), wanted.head_oid.clone());
            ("pull_ready", NeedKind::PullReady { url: link.url.clone(), base, commit, behind: None })
        }
        Standing::Open { .. }
        | Standing::Wanted { .. }
        | Standing::Putting { .. }
        | Standing::Changing { .. }
        | Standing::Closed { .. }
        | Standing::Merged { .. } => return None,
    };
    let cause = match &kind {
        NeedKind::PullFailed { .. } => wanted.at.to_string(),
        _ => wanted.head_oid.to_string(),
    };
    let id = NeedId::of(&[name, &pull.spec.id.to_string(), &cause]);
    let number = pull.link().map(|link| link.number);
    Some(Need { id, kind, since: wanted.at, subject: subject(facts, Some(wanted.run), number) })
}

/// What a pull request that waits needs, once it is known how it stands to its base: that moves without a fact of ours.
pub fn beside_base(need: Need, behind: u32, conflicts: &[String]) -> Need {
    let NeedKind::PullReady { url, base, commit, .. } = need.kind else { return need };
    if conflicts.is_empty() {
        return Need { kind: NeedKind::PullReady { url, base, commit, behind: Some(behind) }, ..need };
    }
    // Another need: whoever has put aside that it waits does not know of this.
    let id = NeedId::of(&["pull_conflict", need.id.as_str()]);
    Need { id, kind: NeedKind::PullConflict { url, base, commit, files: conflicts.to_vec() }, ..need }
}

/// Several agents worked side by side, all are done, and more than one of them has something to pick.
fn choice(facts: &TaskFacts<'_>) -> Option<Need> {
    let all = candidates(facts.runs);
    let is_done = facts.runs.iter().all(Run::is_settled);
    let rivals: Vec<&Run> = all.iter().filter_map(|candidate| candidate.to_pick()).collect();
    if facts.task.picked.is_some() || !is_done || rivals.len() < 2 || !facts.pulls.is_empty() {
        return None;
    }
    let since = rivals.iter().filter_map(|run| run.settled_at).max()?;
    let mut keys: Vec<String> = rivals.iter().map(|run| run.spec.id.to_string()).collect();
    keys.sort_unstable();
    let agents = rivals.iter().map(|run| run.spec.agent.to_string()).collect();
    let id = NeedId::of(&["choice", &keys.join(" ")]);
    Some(Need { id, kind: NeedKind::Choice { agents }, since, subject: subject(facts, None, None) })
}

fn of_repo(facts: &RepoFacts) -> Vec<Need> {
    let about = Subject { repo: Some(facts.repo), ..Subject::default() };
    let trust = facts.untrusted.iter().map(|untrusted| Need {
        id: NeedId::of(&["trust", &facts.repo.to_string(), &untrusted.digest]),
        kind: NeedKind::Trust { path: untrusted.path.clone(), what: untrusted.what.clone() },
        since: untrusted.refused_at,
        subject: about.clone(),
    });
    let consent = facts.unconfirmed.iter().map(|waiting| Need {
        id: NeedId::of(&["consent", &facts.repo.to_string(), &waiting.session]),
        kind: NeedKind::Consent { session: waiting.session.clone() },
        since: waiting.refused_at,
        subject: about.clone(),
    });
    trust.chain(consent).collect()
}

fn of_daemon(facts: &DaemonFacts) -> Vec<Need> {
    let notices = facts.notices.iter().map(|(problem, since)| {
        let (kind, cause) = match problem {
            Problem::StoreDamaged { quarantine, restored } => (
                NeedKind::StoreRestored { quarantine: quarantine.clone(), backup: restored.clone() },
                // Named by the time of the damage: it stays the same need for as long as it is one.
                quarantine.to_string(),
            ),
            other => (NeedKind::DaemonTrouble { problem: other.clone() }, format!("{}{since}", other.code())),
        };
        Need { id: NeedId::of(&["daemon", &cause]), kind, since: *since, subject: Subject::default() }
    });
    let disk = facts.disk.iter().map(|disk| Need {
        id: NeedId::of(&["disk", disk.path.as_str(), &disk.since.to_string()]),
        kind: NeedKind::DiskLow { path: disk.path.clone(), free: disk.free, needed: disk.needed },
        since: disk.since,
        subject: Subject::default(),
    });
    notices.chain(disk).collect()
}

fn subject(facts: &TaskFacts<'_>, run: Option<RunId>, pull: Option<u64>) -> Subject {
    let task = facts.task;
    let newest = facts.runs.last().map(|run| run.spec.id);
    Subject {
        is_sole: run.is_some() && run == newest && facts.runs.iter().all(|run| is_of_same_agent(facts, run)),
        repo: Some(task.repo),
        task: Some(task.id),
        number: Some(task.number),
        title: Some(task.title.clone()),
        run,
        pull,
    }
}

fn is_of_same_agent(facts: &TaskFacts<'_>, run: &Run) -> bool {
    facts.runs.first().is_some_and(|first| first.spec.agent == run.spec.agent)
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.id, self.kind.name())
    }
}

/// What a person has done about a need.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// Not before then.
    Snoozed {
        until: Timestamp,
        reason: String,
    },
    Dismissed,
    /// Looked at by other means: a diff, a restored worktree.
    Seen,
}

impl Answer {
    /// Whether the need is still kept out of sight.
    pub fn hides(&self, now: Timestamp) -> bool {
        match self {
            Self::Snoozed { until, .. } => *until > now,
            Self::Dismissed | Self::Seen => true,
        }
    }
}

#[cfg(test)]
mod tests;
