//! `dandori task show`

use std::process::ExitCode;

use clap::Args;
use dandori_api::TaskView;

use super::{Context, ending, told};
use crate::client::{Client, quoted};
use crate::out::{Failed, bold};

#[derive(Args)]
pub(crate) struct TaskShowArgs {
    /// Task: T-3 or 3, a run's key, or a branch
    task: String,
}

pub(crate) async fn run(args: TaskShowArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let task: TaskView = client.get(&format!("/v1/tasks/{}", quoted(&args.task))).await?;
    let out = &context.out;
    out.object(&task);
    out.prose(0, format!("{} {}", bold(&task.number), task.title));
    for run in &task.runs {
        told::show(out, run, task.picked.as_ref() == Some(&run.key));
    }
    out.next(&ending::next(context, &task));
    Ok(ExitCode::SUCCESS)
}
