//! Gemini CLI.

use dandori_install::{Setting, with_setting};
use serde_json::json;

use super::super::super::hooks::{Look, Scope};
use super::super::stage::{Stage, put};
use super::{Actor, Agent, KEY};
use crate::cli::Context;
use crate::cli::init::files;

pub(super) const ACTOR: Actor = Actor { start, tools: ["run_shell_command", "write_file", "run_shell_command"] };

fn start(stage: &Stage, _context: &Context, look: &Look, url: &str) -> Result<Agent, String> {
    let folder = stage.folder(look.client, Scope::User);
    if look.is_folder_trusted {
        let trusted = json!({ stage.repository().as_str(): "TRUST_FOLDER" });
        put(&folder.join("trustedFolders.json"), trusted.to_string().as_bytes())?;
    }
    // It looks for one in every folder above, and takes the first.
    put(&stage.repository().join(".gemini/.env"), b"")?;
    // It does not start without a way to log in chosen. The project's settings count before the user's.
    let users = folder.join(look.hooks.file);
    if !users.exists() {
        put(&users, b"{}\n")?;
    }
    for file in [users, stage.repository().join(".gemini/settings.json")] {
        if let Ok(Some(text)) = files::read(&file) {
            put(&file, by_key(&text).as_bytes())?;
        }
    }
    let words = ["-o", "stream-json", "--approval-mode", "yolo", "--skip-trust", "-m", "gemini-2.5-flash"];
    let mut agent = Agent::new(words.iter().chain(&["--allowed-mcp-server-names", "none"]));
    agent.set("GEMINI_CLI_HOME", stage.home().as_str()).set("GEMINI_API_KEY", KEY);
    agent.set("GOOGLE_GEMINI_BASE_URL", url);
    Ok(agent)
}

/// Settings with a login by key and nothing sent home.
fn by_key(text: &str) -> String {
    let settings = [
        (["security", "auth", "selectedType"].as_slice(), Setting::Text("gemini-api-key")),
        (&["general", "enableAutoUpdate"], Setting::Flag(false)),
        (&["general", "enableAutoUpdateNotification"], Setting::Flag(false)),
        (&["privacy", "usageStatisticsEnabled"], Setting::Flag(false)),
        (&["telemetry", "enabled"], Setting::Flag(false)),
    ];
    settings.into_iter().fold(text.to_owned(), |text, (place, to)| with_setting(&text, place, to))
}
