//! `dandori inbox`

use std::process::ExitCode;

use clap::{Args, Subcommand};
use dandori_api::{Inbox, NeedList, NeedShown, NeedView};
use dandori_domain::shell_word;
use dandori_text::inbox::{self as text, InRepository};
use dandori_text::{Lang, table};
use jiff::Timestamp;

use super::Context;
use crate::client::{Client, in_path};
use crate::out::{Failed, Out, bold, dim};

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct InboxArgs {
    /// All repositories
    #[arg(long, short = 'A')]
    all: bool,
    /// Show snoozed and dismissed items instead
    #[arg(long)]
    snoozed: bool,
    #[command(subcommand)]
    pub(crate) verb: Option<InboxVerb>,
}

#[derive(Subcommand)]
pub(crate) enum InboxVerb {
    /// Show one item and what caused it
    Show(super::inbox_show::InboxShowArgs),
    /// Hide an item for a while
    Snooze(super::inbox_snooze::InboxSnoozeArgs),
    /// Hide items until something new happens
    Dismiss(super::inbox_dismiss::InboxDismissArgs),
    /// Bring a snoozed or dismissed item back
    Wake(super::inbox_wake::InboxWakeArgs),
}

pub(crate) async fn run(args: InboxArgs, context: &Context) -> Result<ExitCode, Failed> {
    match args.verb {
        None => list(args.all, args.snoozed, context).await,
        Some(InboxVerb::Show(args)) => super::inbox_show::run(args, context).await,
        Some(InboxVerb::Snooze(args)) => super::inbox_snooze::run(args, context).await,
        Some(InboxVerb::Dismiss(args)) => super::inbox_dismiss::run(args, context).await,
        Some(InboxVerb::Wake(args)) => super::inbox_wake::run(args, context).await,
    }
}

async fn list(all: bool, snoozed: bool, context: &Context) -> Result<ExitCode, Failed> {
    let here = here(context);
    let path = match &here {
        Some(root) if !all => format!("&path={}", in_path(root)),
        _ => String::new(),
    };
    let client = Client::connect(context).await?;
    let found: NeedList = client.get(&format!("/v1/needs?snoozed={snoozed}{path}")).await?;
    let out = &context.out;
    let shown = Shown { lang: out.lang, here: here.map(camino::Utf8PathBuf::into_string), now: dandori_host::now() };
    out.object(&shown.list(&found));
    if found.needs.is_empty() {
        out.say(text::empty(out.lang));
    }
    for need in &found.needs {
        shown.print(out, 0, need, true);
    }
    if !snoozed && found.snoozed > 0 {
        out.say(text::hidden(out.lang, usize::try_from(found.snoozed).unwrap_or(usize::MAX)));
    }
    Ok(ExitCode::SUCCESS)
}

/// The main checkout of the repository the user stands in, if it is one.
pub(crate) fn here(context: &Context) -> Option<camino::Utf8PathBuf> {
    dandori_hook::find_checkout(context.cwd.as_deref()?).map(|checkout| dandori_hook::main_root(&checkout))
}

/// How needs are shown to whoever stands here.
pub(crate) struct Shown {
    pub(crate) lang: Lang,
    pub(crate) here: Option<String>,
    pub(crate) now: Timestamp,
}

impl Shown {
    pub(crate) fn list(&self, found: &NeedList) -> Inbox {
        let needs = found.needs.iter().map(|need| self.worded(need)).collect();
        Inbox { needs, total: found.total, snoozed: found.snoozed }
    }

    pub(crate) fn worded(&self, need: &NeedView) -> NeedShown {
        let message = text::message(self.lang, &need.detail);
        NeedShown { command: self.command(need), message, need: need.clone() }
    }

    /// As it is typed where the user stands.
    pub(crate) fn command(&self, need: &NeedView) -> String {
        let about = text::About {
            task: need.task.as_deref(),
            run: need.run.as_deref().filter(|_| !need.is_sole),
            pull: need.pr.as_ref().map(|pr| pr.number),
        };
        let (command, place) = text::command(self.lang, &need.detail, about);
        match (&need.repository, place) {
            (Some(there), InRepository::Yes) if self.here.as_deref() != Some(there) => {
                format!("cd {} && {command}", shell_word(there))
            }
            _ => command,
        }
    }

    /// A head line, what happened, and what to type; this far in.
    pub(crate) fn print(&self, out: &Out, indent: usize, need: &NeedView, with_id: bool) {
        let age = self.age(&need.since_at);
        let id = if with_id { format!("{}  ", need.id) } else { String::new() };
        let name = need.task.as_deref().map(|task| format!("{task}  ")).unwrap_or_default();
        let title = need.title.clone().or_else(|| need.repository.clone()).unwrap_or_else(|| "dandori".to_owned());
        let width = Out::width();
        let taken = indent + table::width(&id) + table::width(&name) + 2 + table::width(&age);
        let title = table::fit(&title, width.saturating_sub(taken).max(8));
        let space = " ".repeat(indent);
        out.line(format!("{space}{}{}{title}  {}", dim(&id), bold(&name), dim(&age)).trim_end());
        let elsewhere = need.repository.as_ref().filter(|there| Some(*there) != self.here.as_ref());
        if let Some(there) = elsewhere.filter(|_| need.title.is_some()) {
            out.line(format!("{space}  {}", dim(&out.path(there))));
        }
        out.prose(indent + 2, text::message(self.lang, &need.detail));
        if let Some(until) = &need.snoozed_until {
            let reason = need.reason.as_deref().unwrap_or_default();
            out.prose(indent + 2, text::until(self.lang, &local(until), reason));
        } else if need.dismissed {
            out.prose(indent + 2, text::put_away(self.lang));
        }
        out.line(format!("{space}  `{}`", self.command(need)));
    }

    /// How long ago that was.
    pub(crate) fn age(&self, at: &str) -> String {
        self.since(at).map(|seconds| text::ago(self.lang, seconds)).unwrap_or_default()
    }

    /// How long it has lasted since then.
    pub(crate) fn lasting(&self, at: &str) -> String {
        self.since(at).map(|seconds| text::duration(self.lang, seconds)).unwrap_or_default()
    }

    fn since(&self, at: &str) -> Option<u64> {
        let at: Timestamp = at.parse().ok()?;
        Some(u64::try_from(self.now.duration_since(at).as_secs()).unwrap_or(0))
    }
}

/// A time as the user's clock shows it.
pub(crate) fn local(at: &str) -> String {
    match at.parse::<Timestamp>() {
        Ok(at) => at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_) => at.to_owned(),
    }
}
