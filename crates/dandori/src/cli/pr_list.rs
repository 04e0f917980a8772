//! `dandori pr list`

use std::process::ExitCode;

use dandori_api::PullView;
use dandori_text::Table;
use dandori_text::ui::{self, Head, head};

use super::Context;
use crate::client::{Client, in_path};
use crate::out::Failed;

pub(crate) async fn run(context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let pulls: Vec<PullView> = client.get(&format!("/v1/pulls?path={}", in_path(&context.here()?))).await?;
    let out = &context.out;
    out.object(&pulls);
    if pulls.is_empty() {
        out.say(ui::no_pulls(out.lang));
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows =
        Table::new([Head::Pull, Head::State, Head::Branch, Head::Base, Head::Title].map(|h| head(out.lang, h)));
    for pull in &pulls {
        let number = format!("#{}", pull.number);
        rows.row([number, pull.state.to_string(), pull.head.clone(), pull.base.clone(), pull.title.clone()]);
    }
    out.table(&rows);
    Ok(ExitCode::SUCCESS)
}
