//! `dandori pr show`

use std::process::ExitCode;

use clap::Args;
use dandori_api::PullView;

use super::Context;
use crate::client::{Client, in_path};
use crate::out::{Failed, bold, dim};

#[derive(Args)]
pub(crate) struct PrShowArgs {
    /// Its number
    number: u64,
}

pub(crate) async fn run(args: PrShowArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let path = in_path(&context.here()?);
    let pull: PullView = client.get(&format!("/v1/pulls/{}?path={path}", args.number)).await?;
    let out = &context.out;
    out.object(&pull);
    out.line(format!("{} {}", bold(&format!("#{}", pull.number)), pull.title));
    out.line(dim(&format!("{} · {} → {} · {}", pull.state, pull.head, pull.base, pull.url)));
    out.line(format!("\n{}", pull.body.trim_end()));
    Ok(ExitCode::SUCCESS)
}
