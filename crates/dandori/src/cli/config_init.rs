//! `dandori config init`: a file with every key in it, each commented out with its default.

use std::fmt::Write;
use std::process::ExitCode;

use camino::Utf8Path;
use clap::Args;
use dandori_api::config::ConfigChangeView;
use dandori_config::{Setting, Source, keys, settings};
use dandori_text::{Lang, config as text};

use super::Context;
use super::config_file::FileArgs;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct ConfigInitArgs {
    #[command(flatten)]
    file: FileArgs,
}

pub(crate) fn run(args: &ConfigInitArgs, context: &Context) -> Result<ExitCode, Failed> {
    crate::person::refuse_agents(context)?;
    let out = &context.out;
    let file = args.file.file(context)?;
    if file.path.exists() {
        return Err(Failed::Refused(text::exists(out.lang, file.path.as_str(), args.file.flag())));
    }
    file.write(&template(out.lang, file.source))?;
    out.object(&ConfigChangeView { path: file.path.to_string(), key: None, value: None, changed: true });
    out.prose(0, text::written(out.lang, file.path.as_str()));
    Ok(ExitCode::SUCCESS)
}

/// The text of a new file. It says nothing as it is: every line is a comment.
pub(super) fn template(lang: Lang, source: Source) -> String {
    let defaults = settings(Utf8Path::new("/nonexistent"), None).unwrap_or_default();
    let mut text = text::template_head(lang, source == Source::User).to_owned();
    // Guards and agents of one's own have a page of examples instead.
    let is_listed = |name: &str| !name.contains(['*', '@', '#']) && !name.starts_with("guards.");
    let listed: Vec<_> = keys()
        .filter(|key| (source == Source::User || !key.user_only) && is_listed(key.name))
        .map(|key| (key.name.rsplit_once('.').unwrap_or(("", key.name)), key.name))
        .collect();
    // A section stands there once, however its keys and those of its own sections are ordered.
    let mut sections: Vec<&str> = Vec::new();
    for ((table, _), _) in &listed {
        if !sections.contains(table) {
            sections.push(table);
        }
    }
    for section in sections {
        if !section.is_empty() {
            let _ = write!(text, "\n[{section}]\n");
        }
        for ((_, name), key) in listed.iter().filter(|((table, _), _)| *table == section) {
            if section.is_empty() {
                text.push('\n');
            }
            let about = text::about(lang, key).unwrap_or_default();
            let _ = writeln!(text, "# {about}\n# {name} = {}", example(&defaults, key));
        }
    }
    text
}

/// What stands behind the `=`: the default, or something that fits where there is none.
fn example(defaults: &[Setting], key: &str) -> String {
    let default = defaults.iter().find(|s| s.key == key).and_then(|s| s.value.as_ref());
    match default {
        Some(value) => value.to_string().trim().replace("\"\"\"\n", "\"").replace("\"\"\"", "\"").replace('\n', "\\n"),
        None => match key {
            "base" => "\"main\"",
            "language" => "\"ja\"",
            "store" => "\"postgres://user@host/dandori\"",
            "runs.max_parallel" => "4",
            "limits.budget" => "5.0",
            "worktrees.set_up" => "[\"make deps\"]",
            "sandbox.processes" | "sandbox.open_files" => "8192",
            "sandbox.memory" => "\"8GiB\"",
            "notify.command" => "\"cat >> ~/dandori-notices.jsonl\"",
            "notify.webhook" => "\"https://example.com/hook\"",
            "github.api" => "\"https://github.example.com/api/v3\"",
            "formation.agent" | "formation.orchestrator" | "formation.planner" => "\"claude\"",
            "formation.small_model" => "\"sonnet\"",
            "formation.large_model" => "\"opus\"",
            "formation.check" => "\"make test\"",
            "formation.budget.task" => "5.0",
            "formation.budget.command" => "20.0",
            "formation.budget.day" => "50.0",
            "formation.coordination_limit" => "30",
            _ => "\"\"",
        }
        .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use dandori_config::Config;

    use super::*;

    fn uncommented(text: &str) -> String {
        let set = |line: &&str| line.starts_with('[') || line.starts_with("# ") && line.contains(" = ");
        text.lines().filter(set).map(|line| line.trim_start_matches("# ").to_owned() + "\n").collect()
    }

    #[test]
    fn every_line_of_a_new_file_can_be_taken_into_use() {
        for (lang, source) in [(Lang::En, Source::User), (Lang::Ja, Source::Repository)] {
            let text = template(lang, source);
            Config::default().merge(Utf8Path::new("new.toml"), &text, source).unwrap();
            let all = uncommented(&text);
            Config::default().merge(Utf8Path::new("new.toml"), &all, source).unwrap_or_else(|e| panic!("{e}\n{all}"));
        }
    }

    #[test]
    fn every_key_is_described_in_both_languages() {
        for key in keys() {
            for lang in [Lang::En, Lang::Ja] {
                assert!(text::about(lang, key.name).is_some(), "{} has no words", key.name);
            }
        }
    }
}
