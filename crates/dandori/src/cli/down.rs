//! `dandori down`

use std::process::ExitCode;

use dandori_api::formation::{LowerFormation, StandingView};
use dandori_text::formation::asked as text;

use super::{Context, formation};
use crate::client::Client;
use crate::out::Failed;

pub(crate) async fn run(context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let standing: StandingView =
        client.post("/v1/formation/down", &LowerFormation { path: formation::place(context)? }).await?;
    let out = &context.out;
    out.object(&standing);
    out.prose(0, text::is_down(out.lang, &standing));
    Ok(ExitCode::SUCCESS)
}
