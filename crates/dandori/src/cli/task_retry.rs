//! `dandori task retry`

use std::process::ExitCode;

use clap::Args;
use dandori_api::{Retry, RunView, TaskView};

use super::Context;
use super::wait::WaitArgs;
use crate::client::{Client, quoted};
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct TaskRetryArgs {
    /// Task: T-3 or 3, a run's key, or a branch
    task: String,
    #[command(flatten)]
    wait: WaitArgs,
}

pub(crate) async fn run(args: TaskRetryArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let run: RunView = client
        .post(&format!("/v1/tasks/{}/retry", quoted(&args.task)), &Retry { env: Some(context.variables()) })
        .await?;
    let task: TaskView = client.get(&format!("/v1/tasks/{}", quoted(&run.id))).await?;
    args.wait.wait(client, task, vec![run.id], context).await
}
