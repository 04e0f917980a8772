//! What hooks have written about the guards, taken into the store.
//!
//! Hooks need no daemon: they append to files, and those stay the source for a month. The store remembers longer and is
//! there to be asked. How far each file was read is kept with the records, so that a crash neither loses nor doubles one.

use std::collections::HashMap;

use camino::Utf8Path;
use dandori_host::now;
use dandori_journal::spool::{self, Batch, Line, Segment};
use dandori_journal::{Record, Verdict};
use dandori_store::{GuardCursor, GuardRecord, StoreError};
use jiff::{SignedDuration, Timestamp};
use tracing::{info, warn};

use crate::Engine;

/// As much of a file as becomes one transaction.
const BATCH_BYTES: u64 = 128 * 1024;
const KEPT: SignedDuration = SignedDuration::from_hours(180 * 24);
const TIDY_EVERY: SignedDuration = SignedDuration::from_hours(6);

/// What this life knows of the files without asking the store again: nobody else takes in those of this host.
#[derive(Default)]
pub(crate) struct Intake {
    /// By folder and segment; loaded on first use.
    next: Option<HashMap<(String, String), u64>>,
    tidied: Option<Timestamp>,
}

impl Engine {
    pub(crate) async fn take_in_guards(&self, intake: &mut Intake) {
        if let Err(e) = self.take_in(intake).await {
            // What is not taken in now is there the next time.
            warn!("records of the guards could not be taken in: {e}");
        }
        if intake.tidied.is_none_or(|at| now().duration_since(at) > TIDY_EVERY) {
            intake.tidied = Some(now());
            self.tidy_guards(intake).await;
        }
    }

    async fn take_in(&self, intake: &mut Intake) -> Result<(), StoreError> {
        let fence = self.0.fence;
        let mut next = match intake.next.take() {
            Some(next) => next,
            None => {
                let known = self.0.store.guard_cursors(fence.host).await?;
                known.into_iter().map(|c| ((c.folder, c.segment), c.next)).collect()
            }
        };
        let guards = self.layout().guards();
        let Ok(found) = self.blocking(move |_| all_segments(&guards)).await else { return Ok(()) };
        for (folder, segment) in found {
            let key = (folder, segment.name.clone());
            let mut from = next.get(&key).copied().filter(|next| *next <= segment.bytes).unwrap_or(0);
            while from < segment.bytes && !self.0.stopping.is_cancelled() {
                let wanted = segment.clone();
                let read = self.blocking(move |_| spool::read(&wanted, from, BATCH_BYTES)).await;
                // Unreadable, or removed meanwhile: the others are not kept waiting for it.
                let Ok(Ok(batch)) = read else { break };
                if batch.next == from {
                    break;
                }
                from = batch.next;
                let cursor = GuardCursor { folder: key.0.clone(), segment: key.1.clone(), next: from };
                self.0.store.take_guard_records(fence, cursor, records(batch, &segment.path)).await?;
                next.insert(key.clone(), from);
            }
        }
        intake.next = Some(next);
        Ok(())
    }

    /// Sessions that were never ended, and records nobody will ask for.
    async fn tidy_guards(&self, intake: &mut Intake) {
        let guards = self.layout().guards();
        let oldest = self
            .blocking(move |_| {
                for folder in folders(&guards) {
                    dandori_journal::sweep(&guards.join(folder), now());
                }
                all_segments(&guards).into_iter().map(|(_, segment)| segment.name).min()
            })
            .await;
        let Ok(oldest) = oldest else { return };
        let oldest = oldest.unwrap_or_default();
        if let Some(next) = &mut intake.next {
            next.retain(|(_, segment), _| *segment >= oldest);
        }
        let before = now().checked_sub(KEPT).unwrap_or(Timestamp::UNIX_EPOCH);
        match self.0.store.drop_guard_records(self.0.fence, before, oldest).await {
            Ok(0) => {}
            Ok(count) => info!(count, "old records of the guards are gone"),
            Err(e) => warn!("old records of the guards could not be dropped: {e}"),
        }
    }
}

fn folders(guards: &Utf8Path) -> Vec<String> {
    guards.read_dir_utf8().into_iter().flatten().flatten().map(|entry| entry.file_name().to_owned()).collect()
}

