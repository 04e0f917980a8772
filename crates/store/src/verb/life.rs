//! Lives of a daemon. Each start is a new epoch of its host; a write by an earlier life is refused.

use dandori_domain::id::{Epoch, HostId};
use jiff::Timestamp;

use crate::error::{Result, StoreError};
use crate::event::{About, log};
use crate::store::Store;
use crate::tx::{Tx, params};

/// Who writes: checked in the transaction of the write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Life {
    pub host: HostId,
    pub epoch: Epoch,
}

/// How the life is held until the commit: a new life waits for it either way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// Several writes of one host go on side by side.
    Shared,
    /// One at a time per host.
    Alone,
}

fn begin(tx: &mut dyn Tx, host: HostId, now: Timestamp) -> Result<Epoch> {
    let epoch = tx.int(
        "INSERT INTO life (host, epoch) VALUES ($1, 1)
         ON CONFLICT (host) DO UPDATE SET epoch = life.epoch + 1 RETURNING epoch",
        params![host],
    )?;
    log(tx, now, About::default(), "life_begun", &serde_json::json!({ "host": host, "epoch": epoch }))?;
    Ok(Epoch(epoch))
}

pub(crate) fn check(tx: &mut dyn Tx, life: Life, hold: Hold) -> Result<()> {
    let lock = match hold {
        Hold::Shared => tx.dialect().hold("life"),
        Hold::Alone => tx.dialect().lock("life"),
    };
    let newest = tx.first(&format!("SELECT epoch FROM life WHERE host = $1{lock}"), params![life.host])?;
    match newest.map(|row| row.int(0)).transpose()? {
        Some(epoch) if epoch == life.epoch.0 => Ok(()),
        _ => Err(StoreError::Fenced { host: life.host, epoch: life.epoch }),
    }
}

impl Store {
    /// A daemon starts: from now on the host's earlier lives cannot write.
    pub async fn begin_life(&self, host: HostId, now: Timestamp) -> Result<Epoch> {
        self.write(move |tx| begin(tx, host, now)).await
    }
}
