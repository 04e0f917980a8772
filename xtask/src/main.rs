//! `cargo xtask check`: everything that must hold before a change is done, on any machine with Rust.
//!
//! Formatting, what the house keeps of itself (arrows between the rooms, dependencies, public names, spelling, links),
//! clippy without a warning, and all tests. What that needs beyond Rust is installed here when it is missing and can
//! be; what cannot be is said before an hour is spent. Each of the small checks has a word of its own.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a tool of ours, not the product"
)]

mod clients;
mod dead;
mod deps;
mod layers;
mod links;
mod needs;
mod recording;
mod sources;
mod twins;
mod typos;
mod words;
mod workspace;

use std::process::{Command, ExitCode};
use std::time::Instant;

type Check = fn() -> Result<(), String>;

/// Seconds each, and nothing is compiled for them.
const SMALL: &[(&str, Check)] = &[
    ("layers", layers::check),
    ("clients", clients::check),
    ("deps", deps::check),
    ("dead", dead::check),
    ("links", links::check),
    ("twins", twins::check),
    ("typos", typos::check),
    ("words", words::check),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.first().map(String::as_str) {
        Some("check") => check(),
        Some("needs") => needs::install(),
        Some("recording") => recording::make(),
        Some(word) if SMALL.iter().any(|(name, _)| *name == word) => small(word),
        _ => {
            let small: Vec<&str> = SMALL.iter().map(|(name, _)| *name).collect();
            Err(format!("usage: cargo xtask check | needs | recording | {}", small.join(" | ")))
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("xtask: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn check() -> Result<(), String> {
    needs::install()?;
    step("formatting", || cargo(&["fmt", "--all", "--check"]))?;
    for (name, run) in SMALL {
        step(name, run)?;
    }
    step("clippy", || cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]))?;
    // The binary first: the tests of other rooms start it.
    step("build", || cargo(&["build", "--workspace", "--quiet"]))?;
    step("tests", || cargo(&["test", "--workspace", "--quiet", "--no-fail-fast"]))
}

fn small(word: &str) -> Result<(), String> {
    SMALL.iter().filter(|(name, _)| *name == word).try_for_each(|(_, run)| run())
}

fn step(name: &str, run: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    println!("── {name}");
    let started = Instant::now();
    run().map_err(|reason| format!("{name}: {reason}"))?;
    println!("── {name}: ok, {} s", started.elapsed().as_secs());
    Ok(())
}

fn cargo(args: &[&str]) -> Result<(), String> {
    let status = Command::new(workspace::cargo()).args(args).status().map_err(|e| e.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("cargo {} failed", args.join(" "))) }
}
