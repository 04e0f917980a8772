//! `dandori worktree adopt`

use std::process::ExitCode;

use clap::Args;
use dandori_api::{AdoptWorktree, WorktreeDone};
use dandori_text::ui;

use super::Context;
use crate::client::Client;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct WorktreeAdoptArgs {
    /// Path of the worktree
    path: String,
    /// Reserve it for this session
    #[arg(long)]
    session: Option<String>,
}

pub(crate) async fn run(args: WorktreeAdoptArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let body = AdoptWorktree {
        path: context.here()?.into_string(),
        worktree: args.path,
        session: context.session(args.session),
    };
    let done: WorktreeDone = client.post("/v1/worktrees/adopt", &body).await?;
    context.out.object(&done);
    context.out.line(ui::worktree_added(context.out.lang, &done.path, done.branch.as_deref().unwrap_or_default()));
    Ok(ExitCode::SUCCESS)
}
