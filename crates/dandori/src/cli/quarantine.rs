//! `dandori quarantine list | show | restore`: plans and reports that were refused.

use std::process::ExitCode;

use clap::Args;
use dandori_api::formation::{QuarantineList, QuarantineRestored, QuarantinedView};
use dandori_domain::plain::{plain, plain_line};
use dandori_text::formation::asked as text;
use dandori_text::{Table, ui};

use super::{Context, formation};
use crate::client::Client;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct NumberArg {
    /// The number, as listed
    number: i64,
}

fn row(context: &Context, kept: &QuarantinedView) -> [String; 5] {
    let lang = context.out.lang;
    let age = dandori_host::now().duration_since(kept.at).as_secs();
    [
        kept.number.to_string(),
        text::kept_kind(lang, &kept.kind),
        kept.by.map_or_else(|| text::person(lang), |by| by.to_string()),
        ui::age(lang, age),
        match &kept.restored_at {
            Some(at) => text::restored_before(lang, &at.to_string()),
            None => plain_line(&kept.error.message),
        },
    ]
}

fn table(context: &Context, kept: &[QuarantinedView]) -> Table {
    let mut table = Table::new(text::quarantine_heads(context.out.lang)).rank([0, 0, 2, 1, 0]).title_last();
    for one in kept {
        table.row(row(context, one));
    }
    table
}

pub(crate) async fn list(context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let found: QuarantineList = client.get(&format!("/v1/formation/quarantine{}", formation::query(context)?)).await?;
    let out = &context.out;
    out.object(&found);
    match found.quarantined.as_slice() {
        [] => out.say(text::nothing_quarantined(out.lang)),
        kept => out.table(&table(context, kept)),
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn show(args: NumberArg, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let path = format!("/v1/formation/quarantine/{}{}", args.number, formation::query(context)?);
    let found: QuarantinedView = client.get(&path).await?;
    let out = &context.out;
    out.object(&found);
    out.table(&table(context, std::slice::from_ref(&found)));
    out.line("");
    for line in found.content.trim_end().lines() {
        out.line(plain(line));
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn restore(args: NumberArg, context: &Context) -> Result<ExitCode, Failed> {
    // What an agent was refused, a person may want after all.
    crate::person::refuse_agents(context)?;
    let client = Client::connect(context).await?;
    let path = format!("/v1/formation/quarantine/{}/restore{}", args.number, formation::query(context)?);
    let done: QuarantineRestored = client.post(&path, &serde_json::json!({})).await?;
    let out = &context.out;
    out.object(&done);
    out.line(text::restored(out.lang, args.number));
    Ok(ExitCode::SUCCESS)
}
