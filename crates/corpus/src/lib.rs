//! Shell lines as data: hostile ones, which must be caught, and harmless ones from real life, which must pass without a
//! word. The tests of the shell reader and of the guards print how many of each are judged right; the fuzzer mutates them.
#![expect(clippy::expect_used, reason = "the data is compiled in, and every test reads it")]

use dandori_shell::{Reading, Touch, git_call};
use serde::{Deserialize, Serialize};

/// A line that does something it must not, unseen if it can.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Form {
    #[serde(default)]
    pub id: String,
    pub kind: Kind,
    /// The command that it runs, or the file that it writes.
    pub target: String,
    pub command: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Runs,
    Writes,
    /// It only mentions its target.
    Benign,
}

impl Form {
    /// The reading shows what the form does, or says that it does not see through.
    pub fn is_caught(&self, reading: &Reading) -> bool {
        let is_seen = match self.kind {
            Kind::Writes => reading.writes.iter().any(|write| write.touches(&self.target) != Touch::No),
            Kind::Runs | Kind::Benign => runs(reading, &self.target),
        };
        is_seen || !reading.is_clear()
    }
}

/// The reading shows a command with this program, subcommand and flags.
pub fn runs(reading: &Reading, target: &str) -> bool {
    let mut words = target.split(' ');
    let program = words.next().unwrap_or_default();
    let rest: Vec<&str> = words.collect();
    reading.commands.iter().any(|command| match git_call(command) {
        Some(call) if program == "git" => {
            Some(call.subcommand.text.as_str()) == rest.first().copied()
                && rest.iter().skip(1).all(|flag| match flag.strip_prefix("--") {
                    Some(long) => call.has_option(long, (long == "force").then_some('f')) || call.has_computed(),
                    None => call.args.iter().any(|a| a.text == *flag),
                })
        }
        _ => command.program == program && rest.iter().all(|w| command.args().iter().any(|a| a.text == *w)),
    })
}

/// What is in a file of the project: git knows where it was cloned from, the others are empty.
pub fn text_of(name: &str) -> &'static str {
    match name {
        ".git/config" => {
            "[remote \"origin\"]\n\turl = https://example.org/o/r.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
        }
        _ => "",
    }
}

/// The files of the ordinary project in which the lines are judged.
pub const PROJECT: &[&str] = &[
    ".git/config",
    ".env",
    ".env.example",
    "protected.txt",
    "d/protected.txt",
    "x",
    "a.txt",
    "Cargo.toml",
    "package.json",
    "src/lib.rs",
    "src/main.rs",
    "build.sh",
    "scripts/ci.sh",
    "tests/a.rs",
    "docs/index.md",
];

fn forms(text: &str) -> Vec<Form> {
    serde_json::from_str(text).expect("forms")
}

/// The forms that other engines were measured with: hostile ones and benign ones.
pub fn known() -> Vec<Form> {
    forms(include_str!("../data/forms.json"))
}

/// Our own further hostile forms.
pub fn further() -> Vec<Form> {
    forms(include_str!("../data/hostile.json"))
}

/// Every hostile form.
pub fn hostile() -> Vec<Form> {
    known().into_iter().filter(|form| form.kind != Kind::Benign).chain(further()).collect()
}

/// Every harmless line: the benign forms, and those of real life.
pub fn harmless() -> Vec<String> {
    let benign = known().into_iter().filter(|form| form.kind == Kind::Benign).map(|form| form.command);
    benign.chain(blocks(include_str!("../data/harmless.txt"))).collect()
}

/// One line each; what has several stands between lines of `%%`.
fn blocks(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut block: Option<Vec<&str>> = None;
    for line in text.lines() {
        match (&mut block, line) {
            (None, "%%") => block = Some(Vec::new()),
            (Some(_), "%%") => lines.extend(block.take().map(|b| b.join("\n"))),
            (Some(block), line) => block.push(line),
            (None, line) => lines.push(line.to_owned()),
        }
    }
    lines
}
