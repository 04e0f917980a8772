//! `dandori inbox show`

use std::process::ExitCode;

use clap::Args;
use dandori_api::NeedList;

use super::Context;
use super::inbox::{Shown, here};
use crate::client::{Client, quoted};
use crate::out::{Failed, dim};

#[derive(Args)]
pub(crate) struct InboxShowArgs {
    /// Id from `dandori inbox` (the beginning is enough), a task or a run
    id: String,
}

pub(crate) async fn run(args: InboxShowArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let found: NeedList = client.get(&format!("/v1/needs/{}", quoted(&args.id))).await?;
    let out = &context.out;
    let here = here(context).map(camino::Utf8PathBuf::into_string);
    let shown = Shown { lang: out.lang, here, now: dandori_host::now() };
    out.object(&shown.list(&found));
    for need in &found.needs {
        shown.print(out, 0, need, true);
        // The whole of what a line cannot say.
        if let dandori_domain::need::NeedKind::Trust { what, .. } = &need.detail {
            for power in what {
                out.line(format!("  {}", dim(power)));
            }
        }
        if let dandori_domain::need::NeedKind::Failed { failure, .. } = &need.detail {
            let cause = dandori_text::cause(out.lang, failure);
            cause.lines().skip(1).for_each(|line| out.prose(2, line));
        }
    }
    Ok(ExitCode::SUCCESS)
}
