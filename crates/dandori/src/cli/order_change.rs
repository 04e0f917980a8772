//! `dandori order pause | resume | amend | approve | cancel`

use std::process::ExitCode;

use clap::Args;
use dandori_api::formation::{ChangeOrder, OrderChanged};
use dandori_text::formation::asked::{self as text, Change};

use super::{Context, formation};
use crate::client::Client;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct OrderArg {
    /// The order, by number or id
    order: String,
}

#[derive(Args)]
pub(crate) struct OrderPauseArgs {
    /// The order, by number or id
    order: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

#[derive(Args)]
pub(crate) struct OrderCancelArgs {
    /// The order, by number or id
    order: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

#[derive(Args)]
pub(crate) struct OrderAmendArgs {
    /// The order, by number or id
    order: String,
    /// What to add
    #[arg(value_name = "TEXT")]
    words: String,
}

pub(crate) async fn pause(args: OrderPauseArgs, context: &Context) -> Result<ExitCode, Failed> {
    change(Change::Pause, &args.order, args.reason, context).await
}

pub(crate) async fn resume(args: OrderArg, context: &Context) -> Result<ExitCode, Failed> {
    change(Change::Resume, &args.order, None, context).await
}

pub(crate) async fn approve(args: OrderArg, context: &Context) -> Result<ExitCode, Failed> {
    // The plan is what an agent wrote: that a person has looked at it is what an approval says.
    crate::person::refuse_agents(context)?;
    change(Change::Approve, &args.order, None, context).await
}

pub(crate) async fn amend(args: OrderAmendArgs, context: &Context) -> Result<ExitCode, Failed> {
    change(Change::Amend, &args.order, Some(args.words), context).await
}

pub(crate) async fn cancel(args: OrderCancelArgs, context: &Context) -> Result<ExitCode, Failed> {
    change(Change::Cancel, &args.order, args.reason, context).await
}

async fn change(change: Change, order: &str, reason: Option<String>, context: &Context) -> Result<ExitCode, Failed> {
    let verb = match change {
        Change::Pause => "pause",
        Change::Resume => "resume",
        Change::Approve => "approve",
        Change::Cancel => "cancel",
        Change::Amend => "amend",
    };
    let client = Client::connect(context).await?;
    let body = ChangeOrder { path: Some(formation::place(context)?), reason, by: None };
    let done: OrderChanged = client.post(&format!("{}/{verb}", formation::order_at(order)), &body).await?;
    let out = &context.out;
    out.object(&done);
    out.prose(0, text::changed(out.lang, change, &done));
    Ok(ExitCode::SUCCESS)
}
