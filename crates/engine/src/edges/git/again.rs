//! An earlier run's place again: what others have pushed to its branch comes in before the agent goes on.

use dandori_domain::WorktreeKey;
use dandori_domain::run::{Arrival, Fact, Intent, Note, PlannedWorktree, Run, Workspace};
use dandori_git::{Added, CatchUp, Fetch, GitError};
use jiff::Timestamp;

use super::{preserved_ref_of, worktree_failure};
use crate::edges::Site;
use crate::repos::Known;
use crate::run::StepError;

/// Works out where the run will start. Nothing is touched before that is written down.
pub(super) fn plan(site: &Site, known: &Known, mut workspace: Workspace) -> Result<Vec<Fact>, StepError> {
    let failed = |e: GitError| worktree_failure(&e);
    // Offline is no reason not to work.
    let fetched = known.git.resolve_base(Some(&workspace.base), site.base.as_deref(), Fetch::First);
    let mut facts = Vec::new();
    if known.git.worktree(&workspace.path).map_err(failed)?.is_none() {
        facts.push(Fact::Noted { note: Note::WorktreeRemade });
    }
    let mut arrival = None;
    if let Some(tip) = known.git.branch_oid(&workspace.branch).map_err(failed)? {
        workspace.base_oid = tip.clone();
        match known.git.catch_up(&workspace.branch, &tip, &workspace.ours_after).map_err(failed)? {
            CatchUp::Current { theirs } => workspace.ours_after = theirs.unwrap_or(workspace.ours_after),
            CatchUp::Offline { reason } => facts.push(Fact::Noted { note: Note::Offline { reason } }),
            CatchUp::Behind(found) => {
                workspace.base_oid = found.to.clone();
                arrival = Some(found);
            }
        }
    } else {
        // A branch that was removed with its worktree is on the remote still, with all the earlier runs pushed.
        workspace.base_oid = match known.git.remote_branch_oid(&workspace.branch).map_err(failed)? {
            Some(tip) => tip,
            None => fetched.map_err(failed)?.oid,
        };
        workspace.ours_after = workspace.base_oid.clone();
    }
    facts.push(Fact::Intended { intent: Intent::Worktree(PlannedWorktree { workspace, arrival }) });
    Ok(facts)
}

/// Brings the worktree to what others have pushed. Uncommitted edits in the same files stay, and so does then the
/// branch: they are committed first, and a later run brings the two together.
pub(super) fn arrive(
    known: &Known,
    run: &Run,
    added: &Added,
    workspace: &mut Workspace,
    arrival: &Arrival,
    now: Timestamp,
) -> Result<Vec<Fact>, StepError> {
    let mut facts = Vec::new();
    let is_where_planned = added.tip == arrival.from || added.tip == arrival.to;
    if !is_where_planned {
        // Somebody moved the branch in between: the push will see to it.
        workspace.base_oid = added.tip.clone();
        return Ok(facts);
    }
    if arrival.takes_commits_apart() {
        facts.extend(keep(known, run, added, workspace, arrival, now).map_err(|e| worktree_failure(&e))?);
    }
    match added.tree.arrive(&workspace.branch, arrival) {
        Ok(()) => {
            workspace.ours_after = arrival.theirs.clone();
            facts.push(Fact::Noted { note: Note::PulledBefore { commits: arrival.commits } });
            if !arrival.conflicts.is_empty() {
                facts.push(Fact::Noted { note: Note::ConflictBrought { files: arrival.conflicts.clone() } });
            }
        }
        Err(GitError::EditsInTheWay { files, .. }) => {
            workspace.base_oid = arrival.from.clone();
            facts.push(Fact::Noted { note: Note::EditsInTheWay { files } });
        }
        Err(e) => return Err(worktree_failure(&e)),
    }
    Ok(facts)
}

/// Our commits as they are, before what they did becomes edits.
fn keep(
    known: &Known,
    run: &Run,
    added: &Added,
    workspace: &Workspace,
    arrival: &Arrival,
    now: Timestamp,
) -> Result<Option<Fact>, GitError> {
    let reference = preserved_ref_of(&WorktreeKey::from(run.spec.id.key()));
    let kept = if added.tip == arrival.to {
        // Done by a life before this one.
        known.git.reference(&reference)?
    } else {
        let message = format!("kept from {} before it was put together with what others pushed", run.spec.id);
        known.git.preserve(&added.tree, Some(&workspace.branch), &reference, &message, now)?
    };
    Ok(kept.map(|oid| Fact::Preserved { reference, oid }))
}
