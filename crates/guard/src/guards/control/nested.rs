//! A client that is started by the agent of another: with its guards, or not at all.

use camino::Utf8Path;
use dandori_shell::{Command, Reach, Word};

use super::armed::{claude_calls_us, gemini_calls_us};
use crate::context::Context;

/// Options under which a client does not load its hooks.
const SWITCHES: [&str; 9] = [
    "--bare",
    "--restricted",
    "--safe-mode",
    "--setting-sources",
    "--settings",
    "--disable",
    "--ignore-user-config",
    "--no-hooks",
    "--profile",
];

/// Options under which Claude Code asks its hooks as ever.
const CLAUDE: &[&str] = &[
    "--add-dir",
    "--agent",
    "--agents",
    "--allow-dangerously-skip-permissions",
    "--allowed-tools",
    "--allowedTools",
    "--append-system-prompt",
    "--append-system-prompt-file",
    "--betas",
    "--brief",
    "--chrome",
    "--dangerously-skip-permissions",
    "--debug",
    "--debug-file",
    "--disable-slash-commands",
    "--disallowed-tools",
    "--disallowedTools",
    "--effort",
    "--fallback-model",
    "--file",
    "--help",
    "--ide",
    "--include-hook-events",
    "--include-partial-messages",
    "--input-format",
    "--json-schema",
    "--max-budget-usd",
    "--max-turns",
    "--model",
    "--name",
    "--no-chrome",
    "--no-session-persistence",
    "--output-format",
    "--permission-mode",
    "--permission-prompt-tool",
    "--print",
    "--replay-user-messages",
    "--strict-mcp-config",
    "--system-prompt",
    "--system-prompt-file",
    "--tools",
    "--verbose",
    "--version",
    "--worktree",
];

const CODEX: &[&str] = &[
    "--add-dir",
    "--all",
    "--ask-for-approval",
    "--base",
    "--cd",
    "--color",
    "--commit",
    "--config",
    "--dangerously-bypass-approvals-and-sandbox",
    "--dangerously-bypass-hook-trust",
    "--enable",
    "--ephemeral",
    "--full-auto",
    "--help",
    "--image",
    "--json",
    "--last",
    "--local-provider",
    "--model",
    "--no-alt-screen",
    "--no-daemon",
    "--oss",
    "--output-last-message",
    "--output-schema",
    "--sandbox",
    "--search",
    "--skip-git-repo-check",
    "--strict-config",
    "--title",
    "--uncommitted",
    "--version",
    "--yolo",
];

const GEMINI: &[&str] = &[
    "--acp",
    "--allowed-mcp-server-names",
    "--allowed-tools",
    "--approval-mode",
    "--debug",
    "--delete-session",
    "--experimental-acp",
    "--extensions",
    "--help",
    "--include-directories",
    "--list-extensions",
    "--list-sessions",
    "--model",
    "--output-format",
    "--prompt",
    "--prompt-interactive",
    "--sandbox",
    "--screen-reader",
    "--skip-trust",
    "--version",
    "--worktree",
    "--yolo",
];

/// Whether settings, or the guards' own state, are looked for elsewhere when this variable is set.
pub(super) fn decides_about_guards(name: &str) -> bool {
    const VARIABLES: [&str; 8] = [
        "CLAUDE_CODE_SIMPLE",
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "GEMINI_CLI_HOME",
        "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
    ];
    VARIABLES.contains(&name) || name.starts_with("DANDORI_")
}

pub(super) fn starts_unguarded(context: &Context, command: &Command, words: &[&str]) -> bool {
    if words.iter().any(|w| matches!(*w, "--version" | "--help" | "-h")) {
        return false;
    }
    let switches = words.iter().any(|w| SWITCHES.iter().any(|s| w == s || w.starts_with(&format!("{s}="))));
    let hooks_off = words.iter().any(|w| w.contains("hooks") && w.contains('='));
    switches
        || hooks_off
        || context.commands().iter().any(|other| is_around(other, command) && has_deciding(other))
        || context.commands().iter().any(exports)
        || leaves_its_settings(context, command)
}

