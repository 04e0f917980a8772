//! `dandori worktree gc`

use std::process::ExitCode;

use clap::Args;
use dandori_api::{CollectWorktrees, Collected, CollectedThing};
use dandori_domain::worktree::LeftoverReason;
use dandori_text::ui;

use super::Context;
use crate::client::Client;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct WorktreeGcArgs {
    /// Only say what would go
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
    for thing in &collected.found {
        let kept = thing.preserved.as_ref().map(|r| format!(" → {r}")).unwrap_or_default();
        let kind = ui::leftover_kind(out.lang, &thing.kind);
        out.line(format!("{kind} {} ({}){kept}", thing.name, why(context, thing)));
    }
    for thing in &collected.left {
        out.line(ui::left_alone(out.lang, &thing.name, &why(context, thing)));
    }
    Ok(ExitCode::SUCCESS)
}

fn why(context: &Context, thing: &CollectedThing) -> String {
    LeftoverReason::from_parts(&thing.why, thing.detail.as_deref())
        .map_or_else(|| thing.why.clone(), |reason| ui::leftover_reason(context.out.lang, &reason))
}
