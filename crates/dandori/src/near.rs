//! Words that are near to a command: they lead to the right one, or say which ones they could mean.
//!
//! People come from other tools with `ls`, `logs` and `rm` in their fingers. What has one obvious meaning simply works; what
//! has two is an error that names both. A test holds the table against the real command line, so that a word which becomes a
//! command is not shadowed, and a command that goes is not led to.

/// What somebody types, and what it means.
pub(crate) struct Near {
    pub(crate) typed: &'static [&'static str],
    pub(crate) means: Meaning,
}

pub(crate) enum Meaning {
    Is(&'static [&'static str]),
    OneOf(&'static [&'static str]),
}

use Meaning::{Is, OneOf};

const fn is(typed: &'static [&'static str], command: &'static [&'static str]) -> Near {
    Near { typed, means: Is(command) }
}

const fn one_of(typed: &'static [&'static str], commands: &'static [&'static str]) -> Near {
    Near { typed, means: OneOf(commands) }
}

pub(crate) const TABLE: &[Near] = &[
    is(&["list"], &["task", "list"]),
    is(&["ls"], &["task", "list"]),
    is(&["tasks"], &["task", "list"]),
    is(&["ps"], &["status"]),
    is(&["show"], &["task", "show"]),
    is(&["view"], &["task", "show"]),
    is(&["log"], &["task", "log"]),
    is(&["logs"], &["task", "log"]),
    is(&["diff"], &["task", "diff"]),
    is(&["cancel"], &["task", "cancel"]),
    is(&["retry"], &["task", "retry"]),
    is(&["follow-up"], &["task", "follow-up"]),
    is(&["followup"], &["task", "follow-up"]),
    is(&["continue"], &["task", "follow-up"]),
    is(&["pick"], &["task", "pick"]),
    is(&["compare"], &["task", "compare"]),
    is(&["restore"], &["worktree", "restore"]),
    is(&["gc"], &["worktree", "gc"]),
    is(&["worktrees"], &["worktree", "list"]),
    is(&["prs"], &["pr", "list"]),
    is(&["needs"], &["inbox"]),
    is(&["guards"], &["guard", "list"]),
    is(&["merge"], &["pr", "merge"]),
    is(&["update"], &["pr", "update"]),
    is(&["checkout"], &["pr", "checkout"]),
    is(&["close"], &["pr", "close"]),
    is(&["reopen"], &["pr", "reopen"]),
    one_of(&["open"], &["task open", "pr open"]),
    one_of(&["rm"], &["task cancel", "worktree remove"]),
    one_of(&["remove"], &["task cancel", "worktree remove"]),
    one_of(&["delete"], &["task cancel", "worktree remove"]),
    one_of(&["stop"], &["task cancel", "daemon stop"]),
    one_of(&["kill"], &["task cancel", "daemon stop"]),
    one_of(&["start"], &["run", "daemon start"]),
    one_of(&["new"], &["run", "worktree add"]),
    one_of(&["add"], &["run", "worktree add"]),
    one_of(&["create"], &["run", "worktree add", "pr create"]),
    is(&["task", "ls"], &["task", "list"]),
    is(&["task", "view"], &["task", "show"]),
    is(&["task", "logs"], &["task", "log"]),
    is(&["task", "new"], &["run"]),
    is(&["task", "add"], &["run"]),
    is(&["task", "create"], &["run"]),
    is(&["task", "run"], &["run"]),
    is(&["task", "stop"], &["task", "cancel"]),
    is(&["task", "kill"], &["task", "cancel"]),
    is(&["task", "followup"], &["task", "follow-up"]),
    is(&["task", "continue"], &["task", "follow-up"]),
    one_of(&["task", "rm"], &["task cancel", "worktree remove"]),
    one_of(&["task", "remove"], &["task cancel", "worktree remove"]),
    one_of(&["task", "delete"], &["task cancel", "worktree remove"]),
    is(&["worktree", "ls"], &["worktree", "list"]),
    is(&["worktree", "new"], &["worktree", "add"]),
    is(&["worktree", "create"], &["worktree", "add"]),
    is(&["worktree", "rm"], &["worktree", "remove"]),
    is(&["worktree", "delete"], &["worktree", "remove"]),
    is(&["worktree", "prune"], &["worktree", "gc"]),
    is(&["pr", "ls"], &["pr", "list"]),
    is(&["pr", "view"], &["pr", "show"]),
    is(&["pr", "new"], &["pr", "create"]),
    is(&["daemon", "log"], &["daemon", "logs"]),
    is(&["daemon", "show"], &["daemon", "status"]),
    is(&["daemon", "ps"], &["daemon", "status"]),
    is(&["guard", "ls"], &["guard", "list"]),
    is(&["guard", "show"], &["guard", "list"]),
    is(&["inbox", "ls"], &["inbox"]),
    is(&["inbox", "list"], &["inbox"]),
    is(&["inbox", "view"], &["inbox", "show"]),
    is(&["inbox", "rm"], &["inbox", "dismiss"]),
    is(&["inbox", "remove"], &["inbox", "dismiss"]),
    is(&["inbox", "delete"], &["inbox", "dismiss"]),
    is(&["inbox", "clear"], &["inbox", "dismiss"]),
    is(&["playbook", "ls"], &["playbook", "status"]),
    is(&["playbook", "view"], &["playbook", "show"]),
    is(&["state", "view"], &["state", "show"]),
];

