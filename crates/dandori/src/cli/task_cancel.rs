//! `dandori task cancel`

use std::process::ExitCode;

use clap::Args;
use dandori_api::{Canceled, CanceledTask, CanceledTasks};
use dandori_domain::{Problem, Status};
use dandori_server::words;
use dandori_text::ui;
use serde_json::json;

use super::view::Words;
use super::wait::{self, Watched};
use super::{Context, ending};
use crate::client::{Client, quoted};
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct TaskCancelArgs {
    /// One or more tasks: T-3 or 3, a run's key, or a branch
    #[arg(required = true, value_name = "TASK")]
    tasks: Vec<String>,
}

pub(crate) async fn run(args: TaskCancelArgs, context: &Context) -> Result<ExitCode, Failed> {
    let first = args.tasks.first().cloned().unwrap_or_default();
    tokio::select! {
        ended = cancel_all(&args.tasks, context) => ended,
        _ = tokio::signal::ctrl_c() => {
            context.out.say(ui::interrupted(context.out.lang, &first));
            Err(Failed::Quiet(130))
        }
    }
}

/// All are asked first, then waited for: the second does not wait for the end of the first.
async fn cancel_all(named: &[String], context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    let client = Client::connect(context).await?;
    let mut asked: Vec<(&String, Result<Canceled, Problem>)> = Vec::with_capacity(named.len());
    for name in named {
        asked.push((name, client.post(&format!("/v1/tasks/{}/cancel", quoted(name)), &json!({})).await));
    }
    let mut report = Vec::with_capacity(named.len());
    for (name, answer) in asked {
        let (ended, canceled) = match answer {
            Ok(Canceled { task, canceled }) => {
                let client = Client::connect(context).await?;
                (wait::follow(client, task, &canceled, Words::LeftOut, context).await, canceled)
            }
            Err(problem) => (Err(problem), Vec::new()),
        };
        report.push(match ended {
            Ok(Watched { client, task, .. }) => {
                let runs = wait::among(&task, &canceled);
                out.say_on(2, &ui::started(out.lang, &task.number, &task.title));
                ending::show(context, &client, &task, &runs, &[]).await;
                let runs = runs.into_iter().cloned().collect();
                CanceledTask { named: name.clone(), task: Some(task.number), runs, error: None }
            }
            // Nothing else was asked for.
            Err(Problem::CannotCancel { status: Status::Canceled }) => {
                out.line(ui::already_canceled(out.lang, name));
                CanceledTask { named: name.clone(), task: None, runs: Vec::new(), error: None }
            }
            // Of one alone it is the command's own failure.
            Err(problem) if named.len() == 1 => return Err(problem.into()),
            Err(problem) => {
                let error = words::problem(out.lang, &problem);
                out.refused(name, &error);
                CanceledTask { named: name.clone(), task: None, runs: Vec::new(), error: Some(error) }
            }
        });
    }
    // Canceled is what was asked for: that is success here.
    let ok = report.iter().all(|one| one.error.is_none());
    let total = u64::try_from(report.len()).unwrap_or(u64::MAX);
    out.object(&CanceledTasks { tasks: report, total });
    Ok(ExitCode::from(u8::from(!ok)))
}
