//! Which options of git's subcommands take a value: what stands behind such an option is no option itself, however it
//! looks (`git commit -m --dry-run` commits).

use crate::reading::Word;

/// The options of one subcommand that take a value.
#[derive(Clone, Copy, Default)]
struct Valued {
    /// Letters whose value is the rest of the word, or the next one.
    letters: &'static str,
    /// Letters whose value can only be the rest of the word: `-uno`.
    attached: &'static str,
    /// Long names whose value may be the next word.
    long: &'static [&'static str],
}

fn valued(subcommand: &str) -> Valued {
    let of = |letters, attached, long| Valued { letters, attached, long };
    match subcommand {
        "commit" => of(
            "mFcCt",
            "Su",
            &[
                "message",
                "file",
                "author",
                "date",
                "reuse-message",
                "reedit-message",
                "fixup",
                "squash",
                "template",
                "cleanup",
                "trailer",
                "pathspec-from-file",
            ],
        ),
        "merge" => of("mFsX", "S", &["message", "file", "strategy", "strategy-option", "into-name", "cleanup"]),
        "rebase" => of("xsXC", "Sr", &["onto", "exec", "strategy", "strategy-option", "whitespace", "empty"]),
        "cherry-pick" | "revert" => of("mX", "S", &["mainline", "strategy", "strategy-option", "cleanup", "empty"]),
        "am" => of(
            "pC",
            "S",
            &["exclude", "include", "whitespace", "directory", "patch-format", "resolvemsg", "quoted-cr", "empty"],
        ),
        "push" | "send-pack" | "http-push" => {
            of("o", "", &["push-option", "repo", "receive-pack", "exec", "recurse-submodules", "remote"])
        }
        "fetch" => of(
            "jo",
            "",
            &[
                "depth",
                "deepen",
                "shallow-since",
                "shallow-exclude",
                "upload-pack",
                "refmap",
                "server-option",
                "jobs",
                "negotiation-tip",
                "filter",
            ],
        ),
        "pull" => of(
            "josX",
            "Sr",
            &[
                "depth",
                "deepen",
                "shallow-since",
                "shallow-exclude",
                "upload-pack",
                "refmap",
                "server-option",
                "jobs",
                "negotiation-tip",
                "strategy",
                "strategy-option",
                "cleanup",
            ],
        ),
        "switch" | "checkout" => {
            of("bBcC", "t", &["create", "force-create", "orphan", "conflict", "pathspec-from-file"])
        }
        "branch" => of("u", "t", &["set-upstream-to", "sort", "contains", "no-contains", "points-at", "format"]),
        "tag" => {
            of("mFu", "n", &["message", "file", "local-user", "cleanup", "sort", "points-at", "format", "trailer"])
        }
        "worktree" => of("bB", "", &["reason"]),
        "reset" | "rm" => of("U", "", &["pathspec-from-file", "unified", "inter-hunk-context"]),
        "add" | "stage" => of("U", "", &["chmod", "pathspec-from-file", "unified", "inter-hunk-context"]),
        "clean" => of("e", "", &["exclude"]),
        "stash" => of("m", "", &["message", "pathspec-from-file"]),
        "update-ref" | "symbolic-ref" => of("m", "", &[]),
        _ => Valued::default(),
    }
}

/// Letters and long names of a subcommand whose value may be the next word.
pub(crate) fn taking(subcommand: &str) -> (&'static str, &'static [&'static str]) {
    let Valued { letters, long, .. } = valued(subcommand);
    (letters, long)
}

/// The words of a subcommand that may be options, with what stands behind an option as its value left away:
/// `-on` is `-o`, `-m --dry-run` is `-m`.
pub(crate) fn options_alone(subcommand: &str, args: &[Word]) -> Vec<String> {
    let valued = valued(subcommand);
    let mut found = Vec::new();
    let mut words = args.iter().take_while(|word| word.text != "--");
    while let Some(word) = words.next() {
        let (kept, takes_next) = alone(&valued, &word.text);
        found.push(kept.to_owned());
        if takes_next {
            words.next();
        }
    }
    found
}

/// One word without its value, and whether that is the next word.
fn alone<'w>(valued: &Valued, text: &'w str) -> (&'w str, bool) {
    if let Some(long) = text.strip_prefix("--") {
        let is_short_for = |name: &&str| name.strip_prefix(long).is_some_and(|rest| !rest.starts_with('-'));
        return match long.split_once('=') {
            Some(_) => (text, false),
            None => (text, long.len() > 1 && valued.long.iter().any(is_short_for)),
        };
    }
    let Some(letters) = text.strip_prefix('-') else { return (text, false) };
    for (at, letter) in letters.char_indices() {
        let until = 1 + at + letter.len_utf8();
        if valued.attached.contains(letter) || valued.letters.contains(letter) {
            let takes_next = until == text.len() && valued.letters.contains(letter);
            return (text.get(..until).unwrap_or(text), takes_next);
        }
    }
    (text, false)
}
