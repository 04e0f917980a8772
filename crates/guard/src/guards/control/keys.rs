//! Settings of the clients, judged by what would change in them: keys that are known to be harmless pass, keys that decide
//! about hooks or have the client run something by itself are refused, and any other is asked about. What a client learns
//! next year is thereby not harmless until somebody has looked.

use camino::Utf8Path;
use dandori_text::guard::control as text;
use serde_json::Value;

use crate::context::Context;
use crate::voice::Voice;

/// The keys of one kind of file, by their dotted names; a name stands for all below it.
pub(super) struct Keys {
    harmless: &'static [&'static str],
    /// They decide about the guards, or run something at the client's next start without a question.
    refused: &'static [&'static str],
}

pub(super) const CLAUDE: Keys = Keys {
    harmless: &[
        "$schema",
        "alwaysThinkingEnabled",
        "attribution",
        "autoCompactEnabled",
        "autoMemoryEnabled",
        "autoScrollEnabled",
        "availableModels",
        "cleanupPeriodDays",
        "companyAnnouncements",
        "disabledMcpjsonServers",
        "editorMode",
        "effortLevel",
        "fastMode",
        "feedbackSurveyRate",
        "gitAttribution",
        "includeCoAuthoredBy",
        "includeGitInstructions",
        "language",
        "model",
        "outputStyle",
        "permissions.additionalDirectories",
        "permissions.allow",
        "permissions.ask",
        "permissions.defaultMode",
        "permissions.deny",
        "plansDirectory",
        "preferredNotifChannel",
        "prefersReducedMotion",
        "respectGitignore",
        "showClearContextOnPlanAccept",
        "showThinkingSummaries",
        "showTurnDuration",
        "spinnerTipsEnabled",
        "spinnerTipsOverride",
        "spinnerVerbs",
        "terminalProgressBarEnabled",
        "theme",
        "todoFeatureEnabled",
        "tui",
        "verbose",
        "viewMode",
        "voiceEnabled",
    ],
    refused: &[
        "allowManagedHooksOnly",
        "allowedHttpHookUrls",
        "apiKeyHelper",
        "awsAuthRefresh",
        "awsCredentialExport",
        "crossSessionInbound",
        "disableAllHooks",
        "enableAllProjectMcpServers",
        "enabledMcpjsonServers",
        "enabledPlugins",
        "env",
        "extraKnownMarketplaces",
        "fileSuggestion",
        "forceRemoteSettingsRefresh",
        "gcpAuthRefresh",
        "hooks",
        "otelHeadersHelper",
        "pluginConfigs",
        "policyHelper",
        "policyHelpers",
        "proxyAuthHelper",
        "statusLine",
        "subagentStatusLine",
    ],
};

pub(super) const GEMINI: Keys = Keys {
    harmless: &[
        "$schema",
        "context",
        "general.checkpointing",
        "general.debugKeystrokeLogging",
        "general.disableAutoUpdate",
        "general.disableUpdateNag",
        "general.enableAutoUpdate",
        "general.enableAutoUpdateNotification",
        "general.enablePromptCompletion",
        "general.preferredEditor",
        "general.previewFeatures",
        "general.retryFetchErrors",
        "general.sessionRetention",
        "general.vimMode",
        "model",
        "modelConfigs",
        "output",
        "privacy",
        "tools.allowed",
        "tools.autoAccept",
        "tools.core",
        "tools.enableToolOutputTruncation",
        "tools.exclude",
        "tools.truncateToolOutputLines",
        "tools.truncateToolOutputThreshold",
        "tools.useRipgrep",
        "ui",
    ],
    refused: &[
        "extensions",
        "hooks",
        "hooksConfig",
        "mcp.serverCommand",
        "mcpServers",
        "security",
        "tools.callCommand",
        "tools.discoveryCommand",
        "tools.sandbox",
    ],
};

/// `hooks.json` of Codex.
pub(super) const CODEX: Keys = Keys { harmless: &[], refused: &["hooks"] };

/// `.mcp.json`: Claude Code asks its user before it starts what is new there.
pub(super) const SERVERS: Keys = Keys { harmless: &[], refused: &[] };

/// `~/.claude.json`: the account, the servers, and which projects are trusted.
pub(super) const ACCOUNT: Keys =
    Keys { harmless: &["theme", "editorMode", "verbose", "preferredNotifChannel"], refused: &["mcpServers"] };

