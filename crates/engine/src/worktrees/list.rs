//! What there is, from the disk and the store together.

use std::collections::{HashMap, HashSet};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::worktree::{Owner, Worktree};
use dandori_domain::{Oid, Problem, WorktreeKey};
use dandori_git::{Listed, Standing, TreeState};
use dandori_host::now;
use jiff::{SignedDuration, Timestamp};

use super::claim::Claims;
use super::{WorktreeReport, WorktreeState};
use crate::Engine;
use crate::repos::Known;
use dandori_host::layout::real;

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
}

impl Engine {
    /// Everything the store or the disk knows of this repository, each with what may be done about it.
    pub async fn list_worktrees(&self, path: &Utf8Path, sizes: bool) -> Result<Vec<WorktreeReport>, Problem> {
        let known = self.open_at(path).await?;
        let keep = self.keep_seconds(&known)?;
        let found = self.look(&known).await?;
        self.blocking(move |engine| engine.report(&known, &found, keep, sizes)).await
    }

    fn keep_seconds(&self, known: &Known) -> Result<i64, Problem> {
        Ok(i64::from(self.config_of(&known.repo)?.keep_days) * 86_400)
    }

    async fn look(&self, known: &Known) -> Result<Found, Problem> {
        let git = known.git.clone();
        let listed = self.blocking(move |_| git.list()).await?.map_err(|e| e.problem())?;
        let listed: HashMap<Utf8PathBuf, Listed> = listed.into_iter().map(|l| (real(&l.path), l)).collect();
        let stored = self.stored(known.repo.id).await?;
        let claims = self.claims(known.repo.id).await?;
        let (mut strangers, mut lost) = (Vec::new(), HashSet::new());
        for stranger in unrecorded(&listed, &stored, &self.layout().repos()) {
            let mut worktree = unknown_worktree(known, stranger);
            worktree.owner = self.lock_holder(stranger).await;
            if self.is_lost(worktree.key.as_str()).await {
                lost.insert(worktree.key.clone());
            }
            strangers.push(worktree);
        }
        Ok(Found { listed, stored, claims, strangers, lost })
    }

