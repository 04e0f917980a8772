//! Worktrees as a user handles them: add, list, remove, gc, adopt, restore.
//!
//! Removal needs positive proof: what cannot be read is not an orphan. Another owner's worktree is never removed, and
//! nothing goes before its work is kept.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::run::{BranchFate, Note, RunFacts};
use dandori_domain::worktree::{Keepsake, Owner, Worktree};
use dandori_domain::{Oid, Problem, WorktreeKey};
use dandori_git::{ExistingBranch, Fetch, Listed, NewWorktree, PRESERVED_PREFIX, TreeState};
use dandori_host::{now, random};
use jiff::Timestamp;

use crate::Engine;
use crate::repos::Known;
use crate::steps::{lock_reason, preserved_ref_of};
use crate::trouble::store_problem;

/// What is known of a worktree, from the store and the disk together.
#[derive(Clone, Debug)]
pub struct WorktreeReport {
    pub worktree: Worktree,
    pub state: WorktreeState,
    pub dirty: u32,
    pub unpushed: u32,
    pub bytes: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorktreeState {
    /// A run is at work in it.
    Live,
    /// Nobody is, and it may be wanted again.
    Idle,
    /// Everything in it is on its base.
    Merged,
    /// Nobody has used it for long, and nothing would be lost.
    Stale,
    /// It carries our name, and the store does not know it.
    Orphaned,
    /// The store knows it, and the disk does not.
    Missing,
}

impl WorktreeState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Idle => "idle",
            Self::Merged => "merged",
            Self::Stale => "stale",
            Self::Orphaned => "orphaned",
            Self::Missing => "missing",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Removal {
    pub worktree: Worktree,
    pub preserved: Option<String>,
    pub dirty: u32,
    pub unpushed: u32,
}

#[derive(Clone, Debug, Default)]
pub struct Collected {
    pub found: Vec<CollectedThing>,
    pub removed: u32,
}

#[derive(Clone, Debug)]
pub struct CollectedThing {
    pub kind: &'static str,
    pub name: String,
    pub why: &'static str,
    pub preserved: Option<String>,
}

impl Engine {
    pub async fn add_worktree(
        &self,
        path: &Utf8Path,
        branch: Option<String>,
        base: Option<String>,
        at: Option<Utf8PathBuf>,
        session: Option<String>,
    ) -> Result<(Worktree, Vec<Note>), Problem> {
        let known = self.know(path).await?;
        let config = self.config_of(&known.repo)?;
        self.require_disk()?;
        let layout = self.layout().repo(known.repo.id);
        let key = WorktreeKey::from(dandori_domain::RunId::mint(now(), random()).key());
        let place = at.unwrap_or_else(|| layout.worktrees().join(format!("wt_{key}")));
        let root = match place.parent() {
            Some(parent) if !place.starts_with(layout.worktrees()) => parent.to_owned(),
            _ => layout.worktrees(),
        };
        let owner = session.map_or(Owner::Nobody, |session| Owner::Session { session });
        let branch = branch.unwrap_or_else(|| format!("dandori/{key}"));
        let repo = known.repo.id;
        let (worktree, notes) = self
            .blocking(move |_| {
                if !known.git.has_commit().map_err(|e| e.problem())? {
                    return Err(Problem::NoCommitYet { path: known.repo.root.clone() });
                }
                let base = known
                    .git
                    .resolve_base(base.as_deref(), config.base.as_deref(), Fetch::First)
                    .map_err(|e| e.problem())?;
                let new =
                    NewWorktree { path: place, root, branch, base: base.oid.clone(), existing: ExistingBranch::Attach };
                let attached = known.git.branch_exists(&new.branch).map_err(|e| e.problem())?;
                let added = known.git.add_worktree(&new).map_err(|e| e.problem())?;
                if owner != Owner::Nobody {
                    known.git.lock(&new.path, &lock_reason(&owner)).map_err(|e| e.problem())?;
                }
                let worktree = Worktree {
                    key,
                    repo,
                    path: new.path,
                    branch: new.branch,
                    base: base.name,
                    base_oid: added.tip,
                    owner,
                    created_at: now(),
                    removed_at: None,
                };
                let offline = base.offline.map(|reason| Note::Offline { reason });
                let attached = attached.then(|| Note::BranchAttached { branch: worktree.branch.clone() });
                Ok((worktree, offline.into_iter().chain(attached).collect()))
            })
            .await??;
        self.0.store.put_worktree(worktree.clone(), now()).await.map_err(|e| store_problem(&e))?;
        Ok((worktree, notes))
    }

