//! `dandori completions`

use std::process::ExitCode;

use clap::Args;
use clap_complete::Shell;

use super::Context;
use crate::out::{Failed, Out};

#[derive(Args)]
pub(crate) struct CompletionsArgs {
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, command: &mut clap::Command, _: &Context) -> Result<ExitCode, Failed> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "dandori", &mut script);
    Out::raw(&script);
    Ok(ExitCode::SUCCESS)
}
