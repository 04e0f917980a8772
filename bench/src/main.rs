//! Benchmarks: every figure beside a floor that is measured in the same run on the same machine.
//!
//! `bench runs` measures what a run costs, `bench guards` what a guarded tool call does. All of it happens in temporary folders that go away; the processes it
//! starts are ended by their ids. Figures are medians of interleaved repetitions, because absolute times say little
//! on a machine that others use as well.

mod admission;
mod admission_load;
mod api;
mod bed;
mod binary;
mod cli;
mod guards;
mod kept;
mod memory;
mod overhead;
mod queue;
mod recovery;
mod report;
mod repository;
mod samples;
mod seed;
mod staging;
mod timeline;
mod trouble;
mod workspace;

use std::io::Write;
use std::process::ExitCode;

use camino::Utf8PathBuf;
use clap::{Parser, Subcommand, ValueEnum};

use crate::report::Figure;
use crate::trouble::Trouble;

#[derive(Parser)]
#[command(name = "bench", about = "Measure dandori against the floor below it", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// What a run costs: workspace, engine, admission, memory, what is kept, recovery
    Runs(RunsArgs),
    /// What a user waits for: lists, completion and the bare command with much to show, against little and `git status`
    Cli(GuardsArgs),
    /// What a guarded tool call costs: against an empty process and against shell scripts
    Guards(GuardsArgs),
    /// What the formation's queue costs: claims, results, backlogs and large plans, against a queue that is one YAML file
    Queue(GuardsArgs),
    /// The load of the admission figure, as a process of its own (started by `runs`)
    #[command(hide = true)]
    AdmissionLoad(admission_load::AdmissionLoadArgs),
}

#[derive(clap::Args)]
struct RunsArgs {
    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
    /// Measure only this
    #[arg(long, value_enum)]
    only: Option<Only>,
    /// Small sizes: shows that everything works, not what it costs
    #[arg(long)]
    quick: bool,
    /// The dandori binary to measure (default: built with cargo)
    #[arg(long, value_name = "PATH")]
    dandori: Option<Utf8PathBuf>,
}

#[derive(clap::Args)]
struct GuardsArgs {
    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
    /// Small sizes: shows that everything works, not what it costs
    #[arg(long)]
    quick: bool,
    /// The dandori binary to measure (default: a release build)
    #[arg(long, value_name = "PATH")]
    dandori: Option<Utf8PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Only {
    Workspace,
    Overhead,
    Admission,
    Memory,
    Output,
    Kept,
    Staging,
    Recovery,
}

impl Only {
    const ALL: [Self; 8] = [
        Self::Workspace,
        Self::Overhead,
        Self::Admission,
        Self::Memory,
        Self::Output,
        Self::Kept,
        Self::Staging,
        Self::Recovery,
    ];
}

/// How large everything is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    Quick,
    Full,
}

impl Size {
    pub(crate) fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}

fn main() -> ExitCode {
    let done = match Cli::parse().what {
        What::Runs(args) => runs(&args),
        What::Cli(args) => told(&args, |size| cli::measure(size, &binary::find(args.dandori.as_deref())?)),
        What::Guards(args) => told(&args, |size| guards::measure(size, args.dandori.as_deref())),
        What::Queue(args) => told(&args, queue::measure),
        What::AdmissionLoad(args) => admission_load::main(&args).map(|()| true),
    };
    match done {
        // A smoke test's figures prove nothing, so they do not fail it either.
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(trouble) => {
            let _ = writeln!(std::io::stderr(), "error: {}", trouble.with_causes());
            ExitCode::from(3)
        }
    }
}

/// Whether every bound was kept.
fn told(args: &GuardsArgs, measure: impl FnOnce(Size) -> Result<Vec<Figure>, Trouble>) -> Result<bool, Trouble> {
    let size = if args.quick { Size::Quick } else { Size::Full };
    if !args.json {
        report::print_machine()?;
    }
    let figures = measure(size)?;
    if args.json {
        report::print_json(&figures, args.quick)?;
    } else {
        for figure in &figures {
            report::print(figure)?;
        }
        report::print_end(&figures, size)?;
    }
    Ok(size == Size::Quick || figures.iter().all(Figure::passes))
}

/// Whether every bound was kept.
fn runs(args: &RunsArgs) -> Result<bool, Trouble> {
    let size = if args.quick { Size::Quick } else { Size::Full };
    let wanted = |which: Only| args.only.is_none_or(|only| only == which);
    let needs_binary = Only::ALL.into_iter().filter(|o| !matches!(o, Only::Workspace | Only::Admission)).any(wanted);
    let dandori = if needs_binary { binary::find(args.dandori.as_deref())? } else { Utf8PathBuf::new() };
    if !args.json {
        report::print_machine()?;
    }
    let mut figures: Vec<Figure> = Vec::new();
    for which in Only::ALL.into_iter().filter(|which| wanted(*which)) {
        let measured = match which {
            Only::Workspace => workspace::measure(size)?,
            Only::Overhead => overhead::measure(size, &dandori)?,
            Only::Admission => admission::measure(size)?,
            Only::Memory => memory::measure(size, &dandori)?,
            Only::Output => memory::measure_output(size, &dandori)?,
            Only::Kept => kept::measure(size, &dandori)?,
            Only::Staging => staging::measure(size, &dandori)?,
            Only::Recovery => recovery::measure(size, &dandori)?,
        };
        for figure in measured {
            if !args.json {
                report::print(&figure)?;
            }
            figures.push(figure);
        }
    }
    if args.json {
        report::print_json(&figures, args.quick)?;
    } else {
        report::print_end(&figures, size)?;
    }
    Ok(size == Size::Quick || figures.iter().all(Figure::passes))
}
