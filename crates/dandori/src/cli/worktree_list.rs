//! `dandori worktree list`

use std::process::ExitCode;

use clap::Args;
use dandori_api::WorktreeView;
use dandori_text::Table;
use dandori_text::ui::{self, Head, head};

use super::Context;
use crate::client::{Client, in_path};
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct WorktreeListArgs {
    /// Also how much of the disk each uses
    #[arg(long)]
    sizes: bool,
}

pub(crate) async fn run(args: WorktreeListArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let path = in_path(&context.here()?);
    let found: Vec<WorktreeView> = client.get(&format!("/v1/worktrees?path={path}&sizes={}", args.sizes)).await?;
    let out = &context.out;
    out.object(&found);
    if found.is_empty() {
        out.say(ui::no_worktrees(out.lang));
        return Ok(ExitCode::SUCCESS);
    }
    let columns = [Head::Branch, Head::State, Head::Changes, Head::Owner, Head::Size, Head::Path];
    let mut rows = Table::new(columns.map(|h| head(out.lang, h)));
    for w in &found {
        let work = match (w.dirty, w.unpushed) {
            (0, 0) => String::new(),
            (dirty, unpushed) => ui::unsaved(out.lang, dirty, unpushed),
        };
        let size = if args.sizes { ui::size(w.bytes) } else { String::new() };
        let state = match &w.suggestion {
            Some(command) => format!("{} → {command}", w.state),
            None => w.state.clone(),
        };
        rows.row([w.branch.clone(), state, work, w.owner.clone(), size, w.path.clone()]);
    }
    out.table(&rows);
    Ok(ExitCode::SUCCESS)
}
