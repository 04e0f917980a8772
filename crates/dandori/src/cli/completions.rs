//! `dandori completions`

use std::process::ExitCode;

use clap::Args;
use clap_complete::Shell;

use crate::out::Out;

#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// The shell to complete in
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, command: &mut clap::Command) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "dandori", &mut script);
    Out::raw(&script);
    ExitCode::SUCCESS
}