/// A word with several meanings.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unclear {
    pub(crate) word: String,
    /// Whole, with what was typed behind the word.
    pub(crate) commands: Vec<String>,
}

/// A command as it would be typed for a word with several meanings.
fn with_the_rest(command: &str, rest: &[String]) -> String {
    let rest = match rest {
        // These take nothing more.
        _ if command.starts_with("daemon ") => return format!("dandori {command}"),
        [] => "…".to_owned(),
        words => words.iter().map(|word| dandori_domain::shell_word(word)).collect::<Vec<_>>().join(" "),
    };
    format!("dandori {command} {rest}")
}

/// The words as the command line has them. `help task show` and `version` are led to what they mean, too.
pub(crate) fn led(words: Vec<String>) -> Result<Vec<String>, Unclear> {
    let Some(at) = first_word(&words, 0) else { return Ok(words) };
    match words.get(at).map(String::as_str) {
        Some("help") => return Ok(help(words, at)),
        Some("version") => return Ok(replaced(words, &[at], &["--version"])),
        _ => {}
    }
    let second = first_word(&words, at + 1);
    let word = |at: Option<usize>| at.and_then(|at| words.get(at)).map(String::as_str);
    let (one, two) = (word(Some(at)), word(second));
    let found = TABLE.iter().find(|near| match near.typed {
        [first] => one == Some(first),
        [first, then] => one == Some(first) && two == Some(then),
        _ => false,
    });
    let Some(near) = found else { return Ok(words) };
    match near.means {
        OneOf(commands) => {
            let last = if near.typed.len() == 2 { second } else { Some(at) };
            let rest = last.and_then(|last| words.get(last + 1..)).unwrap_or_default();
            let rest = without_globals(rest);
            let commands = commands.iter().map(|command| with_the_rest(command, &rest)).collect();
            Err(Unclear { word: near.typed.join(" "), commands })
        }
        Is(command) => {
            let places: Vec<usize> =
                [Some(at), second.filter(|_| near.typed.len() == 2)].into_iter().flatten().collect();
            Ok(replaced(words, &places, command))
        }
    }
}

/// Without the options that are no part of what is meant.
fn without_globals(words: &[String]) -> Vec<String> {
    let mut words = words.iter();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" => {}
            "--lang" => drop(words.next()),
            option if option.starts_with("--lang=") => {}
            _ => kept.push(word.clone()),
        }
    }
    kept
}

/// The next word that is no option and no value of one; nothing behind `--`.
fn first_word(words: &[String], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let word = words.get(at)?;
        match word.as_str() {
            "--" => return None,
            // The one option with a value that may stand before a command.
            "--lang" => at += 2,
            option if option.starts_with('-') => at += 1,
            _ => return Some(at),
        }
    }
}

/// The words at these places become others, in the place of the first.
fn replaced(words: Vec<String>, places: &[usize], by: &[&str]) -> Vec<String> {
    let mut out = Vec::with_capacity(words.len() + by.len());
    for (at, word) in words.into_iter().enumerate() {
        if places.first() == Some(&at) {
            out.extend(by.iter().map(|word| (*word).to_owned()));
        }
        if !places.contains(&at) {
            out.push(word);
        }
    }
    out
}

/// `help a b` is `a b --help`, and near words work in it, too.
fn help(words: Vec<String>, at: usize) -> Vec<String> {
    let mut rest = replaced(words, &[at], &[]);
    rest.push("--help".to_owned());
    match led(rest.clone()) {
        Ok(led) => led,
        Err(_) => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn led_to(line: &str) -> String {
        let words = line.split_whitespace().map(str::to_owned).collect();
        match led(words) {
            Ok(words) => words.join(" "),
            Err(unclear) => format!("{}? {}", unclear.word, unclear.commands.join(", ")),
        }
    }

    #[test]
    fn near_words_lead_to_the_right_verb() {
        for (typed, means) in [
            ("diff T-3", "task diff T-3"),
            ("--lang ja --json diff T-3", "--lang ja --json task diff T-3"),
            ("ls -A", "task list -A"),
            ("merge 1", "pr merge 1"),
            ("update 1", "pr update 1"),
            ("open 1", "open? dandori task open 1, dandori pr open 1"),
            ("task ls --json", "task list --json"),
            ("task --json view 3", "task show --json 3"),
            ("task new fix it", "run fix it"),
            ("stop T-3", "stop? dandori task cancel T-3, dandori daemon stop"),
            ("rm --json --lang ja", "rm? dandori task cancel …, dandori worktree remove …"),
            ("task rm 3", "task rm? dandori task cancel 3, dandori worktree remove 3"),
            ("help", "--help"),
            ("help task show", "task show --help"),
            ("help ls", "task list --help"),
            ("--lang ja help run", "--lang ja run --help"),
            ("version", "--version"),
            ("run ls", "run ls"),
            ("run diff T-3", "run diff T-3"),
            ("-- diff", "-- diff"),
            ("task show ls", "task show ls"),
            ("", ""),
            ("--json", "--json"),
        ] {
            assert_eq!(led_to(typed), means, "{typed}");
        }
    }
}
