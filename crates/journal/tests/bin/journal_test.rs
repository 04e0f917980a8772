//! A hook reduced to what it writes down: what the tests of this crate start, many at once, and kill.
//!
//! Each thing that is safe on disk is acknowledged by a line on stdout.

use std::io::Write;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_guard::world::Log;
use dandori_guard::{Client, Mark};
use dandori_journal::{Exceptions, Logs, Outcome, Record, RecordedVerdict, Session, StepRecord, spool};
use jiff::Timestamp;
use jiff::civil::DateTime;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, name, count] = arguments.as_slice() else { std::process::exit(2) };
    let count: u64 = count.parse().unwrap_or(0);
    // All begin together, when the test closes their stdin.
    let _ = std::io::stdin().read_line(&mut String::new());
    let folder = Utf8Path::new(folder);
    let done = match name.split_once(':') {
        Some(("use", id)) => use_up(folder, id, count),
        Some(("record", name)) => (0..count).try_for_each(|i| spool::append(folder, &record(&format!("{name}-{i}")))),
        _ => write_all(folder, name, count),
    };
    if done.is_err() {
        std::process::exit(3);
    }
}

/// Everything a hook writes, `count` times.
fn write_all(folder: &Utf8Path, name: &str, count: u64) -> std::io::Result<()> {
    let session = Session::new(folder, Client::Claude, Some("shared"));
    let logs = Logs::new(folder);
    let now = Timestamp::UNIX_EPOCH;
    for i in 0..count {
        let subject = format!("{name}-{i}");
        // As long as ten pages, and everybody writes the same one: half of it would be seen.
        let value = subject.repeat(40_000 / subject.len());
        session.set(&Mark::Pending, &value, now)?;
        session.set(&Mark::Wrote(Utf8PathBuf::from(&subject)), "", now)?;
        session.deny(&[Utf8PathBuf::from(&subject)], "playbook", now)?;
        logs.line(DateTime::default(), Log::Session, &subject.repeat(3_000 / subject.len()))?;
        logs.timing(DateTime::default(), "pre-tool", Some(&subject), Duration::ZERO)?;
        spool::append(folder, &record(&subject))?;
        writeln!(std::io::stdout(), "{i}")?;
    }
    Ok(())
}

/// Of different lengths, so that they cross pages at every place.
fn record(subject: &str) -> Record {
    let guards = subject.bytes().map(u64::from).sum::<u64>() % 60;
    Record {
        version: 1,
        at: 0,
        agent: "claude".to_owned(),
        session: Some("shared".to_owned()),
        prompt_id: None,
        prompt_hash: None,
        tag: None,
        event: "pre-tool".to_owned(),
        tool: Some("Edit".to_owned()),
        subject: Some(subject.to_owned()),
        verdict: RecordedVerdict::Go,
        by: None,
        steps: (0..guards).map(|n| StepRecord(format!("guard-{n}"), Outcome::Pass, n)).collect(),
        micros: 1,
        oddities: Vec::new(),
        action: None,
    }
}

/// Acknowledges each use it got.
fn use_up(folder: &Utf8Path, id: &str, tries: u64) -> std::io::Result<()> {
    let exceptions = Exceptions::new(folder);
    for _ in 0..tries {
        if exceptions.use_one(id, Timestamp::UNIX_EPOCH).is_ok() {
            writeln!(std::io::stdout(), "used")?;
        }
    }
    Ok(())
}
