//! Paths that are only known when the line runs, by what is written of them.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Client;
use dandori_shell::{Command, How, files_of_patch, git_call};

use super::{below, is_client_s_folder, is_settings};
use crate::context::{By, Context, Target};
use crate::quiet::looks;

/// The part that is written names what belongs to the guards: `$DIR/.claude/settings.json`.
pub(super) fn names_control(target: &Target) -> bool {
    let path = target.path.as_path();
    let takes_all = matches!(target.by, By::Shell(How::Removed | How::MovedAway | How::Cleaned));
    is_settings(path)
        || takes_all && is_client_s_folder(path)
        || takes_all && lists_a_client_s_folder(path.as_str().trim_start_matches(|c| c != '$'))
        || is_state_folder(path)
}

/// `rm .claude/$f`, `echo x > .claude/$name.json`: one of them may be the settings.
pub(super) fn may_be_settings(target: &Target) -> bool {
    if !target.is_computed || matches!(target.by, By::Shell(How::Made | How::Mode)) {
        return false;
    }
    // What is computed may have slashes of its own.
    let path = target.path.as_str();
    let known = path.find(['$', '`']).and_then(|at| path.get(..at)).unwrap_or(path);
    let Some((folder, _)) = known.rsplit_once('/') else { return false };
    let Some(pattern) = path.get(folder.len() + 1..).and_then(with_stars) else { return false };
    Client::settings_files()
        .any(|(client, file)| Utf8Path::new(folder).ends_with(client) && fast_glob::glob_match(&pattern, file.name))
}

/// A name with stars for what is only known when it runs; none when all of it is known.
fn with_stars(name: &str) -> Option<String> {
    let (before, computed) = name.split_once(['$', '`'])?;
    let end = match computed.chars().next() {
        Some('(') => computed.rfind(')').map_or(computed.len(), |at| at + 1),
        Some('{') => computed.find('}').map_or(computed.len(), |at| at + 1),
        _ => computed.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(computed.len()),
    };
    let behind = computed.get(end..).unwrap_or_default();
    Some(format!("{before}*{}", with_stars(behind).unwrap_or_else(|| behind.to_owned())))
}

/// `rm $(git ls-files .claude)`: what is listed for it is a client's folder.
fn lists_a_client_s_folder(text: &str) -> bool {
    let Some(code) = text.strip_prefix("$(") else { return false };
    let mut words = code.split([' ', ')', '"', '\'']).map(|word| Utf8Path::new(word.trim_end_matches('/')));
    words.any(is_client_s_folder)
}

/// `$XDG_STATE_HOME/dandori/…`
fn is_state_folder(path: &Utf8Path) -> bool {
    let parts: Vec<&str> = path.components().map(|part| part.as_str()).collect();
    parts.windows(2).any(|pair| matches!(pair, [base, "dandori"] if base.contains("$XDG_") || base.contains("${XDG_")))
}

/// The line goes to a folder of the guards and changes something there: which file it is need not be known.
pub(super) fn works_in_control(context: &Context, is_control: impl Fn(&Utf8Path) -> bool) -> Option<Utf8PathBuf> {
    if !context.targets().iter().any(|target| target.is_computed) {
        return None;
    }
    let goes = context.commands().iter().filter(|command| matches!(command.program.as_str(), "cd" | "pushd"));
    let folders = goes.flat_map(Command::args).map(|word| context.expanded(&fixed_part(&word.text)));
    folders.into_iter().find(|folder| is_control(folder))
}

/// Settings of a client, or the guards' own program, in the hands of a program that nobody knows only to look.
pub(super) fn handed_to_a_program(context: &Context) -> Option<Utf8PathBuf> {
    const READ_ONLY: [&str; 8] = ["git", "gh", "jq", "yq", "claude", "code", "dandori", "xargs"];
    let is_reader = |command: &Command| {
        let json_tool = command.args().iter().any(|word| word.text == "json.tool");
        let operands = command.args().iter().filter(|word| !word.text.starts_with('-')).count();
        let packs = git_call(command)
            .is_some_and(|call| matches!(call.subcommand.text.as_str(), "archive" | "bundle" | "fast-export"));
        !packs && (looks(command) || READ_ONLY.contains(&command.program.as_str()) || json_tool && operands <= 2)
    };
    let doers = context.commands().iter().filter(|command| !is_reader(command));
    let mut words = doers.flat_map(Command::args);
    words.find_map(|word| {
        let value = word.text.rsplit(['=', ':']).next().unwrap_or_default();
        let is_it = |path: &Utf8PathBuf| {
            (is_settings(path) || context.rules.control.contains(path)) && context.world.kind(path).is_some()
        };
        [word.text.as_str(), value].into_iter().map(|text| context.expanded(text)).find(is_it)
    })
}

/// `mount --bind x .claude`: another folder in the place of the guards', or a second way to it.
pub(super) fn mounted(context: &Context) -> Option<Utf8PathBuf> {
    let mounts =
        context.commands().iter().filter(|command| matches!(command.program.as_str(), "mount" | "umount" | "bindfs"));
    let mut folders = mounts.flat_map(Command::args).map(|word| context.expanded(&word.text));
    folders.find(|folder| !below(context, folder).is_empty())
}

/// The files that a patch of the line changes belong to the guards: what a patch says is read, wherever it lies.
pub(super) fn patched(context: &Context, is_ours: impl Fn(&Utf8Path) -> bool) -> Option<Utf8PathBuf> {
    if !context.targets().iter().any(|target| target.by == By::Shell(How::Patched)) {
        return None;
    }
    let words = crate::papers::words_of_computed_writes(context)?;
    let base = context.project.as_ref().map(|project| project.root.clone())?;
    let is_held = |path: &Utf8PathBuf| {
        is_settings(path) || is_ours(path) || path.starts_with(base.join(".git/hooks")) || path.ends_with(".git/config")
    };
    files_of_patch(&words).into_iter().map(|name| base.join(name)).find(is_held)
}

/// As far as no pattern stands in it.
fn fixed_part(path: &str) -> String {
    let fixed: Vec<&str> = path.split('/').take_while(|part| !part.contains(['*', '?', '[', '$', '`'])).collect();
    fixed.join("/")
}
