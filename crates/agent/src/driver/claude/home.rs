//! `CLAUDE_CONFIG_DIR`: the settings of `~/.claude`, the account of `~/.claude.json`, the conversation in `projects/`.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_install::Client;
use jiff::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::home::prune::{Keep, prune};
use crate::home::{Folders, HomeError, copy, load_json, require_fresh, write_json};
use crate::{Order, guards};

const SETTINGS: &[&str] =
    &["CLAUDE.md", "agents", "commands", "skills", "rules", "output-styles", "hooks", "keybindings.json"];

pub(super) fn rebuild(order: &Order<'_>, folders: &Folders) -> Result<Vec<String>, HomeError> {
    let Folders { from, to } = folders;
    prune_all_but_conversation(to)?;
    copy::all(from, to, SETTINGS)?;
    if let Some(settings) = settings(&from.join("settings.json"), order)? {
        copy::write(&to.join("settings.json"), &settings, 0o600)?;
    }
    if let Some(login) = login(&from.join(".credentials.json"), order)? {
        write_json(&to.join(".credentials.json"), &login)?;
    }
    write_json(&to.join(".claude.json"), &account(&account_file(order, from))?)?;
    Ok(Vec::new())
}

/// The user's, with the run's hooks: a client that the agent itself starts hears them from here.
fn settings(path: &Utf8Path, order: &Order<'_>) -> Result<Option<Vec<u8>>, HomeError> {
    let bytes = copy::load(path)?;
    let text = bytes.as_deref().map(str::from_utf8).transpose().unwrap_or(None);
    let made = guards::settings(order, Client::Claude, text);
    Ok(made.map(String::into_bytes).or(bytes))
}

/// `projects/<folder>/<session>.jsonl` and what a session keeps beside it; not `memory/`, which is no conversation.
fn prune_all_but_conversation(home: &Utf8Path) -> Result<(), HomeError> {
    let nothing = |_: &str| false;
    let is_session = |name: &str| Uuid::parse_str(name).is_ok();
    let is_transcript = |name: &str| name.strip_suffix(".jsonl").is_some_and(|stem| !stem.is_empty());
    let sessions = Keep::Folders(&is_session, &Keep::All, &is_transcript);
    let any = |_: &str| true;
    let projects = Keep::Folders(&any, &sessions, &nothing);
    prune(home, &Keep::Folders(&|name| name == "projects", &projects, &nothing))
}

/// The access token without the refresh token. A key in the environment makes it unnecessary.
fn login(path: &Utf8Path, order: &Order<'_>) -> Result<Option<Value>, HomeError> {
    let Some(mut login) = load_json(path)? else { return Ok(None) };
    let has_other_login = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"]
        .iter()
        .any(|name| order.user_env.text(name).is_some());
    if let Some(account) = login.get_mut("claudeAiOauth").and_then(Value::as_object_mut) {
        account.remove("refreshToken");
        account.remove("refreshTokenExpiresAt");
        let ends = account.get("expiresAt").and_then(Value::as_i64).and_then(|ms| Timestamp::from_millisecond(ms).ok());
        if !has_other_login {
            require_fresh("claude", ends, order.now)?;
        }
    }
    // Tokens of MCP servers rotate as well, and are kept under keys of their own.
    if let Some(all) = login.as_object_mut() {
        all.retain(|key, _| key == "claudeAiOauth");
    }
    Ok(Some(login))
}

/// Beside the folder by default, inside it when the user moved it.
fn account_file(order: &Order<'_>, folder: &Utf8Path) -> Utf8PathBuf {
    let inside = folder.join(".claude.json");
    match order.user_env.home() {
        Some(home) if order.user_env.path("CLAUDE_CONFIG_DIR").is_none() && !inside.is_file() => {
            home.join(".claude.json")
        }
        _ => inside,
    }
}

/// Who the user is and which servers he added; not his other projects, and no dialog to answer.
fn account(path: &Utf8Path) -> Result<Value, HomeError> {
    let mut account = load_json(path)?.filter(Value::is_object).unwrap_or_else(|| json!({}));
    if let Some(account) = account.as_object_mut() {
        account.remove("projects");
        account.insert("hasCompletedOnboarding".to_owned(), json!(true));
    }
    Ok(account)
}
