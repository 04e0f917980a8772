//! Starts the workers, outlives them, and keeps what they find.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_host::cmd::signal_of;

use crate::case::{self, Case, Finding, Target};
use crate::random::Random;
use crate::report;
use crate::seeds::Seeds;
use crate::trouble::Trouble;
use crate::worker::{Said, Tally, read_slot};

/// A worker is replaced after this: what its allocator keeps must not be taken for what a case needs.
const LIFE: Duration = Duration::from_mins(1);
/// Longer without a new case is a hang. No case may take a tenth of it, and a process has its own deadline.
const HANG: Duration = Duration::from_secs(if cfg!(debug_assertions) { 120 } else { 30 });
/// Files kept of findings of one kind.
const KEPT: u64 = 10;
const PROGRESS: Duration = Duration::from_secs(30);

pub(crate) struct Plan {
    pub(crate) length: Duration,
    pub(crate) seed: u64,
    pub(crate) threads: u64,
    pub(crate) only: Option<Target>,
    pub(crate) findings: Utf8PathBuf,
    pub(crate) dandori: Utf8PathBuf,
    pub(crate) rate: u32,
}

#[derive(Default)]
pub(crate) struct Totals {
    pub(crate) tallies: BTreeMap<Target, Tally>,
    /// How often each kind was found, with the first file.
    pub(crate) found: BTreeMap<(Target, String), (u64, Utf8PathBuf)>,
    /// Too slow or too large once, and not again in a process of its own.
    pub(crate) unconfirmed: u64,
}

/// Everything that was done and found.
pub(crate) fn conduct(plan: &Plan) -> Result<Totals, Trouble> {
    let seeds = Seeds::load()?;
    let folder = tempfile::tempdir()?;
    let folder =
        Utf8Path::from_path(folder.path()).ok_or_else(|| Trouble::wrong("the temporary folder has no plain name"))?;
    let totals = Mutex::new(Totals::default());
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let keepers: Vec<_> = (0..plan.threads)
            .map(|stream| {
                let keeper = Keeper {
                    plan,
                    seeds: &seeds,
                    totals: &totals,
                    seed: Random::of(plan.seed, stream).next(),
                    slot: folder.join(format!("worker-{stream}")),
                };
                scope.spawn(move || keeper.keep(begun))
            })
            .collect();
        let mut told = Instant::now();
        while keepers.iter().any(|keeper| !keeper.is_finished()) {
            std::thread::sleep(Duration::from_millis(100));
            if told.elapsed() >= PROGRESS {
                told = Instant::now();
                if let Ok(totals) = totals.lock() {
                    report::progress(begun.elapsed(), &totals)?;
                }
            }
        }
        for keeper in keepers {
            keeper.join().unwrap_or_else(|_| Err(Trouble::wrong("a keeper panicked")))?;
        }
        Ok::<(), Trouble>(())
    })?;
    let totals = totals.into_inner().map_err(|_| Trouble::wrong("the totals are lost"))?;
    keep_extremes(plan, &seeds, &totals)?;
    Ok(totals)
}

/// The slowest and the largest of each target, to be run again like findings.
fn keep_extremes(plan: &Plan, seeds: &Seeds, totals: &Totals) -> Result<(), Trouble> {
    for (target, tally) in &totals.tallies {
        for (kind, made) in [("slowest", tally.slowest), ("largest", tally.largest)] {
            let case = Case::make(seeds, *target, made.seed, made.number);
            let name = format!("{kind}-{}", target.name());
            case::write(&plan.findings, &name, &case, &Finding::new(kind, "no finding"))?;
        }
    }
    Ok(())
}

struct Keeper<'a> {
    plan: &'a Plan,
    seeds: &'a Seeds,
    totals: &'a Mutex<Totals>,
    seed: u64,
    slot: Utf8PathBuf,
}

