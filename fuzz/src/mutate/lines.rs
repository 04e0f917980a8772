//! Shell lines: token by token, and around what must stay seen.

use dandori_domain::shell_word;

use super::{ODD, long};
use crate::random::Random;

const TOKENS: &[&str] = &[
    "$(",
    ")",
    "`",
    "'",
    "\"",
    "\\",
    "\n",
    " ",
    ";",
    "|",
    "&",
    "&&",
    "||",
    "{ ",
    "; }",
    "((",
    "))",
    "<<E\n",
    "\nE\n",
    "<<<",
    "<",
    ">",
    ">>",
    "2>&1",
    "$",
    "${",
    "}",
    "x=1 ",
    "git",
    "push",
    "--force",
    "if ",
    "; then ",
    "; fi",
    "while ",
    "; do ",
    "; done",
    "case a in a) ",
    ";; esac",
    "for i in a b; do ",
    "f() { ",
    "; }; f",
    "*",
    "?",
    "[a-z]",
    "#",
    "~/",
    "é",
    "!",
    "{a,b}",
    "{1..9}",
    "sed -i ",
    "awk ",
    "python3 -c ",
    "xargs ",
    "find . -exec ",
    "eval ",
    "bash -c ",
    "$'\\x67'",
    "$IFS",
    "${x:-",
    "env ",
    "sudo ",
    "trap ",
    "[[ ",
    " ]]",
    "<(",
    ">(",
    "coproc ",
    "time ",
    "! ",
    "select ",
    "function g ",
    "\r\n",
    "\\\n",
    "99999999999999999999",
    "$((",
    "exec ",
    "source ",
];

pub(crate) fn mutated(line: &str, other: &str, random: &mut Random) -> String {
    let mut line = match random.below(6) {
        0 => super::text(line, other, random),
        1 => spliced(line, other, random),
        2 => noise(random),
        3 => nested(line, random),
        _ => tokens(line, other, random),
    };
    if random.one_in(60) {
        let times = (long(random) / line.len().max(1)).clamp(1, 4_000);
        line = line.repeat(times);
        line.truncate(line.floor_char_boundary(80_000));
    }
    line
}

/// Two lines cut and put together.
fn spliced(line: &str, other: &str, random: &mut Random) -> String {
    let cut = |text: &str, at: usize| text.floor_char_boundary(at);
    let (a, b) = (cut(line, random.below(line.len() + 1)), cut(other, random.below(other.len() + 1)));
    let glue = random.word(&["", " ", ";", "\n", "|", "&&", "$(", "'"]);
    format!("{}{glue}{}", line.get(..a).unwrap_or_default(), other.get(b..).unwrap_or_default())
}

fn noise(random: &mut Random) -> String {
    (0..random.below(40)).map(|_| random.word(TOKENS)).collect()
}

/// The same construct many times over.
fn nested(line: &str, random: &mut Random) -> String {
    let (open, close) = random
        .pick(&[
            ("(", ")"),
            ("$(", ")"),
            ("{ ", "; }"),
            ("`", "`"),
            ("\"$(", ")\""),
            ("${x:-", "}"),
            ("<(", ")"),
            ("if ", "; then :; fi"),
            ("for i in 1 2; do ", "; done"),
            ("while ", "; do :; done"),
            ("case a in a) ", ";; esac"),
            ("f() { ", "; }; f"),
            ("eval ", ""),
            ("bash -c '", "'"),
            ("env ", ""),
            ("! ", ""),
            ("time ", ""),
            ("{a,b}", "{a,b}"),
            ("x=", ""),
            ("$((", "))"),
            ("[[ ! ", " ]]"),
            ("for i in {1..30}; do ", "; done"),
            ("a=$a$a; ", ""),
            ("xargs ", ""),
            ("sudo ", ""),
            ("<<E\n", "\nE\n"),
            ("[", "]"),
            ("~", "/"),
            ("f() { f2; f2; }; ", ""),
            ("alias a='", "'; a"),
            ("printf '%s' ", ""),
            ("echo ", " | sh"),
            ("cat <<< ", " | bash"),
            ("$'\\u", "'"),
            ("${x//a/", "}"),
            ("${x:=", "}"),
            ("a=${a:-xx}${a:-xx}; ", ""),
            ("set -- ${@:-a b} ${@:-a b}; ", ""),
            ("${x#", "}"),
            ("set -- a a a $@ $@; ", ""),
            ("python3 -c \"import os; os.system('", "')\""),
            ("awk 'BEGIN{system(\"", "\")}'"),
            ("find . -exec ", " \\;"),
            ("if :; then ", "; elif :; then :; fi"),
        ])
        .copied()
        .unwrap_or_default();
    let times = if random.one_in(4) { 1 + random.below(2_000) } else { 1 + random.below(24) };
    format!("{}{line}{}", open.repeat(times), close.repeat(times))
}

