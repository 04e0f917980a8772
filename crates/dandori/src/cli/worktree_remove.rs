//! `dandori worktree remove`

use std::process::ExitCode;

use clap::Args;
use dandori_api::{RemoveWorktree, WorktreeDone};
use dandori_text::ui;

use super::Context;
use crate::client::Client;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct WorktreeRemoveArgs {
    /// Its key, branch or path
    worktree: String,
    /// Remove it though it has uncommitted or unpushed work: that is kept under refs/dandori/preserved
    #[arg(long)]
    force: bool,
    /// Leave its branch
    #[arg(long)]
    keep_branch: bool,
    /// The session that holds it
    #[arg(long)]
    session: Option<String>,
}

pub(crate) async fn run(args: WorktreeRemoveArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let body = RemoveWorktree {
        path: context.here()?.into_string(),
        worktree: args.worktree,
        session: context.session(args.session),
        force: args.force,
        keep_branch: args.keep_branch,
    };
    let done: WorktreeDone = client.post("/v1/worktrees/remove", &body).await?;
    let out = &context.out;
    out.object(&done);
    out.line(ui::worktree_removed(out.lang, &done.path));
    if !done.branch.is_empty() {
        let say = if done.branch_deleted { ui::branch_gone } else { ui::branch_left };
        out.line(say(out.lang, &done.branch));
    }
    if let Some(reference) = &done.preserved {
        out.line(ui::preserved(out.lang, reference));
        out.line(ui::restore_hint(out.lang, &done.key));
    }
    Ok(ExitCode::SUCCESS)
}
