//! What hooks have written about the guards, taken into the store.
//!
//! Hooks need no daemon: they append to files, and those stay the source for a month. The store remembers longer and is
//! there to be asked. How far each file was read is kept with the records, so that a crash neither loses nor doubles one.
//!
//! Guards of a run write into the run's own folder, behind its agent's fence: the agent can write there too. So nothing of
//! it is followed elsewhere or taken without bounds, and when the run is over and all of it is in the store, it goes.

use std::collections::HashMap;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Problem;
use dandori_domain::run::Note;
use dandori_host::layout::RunLayout;
use dandori_host::now;
use dandori_host::shim::{self, Probe};
use dandori_journal::spool::{self, Batch, Line, Segment};
use dandori_journal::stats::{Stats, Tally};
use dandori_journal::{Outcome, Record, RecordedVerdict, StepRecord, left_open};
use dandori_store::{GuardCursor, GuardPlace, GuardRecord, StoreError};
use jiff::{SignedDuration, Timestamp};
use tracing::{info, warn};

use crate::Engine;
use crate::trouble::store_problem;

/// As much of a file as becomes one transaction.
const BATCH_BYTES: u64 = 128 * 1024;
/// Of one segment of a run: no honest hook writes as much.
const MAX_OF_A_RUN: u64 = 16 * 1024 * 1024;
/// How the names of the runs' folders begin in the store; then come repository and run.
const OF_RUNS: &str = "run/";
/// Records that are added up at a time.
const PAGE: u32 = 2_000;
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
    pub(crate) async fn take_in_guards(&self) {
        let intake = &mut *self.0.guards.lock().await;
        if let Err(e) = self.take_in(intake).await {
            // What is not taken in now is there the next time.
            warn!("cannot import guard records: {e}");
        }
        if intake.tidied.is_none_or(|at| now().duration_since(at) > TIDY_EVERY) {
            intake.tidied = Some(now());
            self.tidy_guards(intake).await;
        }
    }

    /// What the guards of all runs of a repository did since then, or of every repository here.
    pub async fn guard_stats_of_runs(&self, path: Option<&Utf8Path>, since: Timestamp) -> Result<Stats, Problem> {
        let folders = match path {
            Some(path) => format!("{OF_RUNS}{}/", self.open_at(path).await?.repo.id.folder()),
            None => OF_RUNS.to_owned(),
        };
        self.take_in_guards().await;
        let mut tally = Tally::default();
        let mut after = GuardPlace::since(since);
        loop {
            let asked = self.store().guard_records(self.life().host, folders.clone(), after, PAGE).await;
            let page = asked.map_err(|e| store_problem(&e))?;
            let Some((last, _)) = page.last() else { return Ok(tally.finish()) };
            after = last.clone();
            // What a later version wrote may not be for us to read.
            page.iter().filter_map(|(_, kept)| serde_json::from_str(&kept.body).ok()).for_each(|r| tally.add(&r));
        }
    }

    /// What went on in a run that has just ended although no guard had answered, by what its guards wrote down.
    pub(crate) async fn unjudged_note(&self, run: &RunLayout) -> Option<Note> {
        let folder = run.guards();
        let calls = self.blocking(move |_| unjudged(&folder)).await.ok()?;
        (calls > 0).then_some(Note::Unjudged { calls })
    }

    async fn take_in(&self, intake: &mut Intake) -> Result<(), StoreError> {
        let fence = self.life();
        let mut next = match intake.next.take() {
            Some(next) => next,
            None => {
                let known = self.store().guard_cursors(fence.host).await?;
                known.into_iter().map(|c| ((c.folder, c.segment), c.next)).collect()
            }
        };
        let Ok(found) = self.blocking(Self::guard_folders).await else { return Ok(()) };
        for source in found {
            for segment in &source.segments {
                self.take_segment(&source, segment, &mut next).await?;
            }
            if source.is_over && !self.stopping().is_cancelled() {
                // All that will ever come of it is in the store.
                let _ = self.blocking(move |_| std::fs::remove_dir_all(source.folder.join("spool"))).await;
            }
        }
        intake.next = Some(next);
        Ok(())
    }

    async fn take_segment(
        &self,
        source: &Source,
        segment: &Segment,
        next: &mut HashMap<(String, String), u64>,
    ) -> Result<(), StoreError> {
        let key = (source.name.clone(), segment.name.clone());
        let end = if source.is_run { segment.bytes.min(MAX_OF_A_RUN) } else { segment.bytes };
        let mut from = next.get(&key).copied().filter(|next| *next <= segment.bytes).unwrap_or(0);
        while from < end && !self.stopping().is_cancelled() {
            let wanted = segment.clone();
            let read = self.blocking(move |_| spool::read(&wanted, from, BATCH_BYTES)).await;
            // Unreadable, or removed meanwhile: the others are not kept waiting for it.
            let Ok(Ok(batch)) = read else { break };
            if batch.next == from {
                break;
            }
            from = batch.next;
            let cursor = GuardCursor { folder: key.0.clone(), segment: key.1.clone(), next: from };
            self.store().take_guard_records(self.life(), cursor, records(batch, &segment.path)).await?;
            next.insert(key.clone(), from);
        }
        Ok(())
    }

    /// Every folder hooks write to: one for each checkout, and one for each run that has not been taken in whole.
    fn guard_folders(&self) -> Vec<Source> {
        let guards = self.layout().guards();
        let checkout = |name: String| {
            let folder = guards.join(&name);
            Source { name, segments: spool::segments(&folder), folder, is_run: false, is_over: false }
        };
        let mut found: Vec<Source> = names(&guards).into_iter().map(checkout).collect();
        // Asked for first: a walk that ends because of a stop has stopped before.
        let walked: Vec<String> = self.live_runs().iter().map(|run| run.key().to_string()).collect();
        let is_stopping = self.stopping().is_cancelled();
        let repos = self.layout().repos();
        for repo in names(&repos) {
            let runs = repos.join(&repo).join("runs");
            for key in names(&runs) {
                let run = RunLayout::at(runs.join(&key));
                let folder = run.guards();
                if !is_plain(&folder.join("spool")) {
                    continue;
                }
                let is_alive = matches!(shim::probe(run.root()), Ok(Probe::Alive(_)) | Err(_));
                let is_over = !is_stopping && !is_alive && !walked.contains(&key);
                let (name, segments) = (format!("{OF_RUNS}{repo}/{key}"), spool::segments(&folder));
                found.push(Source { name, folder, is_run: true, is_over, segments });
            }
        }
        found
    }

    /// Sessions that were never ended, and records nobody will ask for.
    async fn tidy_guards(&self, intake: &mut Intake) {
        let oldest = self
            .blocking(move |engine| {
                let found = engine.guard_folders();
                for source in found.iter().filter(|source| !source.is_run) {
                    dandori_journal::sweep(&source.folder, now());
                }
                found.into_iter().flat_map(|source| source.segments).map(|segment| segment.name).min()
            })
            .await;
        let Ok(oldest) = oldest else { return };
        let oldest = oldest.unwrap_or_default();
        if let Some(next) = &mut intake.next {
            next.retain(|(_, segment), _| *segment >= oldest);
        }
        let before = now().checked_sub(KEPT).unwrap_or(Timestamp::UNIX_EPOCH);
        match self.store().drop_guard_records(self.life(), before, oldest).await {
            Ok(0) => {}
            Ok(count) => info!(count, "removed old guard records"),
            Err(e) => warn!("cannot remove old guard records: {e}"),
        }
    }
}