/// At the top of an agent, a skill or a command.
const HEAD: Keys = Keys {
    harmless: &[
        "agent",
        "allowed-tools",
        "argument-hint",
        "arguments",
        "author",
        "background",
        "color",
        "compatibility",
        "context",
        "description",
        "disable-model-invocation",
        "disallowed-tools",
        "disallowedTools",
        "effort",
        "initialPrompt",
        "isolation",
        "license",
        "maxTurns",
        "memory",
        "metadata",
        "model",
        "name",
        "paths",
        "permissionMode",
        "skills",
        "tags",
        "title",
        "tools",
        "user-invocable",
        "version",
        "when_to_use",
    ],
    refused: &["hooks", "mcpServers"],
};

/// What of a change is not harmless, and whether it was refused.
pub(super) fn judge(
    context: &Context,
    keys: &Keys,
    path: &Utf8Path,
    change: (&Value, &Value),
    voice: &mut Voice,
) -> bool {
    say(context, keys, path, changed(change.0, change.1), voice)
}

/// The same for the head of a Markdown file.
pub(super) fn judge_head(context: &Context, path: &Utf8Path, before: &str, after: &str, voice: &mut Voice) -> bool {
    let (before, after) = (head(before), head(after));
    let names = before.iter().chain(&after).map(|(name, _)| name);
    let of = |head: &[(String, String)], name: &str| -> Vec<String> {
        head.iter().filter(|(n, _)| n == name).map(|(_, text)| text.clone()).collect()
    };
    let mut changed: Vec<String> = names.filter(|name| of(&before, name) != of(&after, name)).cloned().collect();
    changed.dedup();
    say(context, &HEAD, path, changed, voice)
}

fn say(context: &Context, keys: &Keys, path: &Utf8Path, changed: Vec<String>, voice: &mut Voice) -> bool {
    let is_in = |list: &[&str], key: &str| {
        list.iter().any(|known| key == *known || key.strip_prefix(known).is_some_and(|rest| rest.starts_with('.')))
    };
    for key in changed {
        if is_in(keys.refused, &key) {
            voice.block(text::settings_key(context.lang, path.as_str(), &key));
            return true;
        }
        if !is_in(keys.harmless, &key) {
            voice.ask(text::unknown_key(context.lang, path.as_str(), &key));
        }
    }
    false
}

/// The keys that differ, one level down where both sides have a group of that name.
fn changed(before: &Value, after: &Value) -> Vec<String> {
    let empty = serde_json::Map::new();
    let fields = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let (before, after) = (fields(before), fields(after));
    let mut found = Vec::new();
    for name in before.keys().chain(after.keys().filter(|name| !before.contains_key(*name))) {
        let (old, new) = (before.get(name), after.get(name));
        if old == new {
            continue;
        }
        let group = |value: Option<&Value>| match value {
            Some(Value::Object(fields)) => Some(fields.clone()),
            None => Some(empty.clone()),
            Some(_) => None,
        };
        match (group(old), group(new)) {
            (Some(old), Some(new)) if !(old.is_empty() && new.is_empty()) => {
                let inner = old.keys().chain(new.keys().filter(|name| !old.contains_key(*name)));
                let inner = inner.filter(|key| old.get(*key) != new.get(*key));
                found.extend(inner.map(|key| format!("{name}.{key}")));
            }
            _ => found.push(name.clone()),
        }
    }
    found
}

/// The keys between the dashes at the beginning, each with its lines. What is no plain key counts as one nobody knows.
fn head(text: &str) -> Vec<(String, String)> {
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    if lines.next().map(str::trim_end) != Some("---") {
        return Vec::new();
    }
    let mut found: Vec<(String, String)> = Vec::new();
    for line in lines.take_while(|line| !matches!(line.trim_end(), "---" | "...")) {
        let is_deeper = line.starts_with([' ', '\t', '-', '#']) || line.trim().is_empty();
        match found.last_mut() {
            Some((_, text)) if is_deeper => *text = format!("{text}\n{line}"),
            _ if line.trim().is_empty() || line.starts_with('#') => {}
            _ => {
                let (key, value) = line.split_once(':').unwrap_or((line, ""));
                found.push((key.trim().trim_matches(['"', '\'']).to_owned(), value.to_owned()));
            }
        }
    }
    found
}
