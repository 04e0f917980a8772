//! `dandori inbox wake`

use std::process::ExitCode;

use clap::Args;
use dandori_api::NeedList;
use dandori_text::inbox as text;
use serde_json::json;

use super::Context;
use super::inbox::{Shown, here};
use crate::client::{Client, quoted};
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct InboxWakeArgs {
    /// Id from `dandori inbox --snoozed` (the beginning is enough), a task or a run
    id: String,
}

pub(crate) async fn run(args: InboxWakeArgs, context: &Context) -> Result<ExitCode, Failed> {
    crate::person::refuse_agents(context)?;
    let out = &context.out;
    let client = Client::connect(context).await?;
    let found: NeedList = client.post(&format!("/v1/needs/{}/wake", quoted(&args.id)), &json!({})).await?;
    let here = here(context).map(camino::Utf8PathBuf::into_string);
    out.object(&Shown { lang: out.lang, here, now: dandori_host::now() }.list(&found));
    for need in &found.needs {
        out.line(text::woken(out.lang, &need.id));
    }
    Ok(ExitCode::SUCCESS)
}
