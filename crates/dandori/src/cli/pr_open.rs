//! `dandori pr open`: the web page of a pull request, or, where it has none, the pull request itself in the pager.

use std::process::ExitCode;

use clap::Args;
use dandori_text::pulls as text;

use super::{Context, pr_show};
use crate::client::Client;
use crate::out::{Failed, Out};
use crate::{editor, pager};

#[derive(Args)]
pub(crate) struct PrOpenArgs {
    /// Number (3, #3), task (T-4), run's key or branch
    #[arg(value_name = "PR")]
    pull: String,
}

/// Whoever knows the user's browser, in this order.
const OPENERS: [&str; 3] = ["xdg-open", "open", "wslview"];

pub(crate) async fn run(args: PrOpenArgs, context: &Context) -> Result<ExitCode, Failed> {
    let page = pr_show::fetch(&Client::connect(context).await?, context, &args.pull, pr_show::Fresh::No).await?;
    let (out, url) = (&context.out, &page.pull.url);
    out.object(&page);
    if out.json {
        return Ok(ExitCode::SUCCESS);
    }
    if page.pull.forge != "github" {
        out.say(text::no_page(out.lang, page.pull.number));
        let shown: String = pr_show::lines(out, &page).iter().map(|line| Out::readable(line) + "\n").collect();
        pager::show(context, shown.as_bytes());
        return Ok(ExitCode::SUCCESS);
    }
    out.say(text::opening(out.lang, url));
    // Only an address is handed on, never a word that a program could take for an option.
    let is_address = url.starts_with("https://") || url.starts_with("http://");
    let begun = |program: &str| {
        is_address && editor::in_foreground(context, program, &[url], None).is_ok_and(|status| status.success())
    };
    let chosen = context.env.text("BROWSER").filter(|browser| !browser.is_empty());
    let opened = match chosen {
        Some(browser) => browser.split(':').any(begun),
        None => OPENERS.iter().any(|program| begun(program)),
    };
    if opened { Ok(ExitCode::SUCCESS) } else { Err(Failed::Refused(text::no_browser(out.lang, url))) }
}
