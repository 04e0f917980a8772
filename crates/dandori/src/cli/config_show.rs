//! `dandori config show`

use std::process::ExitCode;

use clap::Args;
use dandori_api::config::{ConfigFileView, SettingView, SettingsView};
use dandori_config::{Origin, Setting, nearest_key, settings};
use dandori_text::ui::{Head, head};
use dandori_text::{Table, config as text};

use super::Context;
use super::config_file::{ConfigFile, name};
use crate::out::{Failed, dim};

#[derive(Args)]
pub(crate) struct ConfigShowArgs {
    /// Only this key, such as limits.run
    key: Option<String>,
    /// Every key, also those at their default
    #[arg(long, short = 'a')]
    all: bool,
}

pub(crate) fn run(args: &ConfigShowArgs, context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    let (user, repository) = (ConfigFile::of_user(context), ConfigFile::of_repository(context));
    let all = settings(&user.path, repository.as_ref().map(|file| file.path.as_path())).map_err(|e| e.to_problem())?;
    let files = [Some(&user), repository.as_ref()].into_iter().flatten();
    let files: Vec<ConfigFileView> = files
        .map(|file| ConfigFileView {
            source: name(file.source).to_owned(),
            path: file.path.to_string(),
            exists: file.path.exists(),
        })
        .collect();
    let is_meant = |setting: &&Setting| match &args.key {
        Some(key) => setting.key == *key || setting.key.starts_with(&format!("{key}.")),
        None => args.all || out.json || setting.origin != Origin::Default,
    };
    let shown: Vec<&Setting> = all.iter().filter(is_meant).collect();
    if let (Some(key), true) = (&args.key, shown.is_empty()) {
        return Err(Failed::Refused(text::unknown_key(out.lang, key, nearest_key(key).as_deref())));
    }
    out.object(&SettingsView {
        settings: shown.iter().map(|setting| view(setting)).collect(),
        total: shown.len(),
        files: files.clone(),
    });
    let mut table = Table::new([Head::Key, Head::Value, Head::Source].map(|h| head(out.lang, h)));
    for setting in &shown {
        let value = setting.value.as_ref().map_or_else(|| dim(text::not_set(out.lang)), ToString::to_string);
        table.row([setting.key.clone(), one_line(&value), origin(context, setting.origin)]);
    }
    if !shown.is_empty() {
        out.table(&table.rank([0, 0, 1]));
    }
    if let Some(about) = args.key.as_deref().and_then(|key| text::about(out.lang, key)) {
        out.prose(0, dim(about));
    }
    if args.key.is_none() {
        for file in &files {
            let path = out.path(&file.path);
            out.prose(0, dim(&if file.exists { path } else { text::file_is_missing(out.lang, &path) }));
        }
        if all.len() > shown.len() {
            out.prose(0, dim(&text::only_changed(out.lang, all.len() - shown.len())));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn view(setting: &Setting) -> SettingView {
    let json = |value: &toml::Value| serde_json::to_value(value).unwrap_or_default();
    SettingView {
        key: setting.key.clone(),
        value: setting.value.as_ref().map(json),
        default: setting.default.as_ref().map(json),
        source: code(setting.origin).to_owned(),
    }
}

fn code(origin: Origin) -> &'static str {
    match origin {
        Origin::Default => "default",
        Origin::User => "user",
        Origin::Repository => "repository",
        Origin::Both => "both",
    }
}

fn origin(context: &Context, origin: Origin) -> String {
    match origin {
        Origin::Default => dim(text::from_default(context.out.lang)),
        Origin::User => "config.toml".to_owned(),
        Origin::Repository => "dandori.toml".to_owned(),
        Origin::Both => "config.toml + dandori.toml".to_owned(),
    }
}

/// A template of several lines as TOML would have it on one.
fn one_line(value: &str) -> String {
    value.trim().replace("\"\"\"\n", "\"").replace("\"\"\"", "\"").replace('\n', "\\n")
}
