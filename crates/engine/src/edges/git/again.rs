//! An earlier run's place again: what others have pushed to its branch comes in before the agent goes on.

use dandori_domain::run::{
    Arrival, Brings, Fact, Intent, LeftOut, Note, PlannedWorktree, Run, RunKind, Start, Workspace,
};
use dandori_domain::{Failure, Oid, WorktreeKey};
use dandori_git::{Added, CatchUp, Fetch, GitError, Tree};
use dandori_host::layout::real;
use jiff::Timestamp;

use super::{beginning, preserved_ref_of, worktree_failure};
use crate::edges::{Footing, Kept, Site};
use crate::repos::Known;
use crate::run::StepError;

/// Works out where the run will start. Nothing is touched before that is written down.
pub(super) fn plan(
    site: &Site,
    known: &Known,
    run: &Run,
    mut workspace: Workspace,
    kept: Option<&Kept>,
) -> Result<Vec<Fact>, StepError> {
    let failed = |e: GitError| worktree_failure(&e);
    let git = &known.git;
    // Offline is no reason not to work.
    let footing = Footing { checkout: None, base: Some(workspace.base.clone()), here: run.spec.here.clone() };
    let fetched = beginning(git, &footing, site.base.as_deref(), Fetch::First);
    let mut facts = Vec::new();
    let is_gone = git.worktree(&workspace.path).map_err(failed)?.is_none();
    if is_gone {
        facts.push(Fact::Noted { note: Note::WorktreeRemade });
    }
    let mut planned = PlannedWorktree { workspace: workspace.clone(), arrival: None, kept: None };
    let mut start =
        Start { base: workspace.branch.clone(), commit: workspace.base_oid.clone(), offline: None, left_out: None };
    let tip = git.branch_oid(&workspace.branch).map_err(failed)?;
    if let Some(tip) = &tip {
        workspace.base_oid = tip.clone();
        match git.catch_up(&workspace.branch, tip, &workspace.ours_after).map_err(failed)? {
            CatchUp::Current { theirs } => workspace.ours_after = theirs.unwrap_or(workspace.ours_after),
            CatchUp::Offline(offline) => start.offline = Some(offline),
            CatchUp::Behind(found) => {
                workspace.base_oid = found.to.clone();
                planned.arrival = Some(Box::new(found));
            }
        }
    }
    // What was merged into the files is in no worktree that has to be made again.
    workspace.merges = workspace.merges.filter(|_| !is_gone);
    if run.gives_back() {
        // What an earlier one has merged was given back with it.
        workspace.merges = None;
    }
    if run.spec.brings.is_some() && workspace.merges.is_some() {
        // Begun by an earlier run, and not finished.
        let tree = git.worktree(&workspace.path).map_err(failed)?;
        let left = tree.map(|tree| tree.conflict()).transpose().map_err(failed)?.flatten();
        let left = left.map(|conflict| conflict.marked).filter(|files| !files.is_empty());
        facts.extend(left.map(|files| Fact::Noted { note: Note::ConflictBrought { files } }));
    } else if let (Some(brings), Some(tip)) = (&run.spec.brings, &tip) {
        let oid = what_comes(site, known, brings, &workspace)?;
        if !brings.gives_back() {
            require_clean(known, &workspace)?;
        }
        if let Some(arrival) = bring(known, brings, &oid, tip, planned.arrival.as_deref())?
            && let Some(others) = planned.arrival.replace(Box::new(arrival))
        {
            workspace.ours_after = others.theirs;
        }
    }
    let comes_back = |kept: &Kept, head: &Oid| is_gone && fits(kept, head, tip.as_ref(), planned.arrival.is_some());
    let kept_on = kept.map(|kept| git.kept_on(kept.reference())).transpose().map_err(failed)?.flatten();
    match kept.zip(kept_on) {
        Some((kept, head)) if comes_back(kept, &head) => {
            workspace.base_oid = head;
            planned.kept = Some(kept.reference().to_owned());
        }
        Some((Kept::ByCancel(reference), _)) => {
            facts.push(Fact::Noted { note: Note::KeptWorkStays { reference: reference.clone() } });
        }
        _ if tip.is_none() => {
            // A branch that was removed with its worktree is on the remote still, with all the earlier runs pushed.
            workspace.base_oid = match git.remote_branch_oid(&workspace.branch).map_err(failed)? {
                Some(tip) => tip,
                None => {
                    let base = fetched.map_err(failed)?;
                    start = base.start();
                    base.commit
                }
            };
            workspace.ours_after = workspace.base_oid.clone();
        }
        _ => {}
    }
    start.commit = workspace.base_oid.clone();
    start.left_out = left_out(known, run, &workspace);
    planned.workspace = workspace;
    facts.push(Fact::StartsFrom { start });
    facts.push(Fact::Intended { intent: Intent::Worktree(planned) });
    Ok(facts)
}

