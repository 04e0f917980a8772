//! Git, as the stories have it: branches are entries of a map, and a commit is the hash of what is in it.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::pull::{MergeLook, MergeObstacle, MergeRule, MergeWay, PlannedMerge};
use dandori_domain::run::{
    BranchFate, Brings, Changes, Commit, Fact, Intent, LeftOut, Note, OnConflict, PlannedCommit, PlannedWorktree,
    Preserved, Run, RunKind, Start, Work, Workspace,
};
use dandori_domain::task::Repo;
use dandori_domain::{Failure, Finding, Problem, WorktreeKey};
use dandori_engine::StepError;
use dandori_engine::edges::{
    CommitOutcome, Containment, Footing, GitEdge, Kept, MakeAnswer, MergeOutcome, MergeQuestion, MergeWords,
    PushOutcome, Site,
};
use dandori_git::Conflict;

use super::{World, hash};

impl GitEdge for World {
    fn discover(&self, _path: &Utf8Path) -> Result<(Utf8PathBuf, Utf8PathBuf), Problem> {
        let root = self.lock().root.clone();
        Ok((root.clone(), root.join(".git")))
    }

    fn checkout(&self, _site: &Site, _from: &Utf8Path) -> Option<Utf8PathBuf> {
        Some(self.lock().root.clone())
    }

    fn footing(&self, site: &Site, from: &Utf8Path, base: Option<&str>) -> Result<Footing, Problem> {
        Ok(Footing { checkout: self.checkout(site, from), base: base.map(str::to_owned), here: None })
    }

    fn require_ready(&self, _site: &Site, _footing: &Footing, _wants_pull: bool) -> Result<(), Problem> {
        Ok(())
    }

    fn require_identity(&self, _site: &Site) -> Result<(), Problem> {
        Ok(())
    }

    fn is_gone(&self, _repo: &Repo) -> bool {
        false
    }

    fn plan(&self, _site: &Site, run: &Run, kept: Option<&Kept>) -> Result<Vec<Fact>, StepError> {
        let inner = self.lock();
        let mut facts = Vec::new();
        let mut back = None;
        let mut workspace = match &run.spec.kind {
            RunKind::First => {
                let key = WorktreeKey::from(run.spec.id.key());
                let name = run.spec.base.clone().unwrap_or_else(|| "main".into());
                let base = inner.branches[&name].clone();
                Workspace {
                    path: inner.root.join("worktrees").join(key.as_str()),
                    branch: format!("dandori/{key}"),
                    key,
                    base: name,
                    base_oid: base.clone(),
                    ours_after: base,
                    merges: None,
                }
            }
            RunKind::FollowUp { workspace, .. } => {
                let tip = inner.branches.get(&workspace.branch).or(inner.remote.get(&workspace.branch)).cloned();
                let is_gone = !inner.worktrees.contains_key(&workspace.path);
                if is_gone {
                    facts.push(Fact::Noted { note: Note::WorktreeRemade });
                }
                back = kept.filter(|_| is_gone).map(|kept| kept.reference().to_owned());
                let kept_on = back.as_ref().map(|reference| inner.preserved[reference].0.clone());
                let base_oid = kept_on.or(tip).unwrap_or_else(|| workspace.base_oid.clone());
                Workspace { base_oid, ..workspace.clone() }
            }
        };
        if let Some(Brings::Commit { oid, name, on_conflict }) = &run.spec.brings {
            let files = inner.disputed(&workspace.base_oid, oid);
            if *on_conflict == OnConflict::GiveBack && !files.is_empty() {
                return Err(Failure::DoesNotMerge { name: name.clone(), files }.into());
            }
            workspace.merges = Some(Box::new(oid.clone()));
        }
        let left_out = inner.main_is_dirty.then(|| LeftOut { changed: 1, ..LeftOut::default() });
        let (base, commit) = (workspace.base.clone(), workspace.base_oid.clone());
        facts.push(Fact::StartsFrom { start: Start { base, commit, offline: None, left_out } });
        let planned = PlannedWorktree { workspace, arrival: None, kept: back };
        facts.push(Fact::Intended { intent: Intent::Worktree(planned) });
        Ok(facts)
    }

