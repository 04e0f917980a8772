//! What `doctor` asks the daemon: is what it holds sound, and how much of the disk does it use.

use dandori_domain::Problem;
use dandori_domain::run::Sandbox;
use dandori_store::Health;

use crate::Engine;
use crate::trouble::store_problem;

#[derive(Clone, Debug)]
pub struct CheckReport {
    pub health: Health,
    pub sandbox: Sandbox,
    pub live: u32,
    pub waiting: u64,
    pub repos: Vec<DoctorRepo>,
}

#[derive(Clone, Debug)]
pub struct DoctorRepo {
    pub root: camino::Utf8PathBuf,
    /// `None` when it could not be measured, or was not.
    pub bytes: Option<u64>,
    /// Those that are there.
    pub worktrees: u32,
    /// Runs that left something and are not in the store; counted only when the disk is looked at.
    pub lost_runs: u32,
}

impl Engine {
    pub async fn check(&self, disk: bool) -> Result<CheckReport, Problem> {
        // `status` is asked often; `doctor` has the time.
        let store = self.store();
        let health = if disk { store.health().await } else { store.glance().await };
        let health = health.map_err(|e| store_problem(&e))?;
        let waiting = self.store().waiting_count(self.life().host).await.map_err(|e| store_problem(&e))?;
        let mut repos = Vec::new();
        for repo in self.store().repos(self.life().host).await.map_err(|e| store_problem(&e))? {
            let folder = self.layout().repo(repo.id).root().to_owned();
            let used = self
                .blocking(move |_| {
                    disk.then(|| dandori_host::machine::disk_use(&folder, 2_000_000).ok()).flatten().map(|d| d.bytes)
                })
                .await?;
            let worktrees = if self.0.edges.git.is_gone(&repo) {
                self.store().worktrees(Some(repo.id)).await.map_err(|e| store_problem(&e))?
            } else {
                self.stored(&self.0.opener.open(repo.clone())).await?
            };
            // What cannot be looked at is told by others.
            let lost_runs = if disk { self.lost_runs(repo.id).await.unwrap_or(0) } else { 0 };
            repos.push(DoctorRepo {
                lost_runs,
                root: repo.root,
                bytes: used,
                worktrees: u32::try_from(worktrees.iter().filter(|w| w.path.symlink_metadata().is_ok()).count())
                    .unwrap_or(u32::MAX),
            });
        }
        Ok(CheckReport { health, sandbox: self.0.sandbox.clone(), live: self.live_count(), waiting, repos })
    }
}