/// The commit that is to be merged.
pub(super) fn what_comes(site: &Site, known: &Known, brings: &Brings, workspace: &Workspace) -> Result<Oid, StepError> {
    match brings {
        Brings::Commit { oid, .. } => Ok(oid.clone()),
        Brings::Base => {
            let footing = Footing { checkout: None, base: Some(workspace.base.clone()), here: None };
            let base = beginning(&known.git, &footing, site.base.as_deref(), Fetch::First);
            Ok(base.map_err(|e| worktree_failure(&e))?.commit)
        }
    }
}

/// Edits that nobody has committed would become part of the merge: they are named.
fn require_clean(known: &Known, workspace: &Workspace) -> Result<(), StepError> {
    let failed = |e: GitError| worktree_failure(&e);
    let Some(tree) = known.git.worktree(&workspace.path).map_err(failed)?.filter(Tree::is_there) else { return Ok(()) };
    let state = tree.state().map_err(failed)?;
    if state.dirty.is_empty() {
        return Ok(());
    }
    let reason = format!("uncommitted changes in the worktree: {}", state.dirty.join(", "));
    Err(Failure::Worktree { reason }.into())
}

/// How a commit gets into a branch that stands at `tip`, and to which others may have pushed. `None`: it is in it already, or
/// what the others pushed has to be brought together with our own work first.
pub(super) fn bring(
    known: &Known,
    brings: &Brings,
    oid: &Oid,
    tip: &Oid,
    others: Option<&Arrival>,
) -> Result<Option<Arrival>, StepError> {
    let files_conflict = |files: &[String]| {
        let name = brings.name("").to_owned();
        StepError::from(Failure::DoesNotMerge { name, files: files.to_vec() })
    };
    if let Some(others) = others.filter(|others| others.takes_commits_apart()) {
        return if brings.gives_back() { Err(files_conflict(&others.conflicts)) } else { Ok(None) };
    }
    let onto = others.map_or(tip, |others| &others.to);
    let Some(found) = known.git.merge_in(onto, oid).map_err(|e| worktree_failure(&e))? else { return Ok(None) };
    if brings.gives_back() && !found.conflicts.is_empty() {
        return Err(files_conflict(&found.conflicts));
    }
    Ok(Some(Arrival { from: tip.clone(), ..found }))
}

/// Whether kept work can come back as it was: nothing else has come to lie where it was taken from.
fn fits(kept: &Kept, head: &Oid, tip: Option<&Oid>, has_arrival: bool) -> bool {
    match (kept, tip) {
        (_, None) => true,
        (Kept::ByCancel(_), Some(tip)) => tip == head && !has_arrival,
        // The branch was left on purpose.
        (Kept::ByHand(_), Some(_)) => false,
    }
}