    /// Everything the store or the disk knows of this repository, each with what may be done about it.
    pub async fn list_worktrees(&self, path: &Utf8Path, sizes: bool) -> Result<Vec<WorktreeReport>, Problem> {
        let known = self.know(path).await?;
        let config = self.config_of(&known.repo)?;
        let stored = self.0.store.worktrees(Some(known.repo.id)).await.map_err(|e| store_problem(&e))?;
        let keep = i64::from(config.keep_days) * 86_400;
        self.blocking(move |engine| engine.report(&known, &stored, keep, sizes)).await?
    }

    fn report(
        &self,
        known: &Known,
        stored: &[Worktree],
        keep_seconds: i64,
        sizes: bool,
    ) -> Result<Vec<WorktreeReport>, Problem> {
        let listed = known.git.list().map_err(|e| e.problem())?;
        let layout = self.layout().repo(known.repo.id);
        let mut reports = Vec::new();
        for worktree in stored.iter().filter(|w| w.removed_at.is_none()) {
            let present = listed.iter().any(|l| l.path == worktree.path) && worktree.path.is_dir();
            let size = if sizes { dandori_host::machine::disk_use(&worktree.path, 500_000).ok() } else { None };
            let tree = if present { known.git.worktree(&worktree.path).map_err(|e| e.problem())? } else { None };
            let state = tree.as_ref().and_then(|t| t.state().ok());
            reports.push(WorktreeReport {
                state: judge(known, worktree, state.as_ref(), present, keep_seconds),
                dirty: state.as_ref().map_or(0, |s| u32::try_from(s.dirty.len()).unwrap_or(u32::MAX)),
                unpushed: state.as_ref().map_or(0, |s| s.unpushed),
                bytes: size.map_or(0, |s| s.bytes),
                worktree: worktree.clone(),
            });
        }
        for orphan in orphans(&listed, stored, &layout.worktrees()) {
            let state = known.git.worktree(&orphan.path).ok().flatten().and_then(|t| t.state().ok());
            reports.push(WorktreeReport {
                worktree: unknown_worktree(known, orphan),
                state: WorktreeState::Orphaned,
                dirty: state.as_ref().map_or(0, |s| u32::try_from(s.dirty.len()).unwrap_or(u32::MAX)),
                unpushed: state.as_ref().map_or(0, |s| s.unpushed),
                bytes: 0,
            });
        }
        Ok(reports)
    }

    /// D8.2: another's lock refuses, uncommitted and unpushed work is named, kept, and only then removed.
    pub async fn remove_worktree(
        &self,
        path: &Utf8Path,
        text: &str,
        session: Option<&str>,
        force: bool,
        keep_branch: bool,
    ) -> Result<Removal, Problem> {
        let known = self.know(path).await?;
        let report = self.one(path, text).await?;
        let worktree = report.worktree.clone();
        match (&worktree.owner, session) {
            (Owner::Nobody, _) => {}
            (Owner::Session { session: holder }, Some(session)) if holder == session => {}
            (Owner::Session { session: holder }, _) => {
                return Err(Problem::WorktreeHeld { key: worktree.key.to_string(), owner: holder.clone() });
            }
            (Owner::Run { run }, _) => {
                return Err(Problem::WorktreeHeld { key: worktree.key.to_string(), owner: run.to_string() });
            }
        }
        if (report.dirty > 0 || report.unpushed > 0) && !force {
            return Err(Problem::WorktreeDirty {
                key: worktree.key.to_string(),
                files: report.dirty,
                unpushed: report.unpushed,
            });
        }
        let preserved = self.keep_and_remove(&known, &worktree, !keep_branch).await?;
        Ok(Removal { worktree, preserved, dirty: report.dirty, unpushed: report.unpushed })
    }

