//! `CODEX_HOME`: the configuration and rules of `~/.codex`, its login, the conversation in `sessions/`.

use camino::Utf8Path;
use dandori_domain::run::Limits;
use dandori_install::{Client, TrustedHook};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::home::prune::{Keep, prune};
use crate::home::{Folders, HomeError, copy, load_json, require_fresh, write_json};
use crate::{Order, guards};

const SETTINGS: &[&str] = &["AGENTS.md", "AGENTS.override.md", "prompts", "rules", "skills", "agents", "hooks"];

pub(super) fn rebuild(order: &Order<'_>, folders: &Folders) -> Result<Vec<String>, HomeError> {
    let Folders { from, to } = folders;
    prune_all_but_conversation(to)?;
    copy::all(from, to, SETTINGS)?;
    if let Some(login) = login(&from.join("auth.json"), order)? {
        write_json(&to.join("auth.json"), &login)?;
    }
    let trust = hooks(&from.join("hooks.json"), order)?;
    let mut named = Vec::new();
    if let Some(config) = config(&from.join("config.toml"), order.limits, &trust, &mut named)? {
        copy::write(&to.join("config.toml"), config.as_bytes(), 0o600)?;
    }
    Ok(named)
}

/// The user's hooks and the run's, of which only the run's are trusted: Codex keeps trust by the file's place, and the
/// user has said nothing about this one. A file that Codex would not read must not take the run's hooks with it.
fn hooks(path: &Utf8Path, order: &Order<'_>) -> Result<Vec<TrustedHook>, HomeError> {
    let bytes = copy::load(path)?;
    let text = bytes.as_deref().map(str::from_utf8).transpose().unwrap_or(None);
    let text = text.filter(|text| serde_json::from_str::<Value>(text).is_ok());
    let to = order.home.join("hooks.json");
    let made = guards::settings(order, Client::Codex, text).or_else(|| guards::settings(order, Client::Codex, None));
    if let Some(bytes) = made.clone().map(String::into_bytes).or(bytes) {
        copy::write(&to, &bytes, 0o600)?;
    }
    Ok(made.map(|text| guards::trust(order, to.as_str(), &text)).unwrap_or_default())
}

/// `sessions/<year>/<month>/<day>/rollout-*.jsonl`. The databases beside it are an index of it, and come back.
fn prune_all_but_conversation(home: &Utf8Path) -> Result<(), HomeError> {
    let nothing = |_: &str| false;
    let is_number = |name: &str| name.chars().all(|c| c.is_ascii_digit());
    let rollouts = Keep::Files(&|name| name.starts_with("rollout-"));
    let days = Keep::Folders(&is_number, &rollouts, &nothing);
    let months = Keep::Folders(&is_number, &days, &nothing);
    let years = Keep::Folders(&is_number, &months, &nothing);
    prune(home, &Keep::Folders(&|name| name == "sessions", &years, &nothing))
}

/// An API key as it is; of an account the access token alone. The field of the refresh token has to be there, so
/// it is empty; `last_refresh` is now, so that Codex does not try to use it.
fn login(path: &Utf8Path, order: &Order<'_>) -> Result<Option<Value>, HomeError> {
    let Some(mut login) = load_json(path)? else { return Ok(None) };
    let has_key = login.get("OPENAI_API_KEY").is_some_and(Value::is_string)
        || order.user_env.text("CODEX_API_KEY").is_some()
        || order.user_env.text("CODEX_ACCESS_TOKEN").is_some();
    let Some(fields) = login.as_object_mut() else { return Ok(None) };
    if let Some(tokens) = fields.get_mut("tokens").and_then(Value::as_object_mut) {
        let ends = tokens.get("access_token").and_then(Value::as_str).and_then(end_of_token);
        if !has_key {
            require_fresh("codex", ends, order.now)?;
        }
        tokens.insert("refresh_token".to_owned(), json!(""));
        fields.insert("last_refresh".to_owned(), json!(order.now.to_string()));
    }
    Ok(Some(login))
}

/// The `exp` claim of a JWT. Not verified: it is read to be polite, not to decide who may come in.
fn end_of_token(token: &str) -> Option<Timestamp> {
    let claims = base64url(token.split('.').nth(1)?)?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    Timestamp::from_second(claims.get("exp")?.as_i64()?).ok()
}

fn base64url(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut count) = (0u32, 0u32);
    for c in text.bytes().filter(|c| *c != b'=') {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'-' | b'+' => 62,
            b'_' | b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).ok()?);
        }
    }
    Some(bytes)
}

/// The user's configuration with the retries of his own providers bounded, and the run's hooks trusted. The built-in
/// providers cannot be changed: there the engine counts.
fn config(
    path: &Utf8Path,
    limits: &Limits,
    trust: &[TrustedHook],
    named: &mut Vec<String>,
) -> Result<Option<String>, HomeError> {
    let bytes = match copy::load(path)? {
        Some(bytes) => bytes,
        None if trust.is_empty() => return Ok(None),
        None => Vec::new(),
    };
    let malformed = |why: String| HomeError::Malformed { path: path.to_owned(), why };
    let text = String::from_utf8(bytes).map_err(|e| malformed(e.to_string()))?;
    let mut config: toml::Table = text.parse().map_err(|e: toml::de::Error| malformed(e.message().to_owned()))?;
    let providers = config.get_mut("model_providers").and_then(toml::Value::as_table_mut);
    for provider in providers.into_iter().flat_map(|p| p.iter_mut()).filter_map(|(_, p)| p.as_table_mut()) {
        named.extend(provider.get("env_key").and_then(|v| v.as_str()).map(str::to_owned));
        if let Some(headers) = provider.get("env_http_headers").and_then(|v| v.as_table()) {
            named.extend(headers.values().filter_map(|v| v.as_str()).map(str::to_owned));
        }
        let most = i64::from(limits.api_retries);
        for key in ["request_max_retries", "stream_max_retries"] {
            let asked = provider.get(key).and_then(toml::Value::as_integer).unwrap_or(most);
            provider.insert(key.to_owned(), toml::Value::Integer(asked.min(most)));
        }
    }
    for TrustedHook { key, hash } in trust {
        let trusted = toml::Table::from_iter([("trusted_hash".to_owned(), toml::Value::String(hash.clone()))]);
        let state = table(&mut config, "hooks").and_then(|hooks| table(hooks, "state"));
        state.and_then(|state| state.insert(key.clone(), toml::Value::Table(trusted)));
    }
    toml::to_string(&config).map(Some).map_err(|e| malformed(e.to_string()))
}

/// The table of this name; what stands in its place and is none gives way.
fn table<'t>(parent: &'t mut toml::Table, name: &str) -> Option<&'t mut toml::Table> {
    let entry = parent.entry(name).or_insert_with(|| toml::Value::Table(toml::Table::new()));
    if !entry.is_table() {
        *entry = toml::Value::Table(toml::Table::new());
    }
    entry.as_table_mut()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_token_is_read_from_its_claims() {
        // {"alg":"none"} . {"exp":1800000000} . x
        let token = "eyJhbGciOiJub25lIn0.eyJleHAiOjE4MDAwMDAwMDB9.eA";
        assert_eq!(end_of_token(token), Timestamp::from_second(1_800_000_000).ok());
        for bad in ["", "a.b", "a.!!.c", "a.eyJ4IjoxfQ.c"] {
            assert_eq!(end_of_token(bad), None, "{bad:?}");
        }
    }
}
