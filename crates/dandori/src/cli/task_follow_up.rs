//! `dandori task follow-up`

use std::process::ExitCode;

use clap::Args;
use dandori_api::{FollowUp, RunView, TaskView};

use super::Context;
use super::instruction::InstructionArgs;
use super::wait::WaitArgs;
use crate::client::{Client, quoted};
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct TaskFollowUpArgs {
    /// T-3, 3, an id, or the key of one of its runs
    task: String,
    #[command(flatten)]
    instruction: InstructionArgs,
    /// Open a pull request when the branch is pushed
    #[arg(long)]
    pr: bool,
    /// Most that may be spent, in US dollars
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = super::instruction::budget)]
    budget: Option<f64>,
    #[command(flatten)]
    wait: WaitArgs,
}

pub(crate) async fn run(args: TaskFollowUpArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let task: TaskView = client.get(&format!("/v1/tasks/{}", quoted(&args.task))).await?;
    // A run's own name means that run; a task's name means its newest or picked one.
    let run = task.runs.iter().find(|r| r.key == args.task || r.id == args.task).map(|r| r.id.clone());
    let request = FollowUp {
        instruction: args.instruction.read()?,
        run,
        pr: args.pr.then_some(true),
        budget: args.budget,
        env: Some(context.variables()),
    };
    let run: RunView = client.post(&format!("/v1/tasks/{}/follow-up", quoted(&task.id)), &request).await?;
    let task: TaskView = client.get(&format!("/v1/tasks/{}", quoted(&task.id))).await?;
    args.wait.wait(client, task, vec![run.id], context).await
}
