//! Admission: who may start now. A limit and free memory; the rest wait in a line that everybody can see.

use std::time::Duration;

use tracing::warn;

use crate::Engine;

/// Level, not edge: a lost bell costs one of these.
const SCAN: Duration = Duration::from_secs(1);

impl Engine {
    pub(crate) async fn admit_for_ever(self) {
        while !self.0.stopping.is_cancelled() {
            while self.has_room() {
                match self.0.store.admit(self.0.fence, self.max_parallel(), dandori_host::now()).await {
                    Ok(Some(run)) => {
                        crate::fault::recorded(&dandori_domain::run::Fact::Admitted);
                        self.walk(run.spec.id);
                    }
                    Ok(None) => break,
                    Err(e) => {
                        warn!("nobody can be admitted: {e}");
                        self.notice(crate::trouble::store_problem(&e));
                        break;
                    }
                }
            }
            tokio::select! {
                () = self.0.admission.notified() => {}
                () = tokio::time::sleep(SCAN) => {}
                () = self.0.stopping.cancelled() => {}
            }
        }
    }

    /// Memory for one more agent. One run may always go: else a small machine would never work at all.
    fn has_room(&self) -> bool {
        self.live_count() == 0
            || dandori_host::machine::available_memory().is_none_or(|free| free >= self.0.config.min_free_memory)
    }
}
