//! `dandori pr reopen`

use std::process::ExitCode;

use clap::Args;
use dandori_api::{ChangePull, PullDone};
use dandori_text::pulls as text;

use super::Context;
use crate::client::{Client, quoted};
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct PrReopenArgs {
    /// Number (3, #3), task (T-4), run's key or branch
    #[arg(value_name = "PR")]
    pull: String,
}

pub(crate) async fn run(args: PrReopenArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let body = ChangePull { path: context.here()?.into_string(), env: Some(context.variables()) };
    let done: PullDone = client.post(&format!("/v1/pulls/{}/reopen", quoted(&args.pull)), &body).await?;
    let out = &context.out;
    out.object(&done);
    out.line(text::reopened(out.lang, done.pull.number));
    Ok(ExitCode::SUCCESS)
}
