//! `dandori task cancel`

use std::process::ExitCode;

use clap::Args;
use dandori_api::TaskView;
use serde_json::json;

use super::{Context, wait};
use crate::client::{Client, quoted};
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct TaskCancelArgs {
    /// T-3, 3, an id, or the key of one of its runs
    task: String,
}

pub(crate) async fn run(args: TaskCancelArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let before: TaskView = client.get(&format!("/v1/tasks/{}", quoted(&args.task))).await?;
    let meant = |key: &str, id: &str| {
        let one = before.runs.iter().any(|r| r.key == args.task || r.id == args.task);
        !one || key == args.task || id == args.task
    };
    let runs: Vec<String> =
        before.runs.iter().filter(|r| !r.settled && meant(&r.key, &r.id)).map(|r| r.id.clone()).collect();
    let task: TaskView = client.post(&format!("/v1/tasks/{}/cancel", quoted(&args.task)), &json!({})).await?;
    // Canceled is what was asked for: that is success here.
    wait::until_settled(client, task, runs, context).await.map(|_| ExitCode::SUCCESS)
}
