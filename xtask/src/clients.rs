//! A client is one file: nobody asks which client it is but the rooms that have a file for each of them. Everybody else
//! goes by its description, so that a further client cannot be forgotten there.

use std::fs;
use std::path::{Path, PathBuf};

/// Where each client has a file of its own, and the one match that leads to it.
const ASK: &[&str] = &[
    "crates/agent/src/driver.rs",
    "crates/dandori/src/cli/doctor/self_test/actor.rs",
    "crates/domain/src/client.rs",
    "crates/guard/src/stage/hands.rs",
    "crates/guard/src/wire.rs",
    "crates/model/src/server.rs",
];

pub(crate) fn check() -> Result<(), String> {
    let mut files = Vec::new();
    find(Path::new("crates"), &mut files).map_err(|e| e.to_string())?;
    files.sort();
    let mut wrong = Vec::new();
    for file in files {
        let name = file.to_string_lossy().replace('\\', "/");
        if ASK.contains(&name.as_str()) {
            continue;
        }
        let text = fs::read_to_string(&file).map_err(|e| format!("{name}: {e}"))?;
        let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = shipped.lines().enumerate().filter(|(_, line)| asks(line));
        wrong.extend(lines.map(|(at, line)| format!("{name}:{}: asks which client it is: {}", at + 1, line.trim())));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// A comparison with a client, or an arm of a match on one.
fn asks(line: &str) -> bool {
    let line = line.trim_start();
    if line.starts_with("//") {
        return false;
    }
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once("Client::") {
        let name: String = behind.chars().take_while(char::is_ascii_alphanumeric).collect();
        let is_variant = name.starts_with(char::is_uppercase) && name != "ALL";
        let behind = behind.get(name.len()..).unwrap_or_default().trim_start_matches([')', ' ']);
        let before =
            ["AgentName::Client(", "Some(", "&"].into_iter().fold(before, |b, outer| b.trim_end_matches(outer));
        let before = before.trim_end();
        let is_compared = before.ends_with("==") || before.ends_with("!=") || line.contains("matches!(");
        if is_variant && (is_compared || behind.starts_with("=>") || behind.starts_with('|')) {
            return true;
        }
        rest = behind;
    }
    false
}

/// Rust files that are not tests.
fn find(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            find(&path, found)?;
        } else if path.extension().is_some_and(|end| end == "rs") && name != "tests.rs" {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asking_is_found_and_naming_is_not_asking() {
        for line in [
            "if client == Client::Claude {",
            "if agent != Some(Client::Codex) {",
            "if *order.agent == AgentName::Client(Client::Claude) {",
            "matches!(agent, AgentName::Client(Client::Claude))",
            "    Client::Claude => 1,",
            "    Client::Codex | Client::Claude => 1,",
            "    AgentName::Client(Client::Codex) => 1,",
        ] {
            assert!(asks(line), "{line}");
        }
        for line in [
            "for client in Client::ALL {",
            "let default = AgentName::Client(Client::Claude);",
            "Client::with_hooks().map(|(client, _)| client)",
            "// if client == Client::Claude {",
            "AgentName::Client(client) => client.name(),",
        ] {
            assert!(!asks(line), "{line}");
        }
    }
}
