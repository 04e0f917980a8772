//! Programs that tell nothing of the files they are given.

use camino::Utf8Path;
use dandori_shell::{Command, Word};

use crate::context::Context;
use crate::guards::argv;

use super::flags::{Flags, Valued};
use super::resolve;

/// Of a file only that it is there, and where.
const PLACES: &[&str] = &[
    "ls",
    "dir",
    "exa",
    "eza",
    "lsd",
    "tree",
    "find",
    "gfind",
    "fd",
    "fdfind",
    "locate",
    "test",
    "[",
    "[[",
    "realpath",
    "readlink",
    "dirname",
    "basename",
    "du",
    "df",
    "lsattr",
    "getfacl",
    "lsof",
    "fuser",
    "inotifywait",
    "which",
    "type",
    "command",
    "hash",
    "cd",
    "pushd",
    "popd",
    "chdir",
];

/// What it is, how long, and its sum.
const SUMS: &[&str] = &[
    "stat",
    "file",
    "wc",
    "tokei",
    "cloc",
    "scc",
    "cksum",
    "sum",
    "md5",
    "md5sum",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "shasum",
    "b2sum",
];

/// What they write is judged as a write.
const WRITERS: &[&str] = &[
    "touch",
    "mkdir",
    "mkfifo",
    "mktemp",
    "rm",
    "rmdir",
    "unlink",
    "shred",
    "trash",
    "trash-put",
    "rimraf",
    "chmod",
    "chown",
    "chgrp",
    "chattr",
    "setfacl",
    "truncate",
    "fallocate",
];

/// Their words are text.
const TEXTS: &[&str] = &[
    "echo", "printf", "export", "declare", "typeset", "local", "readonly", "alias", "unalias", "set", "unset", "true",
    "false", ":", "exit", "return", "trap", "kill", "sleep", "expr", "let",
];

/// They use a key or a file of variables, and show neither.
const USERS: &[&str] = &["ssh", "mosh", "ssh-add", "ssh-keygen", "ssh-copy-id", "direnv", "autossh"];

/// Of these every read is among the shell's own: they tell a pattern or a program from a file.
const ACCOUNTED: &[&str] = &[
    "cat", "bat", "batcat", "tac", "nl", "head", "tail", "less", "more", "strings", "xxd", "od", "hexdump", "cut",
    "view", "grep", "egrep", "fgrep", "rg", "ag", "ack", "jq", "yq", "tee", "sponge", "cp", "mv", "ln", "install",
    "rsync", "scp", "ditto", "gcp", "gmv", "rename", "dd", "sed", "gsed", "awk", "gawk", "mawk", "nawk", "source", ".",
];

pub(super) const GREP: Valued = Valued {
    letters: "efmABCdD",
    long: &[
        "regexp",
        "file",
        "max-count",
        "after-context",
        "before-context",
        "context",
        "include",
        "exclude",
        "exclude-dir",
        "exclude-from",
        "label",
        "binary-files",
        "devices",
        "directories",
        "group-separator",
    ],
};

const RG: Valued = Valued {
    letters: "efgmABCjtTrEMd",
    long: &[
        "regexp",
        "file",
        "glob",
        "iglob",
        "max-count",
        "after-context",
        "before-context",
        "context",
        "threads",
        "type",
        "type-not",
        "type-add",
        "type-clear",
        "replace",
        "encoding",
        "max-columns",
        "max-depth",
        "max-filesize",
        "color",
        "colors",
        "context-separator",
        "field-context-separator",
        "field-match-separator",
        "path-separator",
        "ignore-file",
        "engine",
        "pre",
        "pre-glob",
        "sort",
        "sortr",
        "dfa-size-limit",
        "regex-size-limit",
        "hostname-bin",
        "hyperlink-format",
    ],
};

const ENDS: Valued =
    Valued { letters: "ncbs", long: &["lines", "bytes", "blocks", "pid", "sleep-interval", "max-unchanged-stats"] };

const DIFF: Valued = Valued {
    letters: "xXIUCWDFSL",
    long: &[
        "exclude",
        "exclude-from",
        "ignore-matching-lines",
        "unified",
        "context",
        "width",
        "ifdef",
        "show-function-line",
        "starting-file",
        "label",
        "from-file",
        "to-file",
        "tabsize",
        "horizon-lines",
        "palette",
    ],
};

const CMP: Valued = Valued { letters: "in", long: &["ignore-initial", "bytes"] };

