//! `dandori worktree restore`

use std::process::ExitCode;

use clap::Args;
use dandori_api::{RestoreWorktree, WorktreeDone};
use dandori_text::ui;

use super::Context;
use crate::client::Client;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct WorktreeRestoreArgs {
    /// Key of a run or worktree, a branch, or a ref under refs/dandori/preserved
    from: String,
    /// Reserve it for this session
    #[arg(long)]
    session: Option<String>,
}

pub(crate) async fn run(args: WorktreeRestoreArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let from = args.from;
    let body = RestoreWorktree {
        path: context.here()?.into_string(),
        from: from.clone(),
        session: context.session(args.session),
    };
    let done: WorktreeDone = client.post("/v1/worktrees/restore", &body).await?;
    context.out.object(&done);
    // As it was named, where that is a word; a ref is nothing to look for a worktree by.
    let is_word = from.bytes().all(|b| b.is_ascii_alphanumeric());
    let (out, branch) = (&context.out, done.branch.as_deref().unwrap_or_default());
    out.prose(0, ui::worktree_restored(out.lang, branch));
    out.line(format!("  {}", out.path(&done.path)));
    out.next(&[format!("cd \"$(dandori worktree path {})\"", if is_word { &from } else { branch })]);
    Ok(ExitCode::SUCCESS)
}
