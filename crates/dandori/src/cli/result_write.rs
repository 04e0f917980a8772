//! `dandori result write`

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use dandori_api::formation::{Acceptance, ResultWritten, WriteResult};
use dandori_formation::result::Reported;
use dandori_text::formation::asked as text;

use super::{Context, formation};
use crate::client::Client;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct ResultWriteArgs {
    /// Whose result: worker1 to worker8
    #[arg(value_name = "WORKER")]
    worker: String,
    /// The task
    #[arg(long, value_name = "TASK")]
    task_id: String,
    /// The order the task belongs to
    #[arg(long, value_name = "ORDER")]
    command_id: Option<String>,
    /// The lease epoch the task was given with
    #[arg(long, value_name = "NUMBER")]
    lease_epoch: i64,
    /// How it ended: completed or failed
    #[arg(long, value_name = "STATUS", hide_possible_values = true)]
    status: Status,
    #[command(flatten)]
    summary: formation::SummaryArgs,
    /// Files that were changed (separated by commas)
    #[arg(long, value_name = "PATHS", value_delimiter = ',')]
    files_changed: Vec<String>,
    /// A failure may have left changes behind
    #[arg(long)]
    partial_changes: bool,
    /// The task must not be tried again as it is
    #[arg(long)]
    no_retry_safe: bool,
    /// Exit code of what failed
    #[arg(long, value_name = "CODE")]
    exit_code: Option<i32>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Status {
    Completed,
    Failed,
}

pub(crate) async fn run(args: ResultWriteArgs, context: &Context) -> Result<ExitCode, Failed> {
    let command_id = args.command_id.as_deref().map(|text| formation::id(context, "--command-id", text)).transpose()?;
    let body = WriteResult {
        worker: formation::id(context, "WORKER", &args.worker)?,
        task_id: formation::id(context, "--task-id", &args.task_id)?,
        command_id,
        lease_epoch: args.lease_epoch,
        status: match args.status {
            Status::Completed => Reported::Completed,
            Status::Failed => Reported::Failed,
        },
        summary: args.summary.read()?,
        files_changed: args
            .files_changed
            .into_iter()
            .map(|path| path.trim().to_owned())
            .filter(|p| !p.is_empty())
            .collect(),
        partial_changes: args.partial_changes,
        retry_safe: !args.no_retry_safe,
        exit_code: args.exit_code,
    };
    let client = Client::connect(context).await?;
    let written: ResultWritten = client.post("/v1/formation/results", &body).await?;
    let out = &context.out;
    out.object(&written);
    if let Some(result) = written.result_id {
        out.line(result);
    }
    out.say(text::written(out.lang, &written));
    // What was kept and does not count is no success: whoever reports is to stop.
    Ok(ExitCode::from(u8::from(written.accepted == Acceptance::Kept)))
}
