//! What there is, from the disk and the store together.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::worktree::{Owner, Worktree};
use dandori_domain::{Oid, Problem, WorktreeKey};
use dandori_git::{Listed, Refresh, Standing, TreeState};
use dandori_host::now;
use dandori_store::MadeFor;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::mpsc;

use super::claim::Claims;
use super::{Listing, WorktreeName, WorktreeReport, WorktreeState};
use crate::Engine;
use crate::repos::Known;
use dandori_host::layout::real;

/// More of them are not counted when a worktree is measured.
const MEASURED_FILES: u64 = 500_000;

/// What was found in the order that makes it true: the disk first.
struct Found {
    /// By its real path.
    listed: HashMap<Utf8PathBuf, Listed>,
    stored: Vec<Worktree>,
    claims: Claims,
    /// In our own folder, and in no record; whoever their locks name.
    strangers: Vec<Worktree>,
    /// Those of them that a forgotten run made.
    lost: HashSet<WorktreeKey>,
    made_for: HashMap<WorktreeKey, MadeFor>,
    /// Folders and their real paths.
    parents: Mutex<HashMap<Utf8PathBuf, Utf8PathBuf>>,
}

impl Found {
    fn all(&self) -> impl Iterator<Item = &Worktree> {
        self.stored.iter().chain(&self.strangers)
    }

    /// Most lie in one folder, whose real path is asked for once.
    fn real(&self, path: &Utf8Path) -> Utf8PathBuf {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return path.to_owned() };
        let mut parents = self.parents.lock().unwrap_or_else(PoisonError::into_inner);
        let real = parents
            .entry(parent.to_owned())
            .or_insert_with(|| parent.canonicalize_utf8().unwrap_or_else(|_| parent.to_owned()));
        real.join(name)
    }

    /// Leaves the first so many of the order they are shown in. What the store does not know is few, and needs somebody.
    fn cut(&mut self, limit: usize) {
        let claims = &self.claims;
        self.stored.sort_by_key(|worktree| {
            let is_claimed = claims.on(&worktree.path, &worktree.branch, Some(&worktree.key)).is_some();
            (!is_claimed && worktree.owner == Owner::Nobody, std::cmp::Reverse(worktree.created_at))
        });
        self.strangers.truncate(limit);
        self.stored.truncate(limit - self.strangers.len());
    }

    fn head_of(&self, worktree: &Worktree) -> Option<Oid> {
        self.listed.get(&self.real(&worktree.path))?.head.clone()
    }

    /// `None` where git does not know it, it is gone, or it cannot be looked at.
    fn standing(&self, known: &Known, worktree: &Worktree) -> Option<Standing> {
        let listed = self.listed.get(&self.real(&worktree.path))?;
        worktree.path.symlink_metadata().ok()?;
        let tree = known.git.tree_of(listed).ok()??;
        let is_live = self.claims.on(&worktree.path, &worktree.branch, Some(&worktree.key)).is_some();
        let index = if is_live || worktree.owner != Owner::Nobody { Refresh::No } else { Refresh::Yes };
        Some(Standing { tree, head: listed.head.clone(), branch: listed.branch.clone(), index })
    }

    fn name(&self, worktree: &Worktree) -> WorktreeName {
        WorktreeName {
            branch: worktree.branch.clone(),
            path: worktree.path.clone(),
            owner: worktree.owner.clone(),
            made_for: self.made_for.get(&worktree.key).copied(),
        }
    }

    fn report(&self, worktree: Worktree, state: WorktreeState, tree: Option<&TreeState>) -> WorktreeReport {
        WorktreeReport {
            made_for: self.made_for.get(&worktree.key).copied(),
            worktree,
            state,
            dirty: tree.map(|s| u32::try_from(s.dirty.len()).unwrap_or(u32::MAX)),
            unpushed: tree.map(|s| s.unpushed),
            bytes: None,
        }
    }
}

