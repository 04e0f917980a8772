//! `dandori task heartbeat`

use std::process::ExitCode;

use clap::Args;
use dandori_api::formation::{HeartbeatTaken, SendHeartbeat};
use dandori_text::formation::asked as text;

use super::{Context, formation};
use crate::client::Client;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct TaskHeartbeatArgs {
    /// The task
    #[arg(long, value_name = "TASK")]
    task_id: String,
    /// Who has it: worker1 to worker8
    #[arg(long, value_name = "WORKER")]
    worker_id: Option<String>,
    /// The lease epoch the task was given with
    #[arg(long, value_name = "NUMBER", alias = "lease-epoch")]
    epoch: i64,
}

pub(crate) async fn run(args: TaskHeartbeatArgs, context: &Context) -> Result<ExitCode, Failed> {
    let body = SendHeartbeat {
        task_id: formation::id(context, "--task-id", &args.task_id)?,
        worker: args.worker_id.as_deref().map(|text| formation::id(context, "--worker-id", text)).transpose()?,
        lease_epoch: args.epoch,
    };
    let client = Client::connect(context).await?;
    let taken: HeartbeatTaken = client.post("/v1/formation/heartbeats", &body).await?;
    let out = &context.out;
    out.object(&taken);
    let until = taken.until_at.map(|at| at.to_string()).unwrap_or_default();
    out.line(text::alive(out.lang, &taken.task_id.to_string(), &until));
    Ok(ExitCode::SUCCESS)
}
