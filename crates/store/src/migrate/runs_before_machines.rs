//! Runs as they were written before there were machines: one flat sum of facts with the pull request in it. Each takes its
//! present form, and its pull request becomes one of its own.

use dandori_domain::Machine;
use dandori_domain::agent::{Usage, Verdict};
use dandori_domain::failure::Failure;
use dandori_domain::id::{Oid, SessionId};
use dandori_domain::problem::Problem;
use dandori_domain::pull::{Pull, PullLink, PullWords, Standing, WantedBy};
use dandori_domain::run::{
    Changes, Cleanup, Commit, Course, Ended, Intent, Note, PlannedWorktree, Preserved, ProcessRef, Progress, Removal,
    Run, RunSpec, Sandbox, Staged, Work, Workspace,
};
use jiff::Timestamp;
use serde::Deserialize;

use crate::error::{Result, StoreError};
use crate::tx::{Tx, params};
use crate::verb::subject::{self, parts};

#[derive(Deserialize)]
struct FlatRun {
    admitted_at: Option<Timestamp>,
    open_intent: Option<FlatIntent>,
    workspace: Option<Workspace>,
    worktree_ready: bool,
    set_up_done: bool,
    launched_at: Option<Timestamp>,
    shim: Option<ProcessRef>,
    sandbox: Option<Sandbox>,
    session: Option<SessionId>,
    ended: Option<FlatEnded>,
    staged: Option<FlatStaged>,
    commit: Option<Oid>,
    rebased: u32,
    rebased_onto: Option<Oid>,
    pushed: Option<Oid>,
    pull: Option<FlatPull>,
    failure: Option<Failure>,
    cancel_requested_at: Option<Timestamp>,
    stopped: bool,
    preserved: Option<FlatPreserved>,
    removed: Option<dandori_domain::run::BranchFate>,
    notes: Vec<Note>,
    settled_at: Option<Timestamp>,
}

#[derive(Deserialize)]
struct FlatEnded {
    verdict: Verdict,
    exit: Option<i32>,
    signal: Option<i32>,
    usage: Usage,
    at: Timestamp,
}

#[derive(Deserialize)]
struct FlatStaged {
    tree: Oid,
    parent: Oid,
    changes: Option<Changes>,
}

#[derive(Deserialize)]
struct FlatPreserved {
    reference: String,
    oid: Oid,
}

#[derive(Deserialize)]
#[serde(tag = "pull", rename_all = "snake_case")]
enum FlatPull {
    Opened { number: u64, url: String },
    Failed { problem: Problem },
}

/// The intents of today, and the one for a pull request that a run had.
#[derive(Deserialize)]
#[serde(try_from = "serde_json::Value")]
enum FlatIntent {
    Known(Box<Intent>),
    Pull,
}

impl TryFrom<serde_json::Value> for FlatIntent {
    type Error = serde_json::Error;

    fn try_from(value: serde_json::Value) -> std::result::Result<Self, serde_json::Error> {
        if value.get("intent").and_then(serde_json::Value::as_str) == Some("pull") {
            return Ok(Self::Pull);
        }
        serde_json::from_value(value).map(Self::Known)
    }
}

pub(super) fn convert(tx: &mut dyn Tx, now: Timestamp) -> Result<()> {
    let ids = tx.query("SELECT id FROM run ORDER BY seq", &[])?;
    for row in &ids {
        let id = row.text(0)?.to_owned();
        let found = tx.first(
            "SELECT subject.body, subject_spec.spec FROM subject JOIN subject_spec
             ON subject_spec.machine = subject.machine AND subject_spec.id = subject.id
             WHERE subject.machine = 'run' AND subject.id = $1",
            params![id.as_str()],
        )?;
        let found = found.ok_or_else(|| StoreError::unreadable(format!("{id} has no facts")))?;
        let (flat, spec): (FlatRun, RunSpec) = (found.json(0)?, found.json(1)?);
        let (run, pull) = flat.today(spec, now);
        let (body, _) = parts(&run)?;
        tx.execute(
            "UPDATE subject SET walked = $2, version = $3, body = $4 WHERE machine = 'run' AND id = $1",
            params![id, run.is_walked(now), Run::VERSION, body],
        )?;
        if let Some(pull) = pull {
            put_pull(tx, pull, now)?;
        }
    }
    Ok(())
}

/// A branch has one pull request, which several of its runs may have spoken of: the newest knows best.
fn put_pull(tx: &mut dyn Tx, pull: Pull, now: Timestamp) -> Result<()> {
    let there = tx.first(
        "SELECT id FROM pull WHERE repo = $1 AND head = $2 AND over = 0",
        params![pull.spec.repo, pull.head()],
    )?;
    match there {
        None => subject::insert(tx, &pull, now),
        Some(row) => {
            let before: Pull = subject::load(tx, row.parsed(0)?)?;
            // One that could not be brought up to date is still where it was.
            let standing = match pull.standing {
                Standing::Failed { link: None, problem } => Standing::Failed { link: before.link().cloned(), problem },
                other => other,
            };
            let after = Pull { spec: before.spec.clone(), standing, ..pull };
            subject::update(tx, &before, &after, now)
        }
    }
}

