//! What a user confirms before his client runs hooks, as the client itself would write it down.

use std::fmt::Write as _;

use camino::Utf8Path;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use dandori_domain::Client;

use crate::stage::Stage;

/// Codex runs a hook whose hash it knows. Gemini is told by a variable, Claude asks nobody when headless.
pub(crate) fn give(stage: &Stage) {
    if stage.agent != Client::Codex {
        return;
    }
    let config = stage.env.home().join(".codex/config.toml");
    let mut text = std::fs::read_to_string(&config).unwrap();
    write!(text, "\n[projects.\"{}\"]\ntrust_level = \"trusted\"\n", stage.env.repo()).unwrap();
    for folder in [stage.env.repo(), stage.env.home()] {
        let hooks = folder.join(".codex/hooks.json");
        if hooks.exists() {
            text.push_str(&hashes(&hooks));
        }
    }
    std::fs::write(config, text).unwrap();
}

/// The lines of a configuration in which every hook of the file has been reviewed.
fn hashes(path: &Utf8Path) -> String {
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut lines = String::new();
    for (event, groups) in file["hooks"].as_object().unwrap() {
        let event = snake(event);
        for (at, group) in groups.as_array().unwrap().iter().enumerate() {
            for (number, hook) in group["hooks"].as_array().unwrap().iter().enumerate() {
                let hook = json!({ "async": false, "command": hook["command"], "timeout": hook["timeout"], "type": "command" });
                let mut identity = json!({ "event_name": event, "hooks": [hook] });
                if let Some(matcher) = group.get("matcher") {
                    identity["matcher"] = matcher.clone();
                }
                // serde_json's objects are sorted, and its short form has no blanks.
                let hash = Sha256::digest(identity.to_string());
                let name = format!("{path}:{event}:{at}:{number}");
                write!(lines, "\n[hooks.state.\"{name}\"]\ntrusted_hash = \"sha256:{hash:x}\"\n").unwrap();
            }
        }
    }
    lines
}

/// `PreToolUse` → `pre_tool_use`
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}
