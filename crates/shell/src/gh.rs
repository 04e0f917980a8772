//! gh's command line, by cobra's rules: long options are never abbreviated, `-R` stands anywhere, a valued option
//! takes the next word whatever it looks like.

use crate::options::{self, Spec};
use crate::reading::{Command, Word};

/// A call of gh, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GhCall {
    /// `["pr", "create"]`; `pr new` is `pr create`, `pr ls` is `pr list`. `api` and other single words stand alone.
    pub verb: Vec<String>,
    /// Long names without dashes, letters spelled out where they are known: `("title", Some("x"))`.
    pub flags: Vec<(String, Option<Word>)>,
    pub operands: Vec<Word>,
    pub repo: Option<Word>,
    /// A word before or in the verb is only known at run time.
    pub computed: bool,
}

impl GhCall {
    pub fn is(&self, verb: &[&str]) -> bool {
        self.verb.len() == verb.len() && self.verb.iter().zip(verb).all(|(a, b)| a == b)
    }

    /// A flag is given, and not as `--flag=false`.
    pub fn has(&self, name: &str) -> bool {
        self.flags.iter().any(|(flag, value)| {
            flag == name
                && !value
                    .as_ref()
                    .is_some_and(|v| matches!(v.text.as_str(), "false" | "0" | "f" | "F" | "FALSE" | "False"))
        })
    }

    pub fn value(&self, name: &str) -> Option<&Word> {
        self.flags.iter().rev().find(|(flag, value)| flag == name && value.is_some())?.1.as_ref()
    }

    /// All values of a flag that may be given several times or with commas.
    pub fn values(&self, name: &str) -> Vec<String> {
        let given = self.flags.iter().filter(|(flag, _)| flag == name).filter_map(|(_, value)| value.as_ref());
        given.flat_map(|v| v.text.split(',').map(|s| s.trim().to_owned()).collect::<Vec<_>>()).collect()
    }

    /// The method `gh api` would use, in capitals.
    pub fn api_method(&self) -> Option<String> {
        if self.verb.first().map(String::as_str) != Some("api") {
            return None;
        }
        let sends = ["field", "raw-field", "input"].iter().any(|f| self.flags.iter().any(|(name, _)| name == f));
        let default = if sends { "POST" } else { "GET" };
        Some(self.value("method").map_or_else(|| default.to_owned(), |m| m.text.to_ascii_uppercase()))
    }
}

/// Letters of each command, with their long names; an upper-case mark says that they take a value.
fn letters(verb: &[&str]) -> &'static [(char, &'static str, bool)] {
    match verb {
        ["pr", "merge"] => &[
            ('d', "delete-branch", false),
            ('m', "merge", false),
            ('r', "rebase", false),
            ('s', "squash", false),
            ('A', "author-email", true),
            ('b', "body", true),
            ('F', "body-file", true),
            ('t', "subject", true),
        ],
        ["pr", "create"] => &[
            ('d', "draft", false),
            ('f', "fill", false),
            ('e', "editor", false),
            ('w', "web", false),
            ('a', "assignee", true),
            ('B', "base", true),
            ('b', "body", true),
            ('F', "body-file", true),
            ('H', "head", true),
            ('l', "label", true),
            ('m', "milestone", true),
            ('p', "project", true),
            ('r', "reviewer", true),
            ('t', "title", true),
            ('T', "template", true),
        ],
        ["pr", "review"] => &[
            ('a', "approve", false),
            ('c', "comment", false),
            ('r', "request-changes", false),
            ('b', "body", true),
            ('F', "body-file", true),
        ],
        ["pr" | "issue", "close"] => &[('d', "delete-branch", false), ('c', "comment", true), ('r', "reason", true)],
        ["pr" | "issue", "list"] => &[
            ('d', "draft", false),
            ('w', "web", false),
            ('a', "assignee", true),
            ('A', "author", true),
            ('B', "base", true),
            ('H', "head", true),
            ('l', "label", true),
            ('L', "limit", true),
            ('S', "search", true),
            ('s', "state", true),
            ('q', "jq", true),
            ('t', "template", true),
            ('m', "milestone", true),
        ],
        ["pr" | "issue", "view"] => {
            &[('c', "comments", false), ('w', "web", false), ('q', "jq", true), ('t', "template", true)]
        }
        ["pr", "checks"] => &[('w', "web", false), ('i', "interval", true), ('q', "jq", true), ('t', "template", true)],
        ["pr" | "issue", _] => &[
            ('e', "editor", false),
            ('w', "web", false),
            ('a', "assignee", true),
            ('B', "base", true),
            ('b', "body", true),
            ('F', "body-file", true),
            ('l', "label", true),
            ('m', "milestone", true),
            ('p', "project", true),
            ('t', "title", true),
            ('T', "template", true),
            ('c', "comment", true),
            ('r', "reason", true),
        ],
        ["api", ..] => &[
            ('i', "include", false),
            ('F', "field", true),
            ('f', "raw-field", true),
            ('H', "header", true),
            ('q', "jq", true),
            ('X', "method", true),
            ('p', "preview", true),
            ('t', "template", true),
        ],
        _ => &[
            ('L', "limit", true),
            ('q', "jq", true),
            ('t', "template", true),
            ('j', "job", true),
            ('i', "interval", true),
        ],
    }
}

