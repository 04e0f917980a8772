//! Stop: whatever of a run is alive ends, and how far the agent had come is taken down.

use std::time::Duration;

use dandori_domain::run::{Fact, Run, StopReason, Work};
use dandori_host::shim::Probe;

use super::StepError;
use super::watch::{Stream, ended, trouble};
use crate::Engine;

impl Engine {
    /// Ends the whole process tree, set-up commands included.
    pub(super) async fn stop_run(
        &self,
        run: &Run,
        launched: Option<&Work>,
        why: StopReason,
    ) -> Result<Vec<Fact>, StepError> {
        let layout = self.layout().repo(run.spec.repo).run(run.spec.id);
        let grace = Duration::from_secs(run.spec.settings.limits.grace_seconds);
        let folders = self.shim_folders(run);
        let reason = match why {
            StopReason::Canceled => "canceled",
            StopReason::OverLimit => "over a limit",
        };
        self.blocking(move |engine| {
            for folder in &folders {
                // Also seals it: a launch that has not begun will not begin any more.
                engine.0.edges.host.stop(folder, reason, grace)?;
            }
            Ok::<(), String>(())
        })
        .await?
        .map_err(|reason: String| trouble(&layout, &reason))?;
        self.end_leftovers(run).await?;
        // First of all: an agent that was ended says that it failed, and a canceled run has not.
        let mut facts = vec![Fact::Stopped];
        if launched.is_some()
            && run.progress.ended().is_none()
            && let Ok(Probe::Ended(record)) = self.0.edges.host.probe(layout.root())
        {
            let mut stream = Stream::of(run, layout, self.baseline(run).await);
            facts.extend(ended(run, &mut stream, &record).into_iter().filter(|f| !matches!(f, Fact::Failed { .. })));
        }
        Ok(facts)
    }

    fn shim_folders(&self, run: &Run) -> Vec<camino::Utf8PathBuf> {
        let layout = self.layout().repo(run.spec.repo).run(run.spec.id);
        let set_up = (0..16).map(|i| layout.set_up(i)).filter(|folder| folder.is_dir());
        set_up.chain([layout.root().to_owned()].into_iter().filter(|folder| folder.is_dir())).collect()
    }

    /// Whatever still carries the run's mark and has no shim any more.
    pub(super) async fn end_leftovers(&self, run: &Run) -> Result<(), StepError> {
        let layout = self.layout().repo(run.spec.repo).run(run.spec.id);
        let id = run.spec.id.to_string();
        let tree = run.workspace().map(|w| w.path.clone()).unwrap_or_default();
        let folder = layout.root().to_owned();
        self.blocking(move |engine| engine.0.edges.host.end_leftovers(&id, &folder, &tree))
            .await?
            .map_err(|e| trouble(&layout, &e))
    }
}
