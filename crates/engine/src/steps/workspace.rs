//! MakeWorktree: a fresh worktree from a warm slot or from git, or an earlier run's one again.

use dandori_config::set_up;
use dandori_domain::run::{Fact, Intent, Note, RunFacts, RunKind, Workspace};
use dandori_domain::worktree::Owner;
use dandori_domain::{Failure, Problem, WorktreeKey};
use dandori_git::{ExistingBranch, Fetch, GitError, NewWorktree, Origin};

use super::again::arrive;
use crate::Engine;
use crate::drive::StepError;
use crate::fault;
use crate::repos::{Known, is_gone};
use crate::trouble::{git_reason, store_problem};

const BRANCH_PREFIX: &str = "dandori";

impl Engine {
    pub(crate) async fn make_worktree(&self, run: &RunFacts) -> Result<Vec<Fact>, StepError> {
        let known = self.known_for(run).await?;
        if is_gone(&known.repo) {
            return Err(Failure::RepositoryGone { path: known.repo.root, during: None }.into());
        }
        let run = run.clone();
        let facts = match (&run.open_intent, &run.spec.kind) {
            (Some(intent @ Intent::Worktree { .. }), kind) => {
                let intent = intent.clone();
                let earlier = Earlier {
                    set_up: self.earlier_set_up(&run, kind).await?,
                    kept: self.kept_by_hand(&run, kind).await?,
                };
                self.blocking(move |engine| engine.carry_out_worktree(&known, &run, &intent, &earlier)).await?
            }
            (_, RunKind::First) => self.blocking(move |engine| engine.plan_worktree(&known, &run)).await?,
            (_, RunKind::FollowUp { .. }) => self.blocking(move |engine| engine.plan_again(&known, &run)).await?,
        };
        self.0.housekeeping.notify_one();
        facts
    }

    /// The newest keepsake of a removal by hand. What a cancel kept was called off, and stays where it is.
    async fn kept_by_hand(&self, run: &RunFacts, kind: &RunKind) -> Result<Option<String>, StepError> {
        let RunKind::FollowUp { workspace, .. } = kind else { return Ok(None) };
        let keepsakes = self.0.store.keepsakes(run.spec.repo).await;
        let keepsakes = keepsakes.map_err(|e| StepError::Trouble(store_problem(&e)))?;
        let by_hand = format!("{}-", super::preserved_ref_of(&workspace.key));
        let newest = keepsakes.into_iter().filter(|k| k.reference.starts_with(&by_hand)).max_by_key(|k| k.at);
        Ok(newest.map(|k| k.reference))
    }

    /// Whether the worktree has had its set-up before this run. One that had to be made again has not; that is
    /// known from when it was looked for, not from finding it there: a life before this one may have made it.
    async fn earlier_set_up(&self, run: &RunFacts, kind: &RunKind) -> Result<EarlierSetUp, StepError> {
        let RunKind::FollowUp { after, .. } = kind else { return Ok(EarlierSetUp::Missing) };
        let earlier = self.0.store.run(*after).await.map_err(|e| StepError::Trouble(store_problem(&e)))?;
        let is_done = earlier.set_up_done && !run.notes.contains(&Note::WorktreeRemade);
        Ok(if is_done { EarlierSetUp::Done } else { EarlierSetUp::Missing })
    }

    /// Where the run will work, and from which commit: fetched first, offline tolerated.
    fn plan_worktree(&self, known: &Known, run: &RunFacts) -> Result<Vec<Fact>, StepError> {
        let config = self.config_of(&known.repo)?;
        // What is looked at here does not depend on the remote: it is looked at while that answers.
        let (base, here) = std::thread::scope(|scope| {
            let here = scope.spawn(|| (checkout_notes(known), self.free_key(known, run)));
            let base = known.git.resolve_base(run.spec.base.as_deref(), config.base.as_deref(), Fetch::WhenMoved);
            (base, here.join())
        });
        let base = base.map_err(|e| worktree_failure(&e))?;
        let broken = |_| StepError::Trouble(Problem::Internal { reason: "a look at the checkout panicked".to_owned() });
        let (mut facts, key) = here.map_err(broken)?;
        if let Some(reason) = base.offline.clone() {
            facts.push(Fact::Noted { note: Note::Offline { reason } });
        }
        if base.local_only {
            facts.push(Fact::Noted { note: Note::BaseIsLocal { base: base.name.clone() } });
        }
        let key = key?;
        let workspace = Workspace {
            path: self.layout().repo(run.spec.repo).worktree(&key),
            branch: format!("{BRANCH_PREFIX}/{key}"),
            key,
            base: base.name,
            ours_after: base.oid.clone(),
            base_oid: base.oid,
        };
        facts.push(Fact::Intended { intent: Intent::Worktree { workspace, arrival: None } });
        Ok(facts)
    }

