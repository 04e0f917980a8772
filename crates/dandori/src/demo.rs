//! `dandori demo`
use std::process::ExitCode;
use clap::Args;
use crate::cli::Context;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct DemoArgs {}

pub(crate) async fn run(_: DemoArgs, _: &Context) -> Result<ExitCode, Failed> {
    Ok(ExitCode::SUCCESS)
}