impl Engine {
    /// Everything the store or the disk knows of this repository, each with what may be done about it.
    pub(crate) async fn list_worktrees(&self, path: &Utf8Path, sizes: bool) -> Result<Vec<WorktreeReport>, Problem> {
        let mut listing = self.look_at_worktrees(path, sizes, usize::MAX).await?;
        let mut reports = Vec::with_capacity(listing.names.len());
        while let Some(report) = listing.reports.recv().await {
            reports.push(report);
        }
        Ok(reports)
    }

    /// At most so many of them: what they are called at once, and then each as it has been looked at, in the same order. Those that
    /// somebody is at work in come first, then the newest.
    pub async fn look_at_worktrees(&self, path: &Utf8Path, sizes: bool, limit: usize) -> Result<Listing, Problem> {
        let known = self.open_at(path).await?;
        let keep = self.keep_seconds(&known)?;
        let mut found = self.look(&known).await?;
        let total = found.all().count();
        found.cut(limit);
        let names = found.all().map(|worktree| found.name(worktree)).collect();
        let (sender, reports) = mpsc::unbounded_channel();
        let engine = self.clone();
        tokio::task::spawn_blocking(move || {
            let sender = Mutex::new(sender);
            engine.report(&known, &mut found, keep, sizes, &|report| {
                // Whoever asked may have gone.
                let _ = sender.lock().unwrap_or_else(PoisonError::into_inner).send(report);
            });
        });
        Ok(Listing { names, total, reports })
    }

    fn keep_seconds(&self, known: &Known) -> Result<i64, Problem> {
        Ok(i64::from(self.config_of(&known.repo)?.keep_days) * 86_400)
    }

    async fn look(&self, known: &Known) -> Result<Found, Problem> {
        let git = known.git.clone();
        let listed = self.blocking(move |_| git.recorded()).await?.map_err(|e| e.problem())?;
        let listed: HashMap<Utf8PathBuf, Listed> = listed.into_iter().map(|l| (l.path.clone(), l)).collect();
        let stored = self.stored(known).await?;
        let claims = self.claims(known).await?;
        let made_for = self.made_for(known).await?;
        let mut found = Found {
            listed,
            stored,
            claims,
            made_for,
            strangers: Vec::new(),
            lost: HashSet::new(),
            parents: Mutex::default(),
        };
        let (mut strangers, mut lost) = (Vec::new(), HashSet::new());
        for stranger in unrecorded(&found, &self.layout().repos()) {
            let mut worktree = unknown_worktree(known, stranger);
            worktree.owner = self.lock_holder(stranger).await;
            if self.is_lost(worktree.key.as_str()).await {
                lost.insert(worktree.key.clone());
            }
            strangers.push(worktree);
        }
        (found.strangers, found.lost) = (strangers, lost);
        Ok(found)
    }

    /// Looks at each, several at a time, and tells of them in their order.
    fn report(
        &self,
        known: &Known,
        found: &mut Found,
        keep_seconds: i64,
        sizes: bool,
        tell: &(dyn Fn(WorktreeReport) + Sync),
    ) {
        // Where heads cannot be asked for together, each worktree is asked for its own.
        let _ = known.git.heads(&mut found.listed.values_mut().collect::<Vec<_>>());
        let found = &*found;
        let all: Vec<&Worktree> = found.all().collect();
        let ours = real(&self.layout().repo(known.repo.id).worktrees());
        let mut standing = Vec::with_capacity(all.len());
        let mut places = Vec::with_capacity(all.len());
        let in_order = InOrder::new(tell);
        let reported = |at: usize, worktree: &Worktree, is_merged: bool, state: Option<&TreeState>| {
            let report = if at < found.stored.len() {
                self.judged(found, worktree, is_merged, state, keep_seconds, &ours)
            } else {
                stranger(found, worktree, state)
            };
            let bytes = if sizes { dandori_host::machine::disk_use(&worktree.path, MEASURED_FILES).ok() } else { None };
            in_order.tell(at, WorktreeReport { bytes: bytes.map(|used| used.bytes), ..report });
        };
        let heads: Vec<Option<Oid>> = all.iter().map(|worktree| found.head_of(worktree)).collect();
        let merged = merged(known, &all, &heads);
        for (at, worktree) in all.iter().enumerate() {
            match found.standing(known, worktree) {
                Some(one) => {
                    standing.push(one);
                    places.push((at, *worktree));
                }
                // git does not know it, it is gone, or it cannot be looked at.
                None => reported(at, worktree, false, None),
            }
        }
        known.git.survey(&standing, &|n, state| {
            if let Some((at, worktree)) = places.get(n) {
                let is_merged = state.is_some() && merged.get(*at).copied().unwrap_or(false);
                reported(*at, worktree, is_merged, state.as_ref());
            }
        });
    }

