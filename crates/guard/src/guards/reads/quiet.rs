//! Programs that tell nothing of the files they are given.

use camino::Utf8Path;
use dandori_shell::{Command, Word};

use crate::context::Context;
use crate::guards::argv;

/// They say at most that a file is there, how long it is, or what its sum is; or their words are text.
const SILENT: &[&str] = &[
    // Of a file only that it is there, and where.
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
    "chdir", // What it is, and its sum.
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
    "b2sum", // What they write is judged as a write.
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
    "fallocate", // Text.
    "echo",
    "printf",
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
    "alias",
    "unalias",
    "set",
    "unset",
    "true",
    "false",
    ":",
    "exit",
    "return",
    "trap",
    "kill",
    "sleep",
    "expr",
    "let",
    // They use a key or a file of variables, and show neither.
    "ssh",
    "mosh",
    "ssh-add",
    "ssh-keygen",
    "ssh-copy-id",
    "direnv",
    "autossh",
];

/// Of these every read is among the shell's own: they tell a pattern or a program from a file.
const ACCOUNTED: &[&str] = &[
    "cat", "bat", "batcat", "tac", "nl", "head", "tail", "less", "more", "strings", "xxd", "od", "hexdump", "cut",
    "view", "grep", "egrep", "fgrep", "rg", "ag", "ack", "jq", "yq", "tee", "sponge", "cp", "mv", "ln", "install",
    "rsync", "scp", "ditto", "gcp", "gmv", "rename", "dd", "sed", "gsed", "awk", "gawk", "mawk", "nawk", "source", ".",
];

pub(super) fn is_silent(program: &str) -> bool {
    SILENT.contains(&program)
}

pub(super) fn is_accounted(program: &str) -> bool {
    ACCOUNTED.contains(&program)
}

/// Programs that say only that a file is there, how long it is, or whether a pattern is in it.
pub(in crate::guards) fn tells_nothing(context: &Context, program: &str, path: &Word) -> bool {
    let name = Utf8Path::new(&path.text).file_name().unwrap_or(&path.text);
    let is_search = matches!(program, "grep" | "egrep" | "fgrep" | "rg");
    let is_meant = |command: &&Command| {
        command.program == program && (!is_search || command.args().iter().any(|w| w.text.ends_with(name)))
    };
    match program {
        "head" | "tail" | "grep" | "egrep" | "fgrep" | "rg" => {
            context.commands().iter().filter(is_meant).all(shows_nothing)
        }
        _ => is_silent(program),
    }
}

/// The command shows nothing of what is in a file.
pub(super) fn shows_nothing(command: &Command) -> bool {
    let args = command.args();
    match command.program.as_str() {
        "head" | "tail" => {
            // `head -n 0`
            let counts = argv::values(args, &["-n", "-c", "--lines", "--bytes"]);
            counts.contains(&"0") || args.iter().any(|word| word.text == "-0")
        }
        "grep" | "egrep" | "fgrep" | "rg" => {
            argv::has(args, "qlLc", &["quiet", "silent", "count", "files-with-matches", "files-without-match", "files"])
        }
        "diff" => argv::has(args, "q", &["brief"]),
        "cmp" => argv::has(args, "s", &["quiet", "silent"]),
        program => is_silent(program),
    }
}
