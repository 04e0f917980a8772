//! `dandori task diff`

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::Context;
use crate::client::{Client, quoted};
use crate::out::{Failed, Out};

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
    } else {
        Out::raw(&patch);
    }
    Ok(ExitCode::SUCCESS)
}
