//! `dandori worktree restore`

use std::process::ExitCode;

use clap::Args;
use dandori_api::{RestoreWorktree, WorktreeDone};
use dandori_domain::shell_word;
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
    let body = RestoreWorktree {
        path: context.here()?.into_string(),
        from: args.from,
        session: context.session(args.session),
    };
    let done: WorktreeDone = client.post("/v1/worktrees/restore", &body).await?;
    context.out.object(&done);
    let (out, branch) = (&context.out, done.branch.as_deref().unwrap_or_default());
    out.prose(0, ui::worktree_restored(out.lang, branch));
    out.line(format!("  {}", out.path(&done.path)));
    // By its branch: what it was restored from may have a worktree of its own by now.
    out.next(&[format!("cd \"$(dandori worktree path {})\"", shell_word(branch))]);
    Ok(ExitCode::SUCCESS)
}