/// Whoever goes on from an earlier run knows that it does not begin at his own branch: only what nobody else has is told. In
/// the run's own worktree everything is seen.
fn left_out(known: &Known, run: &Run, workspace: &Workspace) -> Option<LeftOut> {
    let checkout = run.spec.checkout.as_ref().filter(|checkout| real(checkout) != real(&workspace.path))?;
    let changed = known.git.changed_in(checkout).ok()??;
    let found = known.git.left_out(checkout, &workspace.base_oid, changed).ok()??;
    Some(LeftOut { commits: found.unpushed.unwrap_or_default(), ..found })
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
    if !is_where_planned && arrival.base.is_some() {
        let reason = format!("the branch {} was moved meanwhile", workspace.branch);
        return Err(Failure::Worktree { reason }.into());
    }
    if !is_where_planned {
        // Somebody moved the branch in between: the push will see to it.
        workspace.base_oid = added.tip.clone();
        return Ok(facts);
    }
    if run.gives_back() {
        facts.extend(clear(known, run, added, workspace, arrival, now).map_err(|e| worktree_failure(&e))?);
    }
    if arrival.takes_commits_apart() {
        facts.extend(keep(known, run, added, workspace, arrival, now).map_err(|e| worktree_failure(&e))?);
    }
    match added.tree.arrive(&workspace.branch, arrival) {
        Ok(()) => {
            if let Some(merged) = &arrival.base {
                workspace.merges = Some(Box::new(merged.clone()));
                // With a conflict it is the agent who merges it, or nobody.
                if arrival.conflicts.is_empty() {
                    let base = run.spec.brings.as_ref().map_or(&*workspace.base, |brings| brings.name(&workspace.base));
                    let note = Note::BaseMerged { base: base.to_owned(), commits: arrival.commits };
                    facts.push(Fact::Noted { note });
                }
            } else {
                workspace.ours_after = arrival.theirs.clone();
                facts.push(Fact::Noted { note: Note::PulledBefore { commits: arrival.commits } });
            }
            if !arrival.conflicts.is_empty() {
                facts.push(Fact::Noted { note: Note::ConflictBrought { files: arrival.conflicts.clone() } });
            }
        }
        Err(GitError::EditsInTheWay { files, .. }) if arrival.base.is_none() => {
            workspace.base_oid = arrival.from.clone();
            facts.push(Fact::Noted { note: Note::EditsInTheWay { files } });
        }
        Err(e) => return Err(worktree_failure(&e)),
    }
    Ok(facts)
}

/// What an earlier check has left in the files, or somebody by hand, is no part of this merge. It is kept, unless it is only
/// what git had merged for that check.
fn clear(
    known: &Known,
    run: &Run,
    added: &Added,
    workspace: &Workspace,
    arrival: &Arrival,
    now: Timestamp,
) -> Result<Option<Fact>, GitError> {
    let earlier = match &run.spec.kind {
        RunKind::FollowUp { workspace: Workspace { base_oid, merges: Some(merged), .. }, .. } => {
            known.git.merge_in(base_oid, merged)?.map(|earlier| earlier.files)
        }
        _ => None,
    };
    let known_files = [Some(&added.tip), Some(&arrival.files), earlier.as_ref()];
    let known_files: Vec<&Oid> = known_files.into_iter().flatten().collect();
    let mut fact = None;
    if !added.tree.is_as(&known_files)? {
        let reference = preserved_ref_of(&WorktreeKey::from(run.spec.id.key()));
        let message = format!("preserved from {} before merging", run.spec.id);
        let kept = known.git.preserve_beside(&added.tree, &workspace.branch, &reference, &message, now)?;
        fact = kept.map(|oid| Fact::Preserved { reference, oid });
    }
    added.tree.put_back(&added.tip)?;
    Ok(fact)
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
        let message = format!("preserved from {} before merging what others pushed", run.spec.id);
        known.git.preserve(&added.tree, Some(&workspace.branch), &reference, &message, now)?
    };
    Ok(kept.map(|oid| Fact::Preserved { reference, oid }))
}
