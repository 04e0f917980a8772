//! The guards in the clients' settings: every event of the agent is judged by the run's own rules, without anything being
//! installed in the user's repository or folders.
//!
//! Each client hears them from its private state folder, with the other people's hooks that were there and without an
//! installation of the user's, which would judge a second time. One that takes settings by path gets them so as well: that
//! file is out of the agent's reach and stands above every other, so that neither the project nor the agent can switch hooks
//! off. The same call in two files is made once. What the others do not read again while they work cannot be changed under
//! them either.

use dandori_install::{Client, TrustedHook, for_run, switches_of_all, trusted_hooks};
use serde_json::{Value, json};

use crate::Order;
use crate::order::Guards;

/// A settings text with the run's hooks in it. One that the client would not read is left to it as it is.
pub(crate) fn settings(order: &Order<'_>, client: Client, text: Option<&str>) -> Option<String> {
    let guards = order.guards?;
    for_run(client, order.dandori.as_str(), guards.folder.as_str(), text).ok()
}

/// What Codex has to find in its configuration to run the hooks in `text`, its `hooks.json`.
pub(crate) fn trust(order: &Order<'_>, path: &str, text: &str) -> Vec<TrustedHook> {
    let Some(guards) = order.guards else { return Vec::new() };
    trusted_hooks(order.dandori.as_str(), guards.folder.as_str(), path, text)
}

/// For a client that takes some by path; the same as it is there already when it was written before: a client that runs may read it.
pub(crate) fn write_settings(order: &Order<'_>, guards: &Guards<'_>) -> std::io::Result<()> {
    let by_path = |client: &Client| client.hooks().is_some_and(|hooks| hooks.settings_option.is_some());
    let Some(client) = order.agent.client().filter(by_path) else { return Ok(()) };
    let hooks = settings(order, client, None).unwrap_or_default();
    let mut settings: Value = serde_json::from_str(&hooks)?;
    if let Some(settings) = settings.as_object_mut() {
        settings.extend(switches_of_all(client).map(|key| (key.to_owned(), json!(false))));
    }
    let bytes = settings.to_string().into_bytes();
    if std::fs::read(guards.settings).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    dandori_host::put_file(guards.settings, &bytes, 0o600)
}
