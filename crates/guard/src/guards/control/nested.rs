//! A client that is started by the agent of another: with its guards, or not at all.

use camino::Utf8Path;
use dandori_domain::Client;
use dandori_shell::{Command, Reach, Word};

use super::armed;
use crate::context::Context;

/// Options under which a client does not load its hooks.
const SWITCHES: [&str; 9] = [
    "--bare",
    "--restricted",
    "--safe-mode",
    "--setting-sources",
    "--settings",
    "--disable",
    "--ignore-user-config",
    "--no-hooks",
    "--profile",
];

/// Whether settings, or the guards' own state, are looked for elsewhere when this variable is set.
pub(super) fn decides_about_guards(name: &str) -> bool {
    const EVERYBODY_S: [&str; 3] = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"];
    let is_clients = |client: &Client| {
        let (environment, settings) = (&client.describe().environment, &client.describe().settings);
        environment.disarms == Some(name) || environment.decides.contains(&name) || settings.moved_by.variable() == name
    };
    EVERYBODY_S.contains(&name) || name.starts_with("DANDORI_") || Client::ALL.iter().any(is_clients)
}

pub(super) fn starts_unguarded(context: &Context, client: Client, command: &Command, words: &[&str]) -> bool {
    if words.iter().any(|w| matches!(*w, "--version" | "--help" | "-h")) {
        return false;
    }
    let switches = words.iter().any(|w| SWITCHES.iter().any(|s| w == s || w.starts_with(&format!("{s}="))));
    let hooks_off = words.iter().any(|w| w.contains("hooks") && w.contains('='));
    switches
        || hooks_off
        || context.commands().iter().any(|other| is_around(other, command) && has_deciding(other))
        || context.commands().iter().any(exports)
        || leaves_its_settings(context, client, command)
}

/// An option of which nobody knows here what it does to the hooks: the next one that leaves settings away has a name that
/// is not among the switches yet.
pub(super) fn unknown_option(command: &Command) -> Option<&str> {
    let known = Client::of_program(&command.program)?.describe().command_line.harmless;
    let words = command.args().iter().map(|word| word.text.as_str()).take_while(|word| *word != "--");
    words.into_iter().filter(|word| word.starts_with("--")).find(|word| !known.contains(&before_equals(word)))
}

fn has_deciding(command: &Command) -> bool {
    command.assignments.iter().any(|(name, _)| decides_about_guards(name))
}

/// The command itself, or one that it is reached through: `HOME=/x npx claude`, `HOME=/x sh -c claude`.
fn is_around(outer: &Command, command: &Command) -> bool {
    let is_it = |reach: &Reach| matches!(reach, Reach::Wrapper(by) | Reach::ShellCode(by) if *by == outer.program);
    std::ptr::eq(outer, command) || command.reached.iter().any(is_it)
}

/// A client that goes on with a session that is there: it would speak in it as its user.
pub(super) fn takes_up_a_session(client: Client, words: &[&str]) -> bool {
    let ways = &client.describe().command_line.takes_up;
    words.iter().any(|word| {
        ways.options.contains(&before_equals(word))
            || ways.verbs.contains(word)
            // `-c`, `-r`, `-cp`, `-r<id>`
            || short_options(word).is_some_and(|letters| letters.contains(ways.letters))
    })
}

fn before_equals(word: &str) -> &str {
    word.split('=').next().unwrap_or(word)
}

/// The letters of `-abc`.
fn short_options(word: &str) -> Option<&str> {
    let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
    letters.split(|c: char| !c.is_ascii_alphabetic()).next()
}

/// `export HOME=…` before it in the line.
fn exports(command: &Command) -> bool {
    let is_export = matches!(command.program.as_str(), "export" | "declare" | "typeset" | "readonly");
    let name = |word: &Word| word.text.split('=').next().unwrap_or_default().to_owned();
    is_export && command.args().iter().any(|word| word.is_computed() || decides_about_guards(&name(word)))
}

/// A client reads a project's settings from the folder it starts in. Where the guards hang on those, another folder is
/// without.
fn leaves_its_settings(context: &Context, client: Client, command: &Command) -> bool {
    let Some(hooks) = client.hooks().filter(|hooks| !hooks.searches_up) else { return false };
    let folder = client.describe().settings.folder;
    let files: Vec<String> =
        [Some(hooks.file), hooks.local_file].into_iter().flatten().map(|file| format!("{folder}/{file}")).collect();
    let Some(project) = &context.project else { return false };
    let is_called_by =
        |path: &Utf8Path| context.text(path).ok().flatten().is_some_and(|text| armed::calls_us(context, hooks, &text));
    let is_guarded_in = |folder: &Utf8Path| files.iter().any(|file| is_called_by(&folder.join(file)));
    let of_user = context.rules.control.iter().filter(|path| !path.starts_with(&project.root));
    let mut of_user = of_user.filter(|path| files.iter().any(|file| path.ends_with(file)));
    let folder = context.folder_of(command);
    let is_there = folder.is_some_and(|folder| is_guarded_in(&context.world.real(&folder)));
    !is_there && is_guarded_in(&project.root) && !of_user.any(|path| is_called_by(path))
}
