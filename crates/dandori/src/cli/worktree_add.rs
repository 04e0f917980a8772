//! `dandori worktree add`

use std::process::ExitCode;

use camino::Utf8PathBuf;
use clap::Args;
use dandori_api::{AddWorktree, WorktreeDone};
use dandori_text::ui;

use super::Context;
use crate::client::Client;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct WorktreeAddArgs {
    /// The branch's name (default: dandori/<key>)
    branch: Option<String>,
    /// The branch, tag or commit to start from
    #[arg(long, short = 'b')]
    base: Option<String>,
    /// Where to make it (default: below the state root)
    #[arg(long)]
    path: Option<Utf8PathBuf>,
    /// Hold it for this session: nobody else can remove it
    #[arg(long)]
    session: Option<String>,
    /// Leave the project's set-up commands out
    #[arg(long)]
    no_set_up: bool,
}

pub(crate) async fn run(args: WorktreeAddArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let body = AddWorktree {
        at: args.path.map(Utf8PathBuf::into_string),
        path: context.here()?.into_string(),
        branch: args.branch,
        base: args.base,
        session: context.session(args.session),
        no_set_up: args.no_set_up,
        env: Some(context.variables()),
    };
    let done: WorktreeDone = client.post("/v1/worktrees", &body).await?;
    let out = &context.out;
    out.object(&done);
    for warning in &done.warnings {
        out.note(dandori_text::note(out.lang, warning));
    }
    out.line(ui::worktree_added(out.lang, &done.path, &done.branch));
    Ok(ExitCode::SUCCESS)
}
