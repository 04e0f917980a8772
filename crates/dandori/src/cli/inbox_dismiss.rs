//! `dandori inbox dismiss`

use std::process::ExitCode;

use clap::Args;
use dandori_api::{DismissNeeds, NeedList};
use dandori_text::inbox as text;

use super::Context;
use super::inbox::{Shown, here};
use crate::client::Client;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct InboxDismissArgs {
    /// Ids from `dandori inbox` (the beginning is enough), tasks or runs
    ids: Vec<String>,
    /// Everything `dandori inbox` shows here
    #[arg(long, conflicts_with = "ids")]
    all: bool,
}

pub(crate) async fn run(args: InboxDismissArgs, context: &Context) -> Result<ExitCode, Failed> {
    crate::person::refuse_agents(context)?;
    let out = &context.out;
    if args.ids.is_empty() && !args.all {
        return Err(Failed::Usage(text::nothing_named(out.lang)));
    }
    let here = here(context).map(camino::Utf8PathBuf::into_string);
    let client = Client::connect(context).await?;
    let request = DismissNeeds { needs: args.ids, all: args.all, path: here.clone() };
    let found: NeedList = client.post("/v1/needs/dismiss", &request).await?;
    out.object(&Shown { lang: out.lang, here, now: dandori_host::now() }.list(&found));
    out.line(text::dismissed(out.lang, found.needs.len()));
    if let [one] = found.needs.as_slice() {
        out.say(text::how_to_wake(out.lang, &one.id));
    }
    Ok(ExitCode::SUCCESS)
}
