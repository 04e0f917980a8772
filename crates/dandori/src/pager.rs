//! Long texts at a terminal go through the pager git would use for a diff.
//!
//! Asked in git's order: `GIT_PAGER`, then `pager.diff`, `core.pager`, `PAGER`, `less`. Of the configuration only what is the
//! user's own counts, never a repository's: the user may stand in a worktree, and what its `.git` leads to is the agent's to
//! write. What a pager is given has to be clean already ([`dandori_text::screen`]): `less -R` lets colours through.

use std::ffi::OsStr;
use std::io::{IsTerminal, Write};
use std::process::Stdio;
use std::time::Duration;

use dandori_host::{Cmd, Env};

use crate::cli::Context;
use crate::out::Out;

/// git answers about its configuration at once, or something is wrong with it.
const CONFIG_DEADLINE: Duration = Duration::from_secs(5);

/// Shows bytes on stdout, through the user's pager where that is a terminal. A pager that cannot be started is done without.
pub(crate) fn show(context: &Context, bytes: &[u8]) {
    let pager = if is_paged(context) { pager(&context.env, |key| configured(&context.env, key)) } else { None };
    match pager {
        Some(command) if !bytes.is_empty() => {
            if !through(&command, &context.env, bytes) {
                Out::raw(bytes);
            }
        }
        _ => Out::raw(bytes),
    }
}

fn is_paged(context: &Context) -> bool {
    !context.out.json && std::io::stdout().is_terminal() && context.env.text("TERM") != Some("dumb")
}

/// The command line of the pager; `None` when the user wants none.
fn pager(env: &Env, configured: impl Fn(&str) -> Option<String>) -> Option<String> {
    let set = |name: &str| {
        let found = env.iter().find(|(known, _)| *known == OsStr::new(name));
        found.and_then(|(_, value)| value.to_str()).map(str::to_owned)
    };
    let for_diffs = configured("pager.diff");
    let switch = for_diffs.as_deref().and_then(as_switch);
    if switch == Some(false) {
        return None;
    }
    let command = set("GIT_PAGER")
        .or(for_diffs.filter(|_| switch.is_none()))
        .or_else(|| configured("core.pager"))
        .or_else(|| set("PAGER"))
        .unwrap_or_else(|| "less".to_owned());
    let command = command.trim();
    (!command.is_empty() && command != "cat").then(|| command.to_owned())
}

/// `pager.diff` is a command or only says whether there is to be one.
fn as_switch(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// One of git's settings, without any repository's.
fn configured(env: &Env, key: &str) -> Option<String> {
    let mut env = env.filtered(|name| !matches!(name, "GIT_DIR" | "GIT_WORK_TREE" | "GIT_COMMON_DIR"));
    env.set("GIT_DIR", "/nonexistent");
    let output = Cmd::new("git", &env).args(["config", "--get", key]).deadline(CONFIG_DEADLINE).run().ok()?;
    Some(output.text())
}

/// Whether the pager was there.
#[expect(clippy::disallowed_methods, reason = "a pager has the user's terminal, and as much time as the user takes")]
fn through(command: &str, env: &Env, bytes: &[u8]) -> bool {
    // Ctrl-C at a pager is for the pager: without a listener it would end us and leave the terminal to both.
    let _interrupts = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt());
    let mut process = std::process::Command::new("/bin/sh");
    process.args(["-c", command]).stdin(Stdio::piped());
    // As git does it: colours pass, and what fits on the screen is only printed. What we print is UTF-8, whatever the locale.
    for (name, value) in [("LESS", "FRX"), ("LV", "-c"), ("LESSCHARSET", "utf-8")] {
        if env.text(name).is_none() {
            process.env(name, value);
        }
    }
    let Ok(mut child) = process.spawn() else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        // Whoever has read enough closes it.
        let _ = stdin.write_all(bytes);
    }
    // 127: the shell did not find it.
    child.wait().is_ok_and(|status| status.code() != Some(127))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_one_git_would_use() {
        type Pairs = &'static [(&'static str, &'static str)];
        let table: &[(Pairs, Pairs, Option<&str>)] = &[
            (&[], &[], Some("less")),
            (&[("PAGER", "more")], &[], Some("more")),
            (&[("PAGER", "more")], &[("core.pager", "delta --dark")], Some("delta --dark")),
            (&[("PAGER", "more")], &[("core.pager", "delta"), ("pager.diff", "bat -p")], Some("bat -p")),
            (&[("GIT_PAGER", "most")], &[("core.pager", "delta"), ("pager.diff", "bat")], Some("most")),
            (&[], &[("core.pager", "delta"), ("pager.diff", "true")], Some("delta")),
            (&[("GIT_PAGER", "most")], &[("pager.diff", "false")], None),
            (&[("GIT_PAGER", "")], &[("core.pager", "delta")], None),
            (&[("PAGER", "cat")], &[], None),
        ];
        for (env, config, wanted) in table {
            let env = Env::from_pairs(env.iter().copied());
            let configured = |key: &str| config.iter().find(|(k, _)| *k == key).map(|(_, v)| (*v).to_owned());
            assert_eq!(pager(&env, configured).as_deref(), *wanted, "{env:?} {config:?}");
        }
    }
}