impl Keeper<'_> {
    /// One worker after the other, until the time is over.
    fn keep(&self, begun: Instant) -> Result<(), Trouble> {
        let mut from = 0;
        loop {
            let left = self.plan.length.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Ok(());
            }
            let mut child = self.start(from, left.min(LIFE))?;
            let ended = self.listen(&mut child);
            // However it ended, nothing of it stays.
            let _ = child.kill();
            let status = child.wait()?;
            let last = read_slot(&self.slot);
            from = last.map_or(from, |(_, number)| number);
            match (ended?, last) {
                (End::Hung, Some((target, number))) => {
                    self.found(target, number, &Finding::new("hang", format!("no end within {HANG:?}")))?;
                }
                (End::Closed, _) if status.success() => {}
                (End::Closed, Some((target, number))) if signal_of(status).is_some() => {
                    self.found(target, number, &Finding::new("abort", status.to_string()))?;
                }
                _ => return Err(Trouble::wrong(format!("a worker ended with {status}"))),
            }
        }
    }

    fn start(&self, from: u64, life: Duration) -> Result<Child, Trouble> {
        let mut worker = ourselves()?;
        worker.args(["worker", "--slot", self.slot.as_str(), "--dandori", self.plan.dandori.as_str()]);
        worker.args(["--seed", &self.seed.to_string(), "--from", &from.to_string()]);
        worker.args(["--millis", &life.as_millis().to_string(), "--rate", &self.plan.rate.to_string()]);
        if let Some(only) = self.plan.only {
            worker.args(["--only", only.name()]);
        }
        Ok(worker.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?)
    }

    fn listen(&self, child: &mut Child) -> Result<End, Trouble> {
        let lines = lines_of(child)?;
        let mut seen = (read_slot(&self.slot), Instant::now());
        loop {
            match lines.recv_timeout(Duration::from_millis(500)) {
                Ok(line) => match serde_json::from_str(&line)? {
                    Said::Found { target, number, finding } => self.found(target, number, &finding)?,
                    Said::Done { target, tally } => {
                        let mut totals = self.totals.lock().map_err(|_| Trouble::wrong("the totals are lost"))?;
                        totals.tallies.entry(target).or_default().add(&tally);
                    }
                },
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(End::Closed),
            }
            let now = read_slot(&self.slot);
            if now != seen.0 {
                seen = (now, Instant::now());
            } else if seen.1.elapsed() > HANG {
                return Ok(End::Hung);
            }
        }
    }

    fn found(&self, target: Target, number: u64, finding: &Finding) -> Result<(), Trouble> {
        let case = Case::make(self.seeds, target, self.seed, number);
        let key = (target, finding.kind.clone());
        let before = {
            let mut totals = self.totals.lock().map_err(|_| Trouble::wrong("the totals are lost"))?;
            let entry = totals.found.entry(key.clone()).or_default();
            entry.0 += 1;
            entry.0 - 1
        };
        if before >= KEPT {
            return Ok(());
        }
        let name = format!("{}-{}-{number}", target.name(), plain(&finding.kind));
        let file = case::write(&self.plan.findings, &name, &case, finding)?;
        // What the machine was busy with is no fault of the case.
        let is_measured = matches!(finding.kind.as_str(), "slow" | "process memory" | "deadline");
        let is_confirmed = !is_measured || replay(&file, Some(&self.plan.dandori))?.is_some();
        let mut totals = self.totals.lock().map_err(|_| Trouble::wrong("the totals are lost"))?;
        if is_confirmed {
            if let Some(entry) = totals.found.get_mut(&key)
                && entry.1.as_str().is_empty()
            {
                entry.1.clone_from(&file);
            }
            return report::found(target, finding, &file);
        }
        totals.unconfirmed += 1;
        if let Some(entry) = totals.found.get_mut(&key) {
            entry.0 -= 1;
            if entry.0 == 0 {
                totals.found.remove(&key);
            }
        }
        std::fs::remove_file(&file).map_err(Trouble::io(&file))
    }
}

enum End {
    Closed,
    Hung,
}

/// Runs a kept case once more, in a process of its own.
pub(crate) fn replay(file: &Utf8Path, dandori: Option<&Utf8Path>) -> Result<Option<Finding>, Trouble> {
    let mut one = ourselves()?;
    one.args(["one", file.as_str()]).args(dandori.iter().flat_map(|path| ["--dandori", path.as_str()]));
    let mut child = one.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let lines = lines_of(&mut child)?;
    let answer = lines.recv_timeout(HANG);
    let _ = child.kill();
    let status = child.wait()?;
    match answer {
        Ok(line) => Ok(serde_json::from_str(&line)?),
        Err(RecvTimeoutError::Timeout) => Ok(Some(Finding::new("hang", format!("no end within {HANG:?}")))),
        Err(RecvTimeoutError::Disconnected) if signal_of(status).is_some() => {
            Ok(Some(Finding::new("abort", status.to_string())))
        }
        Err(RecvTimeoutError::Disconnected) => Err(Trouble::wrong(format!("the case could not be run: {status}"))),
    }
}

/// This program once more; what it prints is read as it comes.
#[expect(clippy::disallowed_methods, reason = "a worker has no deadline: its keeper watches it")]
fn ourselves() -> Result<Command, Trouble> {
    Ok(Command::new(std::env::current_exe()?))
}

fn lines_of(child: &mut Child) -> Result<Receiver<String>, Trouble> {
    let stdout = child.stdout.take().ok_or_else(|| Trouble::wrong("a worker without an output"))?;
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    Ok(receiver)
}

fn plain(text: &str) -> String {
    let tail: Vec<char> = text.chars().rev().take(40).collect();
    tail.into_iter().rev().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}