impl FlatRun {
    fn today(self, spec: RunSpec, now: Timestamp) -> (Run, Option<Pull>) {
        let mut run = Run::new(spec);
        let pull = self.pull.as_ref().map(|pull| match pull {
            FlatPull::Opened { number, url } => Standing::Open { link: PullLink { number: *number, url: url.clone() } },
            FlatPull::Failed { problem } => Standing::Failed { link: None, problem: problem.clone() },
        });
        run.progress = self.progress();
        run.course = match (self.cancel_requested_at, self.failure) {
            (Some(asked_at), _) => Course::Canceling { asked_at, stopped: self.stopped },
            (None, Some(failure)) => Course::Failed { failure, stopped: self.stopped },
            (None, None) => Course::Flowing,
        };
        run.session = self.session;
        run.preserved = self.preserved.map(|p| Preserved { reference: p.reference, oid: p.oid });
        run.removal = match (self.removed, &self.open_intent) {
            (Some(fate), _) => Removal::Done(fate),
            (None, Some(FlatIntent::Known(intent))) => match **intent {
                Intent::Remove { branch } => Removal::Begun(branch),
                _ => Removal::Stays,
            },
            (None, _) => Removal::Stays,
        };
        run.notes = self.notes;
        run.settled_at = self.settled_at;
        // Its pull request was open, and it was about to be cleaned up.
        let is_open = matches!(pull, Some(Standing::Open { .. }));
        if is_open && !run.is_settled() && run.removal == Removal::Stays && run.spec.settings.cleanup == Cleanup::Pr {
            run.removal = Removal::Released;
        }
        // One that was about to be opened is opened now, by its own machine.
        let standing = pull.or_else(|| {
            let wanted = run.spec.settings.wants_pull && run.progress.pushed().is_some() && !run.is_settled();
            wanted.then_some(Standing::Wanted { link: None })
        });
        let pull = standing.and_then(|standing| pull_of(&run, standing, now));
        (run, pull)
    }

    fn progress(&self) -> Progress {
        let Some(admitted_at) = self.admitted_at else { return Progress::Waiting };
        let intent = match &self.open_intent {
            Some(FlatIntent::Known(intent)) => Some(&**intent),
            Some(FlatIntent::Pull) | None => None,
        };
        let Some(workspace) = self.workspace.clone() else { return Progress::Admitted { admitted_at } };
        if !self.worktree_ready {
            return match intent {
                Some(Intent::Worktree(planned)) => Progress::Making { admitted_at, planned: planned.clone() },
                // It failed, or was called off, half made: what is left of it is cleaned up by its place.
                intent if self.failure.is_some() || matches!(intent, Some(Intent::Remove { .. })) => {
                    Progress::Making { admitted_at, planned: PlannedWorktree { workspace, arrival: None, kept: None } }
                }
                _ => Progress::Admitted { admitted_at },
            };
        }
        let (Some(launched_at), Some(shim), Some(sandbox)) =
            (self.launched_at, self.shim.clone(), self.sandbox.clone())
        else {
            return match intent {
                Some(Intent::Launch) => Progress::Launching { admitted_at, workspace },
                Some(Intent::SetUp) => Progress::SettingUp { admitted_at, workspace },
                _ if self.set_up_done => Progress::Prepared { admitted_at, workspace },
                _ => Progress::Ready { admitted_at, workspace },
            };
        };
        let work = Work { admitted_at, workspace, launched_at, shim, sandbox };
        let Some(ended) = &self.ended else { return Progress::Running { work } };
        let ended = Ended {
            verdict: ended.verdict.clone(),
            exit: ended.exit,
            signal: ended.signal,
            usage: ended.usage,
            at: ended.at,
        };
        let Some(staged) = &self.staged else { return Progress::Ended { work, ended } };
        let staged = Staged { tree: staged.tree.clone(), parent: staged.parent.clone(), changes: staged.changes };
        let Some(oid) = self.commit.clone() else {
            return match intent {
                Some(Intent::Commit(planned)) => Progress::Committing { work, ended, staged, planned: planned.clone() },
                _ => Progress::Staged { work, ended, staged },
            };
        };
        let commit = Commit { oid, rebased: self.rebased, rebased_onto: self.rebased_onto.clone() };
        if self.pushed.is_some() {
            return Progress::Pushed { work, ended, staged, commit };
        }
        match intent {
            Some(Intent::Push(planned)) => Progress::Pushing { work, ended, staged, commit, planned: planned.clone() },
            _ => Progress::Committed { work, ended, staged, commit },
        }
    }
}

fn pull_of(run: &Run, standing: Standing, now: Timestamp) -> Option<Pull> {
    let at = run.progress.ended().map_or(now, |ended| ended.at);
    let wanted = run.pull_wanted(PullWords::of(run), WantedBy::Run, at)?;
    let id = crate::verb::consequence::new_id(&wanted, at);
    Some(Pull { standing, ..Pull::new(id, wanted) })
}
