//! Admission: who may start now. A limit and free memory; the rest wait in a line that everybody can see.

use std::time::Duration;

use futures_util::future::join_all;
use tracing::warn;

use crate::Engine;

/// Level, not edge: a lost bell costs one of these.
const SCAN: Duration = Duration::from_secs(1);
/// How many are admitted by one wait for the disk, when many wait and places are free.
const MOST_AT_ONCE: u32 = 16;

impl Engine {
    pub(crate) async fn admit_for_ever(self) {
        while !self.0.stopping.is_cancelled() {
            // Mostly one waits; only when it turns out that more do are several asked for at once.
            let mut at_once = 1;
            while self.has_room() && self.admit_some(at_once).await {
                at_once = (at_once * 2).min(MOST_AT_ONCE);
            }
            tokio::select! {
                () = self.0.admission.notified() => {}
                () = tokio::time::sleep(SCAN) => {}
                () = self.0.stopping.cancelled() => {}
            }
        }
    }

    /// Admits up to `count`. What is asked for together shares a commit. `false`: nobody waits, or there is no place.
    async fn admit_some(&self, count: u32) -> bool {
        let now = dandori_host::now();
        let asked = (0..count).map(|_| self.0.store.admit(self.0.fence, self.max_parallel(), now));
        let mut all = true;
        for answer in join_all(asked).await {
            match answer {
                Ok(Some(run)) => {
                    crate::fault::recorded(&dandori_domain::run::Fact::Admitted);
                    self.walk(run.spec.id);
                }
                Ok(None) => all = false,
                Err(e) => {
                    warn!("nobody can be admitted: {e}");
                    self.notice(crate::trouble::store_problem(&e));
                    all = false;
                }
            }
        }
        all
    }

    /// Memory for one more agent. One run may always go: else a small machine would never work at all.
    fn has_room(&self) -> bool {
        self.live_count() == 0
            || dandori_host::machine::available_memory().is_none_or(|free| free >= self.0.config.min_free_memory)
    }
}
