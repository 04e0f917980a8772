//! `dandori task pick`

use std::process::ExitCode;

use clap::Args;
use dandori_api::{Pick, Picked};
use dandori_text::{pulls, ui};

use super::{Context, begin, ending, told};
use crate::client::{Client, quoted};
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct TaskPickArgs {
    /// Task: T-3 or 3, or a branch
    task: String,
    /// Key or id of a run, or the name of its agent
    run: String,
    /// Open a pull request for it
    #[arg(long)]
    pr: bool,
}

pub(crate) async fn run(args: TaskPickArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let body = Pick { run: args.run, pr: args.pr.then_some(true), env: Some(context.variables()) };
    let picked: Picked = client.post(&format!("/v1/tasks/{}/pick", quoted(&args.task)), &body).await?;
    let out = &context.out;
    out.object(&picked);
    let Picked { task, moved } = picked;
    if let Some(run) = task.runs.iter().find(|r| Some(&r.key) == task.picked.as_ref()) {
        out.prose(0, ui::picked(out.lang, &task.number, &run.agent, &run.key));
        told::numbers(out, run, &told::result(out, run));
        if let Some(end) = begin::end(out, run) {
            out.prose(2, end);
        }
        if let Some(pr) = run.pr.as_ref().filter(|_| moved.is_none()) {
            out.prose(2, pulls::linked(out.lang, pr.number, &pr.url, pr.state));
        }
    }
    match moved {
        Some(moved) if moved.pr.number == moved.before => {
            out.prose(0, pulls::moved(out.lang, moved.pr.number, &moved.branch));
        }
        Some(moved) => out.prose(0, pulls::replaced(out.lang, moved.before, moved.pr.number, &moved.pr.url)),
        None => {}
    }
    out.next(&ending::next(context, &task));
    Ok(ExitCode::SUCCESS)
}
