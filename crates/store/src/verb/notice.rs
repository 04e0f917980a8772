//! What people were told about: once per occurrence, also over restarts.
//!
//! A notice is begun before it is sent and done afterwards. A daemon that is killed in between leaves it begun, and the next one
//! sends it again: at most one is told twice, and none is lost.

use std::collections::HashMap;

use dandori_domain::id::HostId;
use jiff::Timestamp;

use crate::error::Result;
use crate::store::Store;
use crate::tx::{Tx, params};
use crate::verb::life::{Hold, Life, check};

/// What came of wanting to send a notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// It is ours to send.
    Ours,
    /// It was begun before, by us or by another.
    Begun,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoticeRecord {
    pub occurrence: String,
    pub begun_at: Timestamp,
    pub done_at: Option<Timestamp>,
}

/// How the last notice went on one way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoticeWay {
    pub way: String,
    pub at: Timestamp,
    pub error: Option<String>,
}

fn begin(tx: &mut dyn Tx, life: Life, occurrence: &str, seq: Option<i64>, now: Timestamp) -> Result<Turn> {
    check(tx, life, Hold::Shared)?;
    if let Some(seq) = seq {
        tx.execute(
            "INSERT INTO notice_cursor (host, seq) VALUES ($1, $2)
             ON CONFLICT (host) DO UPDATE SET seq = excluded.seq WHERE notice_cursor.seq < excluded.seq",
            params![life.host, seq],
        )?;
    }
    let new = tx.execute(
        "INSERT INTO notice (host, occurrence, begun_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        params![life.host, occurrence, now],
    )?;
    Ok(if new == 1 { Turn::Ours } else { Turn::Begun })
}

fn end(tx: &mut dyn Tx, life: Life, occurrence: &str, ways: &[NoticeWay], now: Timestamp) -> Result<()> {
    check(tx, life, Hold::Shared)?;
    tx.execute(
        "UPDATE notice SET done_at = $3 WHERE host = $1 AND occurrence = $2",
        params![life.host, occurrence, now],
    )?;
    for way in ways {
        tx.execute(
            "INSERT INTO notice_way (host, way, at, error) VALUES ($1, $2, $3, $4)
             ON CONFLICT (host, way) DO UPDATE SET at = excluded.at, error = excluded.error",
            params![life.host, way.way.as_str(), way.at, way.error.as_deref()],
        )?;
    }
    Ok(())
}

impl Store {
    /// A notice is about to be sent; with the event it is about, where it is about one.
    pub async fn begin_notice(&self, life: Life, occurrence: String, seq: Option<i64>, now: Timestamp) -> Result<Turn> {
        self.write(move |tx| begin(tx, life, &occurrence, seq, now)).await
    }

    /// It was sent, or given up, and this is how it went.
    pub async fn end_notice(&self, life: Life, occurrence: String, ways: Vec<NoticeWay>, now: Timestamp) -> Result<()> {
        self.write(move |tx| end(tx, life, &occurrence, &ways, now)).await
    }

    pub async fn notices(&self, host: HostId) -> Result<HashMap<String, NoticeRecord>> {
        self.read(move |tx| {
            let sql = "SELECT occurrence, begun_at, done_at FROM notice WHERE host = $1";
            let rows = tx.query(sql, params![host])?;
            rows.iter()
                .map(|row| {
                    let occurrence = row.text(0)?.to_owned();
                    let record = NoticeRecord {
                        occurrence: occurrence.clone(),
                        begun_at: row.parsed(1)?,
                        done_at: row.parsed_if_there(2)?,
                    };
                    Ok((occurrence, record))
                })
                .collect()
        })
        .await
    }

    /// The newest event a notice was begun for; `None`: there was none yet.
    pub async fn notice_cursor(&self, host: HostId) -> Result<Option<i64>> {
        self.read(move |tx| {
            let row = tx.first("SELECT seq FROM notice_cursor WHERE host = $1", params![host])?;
            row.map(|row| row.int(0)).transpose()
        })
        .await
    }

    /// How the last notice went on each way, by its name.
    pub async fn notice_ways(&self, host: HostId) -> Result<Vec<NoticeWay>> {
        self.read(move |tx| {
            let rows = tx.query("SELECT way, at, error FROM notice_way WHERE host = $1 ORDER BY way", params![host])?;
            rows.iter()
                .map(|row| {
                    let error = row.has(2).then(|| row.text(2).map(str::to_owned)).transpose()?;
                    Ok(NoticeWay { way: row.text(0)?.to_owned(), at: row.parsed(1)?, error })
                })
                .collect()
        })
        .await
    }

    /// What was told before then: nobody asks about it any more.
    pub async fn drop_notices(&self, life: Life, before: Timestamp) -> Result<u64> {
        self.write(move |tx| {
            check(tx, life, Hold::Shared)?;
            let sql = "DELETE FROM notice WHERE host = $1 AND begun_at < $2 AND done_at IS NOT NULL";
            tx.execute(sql, params![life.host, before])
        })
        .await
    }
}
