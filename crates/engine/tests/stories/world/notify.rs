//! People who can be told something.

use dandori_engine::edges::{NotifyEdge, Sending, WayOutcome, WayResult};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::{Hangs, World};

impl NotifyEdge for World {
    fn send<'a>(&'a self, sending: &'a Sending) -> BoxFuture<'a, Vec<WayResult>> {
        async move {
            let hangs = {
                let mut inner = self.lock();
                inner.tellings += 1;
                if inner.telling_hangs != Some(Hangs::Before) {
                    inner.told.push(sending.body.clone());
                }
                inner.telling_hangs
            };
            if hangs.is_some() {
                std::future::pending::<()>().await;
            }
            vec![WayResult { way: "command", outcome: WayOutcome::Sent }]
        }
        .boxed()
    }
}
