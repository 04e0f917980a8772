//! `dandori plan request-cancel`

use std::process::ExitCode;

use clap::Args;
use dandori_api::formation::{ChangeOrder, OrderChanged};
use dandori_text::formation::asked::{self as text, Change};

use super::{Context, formation};
use crate::client::Client;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct PlanRequestCancelArgs {
    /// The order, by id or number
    #[arg(long, value_name = "ORDER")]
    command_id: String,
    /// Who asks for it (default: you)
    #[arg(long, value_name = "NAME")]
    requested_by: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(crate) async fn run(args: PlanRequestCancelArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let body = ChangeOrder { path: Some(formation::place(context)?), reason: args.reason, by: args.requested_by };
    let done: OrderChanged = client.post(&format!("{}/cancel", formation::order_at(&args.command_id)), &body).await?;
    let out = &context.out;
    out.object(&done);
    out.prose(0, text::changed(out.lang, Change::Cancel, &done));
    Ok(ExitCode::SUCCESS)
}