const FILE: Valued = Valued {
    letters: "efFmP",
    long: &["exclude", "exclude-quiet", "files-from", "separator", "magic-file", "parameter"],
};

pub(super) fn is_silent(program: &str) -> bool {
    [PLACES, SUMS, WRITERS, TEXTS, USERS].iter().any(|group| group.contains(&program))
}

pub(super) fn is_accounted(program: &str) -> bool {
    ACCOUNTED.contains(&program)
}

/// Programs that say only that a file is there, how long it is, or whether a pattern is in it. Of a program that may do
/// either, the calls that are about this file.
pub(in crate::guards) fn tells_nothing(context: &Context, program: &str, path: &Word) -> bool {
    let calls: Vec<&Command> = context.commands().iter().filter(|command| command.program == program).collect();
    match program {
        "grep" | "egrep" | "fgrep" | "rg" => {
            let (about, others): (Vec<&Command>, Vec<&Command>) =
                calls.into_iter().partition(|command| is_about(context, command, path));
            // When none seems to be, each may be.
            let meant = if about.is_empty() { others } else { about };
            !meant.is_empty() && meant.into_iter().all(shows_nothing)
        }
        "head" | "tail" => !calls.is_empty() && calls.into_iter().all(shows_nothing),
        _ => is_silent(program),
    }
}

/// A word of the command is this path, or may be; or the command runs there and searches where it stands.
fn is_about(context: &Context, command: &Command, path: &Word) -> bool {
    let name = Utf8Path::new(&path.text).file_name().unwrap_or(&path.text);
    let wanted = context.expanded(&path.text);
    let folder = context.folder_of(command).map(|folder| context.expanded(folder.as_str()));
    let is_named = |word: &Word| {
        let is_there =
            || folder.as_deref().is_some_and(|at| context.expanded(resolve(Some(at), &word.text).as_str()) == wanted);
        word.text.ends_with(name) || is_there()
    };
    folder.as_deref() == Some(wanted.as_path()) || command.args().iter().any(is_named)
}

/// The command shows nothing of what is in a file.
pub(super) fn shows_nothing(command: &Command) -> bool {
    let args = command.args();
    match command.program.as_str() {
        "head" | "tail" => ends_with_nothing(&Flags::read(args, ENDS)),
        "grep" | "egrep" | "fgrep" => Flags::read(args, GREP).has(&[
            "q",
            "l",
            "L",
            "c",
            "quiet",
            "silent",
            "count",
            "files-with-matches",
            "files-without-match",
        ]),
        // `-L` follows links here, and `--json` takes back what was said before it.
        "rg" => {
            let flags = Flags::read(args, RG);
            let quiet = ["q", "l", "c", "quiet", "count", "count-matches", "files-with-matches", "files-without-match"];
            (flags.has(&quiet) || flags.has(&["files"])) && !flags.has(&["json"])
        }
        "diff" => Flags::read(args, DIFF).has(&["q", "brief"]),
        "cmp" => Flags::read(args, CMP).has(&["s", "quiet", "silent"]),
        program => is_silent(program),
    }
}

/// `head -n 0`: the last number counts. What is added later is shown by `tail -f` all the same.
fn ends_with_nothing(flags: &Flags) -> bool {
    let counts = flags.iter().filter_map(|(name, value)| match name {
        "n" | "c" | "b" | "lines" | "bytes" | "blocks" => Some(value.unwrap_or_default()),
        number if number.starts_with(|c: char| c.is_ascii_digit()) => Some(number),
        _ => None,
    });
    counts.last() == Some("0") && !flags.iter().any(|(name, _)| matches!(name, "f" | "F") || name.starts_with("fo"))
}

/// Files of which these programs, silent otherwise, take names to look at: each line comes out beside what is said of
/// it.
pub(super) fn lists<'w>(program: &str, args: &'w [Word]) -> Vec<&'w str> {
    let mut found = argv::values(args, &["--files0-from", "--files-from", "--from-file", "--from-env-file"]);
    match program {
        "file" => found.extend(Flags::read(args, FILE).values(&["f", "files-from"])),
        "find" | "gfind" => found.extend(argv::values(args, &["-files0-from"])),
        "tree" if argv::has(args, "", &["fromfile", "fromtabfile", "infofile"]) => {
            found.extend(argv::operands(args, &[]).into_iter().map(|word| word.text.as_str()));
            found.extend(argv::values(args, &["--infofile"]));
        }
        _ => {}
    }
    found
}
