//! One process that runs case after case. It says its case's number before it begins with it: if it dies or hangs, the
//! number is there.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::case::{Case, Finding, Target};
use crate::measure::{self, MEMORY_LIMIT, TIME_LIMIT, cpu_time};
use crate::panics;
use crate::random::Random;
use crate::seeds::Seeds;
use crate::targets::{self, Bed};
use crate::trouble::Trouble;

/// As much stack as the hook gives its guards.
const STACK: usize = 32 * 1024 * 1024;

#[derive(clap::Args, Clone)]
pub(crate) struct WorkerArgs {
    #[arg(long)]
    pub(crate) seed: u64,
    #[arg(long)]
    pub(crate) from: u64,
    #[arg(long)]
    pub(crate) millis: u64,
    #[arg(long)]
    pub(crate) slot: Utf8PathBuf,
    #[arg(long)]
    pub(crate) dandori: Option<Utf8PathBuf>,
    #[arg(long)]
    pub(crate) only: Option<Target>,
    /// Processes a second
    #[arg(long)]
    pub(crate) rate: u32,
}

/// What a worker says on a line.
#[derive(Serialize, Deserialize)]
pub(crate) enum Said {
    Found { target: Target, number: u64, finding: Finding },
    Done { target: Target, tally: Tally },
}

/// What was done since it was last said.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Tally {
    pub(crate) executions: u64,
    pub(crate) slowest_micros: u64,
    pub(crate) slowest: Made,
    pub(crate) peak: u64,
    pub(crate) largest: Made,
    /// Panics of the shell's grammar, which are fenced off.
    pub(crate) tolerated: u64,
}

/// What a case is made from.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Made {
    pub(crate) seed: u64,
    pub(crate) number: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Self) {
        self.executions += other.executions;
        self.tolerated += other.tolerated;
        if other.slowest_micros > self.slowest_micros {
            self.slowest_micros = other.slowest_micros;
            self.slowest = other.slowest;
        }
        if other.peak > self.peak {
            self.peak = other.peak;
            self.largest = other.largest;
        }
    }
}

/// What a case came to.
pub(crate) struct Outcome {
    pub(crate) finding: Option<Finding>,
    pub(crate) took: Duration,
    pub(crate) peak: u64,
}

/// Runs a case with everything that is watched.
pub(crate) fn run(seeds: &Seeds, case: &Case, bed: Option<&Bed>) -> Outcome {
    panics::take();
    measure::begin_heap();
    let (begun, cpu) = (Instant::now(), cpu_time());
    let looked = catch_unwind(AssertUnwindSafe(|| targets::look(seeds, case, bed)));
    let cpu = cpu_time().saturating_sub(cpu);
    let peak = match case.target {
        Target::Processes => bed.map_or(0, Bed::weighed),
        Target::Bash => 0,
        _ => measure::heap_peak(),
    };
    let took = if case.target.is_rationed() { begun.elapsed() } else { cpu };
    let finding = if let Some((place, words)) = panics::take() {
        Some(Finding::new(format!("panic at {place}"), words))
    } else if let Ok(Err(finding)) = looked {
        Some(finding)
    } else if cpu > TIME_LIMIT {
        Some(Finding::new("slow", format!("{cpu:?} of the processor for {} bytes", case.input.len())))
    } else if !case.target.is_rationed() && peak > MEMORY_LIMIT {
        Some(Finding::new("memory", format!("{peak} bytes for an input of {}", case.input.len())))
    } else {
        None
    };
    Outcome { finding, took, peak }
}

/// Gives a stack like the hook's to what is run.
pub(crate) fn on_hooks_stack<T: Send>(run: impl FnOnce() -> Result<T, Trouble> + Send) -> Result<T, Trouble> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || {
            panics::watch();
            run()
        })?;
        thread.join().unwrap_or_else(|_| Err(Trouble::wrong("the worker itself panicked")))
    })
}

pub(crate) fn main(args: &WorkerArgs) -> Result<(), Trouble> {
    on_hooks_stack(|| work(args))
}

fn work(args: &WorkerArgs) -> Result<(), Trouble> {
    let seeds = Seeds::load()?;
    let bed = args.dandori.as_deref().map(Bed::make).transpose()?;
    let slot = File::create(&args.slot).map_err(Trouble::io(&args.slot))?;
    let begun = Instant::now();
    let until = begun + Duration::from_millis(args.millis);
    let (mut said, mut rationed) = (begun, begun);
    let pause = Duration::from_secs(1) / args.rate.max(1);
    let mut tallies: Vec<(Target, Tally)> = Target::ALL.map(|target| (target, Tally::default())).to_vec();
    let mut number = args.from;
    while Instant::now() < until {
        number += 1;
        let now = Instant::now();
        let is_time = now.duration_since(rationed) >= pause;
        let target = args.only.unwrap_or_else(|| choose(args.seed, number, is_time, bed.is_some()));
        if target.is_rationed() {
            rationed = now;
        }
        write_slot(&slot, target, number)?;
        let case = Case::make(&seeds, target, args.seed, number);
        let outcome = run(&seeds, &case, bed.as_ref());
        if let Some((_, tally)) = tallies.iter_mut().find(|(t, _)| *t == target) {
            tally.add(&Tally {
                executions: 1,
                slowest_micros: u64::try_from(outcome.took.as_micros()).unwrap_or(u64::MAX),
                slowest: Made { seed: args.seed, number },
                peak: outcome.peak,
                largest: Made { seed: args.seed, number },
                tolerated: panics::tolerated(),
            });
        }
        if let Some(finding) = outcome.finding {
            say(&Said::Found { target, number, finding })?;
        }
        if said.elapsed() > Duration::from_secs(1) {
            said = Instant::now();
            tell(&mut tallies)?;
        }
    }
    tell(&mut tallies)
}

fn choose(seed: u64, number: u64, is_time: bool, has_bed: bool) -> Target {
    let mut random = Random::of(!seed, number);
    if is_time {
        return if has_bed && random.one_in(2) { Target::Processes } else { Target::Bash };
    }
    match random.below(20) {
        0..7 => Target::Events,
        7..14 => Target::Shell,
        14..16 => Target::Playbooks,
        16..18 => Target::Settings,
        _ => Target::Patches,
    }
}

fn tell(tallies: &mut [(Target, Tally)]) -> Result<(), Trouble> {
    for (target, tally) in tallies.iter_mut().filter(|(_, tally)| tally.executions > 0) {
        say(&Said::Done { target: *target, tally: std::mem::take(tally) })?;
    }
    Ok(())
}

fn say(said: &Said) -> Result<(), Trouble> {
    let mut line = serde_json::to_vec(said)?;
    line.push(b'\n');
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(&line)?;
    Ok(stdout.flush()?)
}

fn write_slot(slot: &File, target: Target, number: u64) -> Result<(), Trouble> {
    let place = Target::ALL.iter().position(|t| *t == target).and_then(|at| u64::try_from(at).ok()).unwrap_or_default();
    let mut bytes = place.to_le_bytes().to_vec();
    bytes.extend_from_slice(&number.to_le_bytes());
    Ok(slot.write_all_at(&bytes, 0)?)
}

/// The case a worker has begun last.
pub(crate) fn read_slot(path: &Utf8Path) -> Option<(Target, u64)> {
    let bytes = std::fs::read(path).ok()?;
    let number = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let target = Target::ALL.get(usize::try_from(number(0)?).ok()?)?;
    Some((*target, number(8)?))
}
