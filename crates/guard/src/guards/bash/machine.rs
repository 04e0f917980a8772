//! Disks, permissions, and the machine itself.

use dandori_shell::{Command, Reach, Word};

use crate::change::resolve;
use crate::context::Context;
use crate::event::Tool;
use crate::guards::argv;

use super::{Class, Danger, removal};

pub(super) fn danger(context: &Context, command: &Command) -> Option<Danger> {
    let args = command.args();
    let first = argv::operands(args, &[]).first().map_or("", |w| w.text.as_str());
    let any = |test: fn(&str) -> bool| args.iter().any(|w| test(&w.text));
    let class = match command.program.as_str() {
        program if program == "mkfs" || program.starts_with("mkfs.") => Class::Disk,
        "wipefs" if !argv::has(args, "n", &["no-act"]) && argv::has(args, "ao", &["all", "offset"]) => Class::Disk,
        "fdisk" | "parted" | "sfdisk" | "sgdisk" | "gdisk" | "mkswap"
            if any(is_device) && !argv::has(args, "lpd", &["list", "print", "dump"]) =>
        {
            Class::Disk
        }
        "diskutil" if first.starts_with("erase") || first.starts_with("partition") => Class::Disk,
        "dd" if any(|text| text.strip_prefix("of=").is_some_and(is_device)) => Class::Disk,
        "shred" | "blkdiscard" if any(is_device) => Class::Disk,

        "chmod" | "chown" | "chgrp" if argv::has(args, "R", &["recursive"]) && is_too_wide(context, command) => {
            Class::Perms
        }
        "shutdown" | "reboot" | "halt" | "poweroff" => Class::System,
        "init" | "telinit" if matches!(first, "0" | "6") => Class::System,
        "kill" if kills_everything(command) => Class::System,
        "systemctl" | "service" | "launchctl" if any(|text| matches!(text, "poweroff" | "reboot" | "halt")) => {
            Class::System
        }
        "systemctl" if matches!(first, "stop" | "disable" | "mask" | "kill" | "isolate") => Class::Service,
        "service" if args.last().is_some_and(|w| w.text == "stop") => Class::Service,
        "launchctl" if matches!(first, "unload" | "bootout" | "remove") => Class::Service,
        "crontab" if argv::has(args, "r", &[]) => Class::Service,
        _ if is_fork_bomb(context, command) => Class::System,
        _ => return None,
    };
    Some(class.into())
}

/// A disk, not one of the devices that everybody writes to.
pub(super) fn is_device(path: &str) -> bool {
    const PLAIN: &[&str] =
        &["null", "zero", "stdout", "stderr", "stdin", "tty", "full", "random", "urandom", "shm", "fd", "pts"];
    let Some(name) = path.strip_prefix("/dev/") else { return false };
    !PLAIN.contains(&name.split('/').next().unwrap_or_default())
}

/// Open to everybody, or the whole home or machine.
fn is_too_wide(context: &Context, command: &Command) -> bool {
    let operands = argv::operands(command.args(), &[]);
    let opens = command.program == "chmod"
        && operands.first().is_some_and(|mode| {
            matches!(mode.text.as_str(), "777" | "0777" | "a+rwx" | "ugo+rwx" | "o+w" | "a+w" | "666")
        });
    let path = |word: &Word| {
        let text = word.text.trim_end_matches('*');
        if text.starts_with('~') {
            context.expanded(text)
        } else {
            resolve(context.folder_of(command).as_deref(), text)
        }
    };
    let files = operands.get(1..).unwrap_or_default();
    let is_wide = |word: &&Word| !word.is_computed() && path(word) != "/tmp" && removal::is_top(context, &path(word));
    opens && files.iter().any(|word| !path(word).starts_with("/tmp")) || files.iter().any(is_wide)
}

/// `kill -9 -1`
fn kills_everything(command: &Command) -> bool {
    let args = command.args();
    args.len() > 1 && args.last().is_some_and(|w| w.text == "-1")
}

/// A function that starts itself in the background: `:(){ :|:& };:`
fn is_fork_bomb(context: &Context, command: &Command) -> bool {
    let calls_itself =
        command.reached.iter().any(|reach| matches!(reach, Reach::Function(name) if *name == command.program));
    let Some(Tool::Bash { command: line, .. }) = &context.event.tool else { return false };
    calls_itself && line.contains('&') && line.contains('|')
}
