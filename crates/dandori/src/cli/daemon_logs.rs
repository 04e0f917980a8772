//! `dandori daemon logs`

use std::process::ExitCode;

use clap::Args;
use dandori_api::DaemonLog;
use dandori_domain::Problem;
use dandori_host::cmd::last_lines;

use super::Context;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct DaemonLogsArgs {
    /// Number of lines to show
    #[arg(long, short = 'n', default_value_t = 100)]
    lines: usize,
}

pub(crate) fn run(args: &DaemonLogsArgs, context: &Context) -> Result<ExitCode, Failed> {
    let path = context.layout.log();
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(e) => return Err(Problem::Io { path, reason: e.to_string() }.into()),
    };
    let text = last_lines(&String::from_utf8_lossy(&bytes), args.lines);
    context.out.object(&DaemonLog { path: path.into_string(), lines: text.lines().map(str::to_owned).collect() });
    context.out.line(text);
    Ok(ExitCode::SUCCESS)
}
