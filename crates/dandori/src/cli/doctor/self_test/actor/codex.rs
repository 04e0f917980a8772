//! Codex CLI.

use dandori_install::{CodexConfig, MovedFile, only_ours};

use super::super::super::hooks::{Look, Scope, codex};
use super::super::stage::{Stage, make_folder, put};
use super::{Actor, Agent, KEY};
use crate::cli::Context;
use crate::cli::init::{files, places};

pub(super) const ACTOR: Actor = Actor { start, tools: ["exec_command", "apply_patch", "exec_command"] };

/// Of the user's configuration only what concerns hooks, for the places where the copies are.
fn start(stage: &Stage, context: &Context, look: &Look, url: &str) -> Result<Agent, String> {
    let folder = stage.folder(look.client, Scope::User);
    make_folder(&folder)?;
    let users = places::user_folder(context, look.client).join("config.toml");
    let text = files::read(&users).ok().flatten().unwrap_or_default();
    let config = CodexConfig::read(&text).map_err(|reason| format!("{users}: {reason}"))?;
    let mut moved = Vec::new();
    for settings in &look.files {
        let to = stage.folder(look.client, settings.scope).join(look.hooks.file).into_string();
        let text = settings.text().unwrap_or_default().to_owned();
        let copy = only_ours(look.client, &text, &stage.places());
        let file = |from| MovedFile { from, to: to.clone(), text: text.clone(), copy: copy.clone() };
        moved.extend(codex::names(&settings.path).into_iter().map(file));
    }
    let project = look.root.as_deref().map(codex::project);
    let projects = project.iter().flat_map(|root| codex::names(root));
    let projects: Vec<_> = projects.map(|from| (from, stage.repository().into_string())).collect();
    let text = format!(
        "model = \"gpt-5.5\"\nmodel_provider = \"self_test\"\n\n{}\n[model_providers.self_test]\n\
         name = \"self-test\"\nbase_url = \"{url}\"\nenv_key = \"SELF_TEST_KEY\"\nwire_api = \"responses\"\n\
         request_max_retries = 1\nstream_max_retries = 1\n",
        config.moved(&moved, &projects)
    );
    put(&folder.join("config.toml"), text.as_bytes())?;
    let words = ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
    let quiet = ["-c", "otel.metrics_exporter=\"none\"", "-c", "analytics.enabled=false"];
    let short = ["-c", "check_for_update_on_startup=false", "--disable", "plugins"];
    let end = ["--disable", "unbounded_connection_retries", "-"];
    let mut agent = Agent::new(words.iter().chain(&quiet).chain(&short).chain(&end));
    agent.set("CODEX_HOME", folder.as_str()).set("SELF_TEST_KEY", KEY);
    Ok(agent)
}
