//! Leaving a machine: every worktree that lies below our own folder goes, with its work kept in its repository first.

use camino::Utf8PathBuf;
use dandori_domain::Problem;
use dandori_host::layout::real;

use super::{WorktreeReport, WorktreeState};
use crate::Engine;
use crate::trouble::store_problem;

/// What becomes of one repository.
#[derive(Clone, Debug)]
pub struct LeftRepository {
    pub root: Utf8PathBuf,
    pub worktrees: Vec<LeftWorktree>,
}

#[derive(Clone, Debug)]
pub struct LeftWorktree {
    pub report: WorktreeReport,
    /// Where its uncommitted and unpushed work is kept.
    pub preserved: Option<String>,
    /// Why it is still there.
    pub problem: Option<Problem>,
}

impl Engine {
    /// Only looks when it is a rehearsal. Branches stay in any case, and so does what lies elsewhere.
    pub async fn leave(&self, dry_run: bool) -> Result<Vec<LeftRepository>, Problem> {
        let mut leaving = self.0.leaving.lock().await;
        *leaving = !dry_run;
        let repos = self.store().repos(self.life().host).await.map_err(|e| store_problem(&e))?;
        let mut left = Vec::new();
        for repo in repos.into_iter().filter(|repo| !self.0.edges.git.is_gone(repo)) {
            let known = self.open_known(repo.id).await?;
            let ours = real(self.layout().root());
            let mut worktrees = Vec::new();
            for report in self.list_worktrees(&repo.root, false).await? {
                if !real(&report.worktree.path).starts_with(&ours) || report.state == WorktreeState::Missing {
                    continue;
                }
                let done = if dry_run {
                    self.require_free(&known, &report.worktree, None).await.map(|()| None)
                } else {
                    self.keep_and_remove(&known, &report.worktree, None, false).await.map(|gone| gone.preserved)
                };
                let (preserved, problem) = match done {
                    Ok(preserved) => (preserved, None),
                    Err(problem) => (None, Some(problem)),
                };
                worktrees.push(LeftWorktree { report, preserved, problem });
            }
            if !dry_run {
                let cleared = self.blocking(move |engine| engine.0.opener.pool(&known).clear()).await?;
                cleared.map_err(|e| e.problem())?;
            }
            left.push(LeftRepository { root: repo.root, worktrees });
        }
        // Something stays: so do we.
        *leaving &= left.iter().flat_map(|repository| &repository.worktrees).all(|worktree| worktree.problem.is_none());
        Ok(left)
    }
}
