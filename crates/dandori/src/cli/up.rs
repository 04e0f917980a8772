//! `dandori up`

use std::process::ExitCode;

use clap::Args;
use dandori_api::formation::{FormationView, RaiseFormation, StandingView};
use dandori_text::formation::{asked as text, status};

use super::{Context, formation};
use crate::client::Client;
use crate::out::{Failed, terminal_width};
use crate::person;

#[derive(Args)]
pub(crate) struct UpArgs {
    /// Cancel all open orders first; alone, it leaves the formation down
    #[arg(long)]
    reset: bool,
    /// Use the larger model for all tasks
    #[arg(long)]
    boost: bool,
    /// Let the orchestrator give the next order when one is done
    #[arg(long)]
    continuous: bool,
    /// Do not notify you when an order is done
    #[arg(long)]
    no_notify: bool,
    /// Do not show the formation afterwards
    #[arg(long, short = 'd')]
    detach: bool,
    /// Do not ask before a reset
    #[arg(long, short = 'y', requires = "reset")]
    yes: bool,
}

pub(crate) async fn run(args: UpArgs, context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    if args.reset && !args.yes {
        person::agree(context, &text::may_reset(out.lang), "dandori up --reset --yes")?;
    }
    let stay_down = args.reset && !(args.boost || args.continuous || args.no_notify || args.detach);
    let body = RaiseFormation {
        path: formation::place(context)?,
        reset: args.reset,
        stay_down,
        boost: args.boost,
        continuous: args.continuous,
        quiet: args.no_notify,
        env: Some(context.variables()),
    };
    let client = Client::connect(context).await?;
    let standing: StandingView = client.post("/v1/formation/up", &body).await?;
    out.object(&standing);
    if args.reset {
        out.prose(0, text::was_reset(out.lang, standing.canceled.len()));
    }
    if !standing.is_up {
        out.next(&["dandori up".to_owned()]);
        return Ok(ExitCode::SUCCESS);
    }
    out.prose(0, text::is_up(out.lang, &standing));
    if !args.detach && !out.json {
        let view: FormationView = client.get(&format!("/v1/formation{}", formation::query(context)?)).await?;
        out.line("");
        // Its head says once more that it is up.
        for line in status::formation(out.lang, &view, terminal_width()).iter().skip(2) {
            out.line(line);
        }
    }
    out.next(&["dandori order \"…\"".to_owned(), "dandori status --formation --watch".to_owned()]);
    Ok(ExitCode::SUCCESS)
}
