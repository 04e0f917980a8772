//! `dandori pr close`

use std::process::ExitCode;

use clap::Args;
use dandori_api::{ChangePull, PullDone};
use dandori_text::pulls as text;

use super::Context;
use crate::client::{Client, quoted};
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct PrCloseArgs {
    /// Number (3, #3), task (T-4), run's key or branch
    #[arg(value_name = "PR")]
    pull: String,
}

pub(crate) async fn run(args: PrCloseArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let body = ChangePull { path: context.here()?.into_string(), env: Some(context.variables()) };
    let done: PullDone = client.post(&format!("/v1/pulls/{}/close", quoted(&args.pull)), &body).await?;
    let out = &context.out;
    out.object(&done);
    out.line(text::closed(out.lang, done.pull.number));
    out.say(text::closed_hint(out.lang, done.pull.number));
    Ok(ExitCode::SUCCESS)
}
