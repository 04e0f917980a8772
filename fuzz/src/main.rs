//! Fuzzing: arbitrary bytes, mutated events, shell lines and documents, for as long as is asked, and nothing of it may
//! panic, hang, grow, or pass what is refused otherwise.
//!
//! Needs stable Rust and this workspace only. Each worker is a process with one thread, so that its memory can be measured
//! and its death be seen; the same seed makes the same cases.

mod binary;
mod case;
mod conductor;
mod measure;
mod mutate;
mod panics;
mod random;
mod report;
mod seeds;
mod shrink;
mod targets;
mod trouble;
mod weigh;
mod worker;

use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Parser, Subcommand};

use crate::case::{Case, Finding, Target};
use crate::seeds::Seeds;
use crate::targets::Bed;
use crate::trouble::Trouble;

#[derive(Parser)]
#[command(name = "fuzz", about = "Look for inputs that dandori's guards do not stand", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    inner: Option<Inner>,
    /// How long
    #[arg(long, default_value_t = 1)]
    minutes: u64,
    /// How long, in seconds instead
    #[arg(long, conflicts_with = "minutes")]
    seconds: Option<u64>,
    /// The same seed makes the same cases (default: another one each time)
    #[arg(long)]
    seed: Option<u64>,
    /// Worker processes
    #[arg(long, default_value_t = 1)]
    threads: u64,
    /// Only this
    #[arg(long, value_enum)]
    only: Option<Target>,
    /// Processes a second in each worker: `dandori hook` and `bash -n`
    #[arg(long, default_value_t = 10)]
    rate: u32,
    /// Where findings are kept
    #[arg(long, value_name = "FOLDER", default_value = "target/fuzz-findings")]
    findings: Utf8PathBuf,
    /// The dandori binary to run (default: built with cargo)
    #[arg(long, value_name = "PATH")]
    dandori: Option<Utf8PathBuf>,
    /// Run a finding again
    #[arg(long, value_name = "FILE")]
    replay: Option<Utf8PathBuf>,
    /// With --replay: look for a smaller input, and keep it beside the file
    #[arg(long, requires = "replay")]
    shrink: bool,
}

#[derive(Subcommand)]
enum Inner {
    /// Run case after case (started by the fuzzer)
    #[command(hide = true)]
    Worker(worker::WorkerArgs),
    /// Run a program, and write down how much memory it had at most (started by the fuzzer)
    #[command(hide = true)]
    Weigh(weigh::WeighArgs),
    /// Run one kept case (started by the fuzzer)
    #[command(hide = true)]
    One {
        file: Utf8PathBuf,
        #[arg(long)]
        dandori: Option<Utf8PathBuf>,
    },
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let clean = match (&cli.inner, &cli.replay) {
        (Some(Inner::Worker(args)), _) => worker::main(args).map(|()| true),
        (Some(Inner::One { file, dandori }), _) => one(file, dandori.as_deref()).map(|()| true),
        (Some(Inner::Weigh(args)), _) => return weigh::main(args),
        (None, Some(file)) => again(file, &cli),
        (None, None) => fuzz(&cli),
    };
    match clean {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(trouble) => {
            let _ = writeln!(std::io::stderr(), "error: {}", dandori_domain::cause::with_causes(&trouble));
            ExitCode::from(3)
        }
    }
}

/// Whether nothing was found.
fn fuzz(cli: &Cli) -> Result<bool, Trouble> {
    if !targets::has_bash() {
        return Err(Trouble::wrong("there is no bash to compare with"));
    }
    let seed = cli.seed.unwrap_or_else(|| u64::try_from(dandori_host::random() >> 64).unwrap_or(1));
    let plan = conductor::Plan {
        length: cli.seconds.map_or(Duration::from_mins(cli.minutes), Duration::from_secs),
        seed,
        threads: cli.threads.max(1),
        only: cli.only,
        findings: cli.findings.clone(),
        dandori: binary::find(cli.dandori.as_deref())?,
        rate: cli.rate,
    };
    report::line(&format!("seed {seed}"))?;
    let begun = Instant::now();
    let totals = conductor::conduct(&plan)?;
    report::summary(seed, begun.elapsed(), &totals, &plan.findings)?;
    Ok(totals.found.is_empty())
}

/// Runs one kept case in this process and says what it came to.
fn one(file: &Utf8Path, dandori: Option<&Utf8Path>) -> Result<(), Trouble> {
    let (case, _) = case::read(file)?;
    let outcome = worker::on_hooks_stack(|| {
        let (seeds, bed) = bed_of(&case, dandori)?;
        Ok(worker::run(&seeds, &case, bed.as_ref()))
    })?;
    let _ = writeln!(std::io::stderr(), "took {:?}, {} kB", outcome.took, outcome.peak / 1024);
    report::line(&serde_json::to_string(&outcome.finding)?)
}

/// Whether it does not happen any more.
fn again(file: &Utf8Path, cli: &Cli) -> Result<bool, Trouble> {
    let dandori = cli.dandori.as_deref();
    let Some(finding) = conductor::replay(file, dandori)? else {
        report::line("nothing found")?;
        return Ok(true);
    };
    let (case, _) = case::read(file)?;
    report::found(case.target, &finding, file)?;
    if cli.shrink && !matches!(finding.kind.as_str(), "abort" | "hang") {
        let smaller = worker::on_hooks_stack(|| smaller(&case, &finding, dandori))?;
        let path = Utf8PathBuf::from(format!("{file}.small"));
        let folder = path.parent().unwrap_or(Utf8Path::new("."));
        let kept = case::write(folder, path.file_name().unwrap_or("small"), &smaller, &finding)?;
        report::line(&format!("{kept}: {:?}", String::from_utf8_lossy(&smaller.input)))?;
    }
    Ok(false)
}

fn smaller(case: &Case, finding: &Finding, dandori: Option<&Utf8Path>) -> Result<Case, Trouble> {
    let (seeds, bed) = bed_of(case, dandori)?;
    let kind = |case: &Case| worker::run(&seeds, case, bed.as_ref()).finding.map(|found| found.kind);
    Ok(shrink::shrunk(case, |case| kind(case).as_deref() == Some(finding.kind.as_str())))
}

fn bed_of(case: &Case, dandori: Option<&Utf8Path>) -> Result<(Seeds, Option<Bed>), Trouble> {
    let bed = (case.target == Target::Processes).then(|| Bed::make(&binary::find(dandori)?)).transpose()?;
    Ok((Seeds::load()?, bed))
}
