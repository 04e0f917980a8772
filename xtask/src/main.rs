//! `cargo xtask check`: everything that must hold before a change is done, on any machine with Rust.
//!
//! Formatting, clippy without a warning, the arrows between the rooms, and all tests. What the tests need beyond
//! Rust is installed here when it is missing and can be; what cannot be is said before an hour is spent.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a tool of ours, not the product"
)]

mod clients;
mod layers;
mod needs;

use std::process::{Command, ExitCode};
use std::time::Instant;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.first().map(String::as_str) {
        Some("check") => check(),
        Some("layers") => layers::check().and_then(|()| clients::check()),
        Some("needs") => needs::install(),
        _ => Err("usage: cargo xtask check | layers | needs".to_owned()),
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
    step("layers", layers::check)?;
    step("clients", clients::check)?;
    step("clippy", || cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]))?;
    // The binary first: the tests of other rooms start it.
    step("build", || cargo(&["build", "--workspace", "--quiet"]))?;
    step("tests", || cargo(&["test", "--workspace", "--quiet", "--no-fail-fast"]))
}

fn step(name: &str, run: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    println!("── {name}");
    let started = Instant::now();
    run().map_err(|reason| format!("{name}: {reason}"))?;
    println!("── {name}: ok, {} s", started.elapsed().as_secs());
    Ok(())
}

fn cargo(args: &[&str]) -> Result<(), String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let status = Command::new(cargo).args(args).status().map_err(|e| e.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("cargo {} failed", args.join(" "))) }
}
