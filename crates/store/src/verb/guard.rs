//! Records of the guards, taken in from the files that hooks append to.
//!
//! How far a file was read stands beside the records and moves in the same transaction: after a crash nothing is
//! missing and nothing is there twice.

use dandori_domain::id::HostId;
use jiff::Timestamp;

use crate::error::{Result, StoreError};
use crate::store::Store;
use crate::tx::{Row, Tx, params};
use crate::verb::life::{Hold, Life, check};

/// One record, with what it is looked for by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GuardRecord {
    /// Where its line begins.
    pub position: u64,
    pub at: Timestamp,
    pub session: Option<String>,
    pub event: String,
    pub verdict: String,
    pub guard: Option<String>,
    /// The line itself.
    pub body: String,
}

/// Where a record stands among all, oldest first: what comes next is asked for by it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GuardPlace {
    at_ms: i64,
    folder: String,
    segment: String,
    position: i64,
    hash: i64,
}

impl GuardPlace {
    /// Before every record since then.
    pub fn since(at: Timestamp) -> Self {
        let at_ms = at.as_millisecond();
        Self { at_ms, folder: String::new(), segment: String::new(), position: -1, hash: i64::MIN }
    }
}

/// How far one file was taken in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GuardCursor {
    pub folder: String,
    pub segment: String,
    pub next: u64,
}

fn take(tx: &mut dyn Tx, life: Life, cursor: &GuardCursor, records: &[GuardRecord]) -> Result<u64> {
    check(tx, life, Hold::Shared)?;
    let mut taken = 0;
    for record in records {
        taken += tx.execute(
            "INSERT INTO guard_record
                 (host, folder, segment, position, hash, at_ms, session, event, verdict, guard, body)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING",
            params![
                life.host,
                cursor.folder.as_str(),
                cursor.segment.as_str(),
                as_column(record.position)?,
                hash(&record.body),
                record.at.as_millisecond(),
                record.session.as_deref().map(text),
                text(&record.event),
                text(&record.verdict),
                record.guard.as_deref().map(text),
                text(&record.body),
            ],
        )?;
    }
    tx.execute(
        "INSERT INTO guard_cursor (host, folder, segment, next) VALUES ($1, $2, $3, $4)
         ON CONFLICT (host, folder, segment) DO UPDATE SET next = excluded.next",
        params![life.host, cursor.folder.as_str(), cursor.segment.as_str(), as_column(cursor.next)?],
    )?;
    Ok(taken)
}

fn drop_before(tx: &mut dyn Tx, life: Life, before: Timestamp, segment: &str) -> Result<u64> {
    check(tx, life, Hold::Shared)?;
    tx.execute("DELETE FROM guard_cursor WHERE host = $1 AND segment < $2", params![life.host, segment])?;
    tx.execute("DELETE FROM guard_record WHERE host = $1 AND at_ms < $2", params![life.host, before.as_millisecond()])
}

fn read(row: &Row) -> Result<(GuardPlace, GuardRecord)> {
    let text_if_there = |column| row.has(column).then(|| row.text(column).map(str::to_owned)).transpose();
    let record = GuardRecord {
        position: u64::try_from(row.int(0)?).map_err(StoreError::unreadable)?,
        at: Timestamp::from_millisecond(row.int(1)?).map_err(StoreError::unreadable)?,
        session: text_if_there(2)?,
        event: row.text(3)?.to_owned(),
        verdict: row.text(4)?.to_owned(),
        guard: text_if_there(5)?,
        body: row.text(6)?.to_owned(),
    };
    let place = GuardPlace {
        at_ms: row.int(1)?,
        folder: row.text(7)?.to_owned(),
        segment: row.text(8)?.to_owned(),
        position: row.int(0)?,
        hash: row.int(9)?,
    };
    Ok((place, record))
}

/// FNV-1a: tells a line from another at the same place.
fn hash(text: &str) -> i64 {
    let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, fnv).cast_signed()
}

/// PostgreSQL's text has no zero in it: one that somebody wrote must not keep the rest of the file out for ever.
fn text(text: &str) -> String {
    text.replace('\0', "")
}

fn as_column(number: u64) -> Result<i64> {
    i64::try_from(number).map_err(StoreError::other)
}

impl Store {
    /// Takes records in, and that the file was read up to `cursor.next`. Those that are there already stay as they
    /// are; answers how many were new.
    pub async fn take_guard_records(&self, life: Life, cursor: GuardCursor, records: Vec<GuardRecord>) -> Result<u64> {
        self.write(move |tx| take(tx, life, &cursor, &records)).await
    }

    /// How far each file of a host was taken in.
    pub async fn guard_cursors(&self, host: HostId) -> Result<Vec<GuardCursor>> {
        self.read(move |tx| {
            let sql = "SELECT folder, segment, next FROM guard_cursor WHERE host = $1 ORDER BY folder, segment";
            let cursor = |row: &Row| {
                Ok(GuardCursor {
                    folder: row.text(0)?.to_owned(),
                    segment: row.text(1)?.to_owned(),
                    next: u64::try_from(row.int(2)?).map_err(StoreError::unreadable)?,
                })
            };
            tx.query(sql, params![host])?.iter().map(cursor).collect()
        })
        .await
    }

    /// A host's records behind this place, oldest first, of the folders whose names begin so (letters, digits and
    /// slashes).
    pub async fn guard_records(
        &self,
        host: HostId,
        folders: String,
        after: GuardPlace,
        limit: u32,
    ) -> Result<Vec<(GuardPlace, GuardRecord)>> {
        self.read(move |tx| {
            let sql = "SELECT position, at_ms, session, event, verdict, guard, body, folder, segment, hash
                 FROM guard_record
                 WHERE host = $1 AND folder LIKE $2 AND at_ms >= $3
                     AND (at_ms, folder, segment, position, hash) > ($3, $4, $5, $6, $7)
                 ORDER BY at_ms, folder, segment, position, hash LIMIT $8";
            let params = params![
                host,
                format!("{folders}%"),
                after.at_ms,
                after.folder.as_str(),
                after.segment.as_str(),
                after.position,
                after.hash,
                i64::from(limit),
            ];
            tx.query(sql, params)?.iter().map(read).collect()
        })
        .await
    }

    /// Records older than `before` go, and what is known of files older than `segment`. Answers how many records went.
    pub async fn drop_guard_records(&self, life: Life, before: Timestamp, segment: String) -> Result<u64> {
        self.write(move |tx| drop_before(tx, life, before, &segment)).await
    }
}
