//! Must-show 2: an agent edits, the change is committed, pushed and proposed, and a follow-up goes on where it ended.

use dandori_domain::Client;
use dandori_testkit::model::{Call, Script, Turn};
use serde_json::json;

use crate::stage::Stage;

/// The whole way of a change, twice over and once more from nothing but the branch and the conversation.
fn edits_and_follows_up(agent: &'static str, tells_cost: bool) {
    let write = Call::Write { path: "greeting.txt".to_owned(), content: "hello\n".to_owned() };
    let script = Script::turns([
        Turn::say("I will write a greeting.").thinking("A file is wanted.").and_call(write),
        Turn::say("The greeting is written."),
        Turn::shell("echo world >> greeting.txt"),
        Turn::say("The world is greeted."),
        Turn::shell("echo again >> greeting.txt"),
        Turn::say("Greeted again."),
    ]);
    let stage = Stage::new(agent, script);
    let env = &stage.env;

    let first = stage.succeeds("Add a greeting to the project", &["--pr"]);
    let commit = first.commit.clone().unwrap();
    assert!(first.branch.starts_with("dandori/"), "{}", first.branch);
    assert_eq!(env.git_in(&env.origin(), ["rev-parse", &first.branch]), commit, "pushed to origin");
    assert_eq!(stage.on_origin(&first.branch, "greeting.txt"), "hello");
    let message = env.git_in(&env.origin(), ["log", "-1", "--format=%B", &first.branch]);
    assert!(message.contains(&format!("Dandori-Run: {}", first.id)), "{message}");
    assert_eq!(env.git_in(&env.origin(), ["diff", "--name-only", "main", &first.branch]), "greeting.txt");

    let session = first.session.clone().unwrap();
    assert_eq!(first.pr["number"], 1, "{}", first.pr);
    let pulls = env.dandori(["pr", "list", "--json"]).json()["prs"].clone();
    assert_eq!(pulls[0]["branch"], json!(first.branch));
    assert_eq!(pulls[0]["forge"], "local");
    assert_eq!(pulls[0]["commit"], json!(commit));

    let patch = env.dandori(["task", "diff", &first.task]).ok();
    assert!(patch.contains("+++ b/greeting.txt") && patch.contains("+hello"), "{patch}");
    let log = env.dandori(["task", "log", &first.id]).ok();
    for words in ["I will write a greeting.", "▸ ", "greeting.txt", "The greeting is written.", "200 tokens in, 40 out"]
    {
        assert!(log.contains(words), "{log}");
    }
    assert!(!log.contains(stage.worktree(&first).as_str()), "paths are told from the worktree: {log}");
    let raw = env.dandori(["task", "log", &first.id, "--raw"]).ok();
    assert!(raw.lines().count() > 3, "{raw}");
    assert!(raw.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "the stream as it came");
    assert!(raw.contains(&session));

    let shown = stage.shown(&first.id);
    assert_eq!(shown["session"], json!(session));
    assert_eq!(shown["usage"]["input_tokens"], 200, "{}", shown["usage"]);
    assert_eq!(shown["usage"]["output_tokens"], 40, "{}", shown["usage"]);
    assert_eq!(shown["usage"]["cost"].as_f64().is_some_and(|c| c > 0.0), tells_cost, "{}", shown["usage"]);
    assert_eq!(shown["summary"], "The greeting is written.");
    assert!(shown["sandbox"].as_str().unwrap().contains("andlock"), "{}", shown["sandbox"]);
    let worktree = stage.worktree(&first);

    let second = stage.follow_up(&first.task, "Greet the world, too");
    assert_eq!(second.session.as_deref(), Some(session.as_str()), "the same conversation");
    assert_eq!(second.branch, first.branch);
    assert_eq!(stage.worktree(&second), worktree);
    assert_eq!(stage.on_origin(&first.branch, "greeting.txt"), "hello\nworld");
    let parent = env.git_in(&env.origin(), ["rev-parse", &format!("{}^", first.branch)]);
    assert_eq!(parent, commit, "the second commit stands on the first");
    assert_model_saw(&stage, &["Add a greeting to the project", "I will write a greeting.", "Greet the world, too"]);
    assert_eq!(stage.shown(&second.id)["usage"]["input_tokens"], 200, "what this run used, not the conversation");

    env.dandori(["worktree", "remove", &first.branch]).ok();
    assert!(!worktree.exists());
    let third = stage.follow_up(&first.task, "Greet it once more");
    assert_eq!(stage.worktree(&third), worktree, "made again at its place");
    assert_eq!(third.session.as_deref(), Some(session.as_str()));
    assert_eq!(third.branch, first.branch);
    assert_eq!(stage.on_origin(&first.branch, "greeting.txt"), "hello\nworld\nagain");
    assert_model_saw(&stage, &["Add a greeting to the project", "The world is greeted.", "Greet it once more"]);
    assert_eq!(env.git_in(&env.origin(), ["rev-list", "--count", &format!("main..{}", first.branch)]), "3");
    assert_eq!(env.dandori(["pr", "list", "--json"]).json()["total"], 1, "one branch, one request");
    stage.assert_own_files_untouched();
}

