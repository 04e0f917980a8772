//! What comes next for a run: one pure function of its facts.
//!
//! The kernel asks it after every fact and after every restart; that is the whole of crash recovery. A step that carries
//! out an intent looks first whether it has already happened.

use jiff::Timestamp;

use super::{
    BranchFate, Cleanup, Commit, Course, Fact, Intent, PlannedCommit, PlannedPush, PlannedWorktree, Progress, Removal,
    Run, RunKind, Work, Workspace,
};
use crate::failure::Failure;
use crate::machine::{Next, names};
use crate::wording::{MessageParts, commit_message, merge_message};

/// Something to be done for a run, with what it takes.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// Work out where it is to work, and from which commit.
    PlanWorktree,
    MakeWorktree(PlannedWorktree),
    /// Find out what the project's set-up is.
    PlanSetUp(Workspace),
    SetUp(Workspace),
    Launch(Workspace),
    /// Follow the agent until it ends.
    Watch(Work),
    /// Look for what the agent may not do, then stage and write the patch.
    Stage(Work),
    Commit {
        workspace: Workspace,
        planned: PlannedCommit,
    },
    Push {
        workspace: Workspace,
        commit: Commit,
        planned: PlannedPush,
    },
    /// End whatever of the run is still alive.
    Stop {
        launched: Option<Work>,
        why: StopReason,
    },
    /// Keep uncommitted and unpushed work under a private ref, then mean to remove.
    Preserve {
        workspace: Workspace,
        fate: BranchFate,
    },
    Remove {
        workspace: Workspace,
        fate: BranchFate,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopReason {
    Canceled,
    OverLimit,
}

names!(Step {
    PlanWorktree => "plan_worktree",
    MakeWorktree => "make_worktree",
    PlanSetUp => "plan_set_up",
    SetUp => "set_up",
    Launch => "launch",
    Watch => "watch",
    Stage => "stage",
    Commit => "commit",
    Push => "push",
    Stop => "stop",
    Preserve => "preserve",
    Remove => "remove",
});

impl Step {
    pub(super) fn carries_out(&self) -> Option<&'static str> {
        Some(match self {
            Self::MakeWorktree(_) => "worktree",
            Self::SetUp(_) => "set_up",
            Self::Launch(_) => "launch",
            Self::Commit { .. } => "commit",
            Self::Push { .. } => "push",
            Self::Remove { .. } => "remove",
            Self::PlanWorktree
            | Self::PlanSetUp(_)
            | Self::Watch(_)
            | Self::Stage(_)
            | Self::Stop { .. }
            | Self::Preserve { .. } => return None,
        })
    }
}

pub(super) fn next(run: &Run, now: Timestamp) -> Next<Run> {
    if run.is_settled() {
        return Next::Rest;
    }
    match &run.course {
        Course::Flowing => flow(run, now),
        Course::Canceling { stopped, .. } => after_cancel(run, *stopped),
        Course::Failed { failure, stopped } => after_failure(run, failure, *stopped),
    }
}

impl Run {
    pub(super) fn next_is_settled(&self) -> bool {
        // The time is only written into intents.
        matches!(next(self, Timestamp::UNIX_EPOCH), Next::Record(Fact::Settled))
    }
}

