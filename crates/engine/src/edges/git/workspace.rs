//! A fresh worktree from a warm slot or from git, or an earlier run's one again.

use dandori_config::set_up;
use dandori_domain::run::{Fact, Intent, Note, PlannedWorktree, Run, RunKind, Start, Workspace};
use dandori_domain::worktree::Owner;
use dandori_domain::{Failure, Problem, WorktreeKey};
use dandori_git::{ExistingBranch, Fetch, GitError, NewWorktree, Origin};

use super::again::{arrive, bring, what_comes};
use super::{RealGit, beginning, free_branch_for, lock_reason, refuse_unsupported, worktree_failure};
use crate::edges::{Footing, MakeAnswer, Site};
use crate::repos::Known;
use crate::run::StepError;

impl RealGit {
    /// Where the run will work, and from which commit: fetched first, offline tolerated.
    pub(super) fn plan_first(&self, site: &Site, known: &Known, run: &Run) -> Result<Vec<Fact>, StepError> {
        let footing = Footing { checkout: None, base: run.spec.base.clone(), here: run.spec.here.clone() };
        let checkout = run.spec.checkout.as_deref();
        // What is looked at here does not depend on the remote: it is looked at while that answers.
        let changed = |checkout| known.git.changed_in(checkout).ok().flatten();
        let (base, here) = std::thread::scope(|scope| {
            let here = scope.spawn(|| (checkout.and_then(changed), self.free_name(known, run)));
            let base = beginning(&known.git, &footing, site.base.as_deref(), Fetch::WhenMoved);
            (base, here.join())
        });
        let base = base.map_err(|e| worktree_failure(&e))?;
        let broken = |_| StepError::Trouble(Problem::Internal { reason: "a look at the checkout panicked".to_owned() });
        let (changed, name) = here.map_err(broken)?;
        // A checkout that cannot be looked at is no reason not to work.
        let left_out = checkout
            .zip(changed)
            .and_then(|(checkout, changed)| known.git.left_out(checkout, &base.commit, changed).ok().flatten());
        let mut facts = vec![Fact::StartsFrom { start: Start { left_out, ..base.start() } }];
        if base.local_only {
            facts.push(Fact::Noted { note: Note::BaseIsLocal { base: base.branch.clone() } });
        }
        let (key, branch) = name?;
        let workspace = Workspace {
            path: self.layout.repo(run.spec.repo).worktree(&key),
            branch,
            key,
            base: base.branch,
            ours_after: base.commit.clone(),
            merges: None,
            base_oid: base.commit,
        };
        let arrival = match &run.spec.brings {
            Some(brings) => {
                let oid = what_comes(site, known, brings, &workspace)?;
                bring(known, brings, &oid, &workspace.base_oid, None)?
            }
            None => None,
        };
        let planned = PlannedWorktree { workspace, arrival: arrival.map(Box::new), kept: None };
        facts.push(Fact::Intended { intent: Intent::Worktree(planned) });
        Ok(facts)
    }

    /// The run's key and its branch, unless somebody else has a branch of that name.
    fn free_name(&self, known: &Known, run: &Run) -> Result<(WorktreeKey, String), StepError> {
        let key = WorktreeKey::from(run.spec.id.key());
        for suffix in std::iter::once(String::new()).chain((2..10).map(|n| format!("-{n}"))) {
            let candidate = WorktreeKey::new(format!("{key}{suffix}"));
            let branch = free_branch_for(&known.git, &candidate).map_err(|e| worktree_failure(&e))?;
            let is_there = self.layout.repo(run.spec.repo).worktree(&candidate).exists();
            if let Some(branch) = branch.filter(|_| !is_there) {
                return Ok((candidate, branch));
            }
        }
        Err(Failure::Worktree { reason: format!("all branch names dandori/{key}… are in use") }.into())
    }

    pub(super) fn make_worktree(
        &self,
        site: &Site,
        known: &Known,
        run: &Run,
        planned: &PlannedWorktree,
    ) -> Result<MakeAnswer, StepError> {
        let PlannedWorktree { workspace, arrival, kept } = planned;
        let mut workspace = workspace.clone();
        let kind = &run.spec.kind;
        let layout = self.layout.repo(run.spec.repo);
        let new = NewWorktree {
            path: workspace.path.clone(),
            branch: workspace.branch.clone(),
            base: arrival.as_ref().map_or(&workspace.base_oid, |arrival| &arrival.from).clone(),
            root: layout.worktrees(),
            existing: match kind {
                RunKind::First => ExistingBranch::Refuse,
                RunKind::FollowUp { .. } => ExistingBranch::Attach,
            },
        };
        refuse_unsupported(&known.git, &workspace.base_oid)?;
        let pool = self.opener.pool(known);
        let pooled = match kind {
            // A slot is a help, not a need.
            RunKind::First => pool.claim(&new).ok().flatten(),
            RunKind::FollowUp { .. } => None,
        };
        let make = || match kept {
            Some(reference) => known.git.restore(reference, &new),
            None => known.git.add_worktree(&new),
        };
        let added = match pooled.map_or_else(make, Ok) {
            Ok(added) => added,
            // Somebody was faster with this name: it is theirs, we take another.
            Err(taken @ GitError::BranchTaken { .. }) if matches!(kind, RunKind::First) => {
                let facts = self.plan_first(site, known, run)?;
                // The very same plan would meet the same end.
                return if facts.iter().any(|fact| plans_branch(fact, &workspace.branch)) {
                    Err(worktree_failure(&taken))
                } else {
                    Ok(MakeAnswer::Planned(facts))
                };
            }
            Err(e) => return Err(worktree_failure(&e)),
        };
        known
            .git
            .lock(&workspace.path, &lock_reason(&Owner::Run { run: run.spec.id }))
            .map_err(|e| worktree_failure(&e))?;
        let mut facts = Vec::new();
        if let Some(arrival) = arrival {
            facts.extend(arrive(known, run, &added, &mut workspace, arrival, self.clock.now())?);
        }
        let managers = set_up::hook_managers(&workspace.path).into_iter();
        facts.extend(managers.map(|name| Fact::Noted { note: Note::HookManager { name: name.to_owned() } }));
        if let Some(reference) = kept {
            workspace.base_oid = added.tip.clone();
            // Its branch may be somebody else's by now; it has then got one like it.
            let branch = added.tree.branch().map_err(|e| worktree_failure(&e))?;
            workspace.branch = branch.unwrap_or(workspace.branch);
            facts.push(Fact::Noted { note: Note::KeptWorkBack { reference: reference.clone() } });
        }
        // What was planned may not have come about: edits in the way, a branch that somebody moved.
        if let Some(start) = run.start.clone().filter(|start| start.commit != workspace.base_oid) {
            facts.push(Fact::StartsFrom { start: Start { commit: workspace.base_oid.clone(), ..start } });
        }
        Ok(MakeAnswer::Made {
            workspace,
            from_pool: matches!(added.origin, Origin::WarmSlot | Origin::MovedSlot),
            was_there: added.origin == Origin::Found,
            facts,
        })
    }
}

fn plans_branch(fact: &Fact, branch: &str) -> bool {
    matches!(fact, Fact::Intended { intent: Intent::Worktree(planned) } if planned.workspace.branch == branch)
}
