//! `dandori task cancel`

use std::process::ExitCode;

use clap::Args;
use dandori_api::Canceled;
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
    let answer: Canceled = client.post(&format!("/v1/tasks/{}/cancel", quoted(&args.task)), &json!({})).await?;
    // Canceled is what was asked for: that is success here.
    wait::until_settled(client, answer.task, answer.canceled, context).await.map(|_| ExitCode::SUCCESS)
}