    /// Keeps what is in it, takes it away, tells the store.
    async fn keep_and_remove(
        &self,
        known: &Known,
        worktree: &Worktree,
        delete_branch: bool,
    ) -> Result<Option<String>, Problem> {
        let trash = self.layout().repo(known.repo.id).trash();
        let (git, tree) = (known.git.clone(), worktree.clone());
        let kept = self
            .blocking(move |_| {
                let reference = format!("{}-{}", preserved_ref_of(&tree.key), now().as_second());
                let message = format!("kept from {}", tree.branch);
                let kept = match git.worktree(&tree.path)? {
                    Some(there) => git.preserve(&there, Some(&tree.branch), &reference, &message, now())?,
                    None => None,
                };
                git.unlock(&tree.path).ok();
                git.remove_worktree(&tree.path, &trash, delete_branch.then_some(tree.branch.as_str()))?;
                Ok::<_, dandori_git::GitError>(kept.map(|oid| (reference, oid)))
            })
            .await?
            .map_err(|e| e.problem())?;
        let mut preserved = None;
        if let Some((reference, oid)) = kept {
            let keepsake = Keepsake {
                key: worktree.key.clone(),
                reference: reference.clone(),
                oid,
                branch: worktree.branch.clone(),
                path: worktree.path.clone(),
                at: now(),
            };
            self.0.store.keep(known.repo.id, keepsake).await.map_err(|e| store_problem(&e))?;
            preserved = Some(reference);
        }
        if self.0.store.worktree(worktree.key.clone()).await.map_err(|e| store_problem(&e))?.is_some() {
            self.0.store.mark_removed(worktree.key.clone(), now()).await.map_err(|e| store_problem(&e))?;
        }
        self.0.housekeeping.notify_one();
        Ok(preserved)
    }

    async fn one(&self, path: &Utf8Path, text: &str) -> Result<WorktreeReport, Problem> {
        let reports = self.list_worktrees(path, false).await?;
        let wanted = Utf8Path::new(text);
        let mut fitting: Vec<WorktreeReport> = reports
            .into_iter()
            .filter(|r| {
                r.worktree.key.as_str() == text
                    || r.worktree.branch == text
                    || r.worktree.path == wanted
                    || r.worktree.path.file_name() == Some(text)
            })
            .collect();
        match (fitting.pop(), fitting.is_empty()) {
            (Some(report), true) => Ok(report),
            (Some(_), false) => Err(Problem::AmbiguousReference {
                text: text.to_owned(),
                matches: fitting.into_iter().map(|r| r.worktree.path.to_string()).collect(),
            }),
            (None, _) => Err(Problem::NoSuchWorktree { text: text.to_owned() }),
        }
    }

    /// What is left over: orphans, records of nothing, merged and stale trees, branches without a run.
    pub async fn collect_worktrees(&self, path: &Utf8Path, dry_run: bool) -> Result<Collected, Problem> {
        let known = self.know(path).await?;
        let mut collected = Collected::default();
        for report in self.list_worktrees(path, false).await? {
            let why = match report.state {
                WorktreeState::Live | WorktreeState::Idle => continue,
                WorktreeState::Merged => "everything in it is on its base",
                WorktreeState::Stale => "nobody has used it for long",
                WorktreeState::Orphaned => "no run or session knows it",
                WorktreeState::Missing => "its folder is gone",
            };
            let mut thing = CollectedThing {
                kind: if report.state == WorktreeState::Missing { "record" } else { "worktree" },
                name: report.worktree.path.to_string(),
                why,
                preserved: None,
            };
            if !dry_run {
                let merged = report.state == WorktreeState::Merged;
                thing.preserved = self.keep_and_remove(&known, &report.worktree, merged).await?;
                collected.removed += 1;
            }
            collected.found.push(thing);
        }
        self.collect_branches(&known, dry_run, &mut collected).await?;
        Ok(collected)
    }

