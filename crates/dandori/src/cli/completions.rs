//! `dandori completions`

use std::process::ExitCode;

use clap::Args;
use clap::builder::PossibleValuesParser;
use dandori_api::CompletionScript;

use super::Context;
use crate::complete;
use crate::out::Out;

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// Shell to generate the script for
    #[arg(value_parser = PossibleValuesParser::new(SHELLS))]
    shell: String,
}

pub(crate) fn run(args: &CompletionsArgs, context: &Context) -> ExitCode {
    let script = complete::script(&args.shell).unwrap_or_default();
    let out = &context.out;
    if out.json {
        out.object(&CompletionScript { shell: args.shell.clone(), script });
    } else {
        Out::raw(script.as_bytes());
    }
    ExitCode::SUCCESS
}
