//! A verb on its way to a database thread, and its answer on the way back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use tokio::sync::oneshot;

use crate::error::{Result, StoreError};
use crate::tx::Tx;

/// May run more than once (a transaction that was rolled back is tried again); answered exactly once.
pub(crate) trait Job: Send {
    fn run(&mut self, tx: &mut dyn Tx) -> Result<()>;
    fn answer(self: Box<Self>, outcome: Result<()>);
    fn asked_at(&self) -> Instant;
}

struct Errand<T, F> {
    verb: F,
    value: Option<T>,
    reply: oneshot::Sender<Result<T>>,
    asked_at: Instant,
}

pub(crate) fn job<T, F>(verb: F) -> (Box<dyn Job>, oneshot::Receiver<Result<T>>)
where
    T: Send + 'static,
    F: FnMut(&mut dyn Tx) -> Result<T> + Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    (Box::new(Errand { verb, value: None, reply, asked_at: Instant::now() }), answer)
}

impl<T: Send, F: FnMut(&mut dyn Tx) -> Result<T> + Send> Job for Errand<T, F> {
    fn run(&mut self, tx: &mut dyn Tx) -> Result<()> {
        // One broken verb must not take the thread and everybody else's verbs with it.
        let done = catch_unwind(AssertUnwindSafe(|| (self.verb)(tx)))
            .unwrap_or_else(|_| Err(StoreError::other("a verb of the store broke off")))?;
        self.value = Some(done);
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<()>) {
        let Self { value, reply, .. } = *self;
        // Whoever asked may have gone away; the change stands all the same.
        let _ = reply.send(outcome.and_then(|()| value.ok_or_else(|| StoreError::other("a verb gave no answer"))));
    }

    fn asked_at(&self) -> Instant {
        self.asked_at
    }
}
