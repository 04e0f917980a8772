//! `dandori task diff`

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Args;
use dandori_text::printable;
use serde_json::json;

use super::Context;
use crate::client::{Client, quoted};
use crate::out::{Failed, Out, added, bold, deleted, dim};

#[derive(Args)]
pub(crate) struct TaskDiffArgs {
    /// A run's key or id, or a task: its newest run
    run: String,
}

pub(crate) async fn run(args: TaskDiffArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let patch = client.bytes(&format!("/v1/runs/{}/diff", quoted(&args.run))).await?;
    if context.out.json {
        context.out.object(&json!({ "patch": String::from_utf8_lossy(&patch) }));
    } else if std::io::stdout().is_terminal() {
        String::from_utf8_lossy(&patch).lines().for_each(|line| context.out.line(coloured(&printable(line))));
    } else {
        Out::raw(&patch);
    }
    Ok(ExitCode::SUCCESS)
}

/// As git shows it, without asking git.
fn coloured(line: &str) -> String {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => bold(line),
        [b'+', ..] => added(line),
        [b'-', ..] => deleted(line),
        [b'@', b'@', ..] => dim(line),
        _ if line.starts_with("diff --git ") => bold(line),
        _ => line.to_owned(),
    }
}