    /// Branches under our prefix that no worktree and no run has. One with commits of its own is kept first.
    async fn collect_branches(&self, known: &Known, dry_run: bool, into: &mut Collected) -> Result<(), Problem> {
        let stored = self.0.store.worktrees(Some(known.repo.id)).await.map_err(|e| store_problem(&e))?;
        let ours = |name: &str| stored.iter().any(|w| w.branch == name);
        let git = known.git.clone();
        let branches = self.blocking(move |_| git.branches("dandori/")).await?.map_err(|e| e.problem())?;
        for (name, oid) in branches.into_iter().filter(|(name, _)| !ours(name)) {
            if self.is_kept_branch(&name).await? {
                continue;
            }
            let mut thing = CollectedThing {
                kind: "branch",
                name: name.clone(),
                why: "no run or session knows it",
                preserved: None,
            };
            if !dry_run {
                let reference = format!("{PRESERVED_PREFIX}{}", name.replace('/', "-"));
                let git = known.git.clone();
                let (kept, gone) = (reference.clone(), name.clone());
                self.blocking(move |_| {
                    git.set_own_ref(&kept, &oid)?;
                    git.delete_branch(&gone)
                })
                .await?
                .map_err(|e| e.problem())?;
                thing.preserved = Some(reference);
                into.removed += 1;
            }
            into.found.push(thing);
        }
        Ok(())
    }

    /// The branch of a worktree that went and left it behind on purpose: a run's pushed work, or a user's wish.
    async fn is_kept_branch(&self, name: &str) -> Result<bool, Problem> {
        let Some(key) = name.strip_prefix("dandori/") else { return Ok(false) };
        let buried = self.0.store.worktree(WorktreeKey::new(key)).await.map_err(|e| store_problem(&e))?;
        if buried.is_none_or(|w| w.branch != name) {
            return Ok(false);
        }
        let meant_to_go = |run: &RunFacts| run.removed == Some(BranchFate::Delete);
        Ok(!self.find_run(key).await.is_ok_and(|run| meant_to_go(&run)))
    }

    /// Takes a worktree of the repository that somebody else made into the store's knowledge.
    pub async fn adopt_worktree(
        &self,
        path: &Utf8Path,
        text: &str,
        session: Option<String>,
    ) -> Result<Worktree, Problem> {
        let known = self.know(path).await?;
        let wanted = if Utf8Path::new(text).is_absolute() { Utf8PathBuf::from(text) } else { path.join(text) };
        let stored = self.0.store.worktrees(Some(known.repo.id)).await.map_err(|e| store_problem(&e))?;
        if let Some(known_already) = stored.into_iter().find(|w| w.path == wanted && w.removed_at.is_none()) {
            return Ok(known_already);
        }
        let git = known.git.clone();
        let listed = self.blocking(move |_| git.list()).await?.map_err(|e| e.problem())?;
        let found = listed
            .into_iter()
            .find(|l| l.path == wanted && l.path != known.repo.root)
            .ok_or(Problem::NotOurWorktree { path: wanted })?;
        let mut worktree = unknown_worktree(&known, &found);
        worktree.owner = session.map_or(Owner::Nobody, |session| Owner::Session { session });
        self.0.store.put_worktree(worktree.clone(), now()).await.map_err(|e| store_problem(&e))?;
        Ok(worktree)
    }

