//! One policy file, three clients: what each decision makes the client do, and what the model and the user are told.

use dandori_testkit::model::Turn;

use dandori_domain::Client;

use crate::stage::{Played, Stage};

/// Read by all three, unchanged. The built-in guards hold beside it.
const POLICY: &str = r#"
[guards]
secrets = ["vault.txt"]

[[guards.rule]]
name = "no-block"
paths = ["blocked-*.txt"]
message = "POLICY blocks: write elsewhere"

[[guards.rule]]
name = "careful"
paths = ["warned-*.txt"]
decision = "warn"
message = "POLICY warns: be careful"

[[guards.rule]]
name = "hint"
paths = ["informed-*.txt"]
decision = "info"
message = "POLICY informs: for the model"

[[guards.rule]]
name = "asks"
paths = ["asked-*.txt"]
decision = "ask"
message = "POLICY asks: may I"

[[guards.rule]]
name = "broken"
paths = ["broken-*.txt"]
run = ["false"]

[[guards.rule]]
name = "strict"
paths = ["strict-*.txt"]
run = ["false"]
on_error = "closed"

[[guards.rule]]
name = "edits-only"
tools = ["Write"]
paths = ["channel.txt"]
message = "POLICY blocks the editing tool"

[[guards.rule]]
name = "afterwards"
events = ["PostToolUse"]
paths = ["after-*.txt"]
decision = "warn"
message = "POLICY warns afterwards"

[[guards.rule]]
name = "greeting"
events = ["UserPromptSubmit"]
prompts = ["do it"]
decision = "info"
message = "POLICY informs about the prompt"

[[guards.rule]]
name = "no-such-prompt"
events = ["UserPromptSubmit"]
prompts = ["forbidden words"]
message = "POLICY drops the prompt"

[[guards.rule]]
name = "not-yet"
events = ["Stop"]
message = "POLICY says: look once more"
"#;

/// Whom a decision's words reach.
#[derive(Clone, Copy, PartialEq)]
enum To {
    Model,
    /// Gemini has no way to tell the model before a tool runs.
    ModelIfTold,
    Nobody,
}

struct Case {
    file: &'static str,
    runs: bool,
    words: &'static str,
    to: To,
    is_shown: bool,
}

const CASES: [Case; 8] = [
    Case { file: "passed", runs: true, words: "dandori", to: To::Nobody, is_shown: false },
    Case { file: "blocked", runs: false, words: "POLICY blocks: write elsewhere", to: To::Model, is_shown: true },
    Case { file: "warned", runs: true, words: "POLICY warns: be careful", to: To::ModelIfTold, is_shown: true },
    Case { file: "informed", runs: true, words: "POLICY informs: for the model", to: To::ModelIfTold, is_shown: false },
    // Headless, a question is a refusal.
    Case { file: "asked", runs: false, words: "POLICY asks: may I", to: To::Model, is_shown: true },
    Case { file: "broken", runs: true, words: "broken", to: To::Nobody, is_shown: true },
    Case { file: "strict", runs: false, words: "strict", to: To::Model, is_shown: true },
    Case { file: "after", runs: true, words: "POLICY warns afterwards", to: To::Model, is_shown: true },
];

fn policy(agent: Client) -> Stage {
    let stage = Stage::new(agent);
    stage.env.write("dandori.toml", POLICY);
    // The policy runs programs: that needs the user's trust.
    let _ = stage.env.dandori(["trust", "--yes"]).ok();
    let _ = stage.init(&[]).ok();
    stage
}

fn the_policy_holds(agent: Client) {
    let stage = policy(agent);
    let mut turns = Vec::new();
    for case in &CASES {
        turns.push(stage.write(&format!("{}-edit.txt", case.file)));
        turns.push(Turn::shell(&format!("echo written > {}-shell.txt", case.file)));
    }
    let channel = turns.len();
    turns.push(stage.write("channel.txt"));
    turns.push(Turn::shell("echo written > channel.txt"));
    let built_in = turns.len();
    turns.push(stage.write("vault.txt"));
    turns.push(Turn::shell("git push --force origin work"));
    let end = turns.len();
    turns.push(Turn::say("I am at the end."));
    turns.push(Turn::say("I have looked once more."));
    let played = stage.play(turns);

    for (at, case) in CASES.iter().enumerate() {
        for (turn, file) in
            [(2 * at, format!("{}-edit.txt", case.file)), (2 * at + 1, format!("{}-shell.txt", case.file))]
        {
            assert_eq!(stage.has(&file), case.runs, "{agent:?}: {file}\n{}", played.story());
            let is_told = match case.to {
                To::Model => true,
                To::ModelIfTold => agent != Client::Gemini,
                To::Nobody => false,
            };
            // What the client itself says of the call names the file.
            let told = played.told(turn).replace(&file, "");
            assert_eq!(told.contains(case.words), is_told, "{agent:?}: {file}: {told}");
        }
        // Headless, Codex shows that a hook has spoken, not what it said.
        if case.is_shown && agent != Client::Codex {
            assert!(played.shown().contains(case.words), "{agent:?}: {} is not shown\n{}", case.words, played.story());
        }
    }
    played.assert_told(channel, "POLICY blocks the editing tool");
    played.assert_told(channel + 1, "edits-only");
    assert!(!stage.has("channel.txt"), "what was refused as an edit is refused as a line");
    played.assert_told(built_in, "[dandori secrets]");
    played.assert_told(built_in + 1, "[dandori bash]");
    assert!(!stage.has("vault.txt"));
    assert_goes_on_once(&played, end);
    let first = crate::stage::plain(&played.request(0));
    assert!(first.contains("POLICY informs about the prompt"), "{agent:?}: {first}");
}

/// The end is refused once, with the reason, and then it is the end.
fn assert_goes_on_once(played: &Played, end: usize) {
    played.assert_told(end, "POLICY says: look once more");
    assert_eq!(played.turns(), end + 2, "{}", played.story());
    assert_eq!(played.ran.code, 0, "{}", played.story());
}

fn the_prompt_is_dropped(agent: Client) {
    let stage = policy(agent);
    let played = stage.play_with(&stage.env.repo(), "say Forbidden Words", &[], [stage.write("a.txt")]);
    assert_eq!(played.turns(), 0, "{agent:?}: the model was asked\n{}", played.story());
    assert!(!stage.has("a.txt"));
    // Headless, Codex shows that a hook has spoken, not what it said.
    let shown = if agent == Client::Codex { "UserPromptSubmit Blocked" } else { "POLICY drops the prompt" };
    assert!(played.shown().contains(shown), "{agent:?}: {}", played.story());
}

#[test]
fn the_policy_holds_in_claude() {
    the_policy_holds(Client::Claude);
}

#[test]
fn the_policy_holds_in_codex() {
    the_policy_holds(Client::Codex);
}

#[test]
fn the_policy_holds_in_gemini() {
    the_policy_holds(Client::Gemini);
}

#[test]
fn claude_drops_a_refused_prompt() {
    the_prompt_is_dropped(Client::Claude);
}

#[test]
fn codex_drops_a_refused_prompt() {
    the_prompt_is_dropped(Client::Codex);
}

#[test]
fn gemini_drops_a_refused_prompt() {
    the_prompt_is_dropped(Client::Gemini);
}