    fn make(&self, _site: &Site, _run: &Run, planned: &PlannedWorktree) -> Result<MakeAnswer, StepError> {
        let mut inner = self.lock();
        if inner.worktree_says_no {
            return Err(Failure::Worktree { reason: "no".into() }.into());
        }
        let workspace = planned.workspace.clone();
        let was_there = inner.worktrees.contains_key(&workspace.path);
        if !was_there {
            let files = match &planned.kept {
                Some(reference) => inner.preserved[reference].1.clone(),
                None => inner.files_of(&workspace.base_oid),
            };
            inner.worktrees.insert(workspace.path.clone(), files);
            inner.branches.insert(workspace.branch.clone(), workspace.base_oid.clone());
        }
        if let Some(oid) = &workspace.merges {
            let theirs = inner.files_of(oid);
            let disputed = inner.disputed(&workspace.base_oid, oid);
            let started = inner.files_of(&inner.branches["main"].clone());
            let files = inner.worktrees.get_mut(&workspace.path).unwrap();
            for (name, text) in theirs {
                if started.get(&name) != Some(&text) && !disputed.contains(&name) {
                    files.insert(name, text);
                }
            }
        }
        let back = planned.kept.clone().map(|reference| Fact::Noted { note: Note::KeptWorkBack { reference } });
        Ok(MakeAnswer::Made { workspace, from_pool: false, was_there, facts: back.into_iter().collect() })
    }

    fn conflict(&self, _site: &Site, _workspace: &Workspace) -> Result<Option<Conflict>, StepError> {
        Ok(None)
    }

    fn remember_config(&self, _site: &Site, _run: &Run) -> Result<(), StepError> {
        Ok(())
    }

    fn stage(&self, _site: &Site, _run: &Run, work: &Work) -> Result<Vec<Fact>, StepError> {
        let mut inner = self.lock();
        let workspace = &work.workspace;
        let files = inner.worktrees[&workspace.path].clone();
        if files.contains_key(".env") {
            let findings = vec![Finding::ForbiddenPath { path: ".env".into(), pattern: ".env".into() }];
            return Err(Failure::Tampered { findings }.into());
        }
        let changed = files != inner.files_of(&workspace.base_oid) || workspace.merges.is_some();
        let tree = hash(&format!("{files:?}"));
        inner.trees.insert(tree.clone(), files);
        let changes = changed.then_some(Changes { files: 1, insertions: 1, deletions: 0 });
        Ok(vec![Fact::Staged { tree, parent: workspace.base_oid.clone(), changes }])
    }

    fn commit(&self, _site: &Site, workspace: &Workspace, planned: &PlannedCommit) -> Result<CommitOutcome, StepError> {
        let mut inner = self.lock();
        let PlannedCommit { tree, parent, message, at, .. } = planned;
        let oid = inner.commit_tree(Some(parent.clone()), tree.clone(), &format!("{message} {at}"));
        let tip = inner.branches[&workspace.branch].clone();
        assert!(tip == *parent || tip == oid, "somebody else's commit on the branch");
        inner.branches.insert(workspace.branch.clone(), oid.clone());
        if let Some(second) = &workspace.merges {
            inner.merges.insert(oid.clone(), second.as_ref().clone());
        }
        Ok(if inner.no_remote { CommitOutcome::Local(oid) } else { CommitOutcome::ToPush(oid) })
    }

    fn push(&self, _site: &Site, run: &Run, workspace: &Workspace, commit: &Commit) -> Result<PushOutcome, StepError> {
        let mut inner = self.lock();
        if inner.no_remote {
            return Ok(PushOutcome::NoRemote);
        }
        let branch = &workspace.branch;
        let theirs = inner.remote.get(branch).cloned();
        match theirs {
            Some(theirs) if !inner.has_ancestor(&commit.oid, &theirs) => {
                if inner.conflicts {
                    return Err(Failure::PushConflict { files: vec!["work.txt".into()] }.into());
                }
                if commit.rebased >= run.spec.settings.push_retries {
                    return Err(Failure::PushOvertaken { retries: commit.rebased }.into());
                }
                let mut files = inner.files_of(&theirs);
                files.extend(inner.files_of(&commit.oid));
                let oid = inner.commit(Some(theirs.clone()), files, "rebased");
                inner.branches.insert(branch.clone(), oid.clone());
                Ok(PushOutcome::Rebased { onto: theirs, oid })
            }
            _ => {
                inner.remote.insert(branch.clone(), commit.oid.clone());
                Ok(PushOutcome::Pushed)
            }
        }
    }

