//! `dandori notify "…"`

use std::process::ExitCode;

use clap::{Args, Subcommand};
use dandori_api::NoticesTried;
use dandori_api::formation::SendNotice;
use dandori_text::inbox as text;

use super::{Context, notify_test};
use crate::client::Client;
use crate::out::Failed;

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_precedence_over_arg = true, arg_required_else_help = true)]
pub(crate) struct NotifyArgs {
    /// What to say
    #[arg(value_name = "TEXT")]
    words: Option<String>,
    #[command(subcommand)]
    verb: Option<NotifyVerb>,
}

#[derive(Subcommand)]
enum NotifyVerb {
    /// Send a test notification in every configured way
    Test,
}

pub(crate) async fn run(args: NotifyArgs, context: &Context) -> Result<ExitCode, Failed> {
    if let Some(NotifyVerb::Test) = args.verb {
        return notify_test::run(context).await;
    }
    let client = Client::connect(context).await?;
    let path = context.here().ok().map(camino::Utf8PathBuf::into_string);
    let body = SendNotice { path, content: args.words.unwrap_or_default(), terminal: super::terminal() };
    let tried: NoticesTried = client.post("/v1/notify", &body).await?;
    let out = &context.out;
    out.object(&tried);
    if tried.ways.is_empty() {
        out.say(text::no_ways(out.lang, dandori_host::layout::user_config(&context.env).as_str()));
    }
    Ok(notify_test::show(out, &tried))
}
