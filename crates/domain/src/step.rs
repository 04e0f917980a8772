//! What comes next for a run: one pure function of its facts.
//!
//! The engine asks it after every fact and after every restart; that is the whole of crash recovery. A step whose
//! intent is already open is carried out by looking first whether it has happened.

use crate::failure::Failure;
use crate::run::{BranchFate, Cleanup, Intent, Pull, RunFacts, RunKind, Status};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Wait for a place.
    Admit,
    MakeWorktree,
    SetUp,
    Launch,
    /// Follow the agent until it ends.
    Watch,
    /// Look for what the agent may not do, then stage and write the patch.
    Stage,
    Commit,
    Push,
    OpenPull,
    /// End whatever of the run is still alive.
    Stop,
    /// Keep uncommitted and unpushed work under a private ref, then mean to remove.
    Preserve(BranchFate),
    Remove(BranchFate),
    Settle,
    /// Nothing, for good.
    Rest,
}

pub fn next_step(run: &RunFacts) -> Step {
    if run.is_settled() {
        return Step::Rest;
    }
    if run.cancel_requested_at.is_some() {
        return after_cancel(run);
    }
    if run.failure.is_some() {
        return after_failure(run);
    }
    match run.status() {
        Status::Pending if run.admitted_at.is_none() => Step::Admit,
        Status::Pending if !run.worktree_ready => Step::MakeWorktree,
        Status::Pending if !run.set_up_done => Step::SetUp,
        Status::Pending => Step::Launch,
        Status::Running => Step::Watch,
        Status::Staging => Step::Stage,
        Status::Committing => Step::Commit,
        Status::Pushing => Step::Push,
        Status::Succeeded => after_success(run),
        Status::Failed | Status::Canceled => Step::Settle,
    }
}

fn after_cancel(run: &RunFacts) -> Step {
    if run.may_have_processes() && !run.stopped {
        return Step::Stop;
    }
    // An earlier run's commits are on a follow-up's branch: that stays, only the new edits go (and are kept).
    let fate = match run.spec.kind {
        RunKind::First => BranchFate::Delete,
        RunKind::FollowUp { .. } => BranchFate::Keep,
    };
    removal(run, fate)
}

fn after_failure(run: &RunFacts) -> Step {
    if run.may_have_processes() && run.ended.is_none() && !run.stopped {
        return Step::Stop;
    }
    match &run.failure {
        // Nothing was made, or only half: leave no trace of it.
        Some(Failure::Worktree { .. }) if matches!(run.spec.kind, RunKind::First) => removal(run, BranchFate::Delete),
        // Everything else stays where it is: the user looks at it, or a follow-up goes on with it.
        _ => Step::Settle,
    }
}

fn after_success(run: &RunFacts) -> Step {
    if !run.has_changes() {
        return match run.spec.kind {
            RunKind::First => removal(run, BranchFate::Delete),
            RunKind::FollowUp { .. } => Step::Settle,
        };
    }
    if run.spec.settings.wants_pull && run.pull.is_none() {
        return Step::OpenPull;
    }
    let done_with_tree = match run.spec.settings.cleanup {
        Cleanup::Push => true,
        Cleanup::Pr => matches!(run.pull, Some(Pull::Opened { .. })),
        Cleanup::Merged | Cleanup::Never => false,
    };
    if done_with_tree { removal(run, BranchFate::Keep) } else { Step::Settle }
}

/// Nothing is removed before it is kept.
fn removal(run: &RunFacts, fate: BranchFate) -> Step {
    let follow_up_untouched = matches!(run.spec.kind, RunKind::FollowUp { .. }) && !run.worktree_ready;
    if run.workspace.is_none() || run.removed.is_some() || follow_up_untouched || run.clean_up_is_given_up() {
        return Step::Settle;
    }
    let removal_begun = matches!(run.open_intent, Some(Intent::Remove { .. }));
    if run.worktree_ready && !removal_begun {
        return Step::Preserve(fate);
    }
    Step::Remove(fate)
}

#[cfg(test)]
mod tests;
