//! What git shows or keeps of files.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_shell::{GitCall, Word};

use crate::change::resolve;
use crate::context::Context;
use crate::guards::argv;
use crate::world::FileKind;

use super::words::{self, Options};
use super::{Mention, Named};

/// Subcommands that tell nothing of a file they are given, or whose writes are judged as writes.
const SILENT: &[&str] = &[
    "status",
    "check-ignore",
    "check-attr",
    "ls-files",
    "ls-tree",
    "ls-remote",
    "rm",
    "mv",
    "reset",
    "restore",
    "checkout",
    "switch",
    "clean",
    "branch",
    "rev-parse",
    "rev-list",
    "fetch",
    "pull",
    "push",
    "clone",
    "init",
    "remote",
    "merge",
    "rebase",
    "cherry-pick",
    "revert",
    "worktree",
    "submodule",
    "sparse-checkout",
    "shortlog",
    "reflog",
    "describe",
    "bisect",
    "gc",
    "filter-branch",
    "filter-repo",
    "help",
    "version",
];

const OPTIONS: Options = Options {
    valued: &["-m", "-am", "-sm", "-asm", "-S", "-G", "--author", "--date", "--format", "--pretty", "--trailer"],
    sends: &[],
};

pub(super) fn mentions(call: &GitCall) -> Vec<Mention> {
    let verb = call.subcommand.text.as_str();
    let args = call.args.as_slice();
    let has = |long: &[&str], letters: &str| argv::has(args, letters, long);
    let names_only = has(&["name-only", "name-status", "stat", "numstat", "shortstat", "quiet", "summary"], "")
        && !has(&["patch"], "pu");
    let is_silent = match verb {
        "log" | "whatchanged" => !has(&["patch"], "puL") || names_only,
        "diff" | "show" | "stash" | "diff-tree" | "diff-index" | "diff-files" => names_only,
        "cat-file" => has(&[], "ets"),
        "update-index" => has(
            &[
                "assume-unchanged",
                "no-assume-unchanged",
                "skip-worktree",
                "no-skip-worktree",
                "remove",
                "force-remove",
                "chmod",
            ],
            "",
        ),
        _ => SILENT.contains(&verb),
    };
    if is_silent {
        return Vec::new();
    }
    match verb {
        // `HEAD:.env`, and paths after `--`.
        "show" | "cat-file" | "diff" | "blame" | "annotate" | "stash" | "log" => paths(args.iter()),
        // The first is the pattern, unless it is given as an option.
        "grep" => {
            let pattern = usize::from(!has(&["regexp", "file"], "ef"));
            let files = argv::values(args, &["-f", "--file"]).into_iter().map(Word::literal).collect::<Vec<_>>();
            let operands = argv::operands(args, &["-e", "-f", "-A", "-B", "-C", "-m", "--regexp", "--file"]);
            paths(operands.into_iter().skip(pattern).chain(&files))
        }
        "add" | "stage" | "hash-object" | "update-index" => paths(argv::operands(args, &[]).into_iter()),
        "config" => {
            paths(argv::values(args, &["-f", "--file"]).into_iter().map(Word::literal).collect::<Vec<_>>().iter())
        }
        _ => words::named(args, &OPTIONS),
    }
}

/// Words that are paths, or `HEAD:path`.
fn paths<'w>(words: impl Iterator<Item = &'w Word>) -> Vec<Mention> {
    let is_left_away = |word: &Word| [":!", ":^", ":(", "-"].iter().any(|mark| word.text.starts_with(mark));
    let path = |word: &Word| {
        let text = word.text.split_once(':').map_or(word.text.as_str(), |(_, path)| path);
        Mention { word: Word { text: text.to_owned(), certainty: word.certainty }, named: Named::Surely }
    };
    words.filter(|word| !is_left_away(word)).map(path).collect()
}

/// What lies in a folder that is added by force: being ignored does not keep it out then.
pub(super) fn forced_in(context: &Context, call: &GitCall, base: &Utf8Path) -> Vec<Utf8PathBuf> {
    if !matches!(call.subcommand.text.as_str(), "add" | "stage") || !call.has_option("force", Some('f')) {
        return Vec::new();
    }
    let operands = argv::operands(&call.args, &[]);
    let mut folders: Vec<Utf8PathBuf> = operands.iter().map(|word| resolve(Some(base), &word.text)).collect();
    if folders.is_empty() {
        folders.push(base.to_owned());
    }
    folders
        .iter()
        .filter(|folder| context.world.kind(folder) == Some(FileKind::Folder))
        .flat_map(|folder| context.world.names(folder).into_iter().map(|name| folder.join(name)))
        .collect()
}
