//! `dandori plan show`

use std::process::ExitCode;

use clap::Args;
use dandori_api::formation::OrderView;
use dandori_text::formation::{asked as text, graph, mermaid};

use super::{Context, formation};
use crate::client::Client;
use crate::out::{Failed, terminal_width};

#[derive(Args)]
pub(crate) struct PlanShowArgs {
    /// The order, by number or id
    #[arg(value_name = "ORDER")]
    order: Option<String>,
    /// The same, as agents name it
    #[arg(long, value_name = "ORDER", conflicts_with = "order")]
    command_id: Option<String>,
    /// Print a Mermaid diagram
    #[arg(long)]
    mermaid: bool,
}

pub(crate) async fn run(args: PlanShowArgs, context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    let order = args.order.or(args.command_id).ok_or_else(|| Failed::Usage(text::no_order_named(out.lang)))?;
    let client = Client::connect(context).await?;
    let found: OrderView =
        client.get(&format!("{}{}", formation::order_at(&order), formation::query(context)?)).await?;
    out.object(&found);
    if args.mermaid {
        out.line(mermaid::plan(out.lang, &found.plan).trim_end());
    } else {
        for line in graph::plan(out.lang, &found.plan, terminal_width()) {
            out.line(line);
        }
    }
    Ok(ExitCode::SUCCESS)
}
