//! Every hint is typed, as it was printed, in the very state it was printed in, and does what it promises.
//!
//! The errors that tell a command to type are those of `crates/text/tests/messages/problems.txt`: each of them is reached
//! here, or stands in [`OUTSIDE`] with what keeps it from being reached.

mod documents;
mod formation;
mod needs;
mod pulls;
mod repository;
mod runs;
mod worktrees;

use std::collections::BTreeSet;

use camino::Utf8Path;
use dandori_testkit::env::{Ran, TestEnv};

use crate::guard_verbs::at_a_terminal;
use crate::machine;

/// Errors with a command in their hint that no test brings about through the program, and why.
const OUTSIDE: &[(&str, &str)] = &[
    ("acp_needs_fence", "an agent of the Agent Client Protocol: tests/agents"),
    ("bad_request", "our own program sends no request that is not understood"),
    ("daemon_unreachable", "a daemon that does not answer"),
    ("daemon_version", "a daemon of another version that cannot be replaced: versions.rs"),
    ("dubious_ownership", "a repository of another user"),
    ("elsewhere", "a second host on the same database"),
    ("git", "git fails for a reason of its own"),
    ("internal", "a bug"),
    ("lfs_missing", "its hint needs git-lfs"),
    ("no_forge_token", "a remote on GitHub"),
    ("not_for_role", "an agent at its own door: role_doors.rs"),
    ("pull_is_busy", "two people at the same moment"),
    ("store_damaged", "a broken database: stores.rs"),
    ("store_unavailable", "a broken database: stores.rs"),
    ("worktree_unrecorded", "a worktree that git forgot while it was in use: clean_up.rs"),
];

/// An agent that changes something each time.
const AGENT: &str = "exec:echo hello >> hello.txt; echo done";

/// A machine, and the errors that were met on it.
struct Stage {
    env: TestEnv,
    reached: BTreeSet<String>,
}

impl Stage {
    /// Whoever types `dandori run` has an agent, and `dandori` is on the path.
    fn new() -> Self {
        let mut env = machine();
        let bin = Utf8Path::new(env.bin()).parent().unwrap().to_owned();
        let path = std::env::var("PATH").unwrap();
        env.var("PATH", format!("{bin}:{path}"));
        env.write_user_config(&format!("agent = \"{AGENT}\"\n"));
        Self { env, reached: BTreeSet::new() }
    }

    /// A command that fails with this code; the commands it tells to type.
    fn refused(&mut self, code: &str, words: &[&str]) -> Vec<String> {
        let folder = self.env.repo();
        self.refused_in(&folder, code, words)
    }

    fn refused_in(&mut self, folder: &Utf8Path, code: &str, words: &[&str]) -> Vec<String> {
        let ran = self.env.dandori_in(folder, [words, &["--json"]].concat());
        assert_ne!(ran.code, 0, "{words:?}: {ran:?}");
        assert_eq!(ran.json()["error"]["code"], code, "{words:?}: {ran:?}");
        self.reached.insert(code.to_owned());
        let hint = ran.stderr.split("\nhint: ").nth(1).unwrap_or_else(|| panic!("{words:?} has no hint: {ran:?}"));
        commands(hint)
    }

    /// The commands that a command which succeeds tells to type.
    fn told(&self, words: &[&str]) -> Vec<String> {
        let ran = self.env.dandori(words);
        assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
        commands(&format!("{}{}", ran.stdout, ran.stderr))
    }

    /// A command typed into a shell as it is.
    fn typed(&self, command: &str) -> Ran {
        self.typed_in(&self.env.repo(), command)
    }

    fn typed_in(&self, folder: &Utf8Path, command: &str) -> Ran {
        let ran = Ran::of(&self.env.program("sh", ["-c", command], folder).output().unwrap());
        assert_ne!(ran.code, 2, "{command}: {ran:?}");
        ran
    }

    /// The same at a terminal, where somebody answers.
    fn by_a_person(&self, command: &str, answer: &str) -> String {
        let said = at_a_terminal(&self.env, command, answer);
        assert!(said.ends_with("exit 0"), "{command}: {said}");
        said
    }

    /// What agents that failed have been missing.
    fn fix(&self) {
        self.env.write("fixed.txt", "");
        self.env.git(["add", "fixed.txt"]);
        self.env.git(["commit", "-qm", "fix"]);
        self.env.git(["push", "-q", "origin", "main"]);
    }

    /// A run of the task, and what became of it.
    fn run(&self, task: &str, number: usize) -> serde_json::Value {
        self.env.dandori(["task", "show", task, "--json"]).json()["runs"][number].clone()
    }

    fn key(&self, task: &str, number: usize) -> String {
        self.run(task, number)["run"].as_str().unwrap().to_owned()
    }
}

/// What stands in backquotes and is a command.
fn commands(text: &str) -> Vec<String> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|inner| ["dandori ", "git "].iter().any(|own| inner.starts_with(own))).map(str::to_owned).collect()
}

/// The one command of a hint.
fn only(commands: Vec<String>) -> String {
    assert_eq!(commands.len(), 1, "{commands:?}");
    commands.into_iter().next().unwrap()
}

/// The first of several.
fn first(commands: Vec<String>) -> String {
    commands.into_iter().next().unwrap()
}

/// The errors whose hint tells a command.
fn errors_that_tell_a_command() -> BTreeSet<String> {
    let path = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../text/tests/messages/problems.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let samples = text.split("\n\n");
    let telling =
        samples.filter(|sample| sample.lines().any(|line| line.starts_with("  hint: ") && !commands(line).is_empty()));
    telling.map(|sample| sample.lines().next().unwrap().to_owned()).collect()
}

#[test]
fn every_hint_does_what_it_promises_when_it_is_typed() {
    let parts =
        [repository::play, documents::play, runs::play, needs::play, pulls::play, worktrees::play, formation::play];
    // Each has a machine of its own, and waits most of the time.
    let reached: BTreeSet<String> = std::thread::scope(|scope| {
        let played = parts.map(|part| scope.spawn(part));
        played.into_iter().flat_map(|part| part.join().unwrap_or_else(|e| std::panic::resume_unwind(e))).collect()
    });

    let outside: BTreeSet<String> = OUTSIDE.iter().map(|(code, _)| (*code).to_owned()).collect();
    let telling = errors_that_tell_a_command();
    let missing: Vec<&String> = telling.difference(&reached).filter(|code| !outside.contains(*code)).collect();
    assert!(missing.is_empty(), "never typed: {missing:?}");
    let idle: Vec<&String> =
        outside.iter().filter(|code| reached.contains(*code) || !telling.contains(*code)).collect();
    assert!(idle.is_empty(), "needs no excuse: {idle:?}");
}