    /// The run's key, unless somebody else has a branch of that name.
    fn free_key(&self, known: &Known, run: &RunFacts) -> Result<WorktreeKey, StepError> {
        let key = WorktreeKey::from(run.spec.id.key());
        for suffix in std::iter::once(String::new()).chain((2..10).map(|n| format!("-{n}"))) {
            let candidate = WorktreeKey::new(format!("{key}{suffix}"));
            let taken =
                known.git.branch_exists(&format!("{BRANCH_PREFIX}/{candidate}")).map_err(|e| worktree_failure(&e))?;
            if !taken && !self.layout().repo(run.spec.repo).worktree(&candidate).exists() {
                return Ok(candidate);
            }
        }
        Err(Failure::Worktree { reason: format!("every branch name {BRANCH_PREFIX}/{key}… is taken") }.into())
    }

    fn carry_out_worktree(
        &self,
        known: &Known,
        run: &RunFacts,
        intent: &Intent,
        earlier: &Earlier,
    ) -> Result<Vec<Fact>, StepError> {
        let Intent::Worktree { workspace, arrival } = intent else { return Err(StepError::LookAgain) };
        let mut workspace = workspace.clone();
        let kind = &run.spec.kind;
        let layout = self.layout().repo(run.spec.repo);
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
        crate::intake::refuse_unsupported(&known.git, &workspace.base_oid)?;
        let pool = self.pool(known);
        let pooled = match kind {
            // A slot is a help, not a need.
            RunKind::First => pool.claim(&new).ok().flatten(),
            RunKind::FollowUp { .. } => None,
        };
        // Work that was kept when its worktree was removed comes back with it, uncommitted as it was.
        let gone = known.git.worktree(&new.path).map_err(|e| worktree_failure(&e))?.is_none()
            && !known.git.branch_exists(&new.branch).map_err(|e| worktree_failure(&e))?;
        let kept = earlier.kept.as_ref().filter(|_| gone);
        let make = || match kept {
            Some(reference) => known.git.restore(reference, &new),
            None => known.git.add_worktree(&new),
        };
        let added = match pooled.map_or_else(make, Ok) {
            Ok(added) => added,
            // Somebody was faster with this name: it is theirs, we take another.
            Err(GitError::BranchTaken { .. }) if matches!(kind, RunKind::First) => {
                return self.plan_worktree(known, run);
            }
            Err(e) => return Err(worktree_failure(&e)),
        };
        known
            .git
            .lock(&workspace.path, &lock_reason(&Owner::Run { run: run.spec.id }))
            .map_err(|e| worktree_failure(&e))?;
        let mut facts = Vec::new();
        if let Some(arrival) = arrival {
            facts.extend(arrive(known, run, &added, &mut workspace, arrival)?);
        }
        fault::done(intent);
        let managers = set_up::hook_managers(&workspace.path).into_iter();
        facts.extend(managers.map(|name| Fact::Noted { note: Note::HookManager { name: name.to_owned() } }));
        if let Some(reference) = kept {
            workspace.base_oid = added.tip.clone();
            facts.push(Fact::Noted { note: Note::KeptWorkBack { reference: reference.clone() } });
        }
        let commands = self.set_up_commands(run, &workspace.path);
        let is_set_up = earlier.set_up == EarlierSetUp::Done && added.origin == Origin::Found;
        if !is_set_up {
            let notes = Self::set_up_notes(&run.spec.settings.set_up, &workspace.path, &self.env_of(run.spec.id));
            facts.extend(notes.into_iter().map(|note| Fact::Noted { note }));
        }
        let from_pool = matches!(added.origin, Origin::WarmSlot | Origin::MovedSlot);
        facts.push(Fact::WorktreeReady { workspace, from_pool });
        // One transaction less for the many projects that need no set-up; a follow-up's tree has had its.
        if commands.is_empty() || is_set_up {
            facts.push(Fact::SetUpDone { commands: 0 });
        }
        Ok(facts)
    }
}

/// What is left of earlier runs in the same place.
struct Earlier {
    set_up: EarlierSetUp,
    /// Where the work is that was kept when the user removed the worktree.
    kept: Option<String>,
}

/// What an earlier run has done for the worktree.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EarlierSetUp {
    Done,
    Missing,
}

/// What git shows others as the reason of the lock.
pub(crate) fn lock_reason(owner: &Owner) -> String {
    match owner {
        Owner::Run { run } => format!("dandori {run}"),
        Owner::Session { session } => format!("dandori session {session}"),
        Owner::Nobody => "dandori".to_owned(),
    }
}

fn checkout_notes(known: &Known) -> Vec<Fact> {
    let Ok(main) = known.git.main_checkout() else { return Vec::new() };
    let dirty = (main.dirty_files > 0).then_some(Note::MainCheckoutDirty { files: main.dirty_files });
    let detached = main.detached.then_some(Note::MainCheckoutDetached);
    dirty.into_iter().chain(detached).map(|note| Fact::Noted { note }).collect()
}

pub(super) fn worktree_failure(error: &GitError) -> StepError {
    Failure::Worktree { reason: git_reason(error) }.into()
}
