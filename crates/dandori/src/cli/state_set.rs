//! `dandori state set`

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::Context;
use crate::documents::Documents;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct StateSetArgs {
    /// What to set, as in playbook.active
    key: String,
    /// Its new value; null for none
    #[arg(allow_hyphen_values = true)]
    value: String,
}

pub(crate) fn run(args: &StateSetArgs, context: &Context) -> Result<ExitCode, Failed> {
    // A verdict is never the agent's own: the guards refuse the line, this is for the ways they cannot see.
    if args.key.split('.').next() == Some("verification") {
        crate::person::refuse_agents(context)?;
    }
    let value = (args.value != "null").then_some(args.value.as_str());
    Documents::of(context)?.set_state(&args.key, value, context.out.lang)?;
    context.out.object(&json!({ "key": args.key, "value": value }));
    context.out.line(format!("{}: {}", args.key, args.value));
    Ok(ExitCode::SUCCESS)
}
