//! The guards' own installation: settings that call them, their configuration, state and program, and the words that are
//! for the user alone. Without this guard every other one could be switched off by whom it watches.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Client;
use dandori_domain::client::{Place, Settings};
use dandori_shell::{Command, Word};
use dandori_text::guard::control as text;
use serde_json::Value;

use crate::context::{By, Context, MOST_FILES, Target};
use crate::event::Kind;
use crate::papers::text_after;
use crate::voice::{Trouble, Voice};

use super::secrets::shown;

mod armed;
mod computed_paths;
mod found;
mod git_dir;
mod keys;
mod later;
mod nested;
mod programs;
mod put_away;
mod speaks;
mod trees;

use trees::Archives;

pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    if let Kind::ConfigChange { path, .. } = &context.event.kind {
        if let Some(path) = path.as_deref().filter(|path| is_settings(path) || is_listed_settings(context, path)) {
            armed::config_changed(context, path, voice)?;
        }
        return Ok(());
    }
    if context.names_too_many_files() {
        voice.block(text::too_many(context.lang, MOST_FILES));
        return Ok(());
    }
    if speaks::judge(context, voice) || programs::judge(context, voice) || later::judge(context, voice) {
        return Ok(());
    }
    let archives = Archives::of(context);
    for target in context.targets() {
        if let Some(finding) = touched(context, &archives, target, voice)? {
            voice.block(finding);
            return Ok(());
        }
        if voice.is_blocking() {
            return Ok(());
        }
    }
    if let Some(folder) =
        context.targets().iter().find(|target| trees::may_be_unpacked_over(context, &archives, target))
    {
        voice.ask(text::unpacks(context.lang, folder.real.as_str()));
    }
    if let Some(target) = context.targets().iter().find(|target| computed_paths::may_be_settings(target)) {
        voice.ask(text::may_write(context.lang, target.path.as_str()));
    }
    let hidden = computed_paths::works_in_control(context, |path| is_control(context, path))
        .or_else(|| found::found_by_the_line(context))
        .or_else(|| found::changed_by_name(context))
        .or_else(|| computed_paths::handed_to_a_program(context))
        .or_else(|| computed_paths::mounted(context))
        .or_else(|| computed_paths::patched(context, |path| is_control(context, path) || is_own_file(context, path)));
    if let Some(path) = hidden {
        voice.block(text::writes(context.lang, path.as_str()));
        return Ok(());
    }
    if let Some(path) = put_away::by_git(context) {
        voice.block(text::puts_away(context.lang, &shown(context, &path)));
        return Ok(());
    }
    if looks_the_program_up(context) {
        voice.block(text::writes(context.lang, "dandori"));
        return Ok(());
    }
    for command in context.commands() {
        if let Some(finding) = run(context, command) {
            voice.block(finding);
            return Ok(());
        }
        if let Some(option) = nested::unknown_option(command) {
            voice.ask(text::unknown_option(context.lang, &command.line(), option));
        }
    }
    Ok(())
}

fn is_settings(path: &Utf8Path) -> bool {
    Client::settings_at(path).is_some()
}

/// A folder that a client keeps its settings in.
fn is_client_s_folder(path: &Utf8Path) -> bool {
    Client::folders().any(|folder| path.ends_with(folder))
}

fn all_settings() -> impl Iterator<Item = &'static Settings> {
    Client::ALL.iter().map(|client| &client.describe().settings)
}

/// Settings of a client whose folder has another name: a user's who moved it, or a run's own.
fn is_listed_settings(context: &Context, path: &Utf8Path) -> bool {
    let is_hooks =
        |name: &str| Client::with_hooks().any(|(_, hooks)| [Some(hooks.file), hooks.local_file].contains(&Some(name)));
    path.file_name().is_some_and(is_hooks) && context.rules.control.iter().any(|control| control == path)
}

/// Whether a path belongs to the guards. Where runs work lies below the state folder, and in it again what their guards
/// go by: the nearest path decides.
fn is_control(context: &Context, path: &Utf8Path) -> bool {
    let nearest =
        |paths: &[Utf8PathBuf]| paths.iter().filter(|p| path.starts_with(p)).map(|p| p.components().count()).max();
    nearest(&context.rules.control) > nearest(&context.rules.worktrees)
}

