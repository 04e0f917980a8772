//! A whole folder is changed: whether what belongs to the guards in it is.

use camino::Utf8Path;
use dandori_shell::{Command, How};

use crate::context::{By, Context, Target};
use crate::guards::argv;
use crate::world::{Call, Ran};

/// Listing an archive is quick, or not worth it.
const LISTING: std::time::Duration = std::time::Duration::from_secs(2);

/// Whether a change of the folder reaches this path in it.
pub(super) fn reaches(context: &Context, target: &Target, path: &Utf8Path) -> bool {
    let inside = path.strip_prefix(&target.real).unwrap_or(path);
    match (target.by, &target.from) {
        // What is not in the source does not come.
        (By::Shell(How::Copied), Some(from)) => context.world.kind(&from.join(inside)).is_some(),
        (By::Shell(How::Restored), _) => is_tracked(context, path),
        (By::Shell(How::Cleaned), _) => !is_tracked(context, path),
        (By::Shell(How::Extracted), _) => {
            let mut archives = context.commands().iter().filter(|command| is_archiver(&command.program)).peekable();
            archives.peek().is_none() || archives.any(|command| brings(context, command, inside))
        }
        // Nobody is disarmed by a mode that lets the user's own program read.
        (By::Shell(How::Mode), _) => context.commands().iter().any(takes_rights),
        _ => true,
    }
}

/// Git has the file: its index names it. In the fourth version names are shortened, so all count as there.
fn is_tracked(context: &Context, path: &Utf8Path) -> bool {
    let Some(checkout) = context.checkout(path) else { return true };
    let Ok(Some(index)) = context.world.text(&checkout.git_dir.join("index")) else { return false };
    index.get(..8).is_none_or(|head| head.ends_with('\u{4}')) || index.contains(checkout.short(path).as_str())
}

fn is_archiver(program: &str) -> bool {
    matches!(program, "tar" | "bsdtar" | "gtar" | "unzip" | "7z" | "cpio" | "pax")
}

/// Whether an archive has this path, or cannot be looked into.
fn brings(context: &Context, command: &Command, inside: &Utf8Path) -> bool {
    let args = command.args();
    let Some(folder) = context.folder_of(command) else { return true };
    let words: Vec<&str> = args.iter().map(|word| word.text.as_str()).collect();
    let (archive, lists): (&str, &[&str]) = match (command.program.as_str(), words.as_slice()) {
        ("unzip", _) => {
            let operands = argv::operands(args, &["-d", "-x"]);
            let Some(file) = operands.first() else { return true };
            (file.text.as_str(), &["unzip", "-Z1"])
        }
        // `tar xzf x.tgz`: the file stands behind the letters; `tar -xf x.tgz`, `tar -f x.tgz -x`: behind its own.
        ("tar" | "bsdtar" | "gtar", [letters, file, ..]) if !letters.starts_with("--") && letters.ends_with('f') => {
            (file, &["tar", "-tf"])
        }
        ("tar" | "bsdtar" | "gtar", _) => match argv::values(args, &["-f", "--file"]).first() {
            Some(file) => (file, &["tar", "-tf"]),
            None => return true,
        },
        _ => return true,
    };
    let path = folder.join(archive);
    let is_made_here = context.targets().iter().any(|target| target.is_computed || target.real == path);
    if archive.starts_with('-') || is_made_here || context.world.kind(&path).is_none() {
        return true;
    }
    let argv = lists.iter().map(|word| (*word).to_owned()).chain([path.into_string()]).collect();
    let call = Call { argv, cwd: Some(folder), stdin: String::new(), limit: LISTING };
    let Ran::Ended { code: Some(0), stdout, .. } = context.world.run(&call) else { return true };
    // Members may lose leading folders on the way (`--strip-components`), so their end counts.
    stdout
        .lines()
        .any(|member| Utf8Path::new(member.trim_start_matches("./")).ends_with(inside) || member.contains(".."))
}

/// `chmod -R 000 .`, `chmod -R a-r .`, `chown -R other .`: the guards' own files could no longer be read.
fn takes_rights(command: &Command) -> bool {
    match command.program.as_str() {
        "chmod" => !command.args().iter().any(|word| {
            let adds =
                word.text.chars().all(|c| c.is_ascii_alphabetic() || matches!(c, '+' | ',')) && word.text.contains('+');
            let keeps = word.text.len() >= 3
                && word.text.bytes().all(|b| b.is_ascii_digit())
                && matches!(word.text.as_bytes().get(word.text.len() - 3), Some(b'4'..=b'7'));
            adds || keeps
        }),
        "chown" | "chgrp" | "chattr" | "setfacl" => true,
        _ => false,
    }
}
