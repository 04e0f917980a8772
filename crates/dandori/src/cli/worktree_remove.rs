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
    /// A task, a run, or a worktree's key, branch or path
    worktree: String,
    /// Remove it even with uncommitted or unpushed work, which is preserved under refs/dandori/preserved
    #[arg(long)]
    force: bool,
    /// Keep its branch
    #[arg(long)]
    keep_branch: bool,
    /// Session that uses the worktree
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
    out.prose(0, ui::worktree_removed(out.lang, &done.path));
    if let Some(branch) = &done.branch {
        let say = if done.branch_deleted { ui::branch_gone } else { ui::branch_left };
        out.line(say(out.lang, branch));
    }
    if let Some(reference) = &done.preserved {
        out.prose(0, ui::preserved(out.lang, reference));
        out.prose(0, ui::restore_hint(out.lang, &done.key));
    }
    Ok(ExitCode::SUCCESS)
}
