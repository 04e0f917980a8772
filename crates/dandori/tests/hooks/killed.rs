//! Hooks that are killed: a newer client refuses what they were asked about, an older one goes on and is told.

use std::os::unix::fs::PermissionsExt;

use dandori_testkit::model::Turn;
use serde_json::Value;

use dandori_domain::Client;

use crate::stage::{Stage, put};

/// At these events the hook is a program that somebody kills.
fn kill_at(stage: &Stage, events: &[&str]) {
    let path = stage.env.root().join("killed/dandori");
    put(&path, &format!("#!/bin/sh\ntouch {}\nkill -9 $$\n", stage.env.root().join("was-killed")));
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    let settings = stage.path(".claude/settings.local.json");
    let mut json: Value = serde_json::from_str(&std::fs::read_to_string(&settings).unwrap()).unwrap();
    for event in events {
        json["hooks"][event][0]["hooks"][0]["command"] = path.as_str().into();
    }
    put(&settings, &json.to_string());
}

#[test]
fn claude_does_not_run_what_a_killed_hook_was_asked_about() {
    let stage = Stage::guarded(Client::Claude);
    kill_at(&stage, &["PreToolUse"]);
    let played = stage.play([Turn::shell("echo x > unjudged.txt"), stage.write("a.txt"), Turn::say("end")]);
    assert!(stage.env.root().join("was-killed").exists(), "{}", played.story());
    assert!(!stage.has("unjudged.txt") && !stage.has("a.txt"), "{}", played.story());
    played.assert_told(0, "onFailure");
}

#[test]
fn claude_does_not_take_over_a_change_that_a_killed_hook_was_asked_about() {
    let stage = Stage::guarded(Client::Claude);
    kill_at(&stage, &["ConfigChange"]);
    let mark = stage.env.root().join("was-killed");
    let script = format!(
        "echo '{{\"disableAllHooks\": true}}' > .claude/settings.json\n\
         i=0; until [ -e {mark} ]; do sleep 0.1; i=$((i + 1)); [ $i -gt 300 ] && exit 1; done; sleep 1\n"
    );
    stage.env.write("tools/off.sh", &script);
    let played = stage.play([Turn::shell("sh tools/off.sh"), Turn::shell("echo stolen > prod.key"), Turn::say("end")]);
    assert!(mark.exists(), "{}", played.story());
    played.assert_told(1, "[dandori secrets]");
}

#[test]
fn an_older_claude_goes_on_and_the_model_and_the_user_are_told() {
    let stage = Stage::older_claude();
    kill_at(&stage, &["PreToolUse"]);
    let played = stage.play([Turn::shell("echo x > unjudged.txt"), Turn::say("end")]);
    assert!(stage.has("unjudged.txt"), "{}", played.story());
    played.assert_told(0, "[dandori unjudged]");
    assert!(played.shown().contains("unjudged"), "{}", played.story());
}
