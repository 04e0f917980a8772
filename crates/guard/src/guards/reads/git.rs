//! What git shows or keeps of files.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_shell::{GitCall, Word};

use crate::change::resolve;
use crate::context::Context;
use crate::guards::argv;
use crate::world::FileKind;

use super::flags::{Flags, Valued};
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

/// Of what shows changes; `-U` may stand without a number.
const LOG: Valued = Valued {
    letters: "SGOnlU",
    long: &[
        "output",
        "author",
        "committer",
        "grep",
        "since",
        "until",
        "after",
        "before",
        "max-count",
        "skip",
        "src-prefix",
        "dst-prefix",
        "line-prefix",
        "inter-hunk-context",
        "diff-filter",
        "diff-algorithm",
        "anchored",
        "find-object",
        "rotate-to",
        "skip-to",
        "word-diff-regex",
        "ws-error-highlight",
        "output-indicator-new",
        "output-indicator-old",
        "output-indicator-context",
        "date",
        "encoding",
        "message",
    ],
};

pub(super) fn mentions(call: &GitCall) -> Vec<Mention> {
    let verb = call.subcommand.text.as_str();
    let args = call.args.as_slice();
    let has = |long: &[&str], letters: &str| argv::has(args, letters, long);
    let is_silent = match verb {
        "log" | "whatchanged" => !shows_patch(args),
        "diff" | "show" | "stash" | "diff-tree" | "diff-index" | "diff-files" => names_only(args) && !shows_patch(args),
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
        _ => words::named(&unmarked(args), &OPTIONS),
    }
}

/// What is told of a change without its lines.
fn names_only(args: &[Word]) -> bool {
    const NAMES: &[&str] = &["name-only", "name-status", "stat", "numstat", "shortstat", "quiet", "summary", "raw"];
    Flags::read(args, LOG).has(NAMES)
}

/// The lines of a change are shown, whatever else is. Names of options may be cut short; a word that is only another
/// option's value counts, too, which is the safe side.
fn shows_patch(args: &[Word]) -> bool {
    const LONG: &[&str] = &[
        "patch",
        "patch-with-stat",
        "patch-with-raw",
        "unified",
        "binary",
        "cc",
        "dd",
        "combined-all-paths",
        "remerge-diff",
        "check",
    ];
    const LETTERS: &[&str] = &["p", "u", "U", "c", "L"];
    let is_long = |name: &str| name.len() > 1 && LONG.iter().any(|long| long.starts_with(name));
    args.iter().any(|word| {
        let flags = Flags::read(std::slice::from_ref(word), LOG);
        flags.iter().any(|(name, _)| LETTERS.contains(&name) || is_long(name))
    })
}

/// Words that are paths, or `HEAD:path`.
fn paths<'w>(words: impl Iterator<Item = &'w Word>) -> Vec<Mention> {
    let path = |word: &Word| {
        let text = match pathspec(&word.text) {
            Pathspec::LeftAway => return None,
            Pathspec::Path(path) => path,
            Pathspec::Plain(text) => text.split_once(':').map_or(text, |(_, path)| path).to_owned(),
        };
        Some(Mention { word: Word { text, certainty: word.certainty }, named: Named::Surely })
    };
    words.filter(|word| !word.text.starts_with('-')).filter_map(path).collect()
}

enum Pathspec<'w> {
    /// What the marks before it are about.
    Path(String),
    /// `:!x`, `:^x`, `:(exclude)x`.
    LeftAway,
    /// Without marks.
    Plain(&'w str),
}

/// The marks git reads before a path: `:(top,icase)x`, `:/x`, `:!x`, and the stage of `:0:x`.
fn pathspec(text: &str) -> Pathspec<'_> {
    let Some(marked) = text.strip_prefix(':') else { return Pathspec::Plain(text) };
    if let Some((marks, path)) = marked.strip_prefix('(').and_then(|long| long.split_once(')')) {
        let has = |mark: &str| marks.split(',').any(|given| given.trim() == mark);
        if has("exclude") {
            return Pathspec::LeftAway;
        }
        return Pathspec::Path(if has("icase") { path.to_ascii_lowercase() } else { path.to_owned() });
    }
    let path = marked.trim_start_matches(['!', '^', '/']);
    let marks = marked.strip_suffix(path).unwrap_or_default();
    if marks.contains(['!', '^']) {
        return Pathspec::LeftAway;
    }
    let staged = path.strip_prefix(['0', '1', '2', '3']).and_then(|rest| rest.strip_prefix(':'));
    Pathspec::Path(staged.or_else(|| path.strip_prefix(':')).unwrap_or(path).to_owned())
}

/// As other words are read, without the marks.
fn unmarked(args: &[Word]) -> Vec<Word> {
    let plain = |word: &Word| {
        let text = match pathspec(&word.text) {
            Pathspec::LeftAway => return None,
            Pathspec::Path(path) => path,
            Pathspec::Plain(text) => text.to_owned(),
        };
        Some(Word { text, certainty: word.certainty })
    };
    args.iter().filter_map(plain).collect()
}

/// What lies in a folder that is added by force: being ignored does not keep it out then.
pub(super) fn forced_in(context: &Context, call: &GitCall, base: &Utf8Path) -> Vec<Utf8PathBuf> {
    if !matches!(call.subcommand.text.as_str(), "add" | "stage") || !call.has_option("force", Some('f')) {
        return Vec::new();
    }
    let args = unmarked(&call.args);
    let operands = argv::operands(&args, &[]);
    let mut folders: Vec<Utf8PathBuf> = operands.iter().map(|word| resolve(Some(base), &word.text)).collect();
    if folders.is_empty() {
        folders.push(base.to_owned());
    }
    // `:/x` and `:(top)x` begin at the top, wherever the command stands.
    if let Some(checkout) = context.checkout(base) {
        let marked = call.args.iter().filter(|word| word.text.starts_with(':')).cloned().collect::<Vec<_>>();
        folders.extend(unmarked(&marked).iter().map(|word| resolve(Some(&checkout.root), &word.text)));
    }
    folders
        .iter()
        .filter(|folder| context.world.kind(folder) == Some(FileKind::Folder))
        .flat_map(|folder| context.world.names(folder).into_iter().map(|name| folder.join(name)))
        .collect()
}
