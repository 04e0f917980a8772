//! `dandori guard stats`: what the hooks have written down, added up. No daemon is needed, except for what the daemon has
//! taken in from runs.

use std::process::ExitCode;

use camino::Utf8PathBuf;
use clap::Args;
use dandori_api::{GuardStatsReport, GuardStatsView, SkippedRecords};
use dandori_host::now;
use dandori_journal::spool::{self, Skipped};
use dandori_journal::stats::Tally;
use dandori_server::guard_stats;
use dandori_text::{Table, guard_verbs};
use jiff::{SignedDuration, Timestamp};

use super::Context;
use crate::client::{Client, in_path, quoted};
use crate::documents::Documents;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct GuardStatsArgs {
    /// Only count this period, such as 12h or 7d
    #[arg(long, value_name = "DURATION", default_value = "30d")]
    since: String,
    /// All checkouts
    #[arg(long)]
    all: bool,
    /// Count this repository's runs instead (with --all: those of all repositories)
    #[arg(long)]
    runs: bool,
}

pub(crate) async fn run(args: &GuardStatsArgs, context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    let span = span(&args.since).ok_or_else(|| Failed::Usage(guard_verbs::bad_span(out.lang, &args.since)))?;
    let since = now().checked_sub(span).unwrap_or(Timestamp::UNIX_EPOCH);
    let (stats, skipped) = if args.runs {
        (of_runs(args, since, context).await?, Skipped::default())
    } else {
        of_hooks(args, since, context)?
    };
    let report = GuardStatsReport {
        since_at: since.to_string(),
        stats,
        skipped: SkippedRecords { broken: skipped.broken, newer: skipped.newer, unreadable: skipped.unreadable },
    };
    out.object(&report);
    if report.stats.events == 0 {
        let none = guard_verbs::no_records(out.lang).to_owned();
        out.say(if args.runs { guard_verbs::no_records_of_runs(out.lang) } else { none });
    } else {
        show(&report.stats, context);
    }
    if skipped != Skipped::default() {
        out.note(guard_verbs::skipped(out.lang, skipped.broken, skipped.newer, skipped.unreadable));
    }
    Ok(ExitCode::SUCCESS)
}

fn of_hooks(args: &GuardStatsArgs, since: Timestamp, context: &Context) -> Result<(GuardStatsView, Skipped), Failed> {
    let mut tally = Tally::default();
    let mut skipped = Skipped::default();
    for folder in folders(args, context)? {
        let found = spool::each(&folder, since, |record| tally.add(&record));
        skipped.broken += found.broken + found.unfinished;
        skipped.newer += found.newer;
        skipped.unreadable += found.unreadable;
    }
    Ok((guard_stats(tally.finish()), skipped))
}

async fn of_runs(args: &GuardStatsArgs, since: Timestamp, context: &Context) -> Result<GuardStatsView, Failed> {
    let client = Client::connect(context).await?;
    let mut asked = format!("/v1/guards/stats?since={}", quoted(&since.to_string()));
    if !args.all {
        asked = format!("{asked}&path={}", in_path(&context.here()?));
    }
    Ok(client.get(&asked).await?)
}

fn show(stats: &GuardStatsView, context: &Context) {
    let out = &context.out;
    let mut table = Table::new(guard_verbs::stats_head(out.lang));
    // Nothing is easier to see past than a nought.
    let number = |n: u64| if n == 0 { String::new() } else { n.to_string() };
    for of in &stats.guards {
        table.row([
            of.guard.clone(),
            number(of.calls),
            number(of.blocks),
            number(of.asks),
            number(of.warnings),
            number(of.errors),
            number(of.exceptions),
            number(of.likely_false_alarms),
            guard_verbs::micros(of.p50_micros),
            guard_verbs::micros(of.p99_micros),
        ]);
    }
    out.table(&table);
    let micros = |time: Option<u64>| guard_verbs::micros(time.unwrap_or_default());
    let (p50, p99) = (micros(stats.p50_micros), micros(stats.p99_micros));
    out.line(guard_verbs::stats_total(out.lang, stats.events, stats.blocked, stats.asked, &p50, &p99));
    if stats.guards.iter().any(|guard| guard.likely_false_alarms > 0) {
        out.say(guard_verbs::false_alarms(out.lang));
    }
}

fn folders(args: &GuardStatsArgs, context: &Context) -> Result<Vec<Utf8PathBuf>, Failed> {
    if !args.all {
        return Ok(vec![Documents::of(context)?.guards().to_owned()]);
    }
    let found = context.layout.guards().read_dir_utf8();
    Ok(found.into_iter().flatten().flatten().map(|entry| entry.path().to_owned()).collect())
}

/// `30m`, `12h`, `7d`, `4w`.
pub(super) fn span(text: &str) -> Option<SignedDuration> {
    let unit = text.chars().next_back()?;
    let number: i64 = text.strip_suffix(unit)?.parse().ok().filter(|n| (0..100_000).contains(n))?;
    match unit {
        'm' => Some(SignedDuration::from_mins(number)),
        'h' => Some(SignedDuration::from_hours(number)),
        'd' => Some(SignedDuration::from_hours(24 * number)),
        'w' => Some(SignedDuration::from_hours(7 * 24 * number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_and_a_unit() {
        assert_eq!(span("30m"), Some(SignedDuration::from_mins(30)));
        assert_eq!(span("12h"), Some(SignedDuration::from_hours(12)));
        assert_eq!(span("7d"), Some(SignedDuration::from_hours(168)));
        assert_eq!(span("1w"), span("7d"));
        for bad in ["", "d", "7", "-1d", "7y", "1.5h", "日", "99999999999999999999d"] {
            assert_eq!(span(bad), None, "{bad}");
        }
    }
}
