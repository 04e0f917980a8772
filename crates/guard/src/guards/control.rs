//! The guards' own installation: settings that call them, their configuration, state and program, and the words that are
//! for the user alone. Without this guard every other one could be switched off by whom it watches.

use camino::Utf8Path;
use dandori_shell::{Command, Word};
use dandori_text::guard::control as text;
use serde_json::Value;

use crate::context::{By, Context, Target};
use crate::event::Kind;
use crate::papers::text_after;
use crate::voice::{Trouble, Voice};

/// Settings of the clients, wherever they lie: a project's, a user's, a nested folder's in which a client may start.
const SETTINGS: [&str; 6] = [
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".gemini/trustedFolders.json",
];

/// Keys of a client's settings that decide whether and how hooks run.
const ARMING: [&str; 7] =
    ["hooks", "disableAllHooks", "env", "hooksConfig", "allowManagedHooksOnly", "apiKeyHelper", "statusLine"];

pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    if let Kind::ConfigChange { path, .. } = &context.event.kind {
        if let Some(path) = path.as_deref().filter(|path| is_settings(path)) {
            config_changed(context, path, voice)?;
        }
        return Ok(());
    }
    for target in context.targets() {
        if let Some(finding) = touched(context, target)? {
            voice.block(finding);
            return Ok(());
        }
    }
    for command in context.commands() {
        if let Some(finding) = run(context, command) {
            voice.block(finding);
            return Ok(());
        }
    }
    Ok(())
}

fn is_settings(path: &Utf8Path) -> bool {
    SETTINGS.iter().any(|settings| path.ends_with(settings))
}

fn touched(context: &Context, target: &Target) -> Result<Option<String>, Trouble> {
    let lang = context.lang;
    if target.is_computed {
        return Ok(None);
    }
    for path in [&target.path, &target.real] {
        if is_settings(path) {
            return settings_edit(context, target, path);
        }
        let is_state = context.rules.control.iter().any(|control| path.starts_with(control));
        let is_work = context.rules.worktrees.iter().any(|worktrees| path.starts_with(worktrees));
        if is_state && !is_work || is_own_file(context, path) {
            return Ok(Some(text::writes(lang, path.as_str())));
        }
    }
    if target.is_tree {
        let settings = SETTINGS.iter().map(|s| target.real.join(s));
        let inner =
            SETTINGS.iter().filter_map(|s| s.split_once('/')).map(|(folder, file)| (folder, target.real.join(file)));
        let below = settings
            .chain(inner.filter(|(folder, _)| target.real.ends_with(folder)).map(|(_, path)| path))
            .chain(context.rules.control.iter().filter(|c| c.starts_with(&target.real)).cloned())
            .find(|path| context.world.kind(path).is_some());
        return Ok(below.map(|path| text::writes(lang, path.as_str())));
    }
    Ok(None)
}

/// dandori's own files in a repository. Those of a linked worktree are only files: the main checkout's are read.
fn is_own_file(context: &Context, path: &Utf8Path) -> bool {
    let Some(checkout) = context.checkout(path) else { return false };
    let short = checkout.short(path);
    let is_main = checkout.git_dir == checkout.common_dir;
    is_main && (short == "dandori.toml" || short == ".claude/protected-files.txt")
}

/// An edit of a client's settings passes when what arms the guards stays as it is.
fn settings_edit(context: &Context, target: &Target, path: &Utf8Path) -> Result<Option<String>, Trouble> {
    let refused = Some(text::settings(context.lang, path.as_str()));
    if target.by != By::Edit || path.extension() != Some("json") {
        return Ok(refused);
    }
    let before = context.text(&target.real)?.unwrap_or_else(|| "{}".to_owned());
    let Some(after) = text_after(context, &target.real)? else { return Ok(refused) };
    let (Ok(before), Ok(after)) = (serde_json::from_str::<Value>(&before), serde_json::from_str::<Value>(&after))
    else {
        return Ok(refused);
    };
    let is_armed_alike = after.is_object() && ARMING.iter().all(|key| before.get(key) == after.get(key));
    Ok(if is_armed_alike { None } else { refused })
}

