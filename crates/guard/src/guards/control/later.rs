//! What is run by itself later: when a shell starts, a session begins, a clock strikes, or somebody logs in. Nobody judges
//! it then, and what it puts into the environment reaches the clients of tomorrow.

use camino::Utf8Path;
use dandori_shell::{Command, How};
use dandori_text::guard::control as text;

use super::nested::decides_about_guards;
use crate::context::{By, Context, Target};
use crate::papers::text_after;
use crate::voice::Voice;

/// From the user's home.
const AT_HOME: &[&str] = &[
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".config/autostart",
    ".config/direnv",
    ".config/environment.d",
    ".config/fish",
    ".config/systemd",
    ".local/share/systemd",
    ".pam_environment",
    ".profile",
    ".ssh/config",
    ".ssh/environment",
    ".ssh/rc",
    ".xinitrc",
    ".xprofile",
    ".xsessionrc",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "Library/LaunchAgents",
];

const OF_THE_MACHINE: &[&str] = &[
    "/etc/bash.bashrc",
    "/etc/cron.d",
    "/etc/cron.daily",
    "/etc/cron.hourly",
    "/etc/cron.monthly",
    "/etc/cron.weekly",
    "/etc/crontab",
    "/etc/environment",
    "/etc/ld.so.preload",
    "/etc/profile",
    "/etc/profile.d",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/systemd",
    "/etc/zsh",
    "/Library/LaunchAgents",
    "/Library/LaunchDaemons",
    "/var/spool/cron",
];

/// Whether something was found that is refused.
pub(super) fn judge(context: &Context, voice: &mut Voice) -> bool {
    for target in context.targets().iter().filter(|target| brings_text(target)) {
        if let Some(name) = planted(context, target) {
            voice.block(text::plants(context.lang, target.path.as_str(), &name));
            return true;
        }
        if [&target.path, &target.real].into_iter().any(|path| lets_in(path)) {
            voice.block(text::lets_in(context.lang, target.path.as_str()));
            return true;
        }
        if [&target.path, &target.real].into_iter().any(|path| is_started(context, path)) {
            voice.ask(text::starts_later(context.lang, target.path.as_str()));
        }
    }
    for command in context.commands().iter().filter(|command| schedules(command)) {
        voice.ask(text::schedules_line(context.lang, &command.line()));
    }
    false
}

/// Not what only goes, is dated or comes back from git.
pub(super) fn brings_text(target: &Target) -> bool {
    !matches!(
        target.by,
        By::Shell(How::Removed | How::MovedAway | How::Mode | How::Made | How::Restored | How::Cleaned)
    )
}

fn is_started(context: &Context, path: &Utf8Path) -> bool {
    let home = context.world.home();
    let in_home = home.as_ref().and_then(|home| path.strip_prefix(home).ok());
    // `$HOME` may not be known in the line.
    let written = || path.as_str().strip_prefix("$HOME/").or_else(|| path.as_str().strip_prefix("${HOME}/"));
    let inner = in_home.map(Utf8Path::as_str).or_else(written);
    inner.is_some_and(|inner| AT_HOME.iter().any(|known| Utf8Path::new(inner).starts_with(known)))
        || OF_THE_MACHINE.iter().any(|known| path.starts_with(known))
}

/// Who may log in as the user.
fn lets_in(path: &Utf8Path) -> bool {
    path.ends_with(".ssh/authorized_keys") || path.ends_with(".ssh/authorized_keys2")
}

/// A variable that decides about the guards, in a file that shells read.
fn planted(context: &Context, target: &Target) -> Option<String> {
    let is_read = |path: &Utf8Path| path.file_name() == Some(".envrc") || is_started(context, path);
    if ![&target.path, &target.real].into_iter().any(|path| is_read(path)) {
        return None;
    }
    let text = match (target.by, &context.event.tool) {
        (By::Edit, _) => {
            let before = context.text(&target.real).ok().flatten().unwrap_or_default();
            let after = text_after(context, &target.real).unwrap_or_default();
            after.lines().filter(|line| !before.lines().any(|old| old == *line)).collect::<Vec<_>>().join("\n")
        }
        (By::Shell(_), Some(crate::event::Tool::Bash { command, .. })) => command.clone(),
        _ => return None,
    };
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '='));
    let names = words.filter_map(|word| word.split_once('=').map(|(name, _)| name));
    let fish = text.lines().filter(|line| line.contains("set ")).flat_map(|line| line.split_whitespace());
    names.chain(fish).find(|name| decides_about_guards(name)).map(str::to_owned)
}

/// `crontab jobs`, `systemctl --user enable x`: nothing of it is in this session.
fn schedules(command: &Command) -> bool {
    let words: Vec<&str> = command.args().iter().map(|word| word.text.as_str()).collect();
    let has = |verbs: &[&str]| words.iter().any(|word| verbs.contains(word));
    match command.program.as_str() {
        "crontab" => !has(&["-l", "-r", "-h", "--help", "-V"]),
        "systemctl" => {
            has(&["--user"]) && has(&["enable", "link", "edit", "start", "restart", "reenable", "set-environment"])
        }
        "launchctl" => has(&["load", "bootstrap", "submit", "setenv", "enable"]),
        "loginctl" => has(&["enable-linger"]),
        _ => false,
    }
}