    fn preserve(
        &self,
        _site: &Site,
        run: &Run,
        workspace: &Workspace,
        _fate: BranchFate,
    ) -> Result<Option<Preserved>, Problem> {
        let mut inner = self.lock();
        let Some(files) = inner.worktrees.get(&workspace.path).cloned() else { return Ok(None) };
        let tip = inner.branches.get(&workspace.branch).cloned();
        let tip = tip.unwrap_or_else(|| workspace.base_oid.clone());
        if inner.files_of(&tip) == files {
            return Ok(None);
        }
        let reference = format!("refs/dandori/preserved/{}", run.spec.id.key());
        let oid = hash(&format!("{files:?}"));
        inner.preserved.insert(reference.clone(), (tip, files));
        Ok(Some(Preserved { reference, oid }))
    }

    fn remove(&self, _site: &Site, workspace: &Workspace, fate: BranchFate) -> Result<(), Problem> {
        let mut inner = self.lock();
        inner.worktrees.remove(&workspace.path);
        if fate == BranchFate::Delete {
            inner.branches.remove(&workspace.branch);
        }
        Ok(())
    }

    fn merge_look(&self, _site: &Site, question: &MergeQuestion) -> Result<MergeLook, Problem> {
        let inner = self.lock();
        let base = inner.remote.get(&question.base).cloned();
        let head = &question.head_oid;
        let is_in = base.as_ref().is_some_and(|base| inner.has_ancestor(base, head));
        let is_behind = base.as_ref().is_some_and(|base| !inner.has_ancestor(head, base));
        Ok(MergeLook {
            state: question.state,
            head_oid: head.clone(),
            head_now: inner.remote.get(&question.head).cloned(),
            base: question.base.clone(),
            base_oid: base,
            at_remote: true,
            ahead: u32::from(!is_in),
            behind: u32::from(is_behind),
            conflicts: Vec::new(),
            checkout: None,
        })
    }

    fn plan_merge(
        &self,
        _site: &Site,
        look: &MergeLook,
        words: &MergeWords,
    ) -> Result<Result<MergeWay, MergeObstacle>, Problem> {
        let mut inner = self.lock();
        let from = look.base_oid.clone().unwrap();
        let to = if inner.has_ancestor(&look.head_oid, &from) && words.rule != MergeRule::MergeCommit {
            look.head_oid.clone()
        } else {
            let mut files = inner.files_of(&from);
            files.extend(inner.files_of(&look.head_oid));
            let to = inner.commit(Some(from.clone()), files, &format!("{} {}", words.message, words.at));
            inner.merges.insert(to.clone(), look.head_oid.clone());
            to
        };
        Ok(Ok(MergeWay::Git { from, to, at_remote: true }))
    }

    fn merge(&self, _site: &Site, planned: &PlannedMerge) -> Result<MergeOutcome, Problem> {
        let mut inner = self.lock();
        let MergeWay::Git { from, to, .. } = &planned.way else { panic!("not git's to do") };
        if inner.merge_says_no {
            return Ok(MergeOutcome::Refused { reason: "no".into() });
        }
        if inner.overtakes_merges > 0 {
            inner.overtakes_merges -= 1;
            let file = format!("theirs-{}.txt", inner.overtakes_merges);
            inner.push_by_colleague(&planned.base, &file);
        }
        let tip = inner.remote[&planned.base].clone();
        if inner.has_ancestor(&tip, to) {
            return Ok(MergeOutcome::Merged);
        }
        if tip != *from {
            return Ok(MergeOutcome::BaseMoved);
        }
        inner.merged += 1;
        inner.remote.insert(planned.base.clone(), to.clone());
        inner.branches.insert(planned.base.clone(), to.clone());
        Ok(MergeOutcome::Merged)
    }

    fn contained(&self, _site: &Site, asked: &[Containment]) -> Result<Vec<bool>, Problem> {
        let inner = self.lock();
        let tips = |one: &Containment| [inner.remote.get(&one.base).cloned(), inner.branches.get(&one.base).cloned()];
        let is_in = |one: &Containment| tips(one).iter().flatten().any(|tip| inner.has_ancestor(tip, &one.head_oid));
        Ok(asked.iter().map(is_in).collect())
    }
}
