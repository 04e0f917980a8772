//! `dandori task follow-up`

use std::process::ExitCode;

use clap::Args;
use dandori_api::{FollowUp, RunView, TaskView};

use dandori_text::{editor, ui};

use super::Context;
use super::instruction::InstructionArgs;
use super::wait::WaitArgs;
use crate::client::{Client, quoted};
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct TaskFollowUpArgs {
    /// Task: T-3 or 3, a run's key, or a branch
    task: String,
    #[command(flatten)]
    instruction: InstructionArgs,
    /// Open a pull request when the work is committed and pushed
    #[arg(long)]
    pr: bool,
    /// Maximum cost in US dollars
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = super::instruction::budget)]
    budget: Option<f64>,
    #[command(flatten)]
    wait: WaitArgs,
}

pub(crate) async fn run(args: TaskFollowUpArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let task: TaskView = client.get(&format!("/v1/tasks/{}", quoted(&args.task))).await?;
    // A run's own name means that run; a task's name means its newest or picked one.
    let run = crate::named::run_among(&task, &args.task).map(|r| r.id.clone());
    let about = editor::for_follow_up(context.out.lang, &task.number, &task.title);
    // As it is typed again: what begins with # would be a comment.
    let again = format!("dandori task follow-up {}", if run.is_some() { &args.task } else { &task.number });
    let instruction = args.instruction.read(context, &about, &again)?;
    let request = FollowUp {
        instruction: instruction.text.clone(),
        path: context.here().ok().map(camino::Utf8PathBuf::into_string),
        run,
        pr: args.pr.then_some(true),
        budget: args.budget,
        env: Some(context.variables()),
    };
    let asked = client.post(&format!("/v1/tasks/{}/follow-up", quoted(&task.id)), &request).await;
    let run: RunView = asked.inspect_err(|_| instruction.kept(context, &again))?;
    instruction.taken();
    let task: TaskView = client.get(&format!("/v1/tasks/{}", quoted(&task.id))).await?;
    let title = dandori_domain::wording::title(&request.instruction);
    context.out.say_on(2, &ui::started(context.out.lang, &task.number, &title));
    args.wait.wait(client, task, vec![run.id], context).await
}
