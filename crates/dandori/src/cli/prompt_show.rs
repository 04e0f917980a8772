//! `dandori prompt show`

use std::process::ExitCode;

use clap::Args;

use super::Context;
use super::prompt_list::view;
use crate::out::Failed;
use crate::templates;

#[derive(Args)]
pub(crate) struct PromptShowArgs {
    /// Name of the template
    name: String,
}

pub(crate) fn run(args: &PromptShowArgs, context: &Context) -> Result<ExitCode, Failed> {
    let template = templates::find(context, &args.name)?;
    context.out.object(&view(&template));
    context.out.line(template.text.trim_end());
    Ok(ExitCode::SUCCESS)
}
