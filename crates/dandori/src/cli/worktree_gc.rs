//! `dandori worktree gc`

use std::process::ExitCode;

use clap::Args;
use dandori_api::{CollectWorktrees, Collected, CollectedThing};
use dandori_domain::worktree::LeftoverReason;
use dandori_text::lists::{self, Mood};
use dandori_text::ui;

use super::Context;
use crate::client::Client;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct WorktreeGcArgs {
    /// Only show what would be removed
    #[arg(long)]
    dry_run: bool,
}

pub(crate) async fn run(args: WorktreeGcArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let body = CollectWorktrees { path: context.here()?.into_string(), dry_run: args.dry_run };
    let collected: Collected = client.post("/v1/worktrees/gc", &body).await?;
    let out = &context.out;
    out.object(&collected);
    if collected.found.is_empty() {
        out.line(ui::nothing_to_collect(out.lang));
    }
    let mood = if collected.dry_run { Mood::Would } else { Mood::Did };
    for thing in &collected.found {
        out.line(lists::collected(out.lang, mood, &thing.kind, &thing.name, &why(context, thing)));
        if let Some(reference) = &thing.preserved {
            out.line(format!("  {}", lists::kept(out.lang, reference)));
        }
    }
    for thing in &collected.left {
        out.line(lists::left(out.lang, mood, &thing.name, &why(context, thing)));
    }
    if collected.dry_run && !collected.found.is_empty() {
        out.say(lists::dry_run_over(out.lang));
    }
    Ok(ExitCode::SUCCESS)
}

fn why(context: &Context, thing: &CollectedThing) -> String {
    LeftoverReason::from_parts(&thing.why, thing.detail.as_deref())
        .map_or_else(|| thing.why.clone(), |reason| ui::leftover_reason(context.out.lang, &reason))
}
