//! `dandori worktree path`: for `cd "$(dandori worktree path T-3)"`.

use std::process::ExitCode;

use clap::Args;
use dandori_api::WorktreeView;

use super::Context;
use crate::client::{Client, in_path, quoted};
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct WorktreePathArgs {
    /// A task, a run, or a worktree's key, branch or path
    worktree: String,
}

pub(crate) async fn run(args: WorktreePathArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let here = in_path(&context.here()?);
    let found: WorktreeView = client.get(&format!("/v1/worktrees/{}?path={here}", quoted(&args.worktree))).await?;
    let lang = context.out.lang;
    if !camino::Utf8Path::new(&found.path).is_dir() {
        let gone = dandori_text::worktree::gone(lang, &args.worktree, found.branch.as_deref(), None);
        return Err(Failed::Refused(gone));
    }
    context.out.object(&found);
    context.out.line(&found.path);
    Ok(ExitCode::SUCCESS)
}