    /// What is to be said of one the store knows.
    fn judged(
        &self,
        found: &Found,
        worktree: &Worktree,
        is_merged: bool,
        state: Option<&TreeState>,
        keep_seconds: i64,
        ours: &Utf8Path,
    ) -> WorktreeReport {
        let place = found.real(&worktree.path);
        let is_listed = found.listed.contains_key(&place);
        let is_there = worktree.path.symlink_metadata().is_ok();
        let is_claimed = found.claims.on(&worktree.path, &worktree.branch, Some(&worktree.key)).is_some();
        let judged = match (is_there, is_listed) {
            _ if is_claimed || matches!(worktree.owner, Owner::Run { .. }) => WorktreeState::Live,
            _ if self.0.making.has(&worktree.key) => WorktreeState::Live,
            (false, _) => WorktreeState::Missing,
            (true, false) => WorktreeState::Unknown,
            (true, true) => judge(worktree, state, is_merged, keep_seconds),
        };
        // Only in our own folder does age alone make anything ours to clear.
        let is_elsewhere = !place.starts_with(ours);
        let judged = if judged == WorktreeState::Stale && is_elsewhere { WorktreeState::Idle } else { judged };
        found.report(worktree.clone(), judged, state)
    }

    /// The one a user means. Only those that may be meant are looked at closely.
    pub(super) async fn one(&self, path: &Utf8Path, text: &str) -> Result<WorktreeReport, Problem> {
        let known = self.open_at(path).await?;
        let keep = self.keep_seconds(&known)?;
        let mut found = self.look(&known).await?;
        let wanted = real(&path.join(text));
        let may_be_meant = |worktree: &Worktree| {
            worktree.key.as_str() == text
                || worktree.branch == text
                || real(&worktree.path) == wanted
                || worktree.path.file_name() == Some(text)
        };
        found.stored.retain(may_be_meant);
        found.strangers.retain(may_be_meant);
        let mut fitting = self
            .blocking(move |engine| {
                let reports = Mutex::new(Vec::new());
                engine.report(&known, &mut found, keep, false, &|report| {
                    reports.lock().unwrap_or_else(PoisonError::into_inner).push(report);
                });
                reports.into_inner().unwrap_or_else(PoisonError::into_inner)
            })
            .await?;
        match (fitting.pop(), fitting.is_empty()) {
            (Some(report), true) => Ok(report),
            (Some(last), false) => Err(Problem::AmbiguousReference {
                text: text.to_owned(),
                matches: fitting.into_iter().chain([last]).map(|r| r.worktree.path.to_string()).collect(),
            }),
            (None, _) => Err(Problem::NoSuchWorktree { text: text.to_owned() }),
        }
    }
}

/// One in our own folder that the store does not know.
fn stranger(found: &Found, worktree: &Worktree, state: Option<&TreeState>) -> WorktreeReport {
    let mut worktree = worktree.clone();
    let judged = match found.claims.on(&worktree.path, &worktree.branch, Some(&worktree.key)) {
        Some(run) => {
            worktree.owner = Owner::Run { run };
            WorktreeState::Live
        }
        None if found.lost.contains(&worktree.key) => WorktreeState::Unrecorded,
        None => WorktreeState::Orphaned,
    };
    found.report(worktree, judged, state)
}

/// Told in their order, however they come.
struct InOrder<'t> {
    waiting: Mutex<(usize, BTreeMap<usize, WorktreeReport>)>,
    tell: &'t (dyn Fn(WorktreeReport) + Sync),
}