const VALUED: &[&str] = &[
    "match-head-commit",
    "recover",
    "json",
    "cache",
    "hostname",
    "input",
    "add-assignee",
    "add-label",
    "add-project",
    "add-reviewer",
    "remove-assignee",
    "remove-label",
    "remove-project",
    "remove-reviewer",
    "app",
    "default-branch",
    "visibility",
    "add-topic",
    "remove-topic",
    "branch",
    "workflow",
    "ref",
    "reason",
    "notes",
    "notes-file",
    "title",
    "target",
];

/// Take a gh command apart.
pub fn gh_call(command: &Command) -> Option<GhCall> {
    if command.program != "gh" {
        return None;
    }
    let mut call = GhCall::default();
    let single = |word: &str| matches!(word, "api" | "status" | "browse" | "completion" | "version" | "help");
    let mut words = command.args().iter();
    let mut rest = Vec::new();
    while call.verb.len() < 2 && !call.verb.first().is_some_and(|verb| single(verb)) {
        let Some(word) = words.next() else { break };
        match (call.verb.first().map(String::as_str), word.text.as_str()) {
            (_, "--") => {
                rest.push(word.clone());
                break;
            }
            (_, option) if option.starts_with('-') && option != "-" => {
                rest.push(word.clone());
                if matches!(option, "-R" | "--repo") {
                    rest.extend(words.next().cloned());
                }
            }
            (verb, text) => {
                call.computed |= word.is_computed();
                let known = match (verb, text) {
                    (Some("pr" | "issue" | "release" | "gist"), "new") => "create",
                    (Some(_), "ls") => "list",
                    (_, other) => other,
                };
                call.verb.push(known.to_owned());
            }
        }
    }
    rest.extend(words.cloned());
    let verb: Vec<&str> = call.verb.iter().map(String::as_str).collect();
    let letters = letters(&verb);
    let short: String =
        letters.iter().filter(|(.., valued)| *valued).map(|(letter, ..)| *letter).chain(['R']).collect();
    // A name that is a switch here may take a value elsewhere.
    let is_switch = |name: &&&str| letters.iter().any(|(_, long, valued)| long == *name && !valued);
    let named = letters.iter().filter(|(.., valued)| *valued).map(|(_, name, _)| *name);
    let long: Vec<&str> = VALUED.iter().filter(|name| !is_switch(name)).copied().chain(named).chain(["repo"]).collect();
    let parsed = options::parse(&rest, Spec { short: &short, long: &long, stops: false });
    for (name, mut value) in parsed.flags {
        // `-X=PUT` is `-X PUT`.
        if let Some(word) = value.as_mut().filter(|word| name.len() == 1 && word.text.starts_with('=')) {
            word.text.remove(0);
        }
        let letter = letters.iter().find(|(letter, ..)| name.chars().eq([*letter]));
        match letter.map_or(name.as_str(), |(_, long, _)| *long) {
            "R" | "repo" => call.repo = value,
            long => call.flags.push((long.to_owned(), value)),
        }
    }
    call.operands = parsed.operands;
    Some(call)
}