fn all_segments(guards: &Utf8Path) -> Vec<(String, Segment)> {
    let of = |folder: String| spool::segments(&guards.join(&folder)).into_iter().map(move |s| (folder.clone(), s));
    folders(guards).into_iter().flat_map(of).collect()
}

fn records(batch: Batch, path: &Utf8Path) -> Vec<GuardRecord> {
    let mut records = Vec::new();
    for placed in batch.lines {
        match placed.line {
            Line::Record(record) => records.push(kept(*record, placed.position, placed.text)),
            Line::Newer => info!(%path, position = placed.position, "a record of a later version is left out"),
            Line::Broken => warn!(%path, position = placed.position, "half a record is left out"),
        }
    }
    records
}

fn kept(record: Record, position: u64, body: String) -> GuardRecord {
    let verdict = match record.verdict {
        Verdict::Go => "go",
        Verdict::Ask => "ask",
        Verdict::Block => "block",
        Verdict::Unknown => "unknown",
    };
    GuardRecord {
        position,
        at: Timestamp::from_millisecond(record.at).unwrap_or(Timestamp::UNIX_EPOCH),
        session: record.session,
        event: record.event,
        verdict: verdict.to_owned(),
        guard: record.by,
        body,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EngineOptions, Layout};
    use dandori_journal::Outcome;

    async fn engine(root: &Utf8Path) -> Engine {
        let options = EngineOptions {
            layout: Layout::at(root),
            env: dandori_host::Env::of_process(),
            user_config: root.join("none.toml"),
            dandori: root.join("none"),
        };
        Engine::start(options).await.unwrap()
    }

    fn append(root: &Utf8Path, checkout: &str, subject: &str) {
        let record = Record {
            version: 1,
            at: now().as_millisecond(),
            agent: "claude".to_owned(),
            session: Some("s".to_owned()),
            event: "pre-tool".to_owned(),
            tool: None,
            subject: Some(subject.to_owned()),
            verdict: Verdict::Block,
            by: Some("playbook".to_owned()),
            steps: vec![dandori_journal::StepRecord("playbook".to_owned(), Outcome::Block, 7)],
            micros: 9,
            oddities: Vec::new(),
            action: None,
        };
        spool::append(&root.join("guards").join(checkout), &record).unwrap();
    }

    async fn taken(engine: &Engine) -> Vec<String> {
        engine.take_in_guards(&mut Intake::default()).await;
        let records = engine.0.store.guard_records(engine.0.fence.host, Timestamp::UNIX_EPOCH, 10_000).await.unwrap();
        let subject = |record: GuardRecord| {
            assert_eq!((record.verdict.as_str(), record.guard.as_deref()), ("block", Some("playbook")));
            serde_json::from_str::<Record>(&record.body).unwrap().subject.unwrap()
        };
        let mut subjects: Vec<String> = records.into_iter().map(subject).collect();
        subjects.sort();
        subjects
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn what_hooks_wrote_is_taken_in_once_also_across_lives() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap().canonicalize_utf8().unwrap();
        std::fs::create_dir(root.join("private")).unwrap();
        // More than one transaction's worth.
        let mut want: Vec<String> = (0..1_000).map(|i| format!("a{i:04}")).collect();
        for subject in &want {
            append(&root, "one", subject);
        }
        let engine_one = engine(&root).await;
        assert_eq!(taken(&engine_one).await, want);
        append(&root, "one", "b");
        append(&root, "two", "c1");
        append(&root, "two", "c2");
        want.extend(["b", "c1", "c2"].map(str::to_owned));
        assert_eq!(taken(&engine_one).await, want);
        engine_one.stop().await;
        drop(engine_one);

        append(&root, "one", "d");
        want.push("d".to_owned());
        let engine_two = engine(&root).await;
        assert_eq!(taken(&engine_two).await, want);
        // A file that became shorter is another one, with other lines at the same places.
        std::fs::remove_dir_all(root.join("guards/two")).unwrap();
        append(&root, "two", "e");
        want.push("e".to_owned());
        assert_eq!(taken(&engine_two).await, want);
        engine_two.stop().await;
    }
}
