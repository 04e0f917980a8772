//! `GEMINI_CLI_HOME`, the folder that holds `.gemini`: settings, login, the conversation in `tmp/<folder>/chats/`.

use camino::Utf8Path;
use dandori_install::Client;
use serde_json::{Map, Value, json};

use crate::home::prune::{Keep, prune};
use crate::home::{Folders, HomeError, copy, load_json};
use crate::{Order, guards};

/// `oauth_creds.json` comes whole: Google's refresh tokens stay valid when they are used.
const SETTINGS: &[&str] = &[
    "GEMINI.md",
    "commands",
    "policies",
    "skills",
    "agents",
    "extensions",
    "hooks",
    ".env",
    "oauth_creds.json",
    "google_accounts.json",
    "gemini-credentials.json",
    "installation_id",
];

pub(super) fn rebuild(order: &Order<'_>, folders: &Folders) -> Result<Vec<String>, HomeError> {
    let Folders { from, to } = folders;
    prune_all_but_conversation(order.home)?;
    prune(to, &Keep::Folders(&|name| name == "tmp", &Keep::All, &|_| false))?;
    copy::all(from, to, SETTINGS)?;
    let settings = with_guards(order, settings(&from.join("settings.json"), order)?);
    copy::write(&to.join("settings.json"), settings.as_bytes(), 0o600)?;
    Ok(Vec::new())
}

/// `tmp/<folder>/chats/*` and `.project_root`, by which it knows the folder again.
fn prune_all_but_conversation(home: &Utf8Path) -> Result<(), HomeError> {
    let nothing = |_: &str| false;
    let any = |_: &str| true;
    let project = Keep::Folders(&|name| name == "chats", &Keep::All, &|name| name == ".project_root");
    let tmp = Keep::Folders(&any, &project, &nothing);
    let gemini = Keep::Folders(&|name| name == "tmp", &tmp, &nothing);
    prune(home, &Keep::Folders(&|name| name == ".gemini", &gemini, &nothing))
}

/// The user's settings, made fit for a run that nobody watches.
fn settings(path: &Utf8Path, order: &Order<'_>) -> Result<Value, HomeError> {
    let mut settings = load_json(path)?.filter(Value::is_object).unwrap_or_else(|| json!({}));
    let attempts = u64::from(order.limits.api_retries) + 1;
    let asked = settings.pointer("/general/maxAttempts").and_then(Value::as_u64).unwrap_or(attempts);
    set(&mut settings, &["general", "maxAttempts"], json!(asked.min(attempts)));
    for key in ["enableAutoUpdate", "enableAutoUpdateNotification"] {
        set(&mut settings, &["general", key], json!(false));
    }
    set(&mut settings, &["privacy", "usageStatisticsEnabled"], json!(false));
    set(&mut settings, &["telemetry", "enabled"], json!(false));
    // It does not start without a way to log in chosen, not even with a key in the environment.
    if settings.pointer("/security/auth/selectedType").is_none()
        && let Some(way) = login_in_environment(order)
    {
        set(&mut settings, &["security", "auth", "selectedType"], json!(way));
    }
    Ok(settings)
}

/// With the run's hooks, heard whatever the user has switched off. Hooks in a shape it would not read go: it would not
/// start.
fn with_guards(order: &Order<'_>, mut settings: Value) -> String {
    if order.guards.is_none() {
        return settings.to_string();
    }
    let is_off = settings.pointer("/hooksConfig/enabled") == Some(&json!(false));
    if is_off && let Some(fields) = settings.as_object_mut() {
        fields.remove("hooks");
    }
    set(&mut settings, &["hooksConfig", "enabled"], json!(true));
    if let Some(off) = settings.pointer_mut("/hooksConfig/disabled").and_then(Value::as_array_mut) {
        off.retain(|name| !name.as_str().is_some_and(|name| name.contains("dandori")));
    }
    if let Some(text) = guards::settings(order, Client::Gemini, Some(&settings.to_string())) {
        return text;
    }
    if let Some(fields) = settings.as_object_mut() {
        fields.remove("hooks");
    }
    guards::settings(order, Client::Gemini, Some(&settings.to_string())).unwrap_or_else(|| settings.to_string())
}

fn login_in_environment(order: &Order<'_>) -> Option<&'static str> {
    let has = |name: &str| order.user_env.text(name).is_some();
    let is_on = |name: &str| order.user_env.text(name).is_some_and(|v| v == "true" || v == "1");
    if is_on("GOOGLE_GENAI_USE_GCA") {
        Some("oauth-personal")
    } else if is_on("GOOGLE_GENAI_USE_VERTEXAI") {
        Some("vertex-ai")
    } else if has("GEMINI_API_KEY") {
        Some("gemini-api-key")
    } else {
        None
    }
}

/// Sets a nested key; whatever stands in its way and is no object gives way.
fn set(value: &mut Value, path: &[&str], to: Value) {
    let Some((last, parents)) = path.split_last() else { return };
    let mut here = value;
    for parent in parents {
        if !here.is_object() {
            *here = Value::Object(Map::new());
        }
        let Some(fields) = here.as_object_mut() else { return };
        here = fields.entry((*parent).to_owned()).or_insert_with(|| json!({}));
    }
    if !here.is_object() {
        *here = Value::Object(Map::new());
    }
    if let Some(fields) = here.as_object_mut() {
        fields.insert((*last).to_owned(), to);
    }
}
