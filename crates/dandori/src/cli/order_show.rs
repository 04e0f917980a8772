//! `dandori order show`

use std::process::ExitCode;

use clap::Args;
use dandori_api::formation::OrderView;
use dandori_text::formation::{asked as text, graph};

use super::order_follow::{self, Review};
use super::{Context, formation};
use crate::client::Client;
use crate::out::{Failed, bold, terminal_width};

#[derive(Args)]
pub(crate) struct OrderShowArgs {
    /// The order, by number or id
    order: String,
    /// Follow it until it is done
    #[arg(long, short = 'f')]
    follow: bool,
}

pub(crate) async fn run(args: OrderShowArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let found: OrderView =
        client.get(&format!("{}{}", formation::order_at(&args.order), formation::query(context)?)).await?;
    let out = &context.out;
    let command = &found.plan.command;
    if args.follow {
        return order_follow::follow(&client, &command.id.to_string(), Review::AskHere, context).await;
    }
    out.object(&found);
    for line in graph::plan(out.lang, &found.plan, terminal_width()) {
        out.line(line);
    }
    for result in found.results.iter().filter(|result| result.applied && result.task.is_some()) {
        out.line("");
        let by = result.by.map(|by| format!(" ({by})")).unwrap_or_default();
        let state = text::outcome(out.lang, result.outcome.name());
        out.line(bold(&format!("{}: {state}{by}", result.name.as_deref().unwrap_or_default())));
        out.prose(2, text::summary(&result.summary));
    }
    if let Some(summary) = &found.summary {
        out.line("");
        out.prose(0, text::summary(summary));
    }
    Ok(ExitCode::SUCCESS)
}
