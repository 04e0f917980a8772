//! `dandori plan add-retry-task`

use std::process::ExitCode;

use camino::Utf8PathBuf;
use clap::Args;
use dandori_api::formation::{RetryAdded, RetryTask};

use super::{Context, formation};
use crate::client::Client;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct PlanAddRetryTaskArgs {
    /// The order, by id or number
    #[arg(long, value_name = "ORDER")]
    command_id: String,
    /// The task that failed
    #[arg(long, value_name = "TASK")]
    retry_of: String,
    /// What the task is for (default: as it was; likewise the rest)
    #[arg(long, value_name = "TEXT")]
    purpose: Option<String>,
    /// What to do
    #[arg(long, value_name = "TEXT", conflicts_with = "content_file")]
    content: Option<String>,
    /// Read what to do from a file; `-` reads stdin
    #[arg(long, value_name = "FILE")]
    content_file: Option<Utf8PathBuf>,
    /// When the task is done
    #[arg(long, value_name = "TEXT")]
    acceptance_criteria: Option<String>,
    /// What has to be kept to (can be repeated)
    #[arg(long, value_name = "TEXT")]
    constraint: Vec<String>,
    /// Files the task is expected to change (separated by commas)
    #[arg(long, value_name = "PATHS", value_delimiter = ',')]
    expected_paths: Vec<String>,
    /// How much thinking the task needs, from 1 to 6
    #[arg(long, value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(1..=6))]
    bloom_level: Option<u8>,
}

pub(crate) async fn run(args: PlanAddRetryTaskArgs, context: &Context) -> Result<ExitCode, Failed> {
    let content = formation::given(args.content, args.content_file.as_deref())?;
    let some = |list: Vec<String>| (!list.is_empty()).then_some(list);
    let body = RetryTask {
        path: Some(formation::place(context)?),
        retry_of: formation::id(context, "--retry-of", &args.retry_of)?,
        purpose: args.purpose,
        content,
        acceptance_criteria: args.acceptance_criteria,
        constraints: some(args.constraint),
        expected_paths: some(args.expected_paths),
        bloom_level: args.bloom_level,
    };
    let client = Client::connect(context).await?;
    let added: RetryAdded = client.post(&format!("{}/retries", formation::order_at(&args.command_id)), &body).await?;
    context.out.data(&added);
    Ok(ExitCode::SUCCESS)
}
