//! Claude Code.

use dandori_install::Client;
use serde_json::json;

use super::super::super::hooks::{Look, Scope};
use super::super::stage::{Stage, make_folder, put};
use super::{Actor, Agent, KEY};
use crate::cli::Context;

pub(super) const ACTOR: Actor = Actor { start, tools: ["Bash", "Write", "Bash"] };

fn start(stage: &Stage, _context: &Context, _look: &Look, url: &str) -> Result<Agent, String> {
    let folder = stage.folder(Client::Claude, Scope::User);
    make_folder(&folder)?;
    put(&folder.join(".claude.json"), json!({ "hasCompletedOnboarding": true }).to_string().as_bytes())?;
    // The settings may name another way to the model; what is said on the command line counts before them.
    let nowhere_else = json!({
        "env": {
            "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url, "ANTHROPIC_AUTH_TOKEN": "",
            "CLAUDE_CODE_USE_BEDROCK": "", "CLAUDE_CODE_USE_VERTEX": "", "CLAUDE_CODE_USE_FOUNDRY": "",
            "HTTP_PROXY": "", "HTTPS_PROXY": "", "http_proxy": "", "https_proxy": "",
        },
        "apiKeyHelper": "",
    });
    let words = ["-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits"];
    let tools = ["--allowedTools", "Bash,Write", "--strict-mcp-config", "--settings"];
    let mut agent = Agent::new(words.iter().chain(&tools));
    agent.words.push(nowhere_else.to_string());
    agent.set("CLAUDE_CONFIG_DIR", folder.as_str());
    agent.set("ANTHROPIC_API_KEY", KEY).set("ANTHROPIC_BASE_URL", url);
    agent.set("CLAUDE_CODE_MAX_RETRIES", "1");
    Ok(agent)
}
