//! The walk of one subject: look at its facts, take the next step, record what came of it, again.

use std::sync::Arc;
use std::time::Duration;

use dandori_domain::Problem;
use dandori_domain::machine::{Machine, Next, SubjectRef};
use dandori_store::{Recorded, StoreError, Stored};
use tokio::sync::Notify;
use tracing::{error, info, warn};

use super::Kernel;

/// How long to wait before a store that does not answer is asked again.
const STORE_PAUSE: Duration = Duration::from_millis(500);

/// So that a mistake of ours costs a little patience, not a core.
const LOOK_AGAIN_PAUSE: Duration = Duration::from_millis(20);

/// A step was not taken, and why.
#[derive(Debug)]
pub(crate) enum WalkError {
    /// The world is not as the facts say (a cancel came in between): look again.
    LookAgain,
    /// Ours: shown, and tried again after a pause.
    Trouble(Problem),
    /// The daemon is stopping.
    Stopping,
}

/// What a capability brings for its machine: how its steps are carried out.
pub(crate) trait Walker: Clone + Send + Sync + 'static {
    type Machine: Stored;

    fn kernel(&self) -> &Kernel;

    /// Carries a step out and says what came of it. What has already happened is found, not done again.
    fn take(
        &self,
        step: <Self::Machine as Machine>::Step,
        subject: &Self::Machine,
        bell: &Notify,
    ) -> impl Future<Output = Result<Vec<<Self::Machine as Machine>::Fact>, WalkError>> + Send;

    /// What is recorded instead of trying this step yet again; `None`: it is tried for ever.
    fn gives_up(
        &self,
        _step: &<Self::Machine as Machine>::Step,
        _tries: u32,
        _problem: &Problem,
    ) -> Option<Vec<<Self::Machine as Machine>::Fact>> {
        None
    }

    /// Something was recorded.
    fn recorded(&self, _recorded: &Recorded<Self::Machine>) {}

    /// Nothing more is done about this subject now.
    fn rests(&self, _subject: &Self::Machine) {}

    /// Room for what has to be written although the disk is full; whether there was any.
    fn makes_room(&self) -> bool {
        false
    }
}

pub(super) async fn walk<W: Walker>(walker: W, id: <W::Machine as Machine>::Id, bell: Arc<Notify>) {
    let kernel = walker.kernel().clone();
    let mut subject: Option<W::Machine> = None;
    let mut troubles = 0;
    while !kernel.is_stopping() {
        let facts = match subject.take() {
            Some(facts) => facts,
            None => match kernel.store.subject::<W::Machine>(id).await {
                Ok(facts) => facts,
                Err(e) => {
                    warn!(%id, "the database does not respond: {e}");
                    tokio::time::sleep(STORE_PAUSE).await;
                    continue;
                }
            },
        };
        if facts.about().host != kernel.life.host {
            warn!(%id, "another daemon walks it");
            break;
        }
        let step = match facts.next(kernel.now()) {
            Next::Wait | Next::Rest => {
                walker.rests(&facts);
                break;
            }
            // Usually it came with the fact before; not when that fact came from outside the walk.
            Next::Record(fact) => {
                subject = settle(&walker, &facts, vec![fact]).await;
                continue;
            }
            Next::Take(step) => step,
        };
        let name = W::Machine::step_name(&step);
        info!(%id, status = facts.status_name(), step = name);
        match walker.take(step.clone(), &facts, &bell).await {
            Ok(outcome) => {
                troubles = 0;
                if let Some(intent) = W::Machine::carries_out(&step) {
                    kernel.done::<W::Machine>(intent).await;
                }
                subject = settle(&walker, &facts, outcome).await;
            }
            Err(WalkError::LookAgain) => tokio::time::sleep(LOOK_AGAIN_PAUSE).await,
            Err(WalkError::Trouble(problem)) => {
                error!(%id, step = name, ?problem, "a step failed; trying again");
                kernel.notice(problem.clone());
                troubles += 1;
                if let Some(instead) = walker.gives_up(&step, troubles, &problem) {
                    subject = settle(&walker, &facts, instead).await;
                    continue;
                }
                tokio::time::sleep(STORE_PAUSE * troubles.min(60)).await;
            }
            Err(WalkError::Stopping) => break,
        }
    }
    kernel.forget(&SubjectRef::of::<W::Machine>(id));
    // Something may have come between the last look and now.
    if !kernel.is_stopping()
        && let Ok(facts) = kernel.store.subject::<W::Machine>(id).await
        && facts.about().host == kernel.life.host
        && facts.is_walked(kernel.now())
    {
        kernel.walk(&walker, id);
    }
}

/// Records an outcome. `None` means: read the facts again.
async fn settle<W: Walker>(
    walker: &W,
    subject: &W::Machine,
    outcome: Vec<<W::Machine as Machine>::Fact>,
) -> Option<W::Machine> {
    let kernel = walker.kernel();
    let id = subject.id();
    loop {
        match kernel.record(subject, outcome.clone()).await {
            Ok(recorded) => {
                walker.recorded(&recorded);
                return Some(recorded.subject);
            }
            Err(StoreError::Illegal(refused)) => {
                info!(%id, "{refused}: looking again");
                tokio::time::sleep(LOOK_AGAIN_PAUSE).await;
                return None;
            }
            Err(StoreError::Fenced { .. }) => {
                error!("another daemon has taken over this state folder: stopping");
                kernel.stopping.cancel();
                return None;
            }
            // Ends, which free what was taken, are worth the room that was kept back.
            Err(StoreError::Full) if walker.makes_room() => {
                warn!(%id, "the disk is full: using the space reserved for the database");
            }
            Err(e) => {
                // A failed commit is an unknown outcome: only a fresh look tells.
                warn!(%id, "not recorded: {e}");
                kernel.notice(e.into());
                tokio::time::sleep(STORE_PAUSE).await;
                let is_still_so = kernel.store.subject::<W::Machine>(id).await.is_ok_and(|stored| stored == *subject);
                if kernel.is_stopping() || !is_still_so {
                    return None;
                }
            }
        }
    }
}