    fn report(&self, known: &Known, found: &Found, keep_seconds: i64, sizes: bool) -> Vec<WorktreeReport> {
        let ours = real(&self.layout().repo(known.repo.id).worktrees());
        let all: Vec<&Worktree> = found.stored.iter().chain(&found.strangers).collect();
        let states = states_of(known, found, &all);
        let merged = merged(known, &all, &states);
        let mut reports = Vec::with_capacity(all.len());
        for ((worktree, state), is_merged) in all.iter().zip(&states).zip(merged).take(found.stored.len()) {
            let is_listed = found.listed.contains_key(&real(&worktree.path));
            let is_there = worktree.path.symlink_metadata().is_ok();
            let is_claimed = found.claims.on(&worktree.path, &worktree.branch, Some(&worktree.key)).is_some();
            let judged = match (is_there, is_listed) {
                _ if is_claimed || matches!(worktree.owner, Owner::Run { .. }) => WorktreeState::Live,
                _ if self.0.making.has(&worktree.key) => WorktreeState::Live,
                (false, _) => WorktreeState::Missing,
                (true, false) => WorktreeState::Unknown,
                (true, true) => judge(worktree, state.as_ref(), is_merged, keep_seconds),
            };
            // Only in our own folder does age alone make anything ours to clear.
            let is_elsewhere = !real(&worktree.path).starts_with(&ours);
            let judged = if judged == WorktreeState::Stale && is_elsewhere { WorktreeState::Idle } else { judged };
            let size = if sizes { dandori_host::machine::disk_use(&worktree.path, 500_000).ok() } else { None };
            reports.push(reported((*worktree).clone(), judged, state.as_ref(), size.map_or(0, |s| s.bytes)));
        }
        for (stranger, state) in all.iter().zip(&states).skip(found.stored.len()) {
            let mut worktree = (*stranger).clone();
            let judged = match found.claims.on(&worktree.path, &worktree.branch, Some(&worktree.key)) {
                Some(run) => {
                    worktree.owner = Owner::Run { run };
                    WorktreeState::Live
                }
                None if found.lost.contains(&worktree.key) => WorktreeState::Unrecorded,
                None => WorktreeState::Orphaned,
            };
            reports.push(reported(worktree, judged, state.as_ref(), 0));
        }
        reports
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
        let mut fitting = self.blocking(move |engine| engine.report(&known, &found, keep, false)).await?;
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

/// How each stands, in order; `None` where git does not know it, it is gone, or it cannot be looked at.
fn states_of(known: &Known, found: &Found, all: &[&Worktree]) -> Vec<Option<TreeState>> {
    let mut standing = Vec::with_capacity(all.len());
    let mut places = Vec::with_capacity(all.len());
    for (at, worktree) in all.iter().enumerate() {
        let Some(listed) = found.listed.get(&real(&worktree.path)) else { continue };
        if worktree.path.symlink_metadata().is_err() {
            continue;
        }
        if let Ok(Some(tree)) = known.git.worktree(&worktree.path) {
            standing.push(Standing { tree, head: listed.head.clone(), branch: listed.branch.clone() });
            places.push(at);
        }
    }
    let mut states = vec![None; all.len()];
    for (at, state) in places.into_iter().zip(known.git.states(&standing)) {
        if let Some(place) = states.get_mut(at) {
            *place = state;
        }
    }
    states
}

fn base_name(worktree: &Worktree) -> &str {
    worktree.base.strip_prefix("origin/").unwrap_or(&worktree.base)
}

/// Whether everything in each is on its base, which is asked once a base.
fn merged(known: &Known, all: &[&Worktree], states: &[Option<TreeState>]) -> Vec<bool> {
    let mut heads: HashMap<&str, Vec<Oid>> = HashMap::new();
    for (worktree, state) in all.iter().zip(states) {
        if let Some(head) = state.as_ref().and_then(|state| state.head.clone()) {
            heads.entry(base_name(worktree)).or_default().push(head);
        }
    }
    let outside: HashMap<&str, HashSet<Oid>> = heads
        .into_iter()
        .filter_map(|(base, heads)| {
            let tip = known.git.remote_branch_oid(base).ok().flatten()?;
            Some((base, known.git.not_in(&heads, &tip).ok()?))
        })
        .collect();
    all.iter()
        .zip(states)
        .map(|(worktree, state)| {
            let head = state.as_ref().and_then(|state| state.head.as_ref());
            let outside = outside.get(base_name(worktree));
            head.zip(outside).is_some_and(|(head, outside)| *head != worktree.base_oid && !outside.contains(head))
        })
        .collect()
}

fn reported(worktree: Worktree, judged: WorktreeState, state: Option<&TreeState>, bytes: u64) -> WorktreeReport {
    WorktreeReport {
        worktree,
        state: judged,
        dirty: state.map_or(0, |s| u32::try_from(s.dirty.len()).unwrap_or(u32::MAX)),
        unpushed: state.map_or(0, |s| s.unpushed),
        bytes,
    }
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
fn unrecorded<'l>(listed: &'l HashMap<Utf8PathBuf, Listed>, stored: &[Worktree], repos: &Utf8Path) -> Vec<&'l Listed> {
    let repos = real(repos);
    // In any repository's folder: the store may have been restored without the one these lie in.
    let is_made_by_us = |path: &Utf8Path| {
        path.parent().is_some_and(|folder| folder.file_name() == Some("worktrees") && folder.starts_with(&repos))
    };
    let known: HashSet<Utf8PathBuf> = stored.iter().map(|worktree| real(&worktree.path)).collect();
    let mut strangers: Vec<&Listed> = listed
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