fn tokens(line: &str, other: &str, random: &mut Random) -> String {
    let mut words: Vec<String> =
        line.split_inclusive([' ', '\n', ';', '|', '&', '(', ')']).map(str::to_owned).collect();
    let theirs: Vec<&str> = other.split_inclusive([' ', '\n', ';', '|', '&', '(', ')']).collect();
    for _ in 0..=random.below(4) {
        let at = random.below(words.len() + 1);
        match random.below(7) {
            0 if at < words.len() => drop(words.remove(at)),
            1 => words.insert(at, random.word(TOKENS).to_owned()),
            2 => words.insert(at, random.pick(&theirs).copied().unwrap_or("x ").to_owned()),
            3 => words.insert(at, random.word(ODD).to_owned()),
            4 => {
                if let Some(word) = words.get_mut(at) {
                    *word = disguised(word, random);
                }
            }
            5 => {
                let with = random.below(words.len().max(1));
                if at < words.len() && with < words.len() {
                    words.swap(at, with);
                }
            }
            _ => {
                if let Some(word) = words.get(at).cloned() {
                    words.insert(at, word);
                }
            }
        }
    }
    words.concat()
}

/// Words the shell knows only as they are.
const KEYWORDS: &[&str] = &[
    "", "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in", "time",
    "function", "select", "coproc", // Of `time`, which is one.
    "-p",
];

/// A word written in another way; it means the same as long as it was a plain one.
pub(crate) fn disguised(word: &str, random: &mut Random) -> String {
    let bare = word.trim_end_matches([' ', '\n', ';', '|', '&', '(', ')']);
    let tail = word.get(bare.len()..).unwrap_or_default();
    let is_plain = !KEYWORDS.contains(&bare) && bare.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if !is_plain || bare.len() < 2 {
        return word.to_owned();
    }
    let at = 1 + random.below(bare.len() - 1);
    let (head, rest) = bare.split_at_checked(at).unwrap_or((bare, ""));
    let shown = match random.below(6) {
        0 => format!("{head}''{rest}"),
        1 => format!("{head}\"\"{rest}"),
        2 => format!("'{bare}'"),
        3 => format!("\"{bare}\""),
        4 => format!("{head}\\{rest}"),
        _ => format!("$'{bare}'"),
    };
    shown + tail
}

/// Ways to run the same line: whatever it did, it still does. `@` is the line on lines of its own, `%` the line in
/// quotes.
const AROUND: &[&str] = &[
    "true; @",
    "( @ )",
    "( ( @ ) )",
    "{ @ }",
    "if @ then :; fi",
    "if :; then @ fi",
    "while @ do break; done",
    "for i in 1; do @ done",
    "case a in a) @ ;; esac",
    "wrapped() { @ }; wrapped",
    "true && { @ }",
    "false || { @ }",
    "{ @ } 2>&1",
    "{ @ } | cat",
    "time { @ }",
    "bash -c %",
    "sh -c %",
    "env X=1 bash -c %",
    "eval %",
    "nohup sh -c %",
    "timeout 5 bash -c %",
    "echo \"$(@)\"",
    "x=$(@)",
    "cat <(@)",
    "bash <<'WRAPPED'\n@WRAPPED",
    "printf '%s' hello; @",
    ": <<'NOTE'\ngit status\nNOTE\n@",
    "# a note\n@",
    "@ # a note",
    "sudo bash -c %",
    "nice -n 5 bash -c %",
    "set -e\n@",
    "trap 'true' EXIT\n@",
    "until @ do break; done",
    "! { @ }",
    "{ @ } &",
    "command bash -c %",
];

/// A line run in another way, and how.
pub(crate) fn wrapped(line: &str, random: &mut Random) -> (String, &'static str) {
    let around = random.word(AROUND);
    let whole = if around.contains('@') {
        around.replacen('@', &format!("\n{line}\n"), 1)
    } else {
        around.replacen('%', &shell_word(line), 1)
    };
    (whole, around)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_around_a_line_leaves_the_line_in_it() {
        for seed in 0..500 {
            let (line, around) = wrapped("git push 'a'", &mut Random::new(seed));
            assert!(line.contains("\ngit push 'a'\n") || line.contains(r"'git push '\''a'\'''"), "{around}: {line}");
        }
    }

    #[test]
    fn a_disguised_word_is_the_same_word_for_bash() {
        let words: std::collections::BTreeSet<String> =
            (0..200).map(|seed| disguised("push;", &mut Random::new(seed))).collect();
        assert!(words.contains("p''ush;") && words.contains("'push';") && words.len() > 6, "{words:?}");
        assert_eq!(disguised("$x ", &mut Random::new(1)), "$x ");
    }
}
