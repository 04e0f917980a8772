//! What is printed.

use std::io::Write;
use std::time::Duration;

use camino::Utf8Path;

use crate::case::{Finding, Target};
use crate::conductor::Totals;
use crate::trouble::Trouble;

pub(crate) fn line(text: &str) -> Result<(), Trouble> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{text}")?;
    Ok(stdout.flush()?)
}

pub(crate) fn progress(elapsed: Duration, totals: &Totals) -> Result<(), Trouble> {
    let executions: u64 = totals.tallies.values().map(|tally| tally.executions).sum();
    let slowest = totals.tallies.values().map(|tally| tally.slowest_micros).max().unwrap_or_default();
    let peak = totals.tallies.values().map(|tally| tally.peak).max().unwrap_or_default();
    line(&format!(
        "{:>5} s  {executions} executions  slowest {} ms  peak {} MB  findings {}",
        elapsed.as_secs(),
        slowest / 1000,
        peak / 1_000_000,
        totals.found.values().map(|(count, _)| count).sum::<u64>(),
    ))
}

pub(crate) fn found(target: Target, finding: &Finding, file: &Utf8Path) -> Result<(), Trouble> {
    let detail: String = finding.detail.chars().take(300).collect();
    line(&format!("found  {}: {}: {detail}\n       {file}", target.name(), finding.kind))
}

pub(crate) fn summary(seed: u64, elapsed: Duration, totals: &Totals, findings: &Utf8Path) -> Result<(), Trouble> {
    line(&format!("\nseed {seed}, {} s", elapsed.as_secs()))?;
    line("target       executions        slowest   peak memory")?;
    for (target, tally) in &totals.tallies {
        // A process of its own is measured whole, everything else by what it adds.
        let sign = if target.is_rationed() { "" } else { "+" };
        line(&format!(
            "{:<12} {:>10}    {:>8.1} ms   {sign}{:.1} MB",
            target.name(),
            tally.executions,
            millis(tally.slowest_micros),
            millis(tally.peak / 1000),
        ))?;
    }
    let executions: u64 = totals.tallies.values().map(|tally| tally.executions).sum();
    let tolerated: u64 = totals.tallies.values().map(|tally| tally.tolerated).sum();
    line(&format!("{executions} executions; {tolerated} panics of the shell's grammar, all fenced off"))?;
    if totals.unconfirmed > 0 {
        line(&format!("{} measured too slow or too large once, and not again alone", totals.unconfirmed))?;
    }
    for ((target, kind), (count, file)) in &totals.found {
        line(&format!("FOUND  {}: {kind}: {count} times, first {file}", target.name()))?;
    }
    line(&format!("the slowest and the largest of each are in {findings}"))?;
    line(if totals.found.is_empty() { "no findings" } else { "`fuzz --replay FILE` runs one again" })
}

fn millis(micros: u64) -> f64 {
    f64::from(u32::try_from(micros).unwrap_or(u32::MAX)) / 1000.0
}
