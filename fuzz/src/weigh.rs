//! A process between a worker and the program it starts. What the kernel says a child had at most counts from before it
//! became its program, when it still was a copy of who started it: that must be somebody small.

use std::process::{Command, ExitCode};

use camino::Utf8PathBuf;
use nix::sys::resource::{UsageWho, getrusage};

#[derive(clap::Args)]
pub(crate) struct WeighArgs {
    /// Where the number of bytes goes
    into: Utf8PathBuf,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    words: Vec<String>,
}

/// Ends as the program does.
#[expect(clippy::disallowed_methods, reason = "who started this has the deadline")]
pub(crate) fn main(args: &WeighArgs) -> ExitCode {
    let Some((program, words)) = args.words.split_first() else { return ExitCode::from(127) };
    let Ok(status) = Command::new(program).args(words).status() else { return ExitCode::from(127) };
    let kilobytes = getrusage(UsageWho::RUSAGE_CHILDREN).map_or(0, |usage| usage.max_rss());
    let bytes = u64::try_from(kilobytes).unwrap_or_default() * 1024;
    let is_kept = std::fs::write(&args.into, bytes.to_string()).is_ok();
    match status.code().and_then(|code| u8::try_from(code).ok()) {
        Some(code) if is_kept => ExitCode::from(code),
        // Ended by a signal, which no answer looks like.
        _ => ExitCode::from(127),
    }
}