/// A folder hooks write to.
struct Source {
    /// As the store knows it.
    name: String,
    folder: Utf8PathBuf,
    is_run: bool,
    /// Nobody will write to it any more.
    is_over: bool,
    segments: Vec<Segment>,
}

fn names(folder: &Utf8Path) -> Vec<String> {
    folder.read_dir_utf8().into_iter().flatten().flatten().map(|entry| entry.file_name().to_owned()).collect()
}

/// A folder that is where it says: no part of the way is a link.
fn is_plain(folder: &Utf8Path) -> bool {
    folder.is_dir() && folder.canonicalize_utf8().is_ok_and(|real| real == folder)
}

/// Events that told of something unjudged, and calls that nobody told of any more. It lies where the agent can write, so
/// there may be more than is found.
fn unjudged(folder: &Utf8Path) -> u32 {
    let mut count = left_open(folder).len();
    let segments = if is_plain(&folder.join("spool")) { spool::segments(folder) } else { Vec::new() };
    for segment in segments {
        let mut from = 0;
        while from < segment.bytes.min(MAX_OF_A_RUN) {
            let Ok(batch) = spool::read(&segment, from, BATCH_BYTES) else { break };
            if batch.next == from {
                break;
            }
            from = batch.next;
            let told = |step: &StepRecord| step.0 == "unjudged" && step.1 == Outcome::Warn;
            let tells = |line: &Line| matches!(line, Line::Record(record) if record.steps.iter().any(told));
            count += batch.lines.iter().filter(|placed| tells(&placed.line)).count();
        }
    }
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn records(batch: Batch, path: &Utf8Path) -> Vec<GuardRecord> {
    let mut records = Vec::new();
    for placed in batch.lines {
        match placed.line {
            Line::Record(record) => records.push(kept(*record, placed.position, placed.text)),
            Line::Newer => info!(%path, position = placed.position, "skipped a record from a newer version"),
            Line::Broken => warn!(%path, position = placed.position, "skipped an incomplete record"),
        }
    }
    records
}

fn kept(record: Record, position: u64, body: String) -> GuardRecord {
    let verdict = match record.verdict {
        RecordedVerdict::Go => "go",
        RecordedVerdict::Ask => "ask",
        RecordedVerdict::Block => "block",
        RecordedVerdict::Unknown => "unknown",
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

    async fn engine(root: &Utf8Path) -> Engine {
        let options = EngineOptions {
            layout: Layout::at(root),
            env: dandori_host::Env::of_process(),
            user_config: root.join("none.toml"),
            dandori: root.join("none"),
            words: |_, _, _| crate::NewsWords { title: String::new(), message: String::new(), command: None },
            formation_words: |_, _, _| String::new(),
        };
        Engine::start(options).await.unwrap()
    }

    fn append(root: &Utf8Path, checkout: &str, subject: &str) {
        append_to(&root.join("guards").join(checkout), subject);
    }

    fn append_to(folder: &Utf8Path, subject: &str) {
        spool::append(folder, &record(subject)).unwrap();
    }

    fn record(subject: &str) -> Record {
        Record {
            version: 1,
            at: now().as_millisecond(),
            agent: "claude".to_owned(),
            session: Some("s".to_owned()),
            prompt_id: None,
            prompt_hash: None,
            tag: None,
            event: "pre-tool".to_owned(),
            tool: None,
            subject: Some(subject.to_owned()),
            verdict: RecordedVerdict::Block,
            by: Some("playbook".to_owned()),
            steps: vec![dandori_journal::StepRecord("playbook".to_owned(), Outcome::Block, 7)],
            micros: 9,
            oddities: Vec::new(),
            action: None,
        }
    }

    async fn taken(engine: &Engine) -> Vec<String> {
        engine.take_in_guards().await;
        let all = GuardPlace::since(Timestamp::UNIX_EPOCH);
        let records = engine.store().guard_records(engine.life().host, String::new(), all, 10_000).await.unwrap();
        let subject = |(_, record): (GuardPlace, GuardRecord)| {
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

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn what_the_guards_of_a_run_wrote_is_taken_in_and_goes_when_it_is_over() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap().canonicalize_utf8().unwrap();
        std::fs::create_dir(root.join("private")).unwrap();
        let run = root.join("repos/r/runs/k");
        let guards = RunLayout::at(&run).guards();
        append_to(&guards, "a");
        append_to(&guards, "b");
        append(&root, "one", "c");
        let engine = engine(&root).await;
        assert_eq!(taken(&engine).await, ["a", "b", "c"]);
        assert!(!guards.join("spool").exists() && guards.exists(), "nothing will come of it any more");
        assert!(root.join("guards/one/spool").exists(), "a checkout's stay the source");
        assert_eq!(taken(&engine).await, ["a", "b", "c"], "and once");
        append_to(&guards, "d");
        let stats = engine.guard_stats_of_runs(None, Timestamp::UNIX_EPOCH).await.unwrap();
        assert_eq!((stats.events, stats.blocked, stats.guards[0].guard.as_str()), (3, 3, "playbook"));
        let none = engine.guard_stats_of_runs(None, now() + SignedDuration::from_hours(1)).await.unwrap();
        assert_eq!(none.events, 0);
        engine.stop().await;
    }

    #[test]
    fn what_went_unjudged_in_a_run_is_counted_and_nothing_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap().canonicalize_utf8().unwrap();
        let guards = root.join("guards");
        append_to(&guards, "a");
        assert_eq!(unjudged(&guards), 0);
        let step = |outcome| vec![StepRecord("unjudged".to_owned(), outcome, 1)];
        for outcome in [Outcome::Warn, Outcome::Pass, Outcome::Warn] {
            spool::append(&guards, &Record { steps: step(outcome), ..record("b") }).unwrap();
        }
        assert_eq!(unjudged(&guards), 2);
        let begun = guards.join("sessions/claude-s/begun");
        std::fs::create_dir_all(&begun).unwrap();
        std::fs::File::create(begun.join("7~pre-tool~Bash")).unwrap();
        assert_eq!(unjudged(&guards), 3);
        std::os::unix::fs::symlink(&guards, root.join("link")).unwrap();
        assert_eq!(unjudged(&root.join("link")), 0);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn what_an_agent_puts_in_the_place_of_the_guards_records_leads_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap().canonicalize_utf8().unwrap();
        std::fs::create_dir(root.join("private")).unwrap();
        append(&root, "one", "mine");
        let link = |from: &Utf8Path, to: &Utf8Path| {
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(from, to).unwrap();
        };
        let guards = |run: &str| RunLayout::at(root.join("repos/r/runs").join(run)).guards();
        link(&root.join("guards/one"), &guards("by-folder"));
        link(&root.join("guards/one/spool"), &guards("by-spool").join("spool"));
        let segment = spool::segments(&root.join("guards/one")).remove(0).path;
        let name = segment.file_name().unwrap();
        link(&segment, &guards("by-file").join("spool").join(name));
        std::fs::create_dir_all(guards("by-pipe").join("spool")).unwrap();
        let pipe = guards("by-pipe").join("spool").join(name);
        rustix::fs::mknodat(rustix::fs::CWD, pipe.as_std_path(), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let as_if_it_had_been_a_file =
            Segment { name: name.trim_end_matches(".jsonl").to_owned(), path: pipe, bytes: 9 };
        assert!(spool::read(&as_if_it_had_been_a_file, 0, 100).is_err(), "and does not wait for a writer");

        let engine = engine(&root).await;
        assert_eq!(taken(&engine).await, ["mine"], "once, as its owner's");
        assert!(segment.exists() && guards("by-folder").is_symlink());
        engine.stop().await;
    }
}