fn assert_model_saw(stage: &Stage, all: &[&str]) {
    let last = stage.server.turns().pop().unwrap().to_string();
    for words in all {
        assert!(last.contains(words), "{}: the model did not see {words:?}", stage.agent);
    }
}

#[test]
fn claude_edits_a_file_and_follow_ups_go_on_in_its_conversation() {
    edits_and_follows_up("claude", true);
}

#[test]
fn codex_edits_a_file_and_follow_ups_go_on_in_its_conversation() {
    edits_and_follows_up("codex", false);
}

#[test]
fn gemini_edits_a_file_and_follow_ups_go_on_in_its_conversation() {
    edits_and_follows_up("gemini", false);
}

/// An argument holds 128 KiB; this one comes from a file and travels by file. Nothing is edited: no commit, no push.
fn long_instruction_arrives_whole(agent: &'static str) {
    let stage = Stage::new(agent, Script::turns([Turn::say("Read to the end.")]));
    let instruction = format!("Read this. {}The end.", "All work and no play. ".repeat(14_000));
    assert!(instruction.len() > 300 * 1024);
    let file = stage.env.root().join("instruction.txt");
    std::fs::write(&file, &instruction).unwrap();
    let object = stage.env.run_json(["--file", file.as_str(), "--agent", agent]);
    let run = &object["runs"][0];
    assert_eq!(run["state"], "SUCCEEDED", "{object}");
    assert_eq!(run["commit"], json!(null), "nothing changed, nothing committed");
    assert_eq!(stage.branches_on_origin(), ["main"]);
    assert!(stage.server.turns()[0].to_string().contains(&instruction), "{agent}: not the whole instruction");
}

#[test]
fn claude_gets_an_instruction_of_300_kib_whole() {
    long_instruction_arrives_whole("claude");
}

#[test]
fn codex_gets_an_instruction_of_300_kib_whole() {
    long_instruction_arrives_whole("codex");
}

#[test]
fn gemini_gets_an_instruction_of_300_kib_whole() {
    long_instruction_arrives_whole("gemini");
}

#[test]
fn doctor_names_the_agents_and_their_versions() {
    let stage = Stage::new("claude", Script::default());
    let report = stage.env.dandori(["doctor", "--json"]);
    let object = report.json();
    assert_eq!(object["ok"], true, "{object}");
    for client in Client::ALL {
        let checks = object["checks"].as_array().unwrap();
        let check = checks.iter().find(|check| check["check"] == client.name()).unwrap();
        let detail = check["detail"].as_str().unwrap();
        assert!(detail.starts_with(&format!("{} (", client.describe().program.newest())), "{check}");
        assert!(detail.ends_with(", tested version") && check["code"] == json!(null), "{check}");
    }
    assert_eq!(report.code, 0);
    stage.assert_own_files_untouched();
}
