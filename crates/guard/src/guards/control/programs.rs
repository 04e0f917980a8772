//! Commands that take dandori away, or put something into a client by which it runs programs of its own.

use dandori_domain::Client;
use dandori_domain::client::VerbEffect;
use dandori_shell::{Command, Word};
use dandori_text::guard::control as text;

use crate::change::resolve;
use crate::context::Context;
use crate::guards::argv;
use crate::voice::Voice;

/// Whether something was found that is refused.
pub(super) fn judge(context: &Context, voice: &mut Voice) -> bool {
    for command in context.commands() {
        let line = || command.line();
        if changes_us(command) || installs_our_folder(context, command) {
            voice.block(text::replaces(context.lang, &line()));
            return true;
        }
        match of_client(command) {
            Some(VerbEffect::Disarms | VerbEffect::DisarmsHooks) => {
                voice.block(text::unguarded(context.lang, &line()));
                return true;
            }
            Some(VerbEffect::Adds) => voice.ask(text::adds(context.lang, &line())),
            None => {}
        }
    }
    false
}

/// A package manager is told to install, update or remove us, whichever it is.
fn changes_us(command: &Command) -> bool {
    const MANAGERS: [&str; 38] = [
        "apk", "apt", "apt-get", "aptitude", "asdf", "brew", "bun", "cargo", "choco", "conda", "dnf", "dpkg", "eopkg",
        "flatpak", "gem", "go", "guix", "mamba", "mise", "nala", "nix", "nix-env", "npm", "pacman", "paru", "pip",
        "pip3", "pipx", "pkg", "pnpm", "port", "rpm", "snap", "uv", "winget", "yarn", "yay", "zypper",
    ];
    const CHANGES: [&str; 24] = [
        "add",
        "autoremove",
        "binstall",
        "del",
        "erase",
        "force-reinstall",
        "global",
        "i",
        "install",
        "link",
        "purge",
        "quickinstall",
        "reinstall",
        "remove",
        "rm",
        "tool",
        "un",
        "uninstall",
        "unlink",
        "update",
        "upgrade",
        "r",
        "profile",
        "e",
    ];
    let args = command.args();
    let is_cargo_plugin = command.program.starts_with("cargo-");
    if !MANAGERS.contains(&command.program.as_str()) && !is_cargo_plugin {
        return false;
    }
    let changes = |word: &Word| {
        let letters = || {
            word.text.starts_with('-')
                && !word.text.starts_with("--")
                && word.text.contains(['R', 'S', 'U', 'r', 'i', 'e', 'P'])
        };
        CHANGES.contains(&word.text.trim_start_matches('-')) || is_by_letters(&command.program) && letters()
    };
    args.iter().any(changes) && args.iter().any(names_us)
}

/// `cargo install --path .`, where the package is ours.
fn installs_our_folder(context: &Context, command: &Command) -> bool {
    let args = command.args();
    if command.program != "cargo" || !args.iter().any(|word| word.text == "install") {
        return false;
    }
    argv::values(args, &["--path"]).into_iter().any(|path| {
        let folder = context.expanded(resolve(context.folder_of(command).as_deref(), path).as_str());
        let text = context.text(&folder.join("Cargo.toml")).ok().flatten().unwrap_or_default();
        text.lines().any(|line| line.replace([' ', '\''], "").replace('"', "") == "name=dandori")
    })
}

/// Managers whose verbs are options: `pacman -Rns dandori`, `dpkg -r dandori`.
fn is_by_letters(program: &str) -> bool {
    matches!(program, "pacman" | "paru" | "yay" | "dpkg" | "rpm" | "nix-env")
}

/// `dandori`, `dandori@1.2`, `dandori==1.0`, `user/tap/dandori`, `./dandori_1.0_amd64.deb`, `--path crates/dandori`.
fn names_us(word: &Word) -> bool {
    let name = word.text.rsplit(['/', '#']).next().unwrap_or_default();
    let rest = name.strip_prefix("dandori").or_else(|| name.strip_prefix("path=dandori"));
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-' && !rest.contains('.')))
}

/// What a command of a client's changes in what that client runs.
fn of_client(command: &Command) -> Option<VerbEffect> {
    let known = Client::of_program(&command.program)?.describe().command_line.verbs;
    let words = command.args().iter().map(|word| word.text.as_str()).filter(|word| !word.starts_with('-'));
    let words: Vec<&str> = words.take(4).collect();
    let [group, verb, rest @ ..] = words.as_slice() else { return None };
    let found = known.iter().find(|known| known.groups.contains(group) && known.verbs.contains(verb))?;
    let is_hooks = rest.first().is_some_and(|what| what.contains("hooks") || what.starts_with('$'));
    (found.effect != VerbEffect::DisarmsHooks || is_hooks).then_some(found.effect)
}