fn touched(
    context: &Context,
    archives: &Archives,
    target: &Target,
    voice: &mut Voice,
) -> Result<Option<String>, Trouble> {
    let lang = context.lang;
    if git_dir::is_written(context, target) {
        return Ok(Some(text::git_folder(lang, &shown(context, &target.path))));
    }
    if target.is_computed {
        return Ok(computed_paths::names_control(target).then(|| text::writes(lang, target.path.as_str())));
    }
    for path in [&target.path, &target.real] {
        if is_settings(path) {
            return settings_edit(context, target, path, voice);
        }
        if is_taken_over(path) {
            return Ok(Some(text::writes(lang, path.as_str())));
        }
        if takes_part(context, target, path, voice)? {
            return Ok(None);
        }
        if is_control(context, path) || is_own_file(context, path) {
            return Ok(Some(text::writes(lang, path.as_str())));
        }
    }
    if target.is_tree {
        let below =
            below(context, &target.real).into_iter().find(|path| trees::reaches(context, archives, target, path));
        return Ok(below.map(|path| text::holds(lang, target.real.as_str(), path.as_str())));
    }
    Ok(None)
}

/// What of the guards lies in a folder.
fn below(context: &Context, folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let settings = Client::settings_files().map(|(name, file)| folder.join(name).join(file.name));
    let inner = Client::settings_files().filter(|(name, _)| folder.ends_with(name));
    settings
        .chain(inner.map(|(_, file)| folder.join(file.name)))
        .chain(context.rules.control.iter().filter(|c| c.starts_with(folder)).cloned())
        .filter(|path| context.world.kind(path).is_some())
        .collect()
}

/// A line that asks where the program lies and writes to what it was told: `rm "$(command -v dandori)"`.
fn looks_the_program_up(context: &Context) -> bool {
    const LOOKS: [&str; 7] = ["command", "which", "type", "whereis", "readlink", "realpath", "find"];
    let names_it = |word: &Word| Utf8Path::new(&word.text).file_name() == Some("dandori");
    let looks = |command: &Command| LOOKS.contains(&command.program.as_str()) && command.args().iter().any(names_it);
    let is_written = |target: &Target| target.is_computed || target.path.file_name() == Some("dandori");
    context.commands().iter().any(looks) && context.targets().iter().any(is_written)
}

/// dandori's own files in a repository. Those of a linked worktree are only files: the main checkout's are read.
fn is_own_file(context: &Context, path: &Utf8Path) -> bool {
    let Some(checkout) = context.checkout(path) else { return false };
    let short = checkout.short(path);
    let is_main = checkout.git_dir == checkout.common_dir;
    is_main && (short == "dandori.toml" || short == ".claude/protected-files.txt")
}

/// An edit of a client's settings passes when what changes in them is harmless.
fn settings_edit(
    context: &Context,
    target: &Target,
    path: &Utf8Path,
    voice: &mut Voice,
) -> Result<Option<String>, Trouble> {
    let refused = Some(text::settings(context.lang, path.as_str()));
    let keys = Client::settings_at(path).and_then(|file| file.keys);
    let Some(keys) = keys.filter(|_| target.by == By::Edit) else { return Ok(refused) };
    match values(context, target)? {
        Some((before, after)) => {
            keys::judge(context, keys, path, (&before, &after), voice);
            Ok(None)
        }
        None => Ok(refused),
    }
}

/// The file as JSON now and after the edit; `None` when either is none.
fn values(context: &Context, target: &Target) -> Result<Option<(Value, Value)>, Trouble> {
    let before = context.text(&target.real)?.unwrap_or_else(|| "{}".to_owned());
    let after = text_after(context, &target.real).unwrap_or_default();
    let parsed = |text: &str| serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
    Ok(parsed(&before).zip(parsed(&after)))
}

fn is_taken_over(path: &Utf8Path) -> bool {
    let part = |known: &str| path.ancestors().any(|folder| folder.ends_with(known));
    all_settings().any(|settings| {
        settings.machine_folders.iter().any(|known| path.starts_with(known))
            || settings.installed.iter().any(|known| part(known))
    })
}

