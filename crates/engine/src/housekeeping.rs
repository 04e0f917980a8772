//! Work nobody waits for: warm slots, trash, the guards' records, merges by hand, backups, integrity.

use std::time::Duration;

use dandori_git::Fetch;
use dandori_host::now;
use dandori_host::reserve::Reserve;
use tracing::{debug, info, warn};

use crate::Engine;

const ROUND: Duration = Duration::from_secs(30);
/// After the bell: the run that took a slot gets the machine to itself while it starts, and several that start
/// together ring once.
const LEAVE_ALONE: Duration = Duration::from_secs(2);
/// Enough for the facts of many runs.
const RESERVE_BYTES: usize = 4 << 20;
/// Fewer cost git nothing that anybody would notice.
const LOOSE_REFS: usize = 200;
const CHECK_EVERY: Duration = Duration::from_mins(30);
/// At most this much of what was done is not in a backup.
const BACKUP_PAUSE: Duration = Duration::from_secs(10);
/// A backup that takes long is made less often: no more than this share of the time goes into them.
const BACKUP_SHARE: u32 = 50;
const BACKUPS_KEPT: usize = 6;

impl Engine {
    pub(crate) async fn keep_house(self) {
        self.check_store().await;
        let mut since_check = std::time::Instant::now();
        while !self.stopping().is_cancelled() {
            self.empty_trash().await;
            self.take_reserve().await;
            self.fill_pools().await;
            self.take_in_guards().await;
            self.notice_merges().await;
            if since_check.elapsed() > CHECK_EVERY {
                since_check = std::time::Instant::now();
                self.check_store().await;
                self.drop_old_answers().await;
                self.drop_old_notices().await;
            }
            tokio::select! {
                () = self.rung() => {}
                () = tokio::time::sleep(ROUND) => {}
                () = self.stopping().cancelled() => {}
            }
        }
    }

    pub(crate) fn store_reserve(&self) -> Reserve {
        Reserve::new(self.layout().reserve(), RESERVE_BYTES)
    }

    /// Again, once there is plenty of room.
    async fn take_reserve(&self) {
        let taken = self.blocking(|engine| {
            let free = dandori_host::machine::free_disk(&engine.layout().private())?;
            if free > 8 * RESERVE_BYTES as u64 { engine.store_reserve().take() } else { Ok(()) }
        });
        if let Ok(Err(e)) = taken.await {
            info!("cannot reserve disk space for the database: {e}");
        }
    }

    async fn rung(&self) {
        self.0.housekeeping.notified().await;
        tokio::time::sleep(LEAVE_ALONE).await;
    }

    /// Slow on a slow disk, and nobody waits for it: the tree is already out of the way.
    async fn empty_trash(&self) {
        let Ok(repos) = self.store().repos(self.life().host).await else { return };
        for repo in repos {
            let trash = self.layout().repo(repo.id).trash();
            if let Ok(Err(e)) = self.blocking(move |_| dandori_git::empty_trash(&trash)).await {
                warn!("cannot empty the trash: {e}");
            }
        }
    }

    /// Slots only for repositories that have had a run: a slot costs a checkout of disk.
    async fn fill_pools(&self) {
        let Ok(repos) = self.store().repos(self.life().host).await else { return };
        for repo in repos {
            if self.stopping().is_cancelled() || !repo.root.is_dir() {
                continue;
            }
            let Ok(config) = self.config_of(&repo) else { continue };
            let used = self.store().tasks(dandori_store::TaskFilter { repo: Some(repo.id), ..Default::default() }, 1);
            if config.pool == 0 || used.await.map_or(true, |page| page.tasks.is_empty()) {
                continue;
            }
            let Ok(known) = self.open_known(repo.id).await else { continue };
            let git = known.git.clone();
            if let Ok(Err(e)) = self.blocking(move |_| git.pack_refs(LOOSE_REFS)).await {
                info!(repo = %repo.root, "cannot pack its refs: {e}");
            }
            let min_free = self.0.config.min_free_disk;
            let leaving = self.0.leaving.lock().await;
            if *leaving {
                return;
            }
            let filled = self
                .blocking(move |engine| {
                    // What is known is good enough: a claim brings an older slot forward.
                    let base = known.git.resolve_base(None, config.base.as_deref(), Fetch::Never)?;
                    engine.0.opener.pool(&known).fill(&base.oid, config.pool as usize, min_free)
                })
                .await;
            drop(leaving);
            match filled {
                Ok(Ok(_)) | Err(_) => {}
                Ok(Err(e)) => info!(repo = %repo.root, "cannot prepare a worktree: {e}"),
            }
        }
    }

    /// A backup after the start, one soon after anything was written, and one at the end: whatever happens to the database,
    /// little of what was done is not in one of them.
    pub(crate) async fn back_up_for_ever(self) {
        let mut events = self.store().watch_events();
        loop {
            events.borrow_and_update();
            let began = std::time::Instant::now();
            self.back_up().await;
            let pause = (began.elapsed() * BACKUP_SHARE).max(BACKUP_PAUSE);
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.stopping().cancelled() => {}
            }
            let is_behind = tokio::select! {
                changed = events.changed() => changed.is_ok(),
                () = self.stopping().cancelled() => events.has_changed().unwrap_or(false),
            };
            if !is_behind {
                return;
            }
            if self.stopping().is_cancelled() {
                // Runs may still be brought to a point from which they go on; what they write then is in the database alone.
                self.back_up().await;
                return;
            }
        }
    }

    async fn back_up(&self) {
        match self.store().backup(now(), BACKUPS_KEPT).await {
            Ok(path) => debug!(?path, "database backed up"),
            Err(e) => warn!("no backup: {e}"),
        }
    }

    async fn check_store(&self) {
        match self.store().check_integrity().await {
            Ok(report) if report.findings.is_empty() => self.damage_found(None),
            Ok(report) => {
                let reason = report.findings.join("; ");
                warn!("the database is damaged: {reason}");
                let problem = dandori_domain::Problem::StoreUnavailable { reason };
                self.damage_found(Some(problem.clone()));
                self.notice(problem);
            }
            Err(e) => warn!("cannot check the database: {e}"),
        }
    }
}
