//! What the user has to confirm before hooks run, and that `init` says so.

use dandori_testkit::model::Turn;

use dandori_domain::Client;

use crate::stage::{Stage, Trust};

const FORBIDDEN: &str = "git push --force origin work";

fn play(stage: &Stage, flags: &[&str]) -> crate::stage::Played {
    let turns = [Turn::shell(FORBIDDEN), Turn::say("end")];
    stage.session(&stage.env.repo(), "do it", flags, Trust::NotGiven, turns)
}

#[test]
fn codex_skips_hooks_that_nobody_has_reviewed_and_init_says_so() {
    let stage = Stage::new(Client::Codex);
    let said = stage.init(&[]);
    assert!(said.stderr.contains("/hooks"), "{}", said.stderr);
    play(&stage, &[]).assert_not_told(0, "[dandori bash]");
    play(&stage, &["--dangerously-bypass-hook-trust"]).assert_told(0, "[dandori bash]");
}

#[test]
fn gemini_skips_hooks_in_a_folder_it_does_not_trust_and_init_says_so() {
    let stage = Stage::new(Client::Gemini);
    let said = stage.init(&[]);
    assert!(said.stderr.contains("trusted folder"), "{}", said.stderr);
    // This lets it start, and is not enough for a project's hooks.
    let played = play(&stage, &["--skip-trust"]);
    played.assert_not_told(0, "[dandori bash]");
}

#[test]
fn gemini_runs_them_in_a_trusted_folder() {
    let stage = Stage::new(Client::Gemini);
    let _ = stage.init(&[]).ok();
    let folders = serde_json::json!({ stage.env.repo().as_str(): "TRUST_FOLDER" });
    crate::stage::put(&stage.env.home().join(".gemini/trustedFolders.json"), &folders.to_string());
    play(&stage, &[]).assert_told(0, "[dandori bash]");
}

#[test]
fn gemini_tells_its_user_why_a_tool_was_refused() {
    let stage = Stage::guarded(Client::Gemini);
    let played = stage.play([Turn::shell(FORBIDDEN), Turn::say("end")]);
    played.assert_told(0, "[dandori bash]");
    assert!(played.shown().contains("[dandori bash]"), "{}", played.story());
    assert!(!played.shown().contains("failed for event"), "{}", played.story());
}