/// Files beside the settings from which a client takes programs that it runs: servers, agents, skills, commands. Whether
/// it is one.
fn takes_part(context: &Context, target: &Target, path: &Utf8Path, voice: &mut Voice) -> Result<bool, Trouble> {
    let lies_at = |place: &Place| match place {
        Place::Anywhere(name) => path.file_name() == Some(name),
        Place::Home(name) => context.world.home().is_some_and(|home| path == home.join(name)),
    };
    let beside = all_settings().flat_map(|settings| settings.beside).find(|beside| lies_at(&beside.place));
    if let Some(keys) = beside.map(|beside| beside.keys) {
        match (target.by, values(context, target)?) {
            (By::Edit, Some((before, after))) => drop(keys::judge(context, keys, path, (&before, &after), voice)),
            _ if later::brings_text(target) => voice.ask(text::names_programs(context.lang, path.as_str())),
            _ => {}
        }
        return Ok(true);
    }
    let lies_in = |folders: &[&str]| path.ancestors().any(|folder| folders.iter().any(|known| folder.ends_with(known)));
    let papers = all_settings().filter_map(|settings| settings.papers.as_ref());
    let Some(papers) = papers.into_iter().find(|papers| path.extension() == Some("md") && lies_in(papers.folders))
    else {
        return Ok(false);
    };
    if target.by == By::Edit {
        let before = context.text(&target.real)?.unwrap_or_default();
        let after = text_after(context, &target.real).unwrap_or_default();
        keys::judge_head(context, papers.head, path, &before, &after, voice);
    } else if later::brings_text(target) && says_hooks(context) {
        voice.ask(text::names_programs(context.lang, path.as_str()));
    }
    Ok(true)
}

/// What a line writes is not taken apart; whether it could be a head with programs in it shows all the same.
fn says_hooks(context: &Context) -> bool {
    let Some(crate::event::Tool::Bash { command, .. }) = &context.event.tool else { return false };
    ["hooks", "mcpServers"].iter().any(|key| command.contains(key))
}

fn run(context: &Context, command: &Command) -> Option<String> {
    let words: Vec<&str> = command.args().iter().map(|w| w.text.as_str()).collect();
    let plain = crate::verb::words(command).unwrap_or_default();
    let verbs: Vec<&str> = plain.iter().map(|word| word.text.as_str()).collect();
    let lang = context.lang;
    match command.program.as_str() {
        "dandori" => {
            let is_for_users = match verbs.as_slice() {
                ["guard", verb, ..] => *verb == "allow" || *verb == "revoke",
                ["consent" | "trust" | "hook" | "uninstall", ..] => true,
                ["config", verb, ..] => *verb != "show",
                ["pr", "merge", ..] => true,
                ["init", ..] => !words.contains(&"--dry-run"),
                ["daemon", "stop" | "start", ..] => true,
                _ => false,
            };
            let is_asking = words.iter().any(|w| matches!(*w, "--help" | "-h"));
            let is_hidden = command.args().iter().take(3).any(Word::is_computed);
            (is_for_users && !is_asking || is_hidden).then(|| text::verb(lang, &command.line()))
        }
        "pkill" | "killall" | "kill" | "skill" | "fuser" => {
            kills_us(context, command).then(|| text::stops(lang, &command.line()))
        }
        program => {
            let client = Client::of_program(program)?;
            if nested::takes_up_a_session(client, &words) {
                return Some(text::takes_up(lang, &command.line()));
            }
            nested::starts_unguarded(context, client, command, &words).then(|| text::unguarded(lang, &command.line()))
        }
    }
}

/// By its own words, or by those of a program that looks for processes in the same line.
fn kills_us(context: &Context, command: &Command) -> bool {
    const LOOK: [&str; 9] = ["pgrep", "pidof", "ps", "grep", "egrep", "awk", "rg", "lsof", "fuser"];
    let is_us = |word: &Word| {
        // `grep '[d]andori'` is how a search does not find itself.
        let text = word.text.replace(['[', ']'], "");
        let is_hook = |agent: &str| text.contains(&format!("hook {agent}"));
        text.contains("dandori") || text == "hook" || Client::ALL.iter().any(|client| is_hook(client.name()))
    };
    let looks_for_us = |other: &Command| LOOK.contains(&other.program.as_str()) && other.args().iter().any(is_us);
    command.args().iter().any(is_us) || context.commands().iter().any(looks_for_us)
}

#[cfg(test)]
mod tests;
