//! `dandori inbox snooze`

use std::process::ExitCode;

use clap::Args;
use dandori_api::{NeedList, SnoozeNeed};
use dandori_text::inbox as text;
use jiff::SignedDuration;

use super::Context;
use super::guard_stats::span;
use super::inbox::{Shown, here, local};
use crate::client::{Client, quoted};
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct InboxSnoozeArgs {
    /// Id from `dandori inbox` (the beginning is enough), a task or a run
    id: String,
    /// For how long, such as 30m, 2h or 3d
    #[arg(long = "for", value_name = "DURATION", default_value = "2h")]
    lasts: String,
    /// Reason, shown in the list
    #[arg(long, default_value = "", hide_default_value = true)]
    reason: String,
}

pub(crate) async fn run(args: InboxSnoozeArgs, context: &Context) -> Result<ExitCode, Failed> {
    crate::person::refuse_agents(context)?;
    let out = &context.out;
    let bad = || Failed::Usage(text::bad_duration(out.lang, &args.lasts));
    let lasts = span(&args.lasts).filter(|lasts| *lasts > SignedDuration::ZERO).ok_or_else(bad)?;
    let until = dandori_host::now().checked_add(lasts).map_err(|_| bad())?;
    let client = Client::connect(context).await?;
    let request = SnoozeNeed { until: until.to_string(), reason: args.reason };
    let found: NeedList = client.post(&format!("/v1/needs/{}/snooze", quoted(&args.id)), &request).await?;
    let here = here(context).map(camino::Utf8PathBuf::into_string);
    out.object(&Shown { lang: out.lang, here, now: dandori_host::now() }.list(&found));
    for need in &found.needs {
        out.line(text::snoozed(out.lang, &need.id, &local(&until.to_string())));
        out.say(text::how_to_wake(out.lang, &need.id));
    }
    Ok(ExitCode::SUCCESS)
}
