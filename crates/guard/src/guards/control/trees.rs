//! A whole folder is changed: whether what belongs to the guards in it is.

use std::cell::OnceCell;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_shell::{Command, How, Word, git_call};

use crate::context::{By, Context, Target};
use crate::guards::argv;
use crate::world::{Call, Ran};

/// Archives of one line that are looked into.
const MOST: usize = 4;
/// Listing an archive is quick, or not worth it.
const LISTING: std::time::Duration = std::time::Duration::from_secs(2);

/// Whether a change of the folder reaches this path in it.
pub(super) fn reaches(context: &Context, archives: &Archives, target: &Target, path: &Utf8Path) -> bool {
    let inside = path.strip_prefix(&target.real).unwrap_or(path);
    match (target.by, &target.from) {
        // What is not in the source does not come.
        (By::Shell(How::Copied), Some(from)) => context.world.kind(&from.join(inside)).is_some(),
        (By::Shell(How::Restored), _) => is_tracked(context, path),
        (By::Shell(How::Cleaned), _) => {
            !is_tracked(context, path) && (takes_ignored(context) || !is_ignored(context, path))
        }
        (By::Shell(How::Extracted), _) => archives.bring(inside) == Some(true),
        // Nobody is disarmed by a mode that lets the user's own program read.
        (By::Shell(How::Mode), _) => context.commands().iter().any(|command| takes_rights(context, command)),
        _ => true,
    }
}

/// An archive that nobody can look into goes over a folder with settings of the guards in it.
pub(super) fn may_be_unpacked_over(context: &Context, archives: &Archives, target: &Target) -> bool {
    let is_unseen = |path: &Utf8PathBuf| {
        let inside = path.strip_prefix(&target.real).unwrap_or(path);
        archives.bring(inside).is_none()
    };
    target.by == By::Shell(How::Extracted)
        && target.is_tree
        && !target.is_computed
        && super::below(context, &target.real).iter().any(is_unseen)
}

/// What the archives hold that a line unpacks, listed once, when somebody asks.
pub(super) struct Archives<'c> {
    context: &'c Context<'c>,
    members: OnceCell<Option<Vec<String>>>,
}

impl<'c> Archives<'c> {
    pub(super) fn of(context: &'c Context<'c>) -> Self {
        Self { context, members: OnceCell::new() }
    }

    /// Whether one of them has this path; `None` when that cannot be looked at.
    fn bring(&self, inside: &Utf8Path) -> Option<bool> {
        let members = self.members.get_or_init(|| self.listed()).as_ref()?;
        // Members may lose leading folders on the way (`--strip-components`), so their end counts.
        let lies_over =
            |member: &String| Utf8Path::new(member.trim_start_matches("./")).ends_with(inside) || member.contains("..");
        Some(members.iter().any(lies_over))
    }

    fn listed(&self) -> Option<Vec<String>> {
        let unpacked = self.context.targets().iter().filter(|target| target.by == By::Shell(How::Extracted));
        let archives: Vec<Option<&Utf8Path>> = unpacked.map(|target| target.from.as_deref()).collect();
        if archives.len() > MOST {
            return None;
        }
        let mut members = Vec::new();
        for archive in archives {
            members.append(&mut members_of(self.context, archive?)?);
        }
        Some(members)
    }
}

/// Git has the file: its index names it. In the fourth version names are shortened, so all count as there.
pub(super) fn is_tracked(context: &Context, path: &Utf8Path) -> bool {
    let Some(checkout) = context.checkout(path) else { return true };
    let Ok(Some(index)) = context.world.text(&checkout.git_dir.join("index")) else { return false };
    index.get(..8).is_none_or(|head| head.ends_with('\u{4}')) || index.contains(checkout.short(path).as_str())
}

/// `git clean -x`, `git stash --all`
fn takes_ignored(context: &Context) -> bool {
    context.commands().iter().filter_map(git_call).any(|call| match call.subcommand.text.as_str() {
        "clean" => ['x', 'X'].iter().any(|letter| call.has_option("x", Some(*letter))),
        "stash" => call.has_option("all", Some('a')),
        _ => false,
    })
}