/// The client is about to take over a change of its settings.
fn config_changed(context: &Context, path: &Utf8Path, voice: &mut Voice) -> Result<(), Trouble> {
    let now = context.text(path)?.unwrap_or_else(|| "{}".to_owned());
    let is_off = match serde_json::from_str::<Value>(&now) {
        Ok(settings) => settings.get("disableAllHooks").is_some_and(|off| *off != Value::Bool(false)),
        // One fault in the file, and the client drops every hook in it.
        Err(_) => true,
    };
    let is_run = context.rules.constraints.is_some();
    if is_off || !is_run && !is_called_somewhere(context, path)? {
        voice.block(text::disarms(context.lang, path.as_str()));
    }
    Ok(())
}

/// Whether one of the client's settings files still calls the guards.
fn is_called_somewhere(context: &Context, changed: &Utf8Path) -> Result<bool, Trouble> {
    let local = changed.with_file_name("settings.local.json");
    let shared = changed.with_file_name("settings.json");
    let known = context.rules.control.iter().filter(|path| is_settings(path));
    for path in [local, shared].iter().chain(known) {
        if context.text(path)?.is_some_and(|text| calls_us(&text)) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn calls_us(text: &str) -> bool {
    let Ok(settings) = serde_json::from_str::<Value>(text) else { return false };
    let entries = settings.pointer("/hooks/PreToolUse").and_then(Value::as_array).into_iter().flatten();
    let handlers = entries.filter_map(|entry| entry.get("hooks").and_then(Value::as_array)).flatten();
    let words = |handler: &Value| {
        let command = handler.get("command").and_then(Value::as_str).unwrap_or_default().to_owned();
        let args = handler.get("args").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        std::iter::once(command.as_str()).chain(args).collect::<Vec<_>>().join(" ")
    };
    handlers.into_iter().map(words).any(|line| line.contains("dandori") && line.contains(" hook"))
}

/// Options of dandori before its verb that take a value.
const GLOBALS: [&str; 2] = ["--lang", "--color"];

fn run(context: &Context, command: &Command) -> Option<String> {
    let words: Vec<&str> = command.args().iter().map(|w| w.text.as_str()).collect();
    let is_value =
        |at: usize| at.checked_sub(1).and_then(|before| words.get(before)).is_some_and(|w| GLOBALS.contains(w));
    let plain = words.iter().enumerate().filter(|(at, w)| !w.starts_with('-') && !is_value(*at));
    let verbs: Vec<&str> = plain.map(|(_, w)| *w).collect();
    let lang = context.lang;
    match command.program.as_str() {
        "dandori" => {
            let is_for_users = match verbs.as_slice() {
                ["guard", verb, ..] => *verb == "allow" || *verb == "revoke",
                ["consent" | "trust" | "hook", ..] => true,
                ["init", ..] => !words.contains(&"--dry-run"),
                ["daemon", "stop" | "start", ..] => true,
                _ => false,
            };
            let is_asking = words.iter().any(|w| matches!(*w, "--help" | "-h"));
            let is_hidden = command.args().iter().take(3).any(Word::is_computed);
            (is_for_users && !is_asking || is_hidden).then(|| text::verb(lang, &command.line()))
        }
        "claude" | "codex" | "gemini" => {
            starts_unguarded(command, &words).then(|| text::unguarded(lang, &command.line()))
        }
        "pkill" | "killall" | "kill" => {
            words.iter().any(|w| w.contains("dandori")).then(|| text::stops(lang, &command.line()))
        }
        _ => None,
    }
}

/// Switches and variables under which a client does not load its hooks.
fn starts_unguarded(command: &Command, words: &[&str]) -> bool {
    const SWITCHES: [&str; 8] = [
        "--bare",
        "--safe-mode",
        "--setting-sources",
        "--settings",
        "--disable",
        "--ignore-user-config",
        "--no-hooks",
        "--profile",
    ];
    const VARIABLES: [&str; 8] = [
        "CLAUDE_CODE_SIMPLE",
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "GEMINI_CLI_HOME",
        "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
        "HOME",
        "DANDORI_STATE_DIR",
        "XDG_CONFIG_HOME",
    ];
    let switches = words.iter().any(|w| SWITCHES.iter().any(|s| w == s || w.starts_with(&format!("{s}="))));
    let hooks_off = words.iter().any(|w| w.contains("hooks") && w.contains('='));
    switches || hooks_off || command.assignments.iter().any(|(name, _)| VARIABLES.contains(&name.as_str()))
}

#[cfg(test)]
mod tests;
