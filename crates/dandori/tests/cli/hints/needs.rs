//! What needs a person: the command beside each resolves it, and it is gone from the inbox.

use std::collections::BTreeSet;

use dandori_testkit::env::wait_until;

use super::{Stage, commands, only};

pub(super) fn play() -> BTreeSet<String> {
    let mut stage = Stage::new();
    stage.env.write_user_config(&format!("agent = \"{}\"\nforge = \"local\"\n", super::AGENT));
    failed(&mut stage);
    kept_work(&mut stage);
    choice(&mut stage);
    pull_ready(&mut stage);
    trust(&mut stage);
    put_away(&mut stage);
    stage.reached
}

/// The command beside a need of this kind.
fn beside(stage: &Stage, kind: &str) -> String {
    let listed = stage.env.dandori(["inbox", "--json"]).json();
    let needs = listed["needs"].as_array().unwrap();
    let need = needs.iter().find(|need| need["kind"] == kind).unwrap_or_else(|| panic!("no {kind} in {listed:#}"));
    let command = need["command"].as_str().unwrap_or_else(|| panic!("{need:#}")).to_owned();
    let shown = stage.env.dandori(["inbox"]).ok();
    assert!(commands(&shown).contains(&command), "{command} is not what is shown: {shown}");
    command
}

fn is_there(stage: &Stage, kind: &str) -> bool {
    let listed = stage.env.dandori(["inbox", "--json"]).json();
    listed["needs"].as_array().unwrap().iter().any(|need| need["kind"] == kind)
}

fn is_resolved(stage: &Stage, kind: &str) {
    wait_until(&format!("{kind} is resolved"), || !is_there(stage, kind));
}

fn failed(stage: &mut Stage) {
    stage.env.run_json(["It breaks", "--agent", "exec:test -e fixed.txt && echo x > x.txt"]);
    let command = beside(stage, "failed");
    stage.fix();
    let _ = stage.typed(&command).ok();
    is_resolved(stage, "failed");
}

fn kept_work(stage: &mut Stage) {
    let agent = "exec:echo kept > kept.txt; sleep 600";
    stage.env.run_json(["Wait", "--agent", agent, "--detach"]);
    let worktree = crate::worktree_of(&stage.env, "T-2", 0);
    wait_until("it works", || worktree.join("kept.txt").exists());
    let _ = stage.env.dandori(["task", "cancel", "T-2"]).ok();
    let restored = stage.typed(&beside(stage, "kept_work")).ok();
    assert!(restored.contains(" on "), "{restored}");
    is_resolved(stage, "kept_work");
}

fn choice(stage: &mut Stage) {
    stage.env.run_json(["Both", "--agents", "exec:echo 1 > a.txt,exec:echo 2 > a.txt"]);
    let compared = stage.typed(&beside(stage, "choice"));
    assert_eq!(compared.code, 0, "{compared:?}");
    let key = stage.key("T-3", 0);
    let _ = stage.env.dandori(["task", "pick", "T-3", &key]).ok();
    is_resolved(stage, "choice");
}

/// An open pull request of the embedded forge leads to its merge.
fn pull_ready(stage: &mut Stage) {
    stage.env.run_json(["Say hello", "--pr"]);
    let command = beside(stage, "pull_ready");
    assert!(command.starts_with("dandori pr merge "), "{command}");
    let said = stage.by_a_person(&command, "y\n");
    assert!(said.contains("merged pull request"), "{said}");
    is_resolved(stage, "pull_ready");
    stage.env.git(["log", "-1", "--format=%s", "main", "--", "hello.txt"]);
}

fn trust(stage: &mut Stage) {
    stage.env.write("dandori.toml", "[worktrees]\nset_up = [\"true\"]\n");
    let _ = stage.refused("untrusted", &["run", "x"]);
    let command = beside(stage, "trust");
    stage.by_a_person(&command, "y\n");
    is_resolved(stage, "trust");
}

fn put_away(stage: &mut Stage) {
    let _ = stage.env.dandori(["run", "It breaks", "--agent", "exec:exit 3"]).fails(1);
    let listed = stage.env.dandori(["inbox", "--json"]).json();
    let id = listed["needs"][0]["id"].as_str().unwrap().to_owned();
    let wake = only(stage.told(&["inbox", "dismiss", &id]));
    let _ = stage.typed(&wake).ok();
    assert!(is_there(stage, "failed"));
    let _ = stage.env.dandori(["inbox", "snooze", &id]).ok();
    let hidden = stage.told(&["inbox"]);
    let hidden = hidden.iter().find(|hint| hint.contains("--snoozed")).unwrap();
    assert!(stage.typed(hidden).ok().contains(&id));
    let none = stage.refused("usage", &["inbox", "dismiss"]);
    let _ = stage.typed(&only(none)).ok();
}
