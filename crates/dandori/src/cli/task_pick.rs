//! `dandori task pick`

use std::process::ExitCode;

use clap::Args;
use dandori_api::{Pick, TaskView};
use dandori_text::ui;

use super::{Context, told};
use crate::client::{Client, quoted};
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct TaskPickArgs {
    /// T-3, 3 or an id
    task: String,
    /// A run's key or id, or the name of its agent
    run: String,
    /// Open a pull request for it
    #[arg(long)]
    pr: bool,
}

pub(crate) async fn run(args: TaskPickArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let body = Pick { run: args.run, pr: args.pr.then_some(true) };
    let task: TaskView = client.post(&format!("/v1/tasks/{}/pick", quoted(&args.task)), &body).await?;
    let out = &context.out;
    out.object(&task);
    if let Some(run) = task.runs.iter().find(|r| Some(&r.id) == task.picked.as_ref()) {
        out.line(ui::picked(out.lang, &task.number, &run.key));
        told::show(out, run);
    }
    Ok(ExitCode::SUCCESS)
}
