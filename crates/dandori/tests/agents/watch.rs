//! What one sees of each real client at work: the same few lines, whoever it is.

use dandori_domain::Client;
use dandori_testkit::model::{Call, Script, Turn};
use dandori_testkit::tmux::Tmux;

use crate::stage::Stage;

/// `marks`: what stands before the last words of a command that went well, and of one that did not.
fn is_watched(agent: &'static str, written: &str, marks: [&str; 2]) {
    let write = Call::Write { path: "greeting.txt".to_owned(), content: "hello\nworld\n".to_owned() };
    let script = Script::turns([
        Turn::say("I will write a greeting.").and_call(write),
        Turn::shell("cat greeting.txt"),
        Turn::shell("echo no such thing >&2; exit 3"),
        Turn::say("The greeting is written."),
    ]);
    let stage = Stage::new(agent, script);
    let terminal = Tmux::start(&stage.env, 80, 40, &[]);
    terminal.begin(&format!("dandori run 'Greet the world' --agent {agent}"));
    let ended = terminal.wait_for("`dandori pr create T-1`");
    let told = &ended[ended.find("T-1 Greet").unwrap()..];
    let mut from = 0;
    for row in [
        "\n● I will write a greeting.\n",
        &format!("\n  {written}\n"),
        &format!("\n  $ cat greeting.txt\n    {} world\n", marks[0]),
        &format!("\n  $ echo no such thing >&2; exit 3\n    {} ", marks[1]),
        "SUCCEEDED",
        "\n  The greeting is written.\n",
        "\n  +2 −0  greeting.txt\n  1 file, +2 −0 · ",
    ] {
        let at = told[from..].find(row).unwrap_or_else(|| panic!("{agent}: {row:?} is not below its place:\n{told}"));
        // Rows share the end of a line.
        from += at + row.len() - 1;
    }
    assert_eq!(told.matches("The greeting is written.").count(), 1, "its last words stand once: {told}");
    assert!(!told.contains("/worktrees/run_") || told.matches("/worktrees/run_").count() == 1, "{told}");
}

#[test]
fn claude() {
    is_watched(Client::Claude.name(), "Write greeting.txt (2 lines)", ["✓", "✗"]);
}

#[test]
fn codex() {
    is_watched(Client::Codex.name(), "Add greeting.txt", ["✓", "✗"]);
}

#[test]
fn gemini() {
    // It does not tell how a command ended that has printed something.
    is_watched(Client::Gemini.name(), "Write greeting.txt (2 lines)", ["·", "·"]);
}
