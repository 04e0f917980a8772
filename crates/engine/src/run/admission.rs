//! Admission: who may start now. A limit, free memory and free disk; the rest wait in a line that everybody can see,
//! with what they wait for.

use std::sync::PoisonError;
use std::time::Duration;

use dandori_domain::run::{Fact, Run};
use dandori_domain::{Problem, WaitReason};
use futures_util::future::join_all;
use tracing::warn;

use crate::Engine;
use crate::trouble::store_problem;

/// Level, not edge: a lost bell costs one of these.
const SCAN: Duration = Duration::from_secs(1);
/// How many are admitted by one wait for the disk, when many wait and places are free.
const MOST_AT_ONCE: u32 = 16;

impl Engine {
    pub(crate) async fn admit_for_ever(self) {
        while !self.stopping().is_cancelled() {
            // Mostly one waits; only when it turns out that more do are several asked for at once.
            let mut at_once = 1;
            while self.lacks().is_none() && self.admit_some(at_once).await {
                at_once = (at_once * 2).min(MOST_AT_ONCE);
            }
            tokio::select! {
                () = self.0.admission.notified() => {}
                () = tokio::time::sleep(SCAN) => {}
                () = self.stopping().cancelled() => {}
            }
        }
    }

    /// Admits up to `count`. What is asked for together shares a commit. `false`: nobody waits, or there is no place.
    async fn admit_some(&self, count: u32) -> bool {
        let now = self.now();
        let asked = (0..count).map(|_| self.store().admit(self.life(), self.max_parallel(), now));
        let mut all = true;
        let mut trouble = None;
        for answer in join_all(asked).await {
            match answer {
                Ok(Some(admitted)) => {
                    self.0.kernel.recorded::<Run>(&Fact::Admitted).await;
                    self.0.kernel.walk(&self.runs(), admitted.subject.spec.id);
                }
                Ok(None) => all = false,
                Err(e) => {
                    warn!("cannot start queued runs: {e}");
                    self.notice(store_problem(&e));
                    trouble = Some(store_problem(&e));
                    all = false;
                }
            }
        }
        *self.0.not_admitted.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
        all
    }

    /// What a run of ours waits for. `None`: it does not wait, or another daemon admits it.
    pub fn waits_for(&self, run: &Run) -> Option<WaitReason> {
        if !run.is_waiting() || run.spec.host != self.life().host {
            return None;
        }
        let trouble = || self.0.not_admitted.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let lacking = self.lacks().or_else(|| trouble().map(|problem| WaitReason::Store { problem }));
        Some(lacking.unwrap_or(WaitReason::Place))
    }

    /// What the machine has too little of for one more run.
    fn lacks(&self) -> Option<WaitReason> {
        if let Err(Problem::DiskFull { path, .. }) = self.require_disk() {
            return Some(WaitReason::Disk { path, needed: self.0.config.min_free_disk });
        }
        // One run may always go: else a small machine would never work at all.
        let needed = self.0.config.min_free_memory;
        let is_short = self.live_count() > 0 && self.0.edges.host.available_memory().is_some_and(|free| free < needed);
        is_short.then_some(WaitReason::Memory { needed })
    }
}
