//! `dandori pr diff`

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Args;
use dandori_api::PullPatch;
use dandori_text::coloured_like;

use super::Context;
use crate::client::{Client, in_path, quoted};
use crate::out::{Failed, Out, are_coloured, terminal_width};
use crate::pager;

#[derive(Args)]
pub(crate) struct PrDiffArgs {
    /// Number (3, #3), task (T-4), run's key or branch
    #[arg(value_name = "PR")]
    pull: String,
    /// Show the changed files and line counts
    #[arg(long)]
    stat: bool,
    /// Do not use a pager
    #[arg(long)]
    no_pager: bool,
}

pub(crate) async fn run(args: PrDiffArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let path = in_path(&context.here()?);
    let fetch = async |form: &str| {
        client.bytes(&format!("/v1/pulls/{}/diff?path={path}&form={form}", quoted(&args.pull))).await
    };
    if context.out.json {
        let patch = fetch("apply").await?;
        context.out.object(&PullPatch { patch: String::from_utf8_lossy(&patch).into_owned() });
        return Ok(ExitCode::SUCCESS);
    }
    let bytes = if std::io::stdout().is_terminal() {
        let cells = terminal_width().unwrap_or(80);
        let form = if args.stat { format!("stat&cells={cells}") } else { "read".to_owned() };
        let plain = String::from_utf8_lossy(&fetch(&form).await?).into_owned();
        // With git's own colours, and nothing of the files commands the terminal.
        if are_coloured() {
            let coloured = fetch(&format!("{form}&color=true")).await?;
            coloured_like(&plain, &String::from_utf8_lossy(&coloured)).into_bytes()
        } else {
            dandori_domain::plain::plain(&plain).into_bytes()
        }
    } else {
        fetch(if args.stat { "stat" } else { "apply" }).await?
    };
    if args.no_pager {
        Out::raw(&bytes);
    } else {
        pager::show(context, &bytes);
    }
    Ok(ExitCode::SUCCESS)
}