/// An option of which nobody knows here what it does to the hooks: the next one that leaves settings away has a name that
/// is not among the switches yet.
pub(super) fn unknown_option(command: &Command) -> Option<&str> {
    let known = match command.program.as_str() {
        "claude" => CLAUDE,
        "codex" => CODEX,
        "gemini" => GEMINI,
        _ => return None,
    };
    let words = command.args().iter().map(|word| word.text.as_str()).take_while(|word| *word != "--");
    words.into_iter().filter(|word| word.starts_with("--")).find(|word| !known.contains(&before_equals(word)))
}

fn has_deciding(command: &Command) -> bool {
    command.assignments.iter().any(|(name, _)| decides_about_guards(name))
}

/// The command itself, or one that it is reached through: `HOME=/x npx claude`, `HOME=/x sh -c claude`.
fn is_around(outer: &Command, command: &Command) -> bool {
    let is_it = |reach: &Reach| matches!(reach, Reach::Wrapper(by) | Reach::ShellCode(by) if *by == outer.program);
    std::ptr::eq(outer, command) || command.reached.iter().any(is_it)
}

/// A client that goes on with a session that is there: it would speak in it as its user.
pub(super) fn takes_up_a_session(command: &Command, words: &[&str]) -> bool {
    let is_long = |w: &&str| ["--resume", "--continue", "--session-id", "--fork-session"].contains(&before_equals(w));
    // `-c`, `-r`, `-cp`, `-r<id>`
    let has_letter = |letters: &[char]| words.iter().any(|w| short_options(w).is_some_and(|o| o.contains(letters)));
    match command.program.as_str() {
        "claude" => words.iter().any(is_long) || has_letter(&['c', 'r']),
        "gemini" => words.iter().any(is_long) || has_letter(&['r']),
        _ => words.iter().any(|w| matches!(*w, "resume" | "fork")),
    }
}

fn before_equals(word: &str) -> &str {
    word.split('=').next().unwrap_or(word)
}

/// The letters of `-abc`.
fn short_options(word: &str) -> Option<&str> {
    let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
    letters.split(|c: char| !c.is_ascii_alphabetic()).next()
}

/// `export HOME=…` before it in the line.
fn exports(command: &Command) -> bool {
    let is_export = matches!(command.program.as_str(), "export" | "declare" | "typeset" | "readonly");
    let name = |word: &Word| word.text.split('=').next().unwrap_or_default().to_owned();
    is_export && command.args().iter().any(|word| word.is_computed() || decides_about_guards(&name(word)))
}

/// A client reads a project's settings from the folder it starts in. Where the guards hang on those, another folder is
/// without.
fn leaves_its_settings(context: &Context, command: &Command) -> bool {
    type Calls = fn(&Context, &str) -> bool;
    let (files, calls): (&[&str], Calls) = match command.program.as_str() {
        "claude" => (&[".claude/settings.json", ".claude/settings.local.json"], claude_calls_us),
        "gemini" => (&[".gemini/settings.json"], gemini_calls_us),
        _ => return false,
    };
    let Some(project) = &context.project else { return false };
    let is_called_by = |path: &Utf8Path| context.text(path).ok().flatten().is_some_and(|text| calls(context, &text));
    let is_guarded_in = |folder: &Utf8Path| files.iter().any(|file| is_called_by(&folder.join(file)));
    let of_user = context.rules.control.iter().filter(|path| !path.starts_with(&project.root));
    let mut of_user = of_user.filter(|path| files.iter().any(|file| path.ends_with(file)));
    let folder = context.folder_of(command);
    let is_there = folder.is_some_and(|folder| is_guarded_in(&context.world.real(&folder)));
    !is_there && is_guarded_in(&project.root) && !of_user.any(|path| is_called_by(path))
}