    /// Brings kept work back: a worktree as it was, the edits uncommitted again.
    pub async fn restore_worktree(
        &self,
        path: &Utf8Path,
        text: &str,
        session: Option<String>,
    ) -> Result<Worktree, Problem> {
        let known = self.know(path).await?;
        let keepsakes = self.0.store.keepsakes(known.repo.id).await.map_err(|e| store_problem(&e))?;
        let run = self.find_run(text).await.ok();
        let keepsake = keepsakes
            .into_iter()
            .filter(|k| fits(k, text, run.as_ref()))
            .max_by_key(|k| k.at)
            .ok_or_else(|| Problem::NothingPreserved { text: text.to_owned() })?;
        let layout = self.layout().repo(known.repo.id);
        let key = WorktreeKey::from(dandori_domain::RunId::mint(now(), random()).key());
        let owner = session.map_or(Owner::Nobody, |session| Owner::Session { session });
        let new = NewWorktree {
            path: layout.worktrees().join(format!("wt_{key}")),
            root: layout.worktrees(),
            branch: keepsake.branch.clone(),
            base: keepsake.oid.clone(),
            existing: ExistingBranch::Refuse,
        };
        let reference = keepsake.reference.clone();
        let git = known.git.clone();
        let repo = known.repo.id;
        let worktree = self
            .blocking(move |_| {
                let added = git.restore(&reference, &new)?;
                Ok::<_, dandori_git::GitError>(Worktree {
                    key,
                    repo,
                    path: new.path,
                    branch: added.tree.branch()?.unwrap_or_default(),
                    base: keepsake.branch,
                    base_oid: added.tip,
                    owner,
                    created_at: now(),
                    removed_at: None,
                })
            })
            .await?
            .map_err(|e| e.problem())?;
        self.0.store.put_worktree(worktree.clone(), now()).await.map_err(|e| store_problem(&e))?;
        Ok(worktree)
    }
}

fn fits(keepsake: &Keepsake, text: &str, run: Option<&RunFacts>) -> bool {
    keepsake.key.as_str() == text
        || keepsake.reference == text
        || keepsake.branch == text
        || keepsake.reference.strip_prefix(PRESERVED_PREFIX) == Some(text)
        || run.and_then(|r| r.preserved.as_ref()).is_some_and(|p| p.reference == keepsake.reference)
}

fn judge(
    known: &Known,
    worktree: &Worktree,
    state: Option<&TreeState>,
    present: bool,
    keep_seconds: i64,
) -> WorktreeState {
    if matches!(worktree.owner, Owner::Run { .. }) {
        return WorktreeState::Live;
    }
    if !present {
        return WorktreeState::Missing;
    }
    // What cannot be looked at is not proved to be free.
    let Some(state) = state else { return WorktreeState::Idle };
    if worktree.owner != Owner::Nobody || !state.dirty.is_empty() || state.unpushed > 0 {
        return WorktreeState::Idle;
    }
    let on_base = known
        .git
        .remote_branch_oid(worktree.base.strip_prefix("origin/").unwrap_or(&worktree.base))
        .ok()
        .flatten()
        .zip(state.head.as_ref())
        .is_some_and(|(base, head)| *head != worktree.base_oid && known.git.is_ancestor(head, &base).unwrap_or(false));
    if on_base {
        return WorktreeState::Merged;
    }
    let age = now().as_second() - worktree.created_at.as_second();
    if age > keep_seconds { WorktreeState::Stale } else { WorktreeState::Idle }
}

/// Worktrees in our own folder that the store has never heard of.
fn orphans<'l>(listed: &'l [Listed], stored: &[Worktree], folder: &Utf8Path) -> Vec<&'l Listed> {
    listed
        .iter()
        .filter(|l| l.path.starts_with(folder))
        .filter(|l| !stored.iter().any(|w| w.path == l.path && w.removed_at.is_none()))
        .collect()
}

fn unknown_worktree(known: &Known, listed: &Listed) -> Worktree {
    let name = listed.path.file_name().unwrap_or("worktree");
    Worktree {
        key: WorktreeKey::new(name.trim_start_matches("run_").trim_start_matches("wt_")),
        repo: known.repo.id,
        path: listed.path.clone(),
        branch: listed.branch.clone().unwrap_or_default(),
        base: String::new(),
        base_oid: listed.head.clone().unwrap_or_else(|| Oid::new("")),
        owner: Owner::Nobody,
        created_at: Timestamp::UNIX_EPOCH,
        removed_at: None,
    }
}
