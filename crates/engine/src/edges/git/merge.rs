//! Merging: how a head stands to its base, the commit it would be, and the base brought there.

use std::collections::HashMap;

use dandori_domain::pull::{BaseCheckout, MergeLook, MergeObstacle, MergeWay, PlannedMerge};
use dandori_domain::{Oid, Problem};
use dandori_git::{Fetch, GitError, MergeAnswer, MergePlan, Repository};

use crate::edges::{Containment, MergeOutcome, MergeQuestion, MergeWords};

#[expect(clippy::needless_pass_by_value, reason = "by value is how `map_err` hands errors over")]
fn problem(error: GitError) -> Problem {
    error.problem()
}

pub(super) fn look(git: &Repository, question: &MergeQuestion) -> Result<MergeLook, Problem> {
    let MergeQuestion { state, head, head_oid, base, ask_remote, by_forge } = question;
    let fetch = if *ask_remote { Fetch::First } else { Fetch::Never };
    let standing = git.base_standing(base, fetch).map_err(problem)?;
    let standing = standing.map_err(|reason| Problem::RemoteUnreachable { reason })?;
    // As everybody has it: what nobody has pushed is not part of it.
    let head_now = git.base_standing(head, fetch).map_err(problem)?.ok().flatten().map(|standing| standing.oid);
    let mut look = MergeLook {
        state: *state,
        head_oid: head_oid.clone(),
        head_now,
        base: base.clone(),
        base_oid: None,
        at_remote: false,
        ahead: 0,
        behind: 0,
        conflicts: Vec::new(),
        checkout: None,
    };
    let Some(standing) = standing else { return Ok(look) };
    look.at_remote = standing.at_remote;
    look.base_oid = Some(standing.oid.clone());
    if !git.has_object(head_oid).map_err(problem)? {
        return Ok(look);
    }
    let sides = git.sides(&standing.oid, head_oid).map_err(problem)?;
    (look.ahead, look.behind, look.conflicts) = (sides.ahead, sides.behind, sides.conflicts);
    if !by_forge && look.ahead > 0 {
        let found = git.edits_before_merge(base, &standing.oid, head_oid).map_err(problem)?;
        look.checkout = found.map(|(tree, edits)| BaseCheckout { path: tree.path().to_owned(), edits });
    }
    Ok(look)
}

pub(super) fn plan(
    git: &Repository,
    look: &MergeLook,
    words: &MergeWords,
) -> Result<Result<MergeWay, MergeObstacle>, Problem> {
    let Some(from) = &look.base_oid else { return Ok(Err(MergeObstacle::NoBase { base: look.base.clone() })) };
    let planned = git.plan_merge(from, &look.head_oid, words.rule, &words.message, words.at).map_err(problem)?;
    Ok(match planned {
        MergePlan::Ready { to } => Ok(MergeWay::Git { from: from.clone(), to, at_remote: look.at_remote }),
        MergePlan::Conflict { files } => Err(MergeObstacle::Conflict { files }),
        MergePlan::Diverged => Err(MergeObstacle::NotFastForward { behind: look.behind }),
    })
}

pub(super) fn merge(git: &Repository, planned: &PlannedMerge) -> Result<MergeOutcome, Problem> {
    let MergeWay::Git { from, to, at_remote } = &planned.way else {
        return Err(Problem::Internal { reason: "a merge of the forge's is not git's to do".to_owned() });
    };
    // Made before it was written down that it is to be used: a power cut may have taken it.
    if !git.has_object(to).map_err(problem)? {
        return Ok(MergeOutcome::BaseMoved);
    }
    match git.merge(&planned.base, from, to, *at_remote) {
        Ok(MergeAnswer::Merged { .. }) => Ok(MergeOutcome::Merged),
        Ok(MergeAnswer::BaseMoved) => Ok(MergeOutcome::BaseMoved),
        Ok(MergeAnswer::Refused { reason }) => Ok(MergeOutcome::Refused { reason }),
        Err(GitError::EditsInTheWay { path, files }) => {
            Ok(MergeOutcome::Blocked(MergeObstacle::BaseDirty { path, files }))
        }
        Err(error) => Err(problem(error)),
    }
}

/// Each base is asked once, however many heads there are. A merge that was not pushed is none yet: the branch here counts
/// only where the remote has no such base, or there is no remote.
pub(super) fn contained(git: &Repository, asked: &[Containment]) -> Result<Vec<bool>, Problem> {
    let mut heads: HashMap<(&str, bool), Vec<Oid>> = HashMap::new();
    for one in asked {
        heads.entry((&one.base, one.here_too)).or_default().push(one.head_oid.clone());
    }
    let mut inside: HashMap<(&str, bool), Vec<Oid>> = HashMap::new();
    for ((base, here_too), heads) in heads {
        let tip = match git.remote_branch_oid(base).map_err(problem)? {
            None if here_too => git.branch_oid(base).map_err(problem)?,
            tip => tip,
        };
        let Some(tip) = tip else { continue };
        let mut there = Vec::new();
        for head in heads {
            if git.has_object(&head).map_err(problem)? {
                there.push(head);
            }
        }
        let outside = git.not_in(&there, &tip).map_err(problem)?;
        there.retain(|head| !outside.contains(head));
        inside.insert((base, here_too), there);
    }
    let is_in = |one: &Containment| {
        inside.get(&(one.base.as_str(), one.here_too)).is_some_and(|heads| heads.contains(&one.head_oid))
    };
    Ok(asked.iter().map(is_in).collect())
}
