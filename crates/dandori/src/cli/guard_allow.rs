//! `dandori guard allow`

use std::process::ExitCode;

use clap::Args;
use dandori_config::guards::is_glob;
use dandori_config::parse_seconds;
use dandori_guard::guards;
use dandori_guard::world::About;
use dandori_journal::{Exceptions, Given};
use dandori_text::guard::verbs as text;
use jiff::SignedDuration;

use super::Context;
use super::guard_stats::span;
use crate::guarded::Guarded;
use crate::out::Failed;
use crate::person::Confirmed;

/// Who needs longer sets a level.
const LONGEST: u64 = 24 * 60 * 60;

#[derive(Args)]
pub(crate) struct GuardAllowArgs {
    /// Guard to make an exception to
    guard: String,
    /// Only these files, as a glob relative to the repository root
    #[arg(long, conflicts_with = "command")]
    path: Option<String>,
    /// Only this command, word by word; a trailing * matches the rest
    #[arg(long)]
    command: Option<String>,
    /// How long the exception is valid, such as 30m or 8h
    #[arg(long = "for", value_name = "DURATION", default_value = "30m")]
    lasts: String,
    /// How many times it can be used
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    uses: Option<u32>,
    /// Reason to record
    #[arg(long, default_value = "", hide_default_value = true)]
    reason: String,
}

pub(crate) fn run(args: &GuardAllowArgs, context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    let lang = out.lang;
    let guarded = Guarded::here(context)?;
    match guards::find(&args.guard) {
        Some(guard) if !guard.can_except => return Err(Failed::Refused(text::never_excepted(lang, guard.name))),
        Some(_) => {}
        None if guarded.has_own_rule(&args.guard) => {}
        None => {
            let known: Vec<&str> = guards::ALL.iter().map(|guard| guard.name).collect();
            return Err(Failed::Refused(text::no_such_guard(lang, &args.guard, &known.join(", "))));
        }
    }
    let seconds = seconds(&args.lasts).ok_or_else(|| Failed::Usage(text::bad_lasts(lang, &args.lasts)))?;
    if seconds > LONGEST {
        return Err(Failed::Usage(text::too_long(lang)));
    }
    if let Some(path) = args.path.as_deref().filter(|path| !is_glob(path)) {
        return Err(Failed::Usage(text::bad_pattern(lang, path)));
    }
    if args.command.as_deref().is_some_and(|command| command.trim().is_empty()) {
        return Err(Failed::Usage(text::empty_command(lang)));
    }
    let (about, shown) = match (&args.path, &args.command) {
        (Some(path), _) => (About::Path(path.clone()), path.clone()),
        (None, Some(command)) => (About::Command(command.clone()), format!("`{command}`")),
        (None, None) => (About::All, text::about_all(lang).to_owned()),
    };
    let Confirmed { .. } = Confirmed::ask(context, &text::allow_what(lang, &args.guard, &shown, args.uses))?;
    let now = dandori_host::now();
    let lasts = SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX));
    let until = now.checked_add(lasts).unwrap_or(now);
    let id = format!("{:08x}", dandori_host::random() & 0xffff_ffff);
    let given = Given {
        id: id.clone(),
        guard: args.guard.clone(),
        about,
        until,
        uses_left: args.uses,
        given_by: context.env.text("USER").unwrap_or_default().to_owned(),
        reason: args.reason.clone(),
        given_at: now,
    };
    let told = super::guard_list::exception(&given);
    Exceptions::new(&guarded.folder).add(given, now).map_err(|e| guarded.io(&std::io::Error::other(e)))?;
    out.object(&told);
    let local = until.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string();
    out.prose(0, text::allowed(lang, &args.guard, &shown, &text::until(lang, &local, args.uses), &id));
    Ok(ExitCode::SUCCESS)
}

/// As durations are written in the configuration, or in `guard stats --since`.
fn seconds(text: &str) -> Option<u64> {
    let short = || u64::try_from(span(text)?.as_secs()).ok();
    parse_seconds(text).or_else(short).filter(|seconds| *seconds > 0)
}
