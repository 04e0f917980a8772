//! Any agent that speaks the Agent Client Protocol: edits to pull request, follow-ups, cancel, guards, and what goes wrong.
//!
//! Gemini CLI in its ACP mode, the protocol's own library and its example agent are the real thing; what they cannot be
//! made to show, `acp_agent.py` plays.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_testkit::clis;
use dandori_testkit::env::{TestEnv, wait_until};
use dandori_testkit::model::{Call, Script, Turn};
use serde_json::{Value, json};

use crate::stage::{Ended, NO_SANDBOX, Stage};

/// A stage whose agent plays this part.
fn playing(part: &str) -> Stage {
    let stage = Stage::new("player", Script::default());
    let script = stage.env.home().join("acp_agent.py");
    std::fs::write(&script, include_str!("acp_agent.py")).unwrap();
    stage.configure(&player(&script, part));
    stage
}

fn player(script: &Utf8Path, part: &str) -> String {
    format!("[agents.player]\nacp = \"python3 {script} {part}\"\n")
}

/// The agent's own folder.
fn home_of(stage: &Stage) -> Utf8PathBuf {
    let repos = stage.env.state().join("repos");
    let below = |folder: &Utf8Path| folder.read_dir_utf8().unwrap().flatten().next().unwrap().into_path();
    below(&below(&repos).join("agents")).join(stage.agent)
}

