//! `dandori pr list`

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use dandori_api::PullList;
use dandori_domain::pull::PullState;
use dandori_text::ui::{self, Head, head};
use dandori_text::{Table, pulls as text};
use jiff::Timestamp;

use super::Context;
use crate::client::{Client, in_path};
use crate::out::{Failed, pull_state};

#[derive(Args)]
pub(crate) struct PrListArgs {
    /// State: open, merged, closed or all
    #[arg(long, default_value = "open", hide_possible_values = true)]
    state: Which,
    /// Number of pull requests to list
    #[arg(long, short = 'n', default_value_t = 30)]
    limit: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    Open,
    Merged,
    Closed,
    All,
}

impl Which {
    fn state(self) -> Option<PullState> {
        match self {
            Self::Open => Some(PullState::Open),
            Self::Merged => Some(PullState::Merged),
            Self::Closed => Some(PullState::Closed),
            Self::All => None,
        }
    }
}

pub(crate) async fn run(args: PrListArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let state = args.state.state().map_or("all", PullState::as_str);
    let here = in_path(&context.here()?);
    let list: PullList = client.get(&format!("/v1/pulls?path={here}&state={state}&limit={}", args.limit)).await?;
    let out = &context.out;
    out.object(&list);
    if list.prs.is_empty() {
        out.say(text::nothing_listed(out.lang, args.state.state()));
        return Ok(ExitCode::SUCCESS);
    }
    let columns = [Head::Pull, Head::State, Head::Age, Head::Task, Head::Branch, Head::Base, Head::Title];
    let mut rows = Table::new(columns.map(|h| head(out.lang, h)));
    let now = dandori_host::now();
    for pull in &list.prs {
        let age = pull.created_at.parse::<Timestamp>().map(|at| ui::age(out.lang, now.duration_since(at).as_secs()));
        rows.row([
            format!("#{}", pull.number),
            pull_state(out, pull.state),
            age.unwrap_or_default(),
            pull.task.clone().unwrap_or_default(),
            pull.head.clone(),
            pull.base.clone(),
            pull.title.clone(),
        ]);
    }
    out.table(&rows);
    if list.total > list.prs.len() as u64 {
        out.say(text::more_listed(out.lang, list.prs.len(), list.total));
    }
    Ok(ExitCode::SUCCESS)
}
