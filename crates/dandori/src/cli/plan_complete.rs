//! `dandori plan complete`

use std::process::ExitCode;

use clap::Args;
use dandori_api::formation::{CompletePlan, PlanCompleted};
use dandori_text::formation::asked as text;

use super::{Context, formation};
use crate::client::Client;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct PlanCompleteArgs {
    /// The order, by id or number
    #[arg(long, value_name = "ORDER")]
    command_id: String,
    #[command(flatten)]
    summary: formation::SummaryArgs,
}

pub(crate) async fn run(args: PlanCompleteArgs, context: &Context) -> Result<ExitCode, Failed> {
    let summary = args.summary.read()?;
    let client = Client::connect(context).await?;
    let body = CompletePlan { path: Some(formation::place(context)?), summary };
    let done: PlanCompleted =
        client.post(&format!("{}/complete", formation::order_at(&args.command_id)), &body).await?;
    let out = &context.out;
    out.object(&done);
    out.line(text::completed(out.lang, &done.command_id.to_string(), done.status.name()));
    Ok(ExitCode::SUCCESS)
}
