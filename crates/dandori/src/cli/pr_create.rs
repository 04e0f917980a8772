//! `dandori pr create`

use std::process::ExitCode;

use clap::Args;
use dandori_api::{CreatePull, PullView};
use dandori_text::ui;

use super::Context;
use crate::client::Client;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct PrCreateArgs {
    /// T-3, 3, an id, or a run's key
    #[arg(value_name = "TASK")]
    of: String,
    /// Its title (default: made from the instruction)
    #[arg(long)]
    title: Option<String>,
    /// Its text (default: made from the instruction and the agent's summary)
    #[arg(long)]
    body: Option<String>,
}

pub(crate) async fn run(args: PrCreateArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let body = CreatePull {
        path: context.here()?.into_string(),
        of: args.of,
        title: args.title,
        body: args.body,
        env: Some(context.variables()),
    };
    let pull: PullView = client.post("/v1/pulls", &body).await?;
    context.out.object(&pull);
    context.out.line(ui::pull_opened(context.out.lang, pull.number, &pull.url));
    Ok(ExitCode::SUCCESS)
}
