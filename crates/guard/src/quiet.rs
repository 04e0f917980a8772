//! Shell lines that only look.

use dandori_shell::{Command, Reading, git_call};

/// Programs that write nothing but their output. Where an option makes them write, the shell reader has the file.
const LOOKS: &[&str] = &[
    "[",
    "[[",
    "awk",
    "basename",
    "bat",
    "cat",
    "cd",
    "cmp",
    "column",
    "comm",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "env",
    "expr",
    "fd",
    "fgrep",
    "file",
    "find",
    "fold",
    "gawk",
    "grep",
    "head",
    "hexdump",
    "hostname",
    "id",
    "jq",
    "less",
    "ls",
    "md5sum",
    "more",
    "nl",
    "od",
    "paste",
    "pgrep",
    "printenv",
    "printf",
    "ps",
    "pushd",
    "popd",
    "pwd",
    "readlink",
    "realpath",
    "rg",
    "sed",
    "seq",
    "sha1sum",
    "sha256sum",
    "sort",
    "stat",
    "strings",
    "tac",
    "tail",
    "test",
    "tput",
    "tr",
    "tree",
    "true",
    "false",
    "type",
    "uname",
    "uniq",
    "wc",
    "which",
    "whoami",
    "xxd",
    "yq",
    ":",
    "export",
    "set",
    "shift",
    "local",
    "declare",
    "unset",
    "read",
    "command",
    "time",
    "timeout",
    "nice",
    "xargs",
    "ag",
    "ack",
];

/// Subcommands of git that change nothing.
const GIT_LOOKS: &[&str] = &[
    "",
    "annotate",
    "blame",
    "cat-file",
    "check-ignore",
    "describe",
    "diff",
    "diff-tree",
    "for-each-ref",
    "grep",
    "help",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge-base",
    "name-rev",
    "range-diff",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-ref",
    "status",
    "var",
    "version",
    "whatchanged",
];

/// The line reads and prints, and nothing else: no file, no branch, no process of the project changes.
pub(crate) fn only_looks(reading: &Reading) -> bool {
    reading.opaque.is_empty()
        && reading.writes.is_empty()
        && reading.scripts.is_empty()
        && reading.remote.is_empty()
        && reading.commands.iter().all(looks)
}

/// An option makes it write, set the machine or run a program, and the shell reader does not say so.
fn does_more(command: &Command) -> bool {
    let has = |names: &[&str]| command.args().iter().any(|word| names.iter().any(|name| word.text.starts_with(name)));
    match command.program.as_str() {
        "date" => has(&["-s", "--set"]),
        "hostname" => command.args().iter().any(|word| !word.text.starts_with('-')) || has(&["-F", "--file", "-b"]),
        "tree" => has(&["-o"]),
        "xxd" => has(&["-r", "-revert"]),
        "rg" => has(&["--pre=", "--hostname-bin"]) || command.args().iter().any(|word| word.text == "--pre"),
        _ => false,
    }
}

pub(crate) fn looks(command: &Command) -> bool {
    let Some(call) = git_call(command) else {
        return LOOKS.contains(&command.program.as_str()) && !does_more(command);
    };
    let words: Vec<&str> = call.args.iter().map(|w| w.text.as_str()).collect();
    let has_operand = words.iter().any(|w| !w.starts_with('-'));
    match call.subcommand.text.as_str() {
        "grep" if words.iter().any(|w| w.starts_with("-O") || w.starts_with("--open")) => false,
        sub if GIT_LOOKS.contains(&sub) => !call.subcommand.is_computed(),
        "branch" | "tag" => {
            let lists = words.iter().any(|w| {
                matches!(*w, "-l" | "--list" | "-a" | "--all" | "-r" | "--remotes" | "-v" | "-vv" | "--show-current")
                    || w.starts_with("--contains")
                    || w.starts_with("--merged")
                    || w.starts_with("--format")
            });
            lists && !words.iter().any(|w| matches!(*w, "-d" | "-D" | "-m" | "-M" | "-f" | "--force" | "--delete"))
                || !has_operand && words.is_empty()
        }
        "remote" => matches!(words.first(), None | Some(&("-v" | "show" | "get-url"))),
        "stash" => matches!(words.first(), Some(&("list" | "show"))),
        "worktree" => words.first() == Some(&"list"),
        "config" => words.iter().any(|w| matches!(*w, "--get" | "--list" | "-l" | "get" | "list" | "--get-all")),
        "reflog" => matches!(words.first(), None | Some(&"show")),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_is_told_from_doing() {
        for (line, quiet) in [
            ("git status && git log --oneline | head -5", true),
            ("git branch", true),
            ("git branch -a", true),
            ("git branch --show-current", true),
            ("git branch new", false),
            ("git branch -D old", false),
            ("cat a | grep b | wc -l", true),
            ("sed -n 1,20p a.rs", true),
            ("sed -i s/a/b/ a.rs", false),
            ("ls -la 2>/dev/null", true),
            ("echo x > a", false),
            ("find . -name '*.rs'", true),
            ("find . -delete", false),
            ("find . -exec rm {} +", false),
            ("$x", false),
            ("git commit -m x", false),
            ("git -C sub diff HEAD", true),
            ("git stash", false),
            ("git stash list", true),
            ("npm test", false),
            ("bash x.sh", false),
            ("timeout 5 git push", false),
            ("git config user.name", false),
            ("git config --get user.name", true),
            ("date +%F", true),
            ("date -s 2020-01-01", false),
            ("hostname other", false),
            ("tree -o list.txt", false),
            ("xxd -r a b", false),
            ("rg --pre ./x.sh a", false),
            ("rg --pretty a", true),
            ("git grep -O'touch q' x", false),
        ] {
            assert_eq!(only_looks(&dandori_shell::read(line)), quiet, "{line}");
        }
    }
}