impl<'t> InOrder<'t> {
    fn new(tell: &'t (dyn Fn(WorktreeReport) + Sync)) -> Self {
        Self { waiting: Mutex::default(), tell }
    }

    fn tell(&self, at: usize, report: WorktreeReport) {
        let mut held = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let (next, waiting) = &mut *held;
        waiting.insert(at, report);
        while let Some(report) = waiting.remove(next) {
            *next += 1;
            (self.tell)(report);
        }
    }
}

fn base_name(worktree: &Worktree) -> &str {
    worktree.base.strip_prefix("origin/").unwrap_or(&worktree.base)
}

/// Whether everything in each is on its base, which is asked once a base.
fn merged(known: &Known, all: &[&Worktree], heads: &[Option<Oid>]) -> Vec<bool> {
    let mut of_base: HashMap<&str, HashSet<Oid>> = HashMap::new();
    for (worktree, head) in all.iter().zip(heads) {
        if let Some(head) = head {
            of_base.entry(base_name(worktree)).or_default().insert(head.clone());
        }
    }
    let outside: HashMap<&str, HashSet<Oid>> = of_base
        .into_iter()
        .filter_map(|(base, heads)| {
            let tip = match known.git.remote().ok()? {
                Some(_) => known.git.remote_branch_oid(base),
                // Nobody else has one: the branch here is the base.
                None => known.git.branch_oid(base),
            };
            let tip = tip.ok().flatten()?;
            Some((base, known.git.not_in(&heads.into_iter().collect::<Vec<_>>(), &tip).ok()?))
        })
        .collect();
    let is_merged = |(worktree, head): (&&Worktree, &Option<Oid>)| {
        let outside = outside.get(base_name(worktree));
        head.as_ref().zip(outside).is_some_and(|(head, outside)| *head != worktree.base_oid && !outside.contains(head))
    };
    all.iter().zip(heads).map(is_merged).collect()
}

fn judge(worktree: &Worktree, state: Option<&TreeState>, is_merged: bool, keep_seconds: i64) -> WorktreeState {
    // What cannot be looked at is not proved to be free.
    let Some(state) = state else { return WorktreeState::Idle };
    if worktree.owner != Owner::Nobody || !state.dirty.is_empty() || state.unpushed > 0 {
        return WorktreeState::Idle;
    }
    if is_merged {
        return WorktreeState::Merged;
    }
    let age = now().duration_since(worktree.created_at);
    if age > SignedDuration::from_secs(keep_seconds) { WorktreeState::Stale } else { WorktreeState::Idle }
}

/// Worktrees in our own folder that the store has never heard of.
fn unrecorded<'l>(found: &'l Found, repos: &Utf8Path) -> Vec<&'l Listed> {
    let repos = real(repos);
    // In any repository's folder: the store may have been restored without the one these lie in.
    let is_made_by_us = |path: &Utf8Path| {
        path.parent().is_some_and(|folder| folder.file_name() == Some("worktrees") && folder.starts_with(&repos))
    };
    let known: HashSet<Utf8PathBuf> = found.stored.iter().map(|worktree| found.real(&worktree.path)).collect();
    let mut strangers: Vec<&Listed> = found
        .listed
        .iter()
        .filter(|(path, _)| is_made_by_us(path) && !known.contains(*path))
        .map(|(_, listed)| listed)
        .collect();
    strangers.sort_by(|a, b| a.path.cmp(&b.path));
    strangers
}

fn unknown_worktree(known: &Known, listed: &Listed) -> Worktree {
    let name = listed.path.file_name().unwrap_or("worktree");
    let branch = listed.branch.clone().unwrap_or_default();
    Worktree {
        key: WorktreeKey::new(name.trim_start_matches("run_").trim_start_matches("wt_")),
        repo: known.repo.id,
        path: listed.path.clone(),
        branch_is_ours: branch.starts_with("dandori/"),
        branch,
        base: String::new(),
        base_oid: listed.head.clone().unwrap_or_else(|| Oid::new("")),
        owner: Owner::Nobody,
        created_at: Timestamp::UNIX_EPOCH,
        removed_at: None,
    }
}
