//! `dandori dead-letter list | show | requeue`

use std::process::ExitCode;

use clap::Args;
use dandori_api::formation::{DeadLetterList, DeadLetterRequeued, DeadLetterView};
use dandori_text::Table;
use dandori_text::formation::asked as text;

use super::{Context, formation};
use crate::client::{Client, quoted};
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct MessageArg {
    /// Id of the message, as listed
    message: String,
}

fn table(context: &Context, letters: &[DeadLetterView]) -> Table {
    let lang = context.out.lang;
    let mut table = Table::new(text::dead_letter_heads(lang)).rank([0, 1, 0, 2, 0]).title_last();
    for letter in letters {
        table.row([
            letter.id.to_string(),
            letter.to.to_string(),
            text::about_message(lang, letter),
            letter.attempts.to_string(),
            dandori_domain::plain::plain_line(letter.reason.as_deref().unwrap_or_default()),
        ]);
    }
    table
}

pub(crate) async fn list(context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let found: DeadLetterList =
        client.get(&format!("/v1/formation/dead-letters{}", formation::query(context)?)).await?;
    let out = &context.out;
    out.object(&found);
    match found.dead_letters.as_slice() {
        [] => out.say(text::no_dead_letters(out.lang)),
        letters => out.table(&table(context, letters)),
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn show(args: MessageArg, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let found: DeadLetterView = client.get(&format!("/v1/formation/dead-letters/{}", quoted(&args.message))).await?;
    let out = &context.out;
    out.object(&found);
    out.table(&table(context, std::slice::from_ref(&found)));
    out.next(&[format!("dandori dead-letter requeue {}", found.id)]);
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn requeue(args: MessageArg, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let path = format!("/v1/formation/dead-letters/{}/requeue", quoted(&args.message));
    let done: DeadLetterRequeued = client.post(&path, &serde_json::json!({})).await?;
    let out = &context.out;
    out.object(&done);
    out.line(text::requeued(out.lang, &done));
    Ok(ExitCode::SUCCESS)
}
