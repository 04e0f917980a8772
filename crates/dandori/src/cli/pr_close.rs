//! `dandori pr close`

use std::process::ExitCode;

use clap::Args;
use dandori_api::{ChangePull, PullDone};
use dandori_text::pulls as text;

use super::Context;
use crate::client::{Client, quoted};
use crate::out::{Failed, Out};

#[derive(Args)]
pub(crate) struct PrCloseArgs {
    /// Number (3, #3), task (T-4), run's key or branch
    #[arg(value_name = "PR")]
    pull: String,
}

pub(crate) async fn run(args: PrCloseArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let body = ChangePull { path: context.here()?.into_string(), env: Some(context.variables()) };
    let done: PullDone = client.post(&format!("/v1/pulls/{}/close", quoted(&args.pull)), &body).await?;
    let out = &context.out;
    out.object(&done);
    out.line(text::closed(out.lang, done.pull.number));
    out.say(text::closed_hint(out.lang, done.pull.number));
    say_preserved(out, &done);
    Ok(ExitCode::SUCCESS)
}

/// Work that nobody had committed was in the worktree that goes with the pull request.
pub(crate) fn say_preserved(out: &Out, done: &PullDone) {
    let (Some(reference), Some(run)) = (&done.preserved, &done.pull.run) else { return };
    out.prose(0, text::preserved(out.lang, reference));
    out.next(&[format!("dandori worktree restore {run}")]);
}