fn heard(stage: &Stage) -> Vec<Value> {
    let text = std::fs::read_to_string(home_of(stage).join("heard.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn notes(stage: &Stage, run: &Ended) -> String {
    stage.shown(&run.id)["notes"].to_string()
}

fn log(stage: &Stage, run: &Ended) -> String {
    stage.env.dandori(["task", "log", &run.id]).ok()
}

#[test]
fn an_edit_is_committed_pushed_and_proposed_and_a_follow_up_goes_on_in_the_conversation() {
    let stage = playing("works");
    let env = &stage.env;
    let first = stage.succeeds("Add a greeting", &["--pr"]);
    assert_eq!(env.git_in(&env.origin(), ["rev-parse", &first.branch]), first.commit.clone().unwrap());
    assert_eq!(stage.on_origin(&first.branch, "greeting.txt"), "hello\nworld");
    assert_eq!(env.git_in(&env.origin(), ["diff", "--name-only", "main", &first.branch]), "greeting.txt");
    assert_eq!(first.pr["number"], 1, "{}", first.pr);
    let shown = stage.shown(&first.id);
    assert_eq!(shown["summary"], "Greeted 1 times.");
    assert_eq!(shown["usage"]["input_tokens"], 20, "{}", shown["usage"]);
    assert!(notes(&stage, &first).contains("asks_itself"), "{}", notes(&stage, &first));
    let shown = env.dandori(["task", "show", &first.task]).ok().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("only the sandbox restricts what it does without asking"), "{shown}");
    let log = log(&stage, &first);
    for words in ["I will write a greeting.", "▸ edit Write greeting.txt", "Greeted 1 times.", "20 tokens in, 10 out"]
    {
        assert!(log.contains(words), "{log}");
    }
    let prompt = heard(&stage).into_iter().find(|m| m["method"] == "session/prompt").unwrap();
    let prompt = prompt["params"]["prompt"][0]["text"].as_str().unwrap().to_owned();
    assert!(prompt.contains("Add a greeting") && prompt.contains("dandori stages, commits and pushes"), "{prompt}");

    let second = stage.follow_up(&first.task, "Greet once more");
    assert_eq!(second.session, first.session, "the same conversation");
    assert_eq!(stage.on_origin(&first.branch, "greeting.txt"), "hello\nworld\nhello\nworld");
    assert_eq!(stage.shown(&second.id)["summary"], "Greeted 2 times.");
    assert!(heard(&stage).iter().any(|message| message["method"] == "session/load"));
    assert!(!notes(&stage, &second).contains("conversation_anew"));
    let raw = env.dandori(["task", "log", &second.id, "--raw"]).ok();
    assert!(!raw.contains("again: "), "what was told again is not news: {raw}");
    stage.assert_own_files_untouched();
}

#[test]
fn an_agent_that_forgets_is_told_what_came_before_and_the_user_that_it_was() {
    let stage = playing("forgets");
    let first = stage.succeeds("Add a greeting", &[]);
    let second = stage.follow_up(&first.task, "Greet once more");
    assert_ne!(second.session, first.session);
    assert!(notes(&stage, &second).contains("conversation_anew"), "{}", notes(&stage, &second));
    stage.follow_up(&first.task, "And again");
    let prompts: Vec<Value> =
        heard(&stage).into_iter().filter(|message| message["method"] == "session/prompt").collect();
    let last = prompts.last().unwrap()["params"]["prompt"][0]["text"].as_str().unwrap().to_owned();
    for words in ["Add a greeting", "Greet once more", "Greeted 1 times.", "And again"] {
        assert!(last.contains(words), "{words:?} is not in {last}");
    }
    assert_eq!(stage.on_origin(&first.branch, "greeting.txt").lines().count(), 6);
}

#[test]
fn what_no_run_may_do_is_refused_in_every_way_it_is_asked_for_and_the_fence_holds_the_rest() {
    let stage = playing("is-refused");
    let ended = stage.succeeds("Try it", &[]);
    assert_eq!(ended.commit, None, "nothing was changed");
    let summary = stage.shown(&ended.id)["summary"].as_str().unwrap().to_owned();
    for words in [
        "push no",
        "ls once",
        "commit refused: [dandori constraints] do not run `git commit` in a run",
        "env refused: [dandori constraints] .env must not be read or written in a run",
        "git refused: ",
        "out refused: ",
        "unasked Read-only file system",
    ] {
        let fence = words.starts_with("unasked");
        let is_so = summary.contains(words) || fence && summary.contains("unasked Permission denied");
        assert!(is_so, "{words:?} is not in {summary}");
    }
    assert!(!stage.env.home().join("out.txt").exists() && !stage.env.home().join("unasked.txt").exists());
    assert_eq!(stage.branches_on_origin(), ["main"]);
    let log = log(&stage, &ended);
    assert!(log.contains("[dandori constraints] do not run `git push` in a run"), "{log}");
    let stats = stage.env.dandori(["guard", "stats", "--runs", "--json"]).json().to_string();
    assert!(stats.contains("constraints"), "{stats}");
}

#[test]
fn canceled_it_ends_its_turn_by_itself() {
    let stage = playing("listens");
    let ended = canceled(&stage, "listening");
    let home = home_of(&stage);
    assert_eq!(std::fs::read_to_string(home.join("cancelled")).unwrap(), ended.session.unwrap());
}

#[test]
fn canceled_an_agent_that_hears_nothing_ends_with_all_its_tree() {
    let stage = playing("hangs");
    canceled(&stage, "hanging");
}

/// Cancels once the agent has said this, and looks for anything that is left.
fn canceled(stage: &Stage, said: &str) -> Ended {
    let env = &stage.env;
    let started = Ended::of(&stage.run("Wait for me", &["--detach"]));
    wait_until("the agent works", || env.dandori(["task", "log", &started.id, "--raw"]).stdout.contains(said));
    let ended = Ended::of(&env.dandori(["task", "cancel", &started.task, "--json"]).json()["tasks"][0]);
    assert_eq!(ended.state, "CANCELED", "{ended:?}");
    let left: Vec<_> = env.processes().into_iter().filter(|(_, line)| is_agent_s(line)).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(!TestEnv::has_processes_of(&ended.id));
    ended
}

fn is_agent_s(line: &str) -> bool {
    ["python", "sleep", "dandori acp"].iter().any(|word| line.contains(word))
}

#[test]
fn each_way_to_leave_the_protocol_is_one_sentence() {
    let stage = playing("works");
    let script = stage.env.home().join("acp_agent.py");
    for (part, words) in [
        ("dies", "the agent exited without reporting a result (exit code 3): fatal: out of cheese"),
        ("garbage", "it printed \"Usage: agent [--acp] [PROMPT]\""),
        ("newer", "the agent uses version 2 of the Agent Client Protocol, dandori supports version 1"),
        ("declines", "the model refused the request"),
        ("is-cut-off", "the agent reached its token limit"),
    ] {
        stage.configure(&player(&script, part));
        let ended = &stage.all_fail(&[format!("Be one that {part}")], &[])[0];
        assert!(ended.error().contains(words), "{part}: {}", ended.error());
    }
    stage.configure("[agents.player]\nacp = \"no-such-agent --acp\"\n");
    let ended = &stage.all_fail(&["Be there".to_owned()], &[])[0];
    assert!(ended.error().contains("no-such-agent: not found"), "{}", ended.error());
}

#[test]
fn the_sentences_are_there_in_japanese_too() {
    let stage = playing("newer");
    let config = format!("language = \"ja\"\n{}", player(&stage.env.home().join("acp_agent.py"), "newer"));
    stage.env.write_user_config(&config);
    let ended = Ended::of(&stage.run("Be newer", &[]));
    assert!(ended.error().contains("バージョン 1"), "{}", ended.error());
}

#[test]
fn without_the_fence_it_is_not_run() {
    let stage = playing("works");
    let script = stage.env.home().join("acp_agent.py");
    stage.configure(&format!("{NO_SANDBOX}{}", player(&script, "works")));
    let said = stage.env.dandori(["run", "Try it", "--agent", "player"]).fails(1);
    assert!(said.contains("runs only in the sandbox") && said.contains("sandbox.mode"), "{said}");
    let report = stage.env.dandori(["doctor", "--json"]).json();
    let finding = report["checks"].as_array().unwrap().iter().find(|c| c["check"] == "acp").unwrap().clone();
    assert_eq!(finding["ok"], false, "{finding}");

    stage.configure(&player(&script, "works"));
    let report = stage.env.dandori(["doctor", "--json"]).json();
    let finding = report["checks"].as_array().unwrap().iter().find(|c| c["check"] == "acp").unwrap().clone();
    assert_eq!(finding["ok"], true, "{finding}");
    assert!(finding["detail"].as_str().unwrap().contains("player: python3"), "{finding}");
}

const GEMINI: &str = "\
[agents.gemini-acp]
acp = 'GEMINI_CLI_HOME=\"$DANDORI_AGENT_HOME\" gemini --acp --skip-trust -m gemini-2.5-flash'
auth = \"gemini-api-key\"

[sandbox]
pass_env = [\"GEMINI_API_KEY\", \"GOOGLE_GEMINI_BASE_URL\"]
";

#[test]
fn gemini_in_its_acp_mode_edits_and_follows_up() {
    let write = Call::Write { path: "greeting.txt".to_owned(), content: "hello\n".to_owned() };
    let stage = Stage::new(
        "gemini-acp",
        Script::turns([
            Turn::say("I will write a greeting.").and_call(write),
            Turn::say("The greeting is written."),
            Turn::shell("echo world >> greeting.txt"),
            Turn::say("The world is greeted."),
        ]),
    );
    stage.configure(GEMINI);
    let first = stage.succeeds("Add a greeting", &["--pr"]);
    assert_eq!(stage.on_origin(&first.branch, "greeting.txt"), "hello");
    assert_eq!(first.pr["number"], 1, "{}", first.pr);
    assert_eq!(stage.shown(&first.id)["usage"]["input_tokens"], 200);

    // It loses a conversation that is loaded within the minute of its beginning.
    let minute = || jiff::Timestamp::now().as_second() / 60;
    let begun = minute();
    wait_until("the minute is over", || minute() != begun);
    let second = stage.follow_up(&first.task, "Greet the world, too");
    assert_eq!(second.session, first.session, "{}", notes(&stage, &second));
    assert_eq!(stage.on_origin(&first.branch, "greeting.txt"), "hello\nworld");
    let last = stage.server.turns().pop().unwrap().to_string();
    for words in ["Add a greeting", "I will write a greeting.", "Greet the world, too"] {
        assert!(last.contains(words), "the model did not see {words:?}");
    }
    assert_eq!(stage.shown(&second.id)["summary"], "The world is greeted.");
    stage.assert_own_files_untouched();
}

#[test]
fn gemini_in_its_acp_mode_is_refused_what_no_run_may_do() {
    let write = |path: &str| Call::Write { path: path.to_owned(), content: "X=1\n".to_owned() };
    let script = [
        Turn::shell("git commit --allow-empty -m mine"),
        Turn::call(write("tls/server.key")),
        Turn::call(write("notes.txt")),
        Turn::say("All done."),
    ];
    let stage = Stage::new("gemini-acp", Script::turns(script));
    stage.configure(GEMINI);
    let ended = stage.succeeds("Try it", &[]);
    let told = log(&stage, &ended);
    for words in ["do not run `git commit` in a run", "tls/server.key must not be read or written in a run"] {
        assert!(told.contains(words), "{words:?} is not in {told}");
    }
    let origin = stage.env.origin();
    assert_eq!(stage.env.git_in(&origin, ["rev-list", "--count", &format!("main..{}", ended.branch)]), "1");
    assert_eq!(stage.env.git_in(&origin, ["diff", "--name-only", "main", &ended.branch]), "notes.txt");
}

#[test]
fn gemini_in_its_acp_mode_ends_with_its_tree() {
    let stage = Stage::new("gemini-acp", Script::turns([Turn::shell("echo up; sleep 1000")]));
    stage.configure(GEMINI);
    let started = Ended::of(&stage.run("Wait for me", &["--detach"]));
    wait_until("its tool runs", || stage.env.processes().iter().any(|(_, line)| line.starts_with("sleep 1000")));
    let ended = Ended::of(&stage.env.dandori(["task", "cancel", &started.task, "--json"]).json()["tasks"][0]);
    assert_eq!(ended.state, "CANCELED", "{ended:?}");
    let left: Vec<_> = stage.env.processes().into_iter().filter(|(_, line)| is_agent_s(line)).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn the_protocol_s_example_agent_has_its_turn_and_its_edit_elsewhere_is_refused() {
    let stage = Stage::new("example", Script::default());
    stage.configure(&format!("[agents.example]\nacp = \"node {}\"\n", clis::acp_example_agent()));
    let ended = stage.succeeds("Help me", &[]);
    assert_eq!(ended.commit, None, "it only pretends");
    let told = log(&stage, &ended);
    for words in
        ["I'll help you with that.", "▸ read", "# My Project", "▸ edit", "[dandori ", "I'll skip the configuration"]
    {
        assert!(told.contains(words), "{words:?} is not in {told}");
    }
}

#[test]
fn an_agent_made_with_the_newest_library_finds_our_messages_valid() {
    let stage = Stage::new("library", Script::default());
    let folder = stage.env.home().join("library");
    std::fs::create_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink(clis::acp_modules(), folder.join("node_modules")).unwrap();
    let script = folder.join("agent.mjs");
    std::fs::write(&script, include_str!("acp_library_agent.mjs")).unwrap();
    stage.configure(&format!("[agents.library]\nacp = \"node {script}\"\nauth = \"key\"\nmodel = \"small\"\n"));
    let first = stage.succeeds("Write it", &[]);
    assert_eq!(stage.on_origin(&first.branch, "made.txt"), "model small, key key\nrun: README.md");
    let second = stage.follow_up(&first.task, "Once more");
    assert_eq!(second.session, first.session);
    assert_eq!(stage.shown(&second.id)["summary"], json!("written, 2 turns"));
}
