//! `dandori order list`

use std::process::ExitCode;

use clap::Args;
use dandori_api::formation::OrderList;
use dandori_text::Table;
use dandori_text::formation::asked as text;

use super::{Context, formation};
use crate::client::Client;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct OrderListArgs {
    /// Finished orders to show
    #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 10)]
    limit: u32,
}

pub(crate) async fn run(args: OrderListArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let found: OrderList =
        client.get(&format!("/v1/formation/orders{}&past={}", formation::query(context)?, args.limit)).await?;
    let out = &context.out;
    out.object(&found);
    if found.orders.is_empty() {
        out.say(text::no_orders(out.lang));
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new(text::order_heads(out.lang)).rank([0, 0, 1, 2, 0]).title_last();
    for order in &found.orders {
        table.row(text::order_row(out.lang, order));
    }
    out.table(&table);
    Ok(ExitCode::SUCCESS)
}
