//! `dandori worktree add`

use std::process::ExitCode;

use camino::Utf8PathBuf;
use clap::Args;
use dandori_api::{AddWorktree, WorktreeDone};
use dandori_text::ui;

use super::begin::BaseArgs;
use super::{Context, begin};
use crate::client::Client;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct WorktreeAddArgs {
    /// Branch name (default: dandori/<key>)
    branch: Option<String>,
    #[command(flatten)]
    base: BaseArgs,
    /// Where to create it (default: in the state folder)
    #[arg(long)]
    path: Option<Utf8PathBuf>,
    /// Reserve it for this session; other sessions cannot remove it
    #[arg(long)]
    session: Option<String>,
    /// Skip the project's setup commands
    #[arg(long)]
    no_set_up: bool,
}

pub(crate) async fn run(args: WorktreeAddArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let body = AddWorktree {
        at: args.path.map(Utf8PathBuf::into_string),
        path: context.here()?.into_string(),
        branch: args.branch,
        base: args.base.name(),
        session: context.session(args.session),
        no_set_up: args.no_set_up,
        env: Some(context.variables()),
    };
    let done: WorktreeDone = client.post("/v1/worktrees", &body).await?;
    let out = &context.out;
    out.object(&done);
    if let Some(start) = &done.start {
        out.say(begin::line(out, start));
    }
    for warning in &done.warnings {
        out.note(dandori_text::note(out.lang, warning));
    }
    out.line(ui::worktree_added(out.lang, &done.path, done.branch.as_deref().unwrap_or_default()));
    Ok(ExitCode::SUCCESS)
}