fn flow(run: &Run, now: Timestamp) -> Next<Run> {
    let intended = |intent| Next::Record(Fact::Intended { intent });
    match &run.progress {
        Progress::Waiting => Next::Wait,
        Progress::Admitted { .. } => Next::Take(Step::PlanWorktree),
        Progress::Making { planned, .. } => Next::Take(Step::MakeWorktree(planned.clone())),
        Progress::Ready { workspace, .. } => Next::Take(Step::PlanSetUp(workspace.clone())),
        Progress::SettingUp { workspace, .. } => Next::Take(Step::SetUp(workspace.clone())),
        Progress::Prepared { .. } => intended(Intent::Launch),
        Progress::Launching { workspace, .. } => Next::Take(Step::Launch(workspace.clone())),
        Progress::Running { work } => Next::Take(Step::Watch(work.clone())),
        Progress::Ended { work, .. } => Next::Take(Step::Stage(work.clone())),
        Progress::Staged { staged, .. } if staged.changes.is_none() => without_changes(run),
        Progress::Staged { work, staged, .. } => intended(Intent::Commit(PlannedCommit {
            tree: staged.tree.clone(),
            parent: staged.parent.clone(),
            merges: work.workspace.merges.as_deref().cloned(),
            message: match &work.workspace {
                Workspace { merges: Some(_), base, branch, .. } => {
                    let name = run.spec.brings.as_ref().map_or(base.as_str(), |brings| brings.name(base));
                    merge_message(name, branch, &MessageParts::of(run))
                }
                _ => commit_message(&run.spec.settings.commit_template, &MessageParts::of(run)),
            },
            at: now,
        })),
        Progress::Committing { work, planned, .. } => {
            Next::Take(Step::Commit { workspace: work.workspace.clone(), planned: planned.clone() })
        }
        Progress::Committed { commit, .. } => {
            intended(Intent::Push(PlannedPush { oid: commit.oid.clone(), expected: commit.rebased_onto.clone() }))
        }
        Progress::Pushing { work, commit, planned, .. } => Next::Take(Step::Push {
            workspace: work.workspace.clone(),
            commit: commit.clone(),
            planned: planned.clone(),
        }),
        Progress::Pushed { .. } | Progress::Local { .. } => {
            let is_released = run.removal != Removal::Stays || run.spec.settings.cleanup == Cleanup::Push;
            if is_released { removal(run, BranchFate::Keep) } else { settled() }
        }
    }
}

/// A first run that changed nothing leaves nothing behind.
fn without_changes(run: &Run) -> Next<Run> {
    match run.spec.kind {
        RunKind::First => removal(run, BranchFate::Delete),
        RunKind::FollowUp { .. } => settled(),
    }
}

fn after_cancel(run: &Run, stopped: bool) -> Next<Run> {
    if run.progress.may_have_processes() && !stopped {
        return Next::Take(Step::Stop { launched: run.progress.work().cloned(), why: StopReason::Canceled });
    }
    // An earlier run's commits are on a follow-up's branch: that stays, only the new edits go (and are kept).
    let fate = match run.spec.kind {
        RunKind::First => BranchFate::Delete,
        RunKind::FollowUp { .. } => BranchFate::Keep,
    };
    removal(run, fate)
}

fn after_failure(run: &Run, failure: &Failure, stopped: bool) -> Next<Run> {
    if run.progress.may_have_processes() && run.progress.ended().is_none() && !stopped {
        return Next::Take(Step::Stop { launched: run.progress.work().cloned(), why: StopReason::OverLimit });
    }
    match failure {
        // Nothing was made, or only half: leave no trace of it.
        Failure::Worktree { .. } if run.spec.kind == RunKind::First => removal(run, BranchFate::Delete),
        // Everything else stays where it is: the user looks at it, or a follow-up goes on with it.
        _ => settled(),
    }
}

/// Nothing is removed before it is kept.
fn removal(run: &Run, fate: BranchFate) -> Next<Run> {
    let is_ready = run.progress.ready_workspace().is_some();
    // A follow-up that never had its worktree has nothing of its own.
    let is_another_s = !is_ready && matches!(run.spec.kind, RunKind::FollowUp { .. });
    let Some(workspace) = run.workspace().filter(|_| !is_another_s && !run.clean_up_is_given_up()) else {
        return settled();
    };
    let workspace = workspace.clone();
    match run.removal {
        Removal::Done(_) => settled(),
        Removal::Begun(fate) => Next::Take(Step::Remove { workspace, fate }),
        Removal::Stays | Removal::Released if is_ready => Next::Take(Step::Preserve { workspace, fate }),
        // Half made: nobody has worked in it.
        Removal::Stays | Removal::Released => Next::Record(Fact::Intended { intent: Intent::Remove { branch: fate } }),
    }
}

fn settled() -> Next<Run> {
    Next::Record(Fact::Settled)
}