/// By the ignore files at the top, as far as they are plain: a pattern taken back with `!` counts as none.
fn is_ignored(context: &Context, path: &Utf8Path) -> bool {
    let Some(checkout) = context.checkout(path) else { return false };
    let short = checkout.short(path);
    let files = [checkout.root.join(".gitignore"), checkout.common_dir.join("info/exclude")];
    let texts = files.iter().filter_map(|file| context.world.text(file).ok().flatten());
    let lines: Vec<String> = texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    let holds = |line: &String| {
        let pattern = line.trim().trim_start_matches('/').trim_end_matches('/');
        !pattern.is_empty() && short.ancestors().any(|part| fast_glob::glob_match(pattern, part.as_str()))
    };
    lines.iter().any(holds) && !lines.iter().any(|line| line.trim().starts_with('!'))
}

fn members_of(context: &Context, archive: &Utf8Path) -> Option<Vec<String>> {
    let is_zip = |path: &Utf8Path| matches!(path.extension(), Some("zip" | "jar" | "war" | "whl" | "egg" | "apk"));
    // `unzip x` looks for `x.zip`, too.
    let named = [archive.to_owned(), Utf8PathBuf::from(format!("{archive}.zip"))];
    let Some(archive) = named.into_iter().find(|path| context.world.kind(path).is_some()) else {
        // Unless the line fetches it, there is nothing to unpack.
        let unpacks = |command: &Command| matches!(command.program.as_str(), "tar" | "bsdtar" | "gtar" | "unzip");
        return context.commands().iter().all(unpacks).then(Vec::new);
    };
    let lists: &[&str] = if is_zip(&archive) { &["unzip", "-Z1"] } else { &["tar", "-tf"] };
    let cwd = archive.parent().map(Utf8Path::to_owned);
    let argv = lists.iter().map(|word| (*word).to_owned()).chain([archive.into_string()]).collect();
    let call = Call { argv, cwd, stdin: String::new(), limit: LISTING };
    let Ran::Ended { code: Some(0), stdout, .. } = context.world.run(&call) else { return None };
    Some(stdout.lines().map(str::to_owned).collect())
}

/// `chmod -R 000 .`, `chmod -R a-r .`, `chown -R other .`: the guards' own files could no longer be read.
pub(super) fn takes_rights(context: &Context, command: &Command) -> bool {
    match command.program.as_str() {
        "chmod" => !command.args().iter().any(|word| {
            let adds =
                word.text.chars().all(|c| c.is_ascii_alphabetic() || matches!(c, '+' | ',')) && word.text.contains('+');
            let keeps = word.text.len() >= 3
                && word.text.bytes().all(|b| b.is_ascii_digit())
                && matches!(word.text.as_bytes().get(word.text.len() - 3), Some(b'4'..=b'7'));
            adds || keeps
        }),
        "chown" => !stays_the_user_s(context, command),
        // Their owner reads them as before.
        "chgrp" => argv::has(command.args(), "", &["reference"]),
        "chattr" | "setfacl" => true,
        _ => false,
    }
}

/// `chown -R $USER .`, `chown -R "$(id -u):$(id -g)" .`, `chown -R :staff .`: the owner is the user, or not changed.
fn stays_the_user_s(context: &Context, command: &Command) -> bool {
    const OWN: [&str; 9] =
        ["", "$USER", "${USER}", "$LOGNAME", "${LOGNAME}", "$UID", "$(whoami)", "$(id -u)", "$(id -un)"];
    if argv::has(command.args(), "", &["reference"]) {
        return false;
    }
    let operands = argv::operands(command.args(), &["--from"]);
    let Some(owner) = operands.first().map(|word| word.text.split(':').next().unwrap_or_default()) else {
        return false;
    };
    // `read USER`, `printf -v USER`: then it is whoever the line says.
    let sets = |word: &Word| matches!(word.text.as_str(), "USER" | "LOGNAME");
    let is_set = context.commands().iter().flat_map(Command::args).any(sets);
    OWN.contains(&owner) && !is_set || context.world.home().is_some_and(|home| home.file_name() == Some(owner))
}
