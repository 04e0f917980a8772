//! `dandori config set`

use std::process::ExitCode;

use clap::Args;
use dandori_api::config::ConfigChangeView;
use dandori_config::{Config, ConfigError, Origin, Source, edit, keys, nearest_key, settings};
use dandori_domain::AgentName;
use dandori_text::{Said, config as text};

use super::Context;
use super::config_file::{ConfigFile, FileArgs};
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct ConfigSetArgs {
    /// Key to set, such as limits.run
    key: String,
    /// Its new value; a list is written `["a", "b"]`
    #[arg(required_unless_present = "unset", conflicts_with = "unset", allow_hyphen_values = true)]
    value: Option<String>,
    /// Remove the key, so that its default applies again
    #[arg(long)]
    unset: bool,
    #[command(flatten)]
    file: FileArgs,
}

/// What the daemon reads when it starts.
const OF_THE_DAEMON: [&str; 2] = ["store", "runs."];

pub(crate) fn run(args: &ConfigSetArgs, context: &Context) -> Result<ExitCode, Failed> {
    crate::person::refuse_agents(context)?;
    let (out, key) = (&context.out, args.key.as_str());
    let file = args.file.file(context)?;
    let before = file.text()?;
    let problem = |e: ConfigError| e.to_problem();
    let after = match &args.value {
        Some(value) => {
            // What is wrong with the file as it is stands in its own words.
            if let Some(fault) = file.faults().into_iter().next() {
                return Err(fault.into());
            }
            if key.split('.').any(str::is_empty) {
                return Err(Failed::Refused(text::empty_part(out.lang, key)));
            }
            if key == "agent" && !is_agent(context, value) {
                return Err(Failed::Refused(cannot_be(context, key, value)));
            }
            edit::set_checked(&file.path, &before, key, value, file.source)
                .map_err(|e| refused(context, key, value, file.source, e))?
        }
        None => match edit::unset(&file.path, &before, key).map_err(problem)? {
            Some(text) => text,
            None => return Err(Failed::Refused(not_there(context, key, file.path.as_str()))),
        },
    };
    if after != before {
        file.write(&after)?;
    }
    let set = after.parse::<toml::Table>().ok().and_then(|table| at(&table, key));
    out.object(&ConfigChangeView {
        path: file.path.to_string(),
        key: Some(key.to_owned()),
        value: set.as_ref().and_then(|value| serde_json::to_value(value).ok()),
        changed: after != before,
    });
    out.prose(
        0,
        match &set {
            Some(value) => text::was_set(out.lang, key, value.to_string().trim(), file.path.as_str()),
            None => text::was_unset(out.lang, key, file.path.as_str()),
        },
    );
    if file.source == Source::User {
        note_override(context, key, &file);
    }
    if OF_THE_DAEMON.iter().any(|daemons| key.starts_with(daemons)) {
        out.note(text::daemon_reads_at_start(out.lang, key));
    }
    file.note_trust(context);
    Ok(ExitCode::SUCCESS)
}

/// One that can be started; another file may define it.
fn is_agent(context: &Context, name: &str) -> bool {
    let user = dandori_host::layout::user_config(&context.env);
    let repository = ConfigFile::of_repository(context).map(|file| file.path);
    match name.trim_matches('"').parse() {
        Ok(AgentName::Custom(name)) => {
            Config::load(&user, repository.as_deref()).is_ok_and(|config| config.known_agents().contains(&name))
        }
        Ok(_) => true,
        Err(_) => false,
    }
}

fn cannot_be(context: &Context, key: &str, value: &str) -> Said {
    text::cannot_be(context.out.lang, key, value, text::expected(context.out.lang, key).unwrap_or_default())
}

fn refused(context: &Context, key: &str, value: &str, source: Source, error: ConfigError) -> Failed {
    let is_misplaced = source == Source::Repository && keys().any(|known| known.name == key && known.user_only);
    match error {
        ConfigError::Bad { .. } if !is_misplaced && text::expected(context.out.lang, key).is_some() => {
            Failed::Refused(cannot_be(context, key, value))
        }
        ConfigError::Bad { reason, suggestion, .. } => {
            Failed::Refused(text::cannot_set(context.out.lang, key, &reason, suggestion.as_deref()))
        }
        unreadable @ ConfigError::Unreadable { .. } => unreadable.to_problem().into(),
    }
}

fn not_there(context: &Context, key: &str, path: &str) -> Said {
    let is_known = text::about(context.out.lang, key).is_some();
    if is_known {
        text::not_there(context.out.lang, key, path)
    } else {
        text::unknown_key(context.out.lang, key, nearest_key(key).as_deref())
    }
}

/// The repository's file comes after the user's.
fn note_override(context: &Context, key: &str, user: &ConfigFile) {
    let Some(repository) = ConfigFile::of_repository(context) else { return };
    let Ok(all) = settings(&user.path, Some(&repository.path)) else { return };
    let Some(setting) = all.iter().find(|s| s.key == key && s.origin == Origin::Repository) else { return };
    let value = setting.value.as_ref().map(ToString::to_string).unwrap_or_default();
    context.out.note(text::overridden(context.out.lang, key, value.trim(), repository.path.as_str()));
}

fn at(table: &toml::Table, key: &str) -> Option<toml::Value> {
    let mut parts = key.split('.');
    let first = table.get(parts.next()?)?;
    parts.try_fold(first, |value, part| value.get(part)).cloned()
}
