//! `dandori plan submit`

use std::process::ExitCode;

use camino::Utf8PathBuf;
use clap::Args;
use dandori_api::formation::{PlanTaken, SubmitPlan};
use dandori_text::formation::asked as text;

use super::{Context, formation};
use crate::client::Client;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct PlanSubmitArgs {
    /// The order the plan is for, by id or number
    #[arg(long, value_name = "ORDER")]
    command_id: String,
    /// The plan in YAML; `-` reads stdin
    #[arg(long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    tasks_file: Utf8PathBuf,
    /// Fill this deferred phase, which is awaiting_fill
    #[arg(long, value_name = "NAME")]
    phase: Option<String>,
    /// Check the plan without storing anything
    #[arg(long)]
    dry_run: bool,
}

pub(crate) async fn run(args: PlanSubmitArgs, context: &Context) -> Result<ExitCode, Failed> {
    let plan = formation::read(&args.tasks_file)?;
    let client = Client::connect(context).await?;
    let path = Some(formation::place(context)?);
    let body = SubmitPlan { path, plan, phase: args.phase, dry_run: args.dry_run };
    let taken: PlanTaken = client.post(&format!("{}/plan", formation::order_at(&args.command_id)), &body).await?;
    let out = &context.out;
    // Whoever plans is a program as a rule: it gets the ids as data.
    out.data(&taken);
    for advice in &taken.advice {
        out.note(advice);
    }
    if args.dry_run {
        out.say(text::plan_is_valid(out.lang));
    }
    Ok(ExitCode::SUCCESS)
}
