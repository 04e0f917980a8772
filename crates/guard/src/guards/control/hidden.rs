//! Paths that are only known when the line runs, by what is written of them.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_shell::{Command, How, files_of_patch, git_call};

use super::{CLIENT_FOLDERS, below, is_settings};
use crate::context::{By, Context, Target};
use crate::quiet::looks;

/// The part that is written names what belongs to the guards: `$DIR/.claude/settings.json`.
pub(super) fn names_control(target: &Target) -> bool {
    let path = target.path.as_path();
    let takes_all = matches!(target.by, By::Shell(How::Removed | How::MovedAway | How::Cleaned));
    is_settings(path)
        || takes_all && CLIENT_FOLDERS.iter().any(|folder| path.ends_with(folder))
        || is_state_folder(path)
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
    let words = crate::papers::words_of_hidden_writes(context)?;
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
