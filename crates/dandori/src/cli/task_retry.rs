//! `dandori task retry`

use std::process::ExitCode;

use clap::Args;
use dandori_api::{Retry, RunView, TaskView};
use dandori_text::ui;

use super::{Context, told, wait};
use crate::client::{Client, quoted};
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct TaskRetryArgs {
    /// T-3, 3, an id, or the key of one of its runs
    task: String,
    /// Do not wait for the end
    #[arg(long, short = 'd')]
    detach: bool,
}

pub(crate) async fn run(args: TaskRetryArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let run: RunView = client
        .post(&format!("/v1/tasks/{}/retry", quoted(&args.task)), &Retry { env: Some(context.variables()) })
        .await?;
    let task: TaskView = client.get(&format!("/v1/tasks/{}", quoted(&run.id))).await?;
    if args.detach {
        context.out.object(&told::object(&context.out, &task, &[&run]));
        context.out.line(ui::detached(context.out.lang, &task.number));
        return Ok(ExitCode::SUCCESS);
    }
    wait::until_settled(client, task, vec![run.id], context).await
}
