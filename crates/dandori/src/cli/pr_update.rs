//! `dandori pr update`: the newest base comes into the branch of a pull request. It is a run of its task, watched like any other;
//! without a conflict no agent is started.

use std::process::ExitCode;

use clap::Args;
use dandori_api::{ChangePull, RunView, TaskView};

use super::Context;
use super::wait::WaitArgs;
use crate::client::{Client, quoted};
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct PrUpdateArgs {
    /// Number (3, #3), task (T-4), run's key or branch
    #[arg(value_name = "PR")]
    pull: String,
    #[command(flatten)]
    wait: WaitArgs,
}

pub(crate) async fn run(args: PrUpdateArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let body = ChangePull { path: context.here()?.into_string(), env: Some(context.variables()) };
    let run: RunView = client.post(&format!("/v1/pulls/{}/update", quoted(&args.pull)), &body).await?;
    let task: TaskView = client.get(&format!("/v1/tasks/{}", quoted(&run.id))).await?;
    args.wait.wait(client, task, vec![run.id], context).await
}
