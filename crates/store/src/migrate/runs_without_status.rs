//! Runs from before lists were narrowed by state and agent: both are written down once, from their facts.

use dandori_domain::Run;
use jiff::Timestamp;

use crate::error::Result;
use crate::tx::{Tx, params};
use crate::verb::subject;

/// As many at a time as are held in memory without thought.
const AT_ONCE: i64 = 500;

pub(super) fn fill(tx: &mut dyn Tx, _now: Timestamp) -> Result<()> {
    loop {
        let rows = tx.query("SELECT id FROM run WHERE status = '' ORDER BY seq LIMIT $1", params![AT_ONCE])?;
        if rows.is_empty() {
            return Ok(());
        }
        for row in rows {
            let run: Run = subject::load(tx, row.parsed(0)?)?;
            tx.execute(
                "UPDATE run SET status = $2, agent = $3 WHERE id = $1",
                params![run.spec.id, run.status().as_str(), run.spec.agent.to_string()],
            )?;
        }
    }
}
