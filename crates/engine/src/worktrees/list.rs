//! What there is, from the disk and the store together.

use camino::Utf8Path;
use dandori_domain::worktree::{Owner, Worktree};
use dandori_domain::{Oid, Problem, WorktreeKey};
use dandori_git::{Listed, TreeState};
use dandori_host::now;
use jiff::{SignedDuration, Timestamp};

use super::claim::Claims;
use super::{WorktreeReport, WorktreeState};
use crate::Engine;
use crate::repos::Known;
use dandori_host::layout::real;

/// What was found in the order that makes it true: the disk first.
struct Found {
    listed: Vec<Listed>,
    stored: Vec<Worktree>,
    claims: Claims,
    /// In our own folder, and in no record; whoever their locks name.
    strangers: Vec<Worktree>,
}

impl Engine {
    /// Everything the store or the disk knows of this repository, each with what may be done about it.
    pub async fn list_worktrees(&self, path: &Utf8Path, sizes: bool) -> Result<Vec<WorktreeReport>, Problem> {
        let known = self.know(path).await?;
        let config = self.config_of(&known.repo)?;
        let keep = i64::from(config.keep_days) * 86_400;
        let found = self.look(&known).await?;
        self.blocking(move |engine| engine.report(&known, &found, keep, sizes)).await?
    }

    async fn look(&self, known: &Known) -> Result<Found, Problem> {
        let git = known.git.clone();
        let listed = self.blocking(move |_| git.list()).await?.map_err(|e| e.problem())?;
        let stored = self.stored(known.repo.id).await?;
        let claims = self.claims(known.repo.id).await?;
        let mut strangers = Vec::new();
        for stranger in unrecorded(&listed, &stored, &self.layout().repo(known.repo.id).worktrees()) {
            let mut worktree = unknown_worktree(known, stranger);
            worktree.owner = self.lock_holder(stranger).await;
            strangers.push(worktree);
        }
        Ok(Found { listed, stored, claims, strangers })
    }

    fn report(
        &self,
        known: &Known,
        found: &Found,
        keep_seconds: i64,
        sizes: bool,
    ) -> Result<Vec<WorktreeReport>, Problem> {
        let ours = real(&self.layout().repo(known.repo.id).worktrees());
        let mut reports = Vec::new();
        for worktree in &found.stored {
            let is_listed = found.listed.iter().any(|l| real(&l.path) == real(&worktree.path));
            let is_there = worktree.path.symlink_metadata().is_ok();
            let tree =
                if is_listed && is_there { known.git.worktree(&worktree.path).map_err(|e| e.problem())? } else { None };
            let state = tree.as_ref().and_then(|t| t.state().ok());
            let is_claimed = found.claims.on(&worktree.path, &worktree.branch, Some(&worktree.key)).is_some();
            let judged = match (is_there, is_listed) {
                _ if is_claimed || matches!(worktree.owner, Owner::Run { .. }) => WorktreeState::Live,
                _ if self.0.making.has(&worktree.key) => WorktreeState::Live,
                (false, _) => WorktreeState::Missing,
                (true, false) => WorktreeState::Unknown,
                (true, true) => judge(known, worktree, state.as_ref(), keep_seconds),
            };
            // Only in our own folder does age alone make anything ours to clear.
            let is_elsewhere = !real(&worktree.path).starts_with(&ours);
            let judged = if judged == WorktreeState::Stale && is_elsewhere { WorktreeState::Idle } else { judged };
            let size = if sizes { dandori_host::machine::disk_use(&worktree.path, 500_000).ok() } else { None };
            reports.push(reported(worktree.clone(), judged, state.as_ref(), size.map_or(0, |s| s.bytes)));
        }
        for stranger in &found.strangers {
            let mut worktree = stranger.clone();
            let state = known.git.worktree(&worktree.path).ok().flatten().and_then(|t| t.state().ok());
            let judged = match found.claims.on(&worktree.path, &worktree.branch, Some(&worktree.key)) {
                Some(run) => {
                    worktree.owner = Owner::Run { run };
                    WorktreeState::Live
                }
                None => WorktreeState::Orphaned,
            };
            reports.push(reported(worktree, judged, state.as_ref(), 0));
        }
        Ok(reports)
    }

    pub(super) async fn one(&self, path: &Utf8Path, text: &str) -> Result<WorktreeReport, Problem> {
        let reports = self.list_worktrees(path, false).await?;
        let wanted = real(&path.join(text));
        let mut fitting: Vec<WorktreeReport> = reports
            .into_iter()
            .filter(|r| {
                r.worktree.key.as_str() == text
                    || r.worktree.branch == text
                    || real(&r.worktree.path) == wanted
                    || r.worktree.path.file_name() == Some(text)
            })
            .collect();
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

fn reported(worktree: Worktree, judged: WorktreeState, state: Option<&TreeState>, bytes: u64) -> WorktreeReport {
    WorktreeReport {
        worktree,
        state: judged,
        dirty: state.map_or(0, |s| u32::try_from(s.dirty.len()).unwrap_or(u32::MAX)),
        unpushed: state.map_or(0, |s| s.unpushed),
        bytes,
    }
}

fn judge(known: &Known, worktree: &Worktree, state: Option<&TreeState>, keep_seconds: i64) -> WorktreeState {
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
    let age = now().duration_since(worktree.created_at);
    if age > SignedDuration::from_secs(keep_seconds) { WorktreeState::Stale } else { WorktreeState::Idle }
}

/// Worktrees in our own folder that the store has never heard of.
fn unrecorded<'l>(listed: &'l [Listed], stored: &[Worktree], folder: &Utf8Path) -> Vec<&'l Listed> {
    let folder = real(folder);
    listed
        .iter()
        .filter(|l| real(&l.path).starts_with(&folder))
        .filter(|l| !stored.iter().any(|w| real(&w.path) == real(&l.path)))
        .collect()
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
