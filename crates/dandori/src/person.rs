//! Some words are for people alone: an exception from a guard, the consent to a plan. Whoever is watched by the guards
//! must not be able to speak them.
//!
//! Three things are asked of the caller. No client's mark in the environment, no client among the processes it comes
//! from, and a terminal at which somebody types `yes`. The guards themselves refuse such a line before it runs
//! (`control`); this is for the ways they cannot see.

use std::io::{BufRead, BufReader, IsTerminal, Write};

use dandori_host::Env;
use dandori_text::guard::verbs as text;

use crate::cli::Context;
use crate::out::Failed;

/// Variables the clients set for what they run.
const MARKS: [(&str, &str); 9] = [
    ("CLAUDECODE", "Claude Code"),
    ("CLAUDE_CODE_SESSION_ID", "Claude Code"),
    ("CLAUDE_CODE_ENTRYPOINT", "Claude Code"),
    ("CODEX_SANDBOX", "Codex"),
    ("CODEX_SANDBOX_NETWORK_DISABLED", "Codex"),
    ("CODEX_THREAD_ID", "Codex"),
    ("GEMINI_CLI", "Gemini CLI"),
    ("GEMINI_SESSION_ID", "Gemini CLI"),
    ("AI_AGENT", "an agent"),
];

/// More generations than a terminal has.
const GENERATIONS: usize = 64;

/// Proof that a person has agreed; only [`Confirmed::ask`] makes one.
pub(crate) struct Confirmed(());

impl Confirmed {
    pub(crate) fn ask(context: &Context, what: &str) -> Result<Self, Failed> {
        let lang = context.out.lang;
        let refuse = |why: String| Err(Failed::Refused(text::not_a_person(lang, &why)));
        if let Some(agent) = agent_around(&context.env) {
            return refuse(text::inside_agent(lang, &agent));
        }
        let Ok(terminal) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/tty") else {
            return refuse(text::no_terminal(lang));
        };
        if !terminal.is_terminal() {
            return refuse(text::no_terminal(lang));
        }
        let mut answer = String::new();
        let asked = (&terminal)
            .write_all(text::confirm(lang, what).as_bytes())
            .and_then(|()| BufReader::new(&terminal).read_line(&mut answer));
        match asked {
            Ok(_) if answer.trim() == "yes" => Ok(Self(())),
            _ => Err(Failed::Refused(text::not_confirmed(lang))),
        }
    }
}

/// For what scripts of a person's may do as well, but no agent's.
pub(crate) fn refuse_agents(context: &Context) -> Result<(), Failed> {
    let lang = context.out.lang;
    match agent_around(&context.env) {
        Some(agent) => Err(Failed::Refused(text::not_a_person(lang, &text::inside_agent(lang, &agent)))),
        None => Ok(()),
    }
}

/// The agent this process was started by, as far as can be told.
fn agent_around(env: &Env) -> Option<String> {
    let marked = MARKS.iter().find(|(name, _)| env.text(name).is_some()).map(|(_, agent)| (*agent).to_owned());
    marked.or_else(agent_above)
}

/// A client among the processes above this one.
fn agent_above() -> Option<String> {
    let mut pid = std::process::id();
    for _ in 0..GENERATIONS {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).and_then(|p| p.trim().parse().ok())?;
        if parent == 0 {
            return None;
        }
        pid = parent;
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if let Some(agent) = agent_of(&command) {
            return Some(agent.to_owned());
        }
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let is_marked =
            |name: &str| environment.split(|b| *b == 0).any(|v| v.starts_with(format!("{name}=").as_bytes()));
        if let Some((_, agent)) = MARKS.iter().find(|(name, _)| is_marked(name)) {
            return Some((*agent).to_owned());
        }
    }
    None
}

/// Which client a command line is: by its program, or by the script an interpreter runs.
fn agent_of(command: &[u8]) -> Option<&'static str> {
    let words: Vec<String> =
        command.split(|b| *b == 0).take(3).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    let name = |word: &String| word.rsplit('/').next().unwrap_or_default().trim_end_matches(".js").to_owned();
    let names: Vec<String> = words.iter().map(name).collect();
    let is_interpreter = names.first().is_some_and(|n| matches!(n.as_str(), "node" | "bun" | "deno"));
    let programs = names.iter().take(if is_interpreter { 3 } else { 1 });
    programs.into_iter().find_map(|name| match name.as_str() {
        "claude" | "claude-code" => Some("Claude Code"),
        "codex" => Some("Codex"),
        "gemini" | "gemini-cli" => Some("Gemini CLI"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_known_by_its_command_line_and_a_person_s_shell_is_not_one() {
        for (command, agent) in [
            ("claude\0-p\0x", Some("Claude Code")),
            ("/usr/lib/claude\0", Some("Claude Code")),
            ("node\0/usr/lib/node_modules/.bin/gemini\0-p\0", Some("Gemini CLI")),
            ("/opt/codex/codex\0exec\0", Some("Codex")),
            ("bash\0", None),
            ("vim\0claude\0", None),
            ("node\0server.js\0", None),
            ("", None),
        ] {
            assert_eq!(agent_of(command.as_bytes()), agent, "{command}");
        }
    }

    #[test]
    fn a_client_s_mark_in_the_environment_is_enough() {
        assert_eq!(agent_around(&Env::from_pairs([("CLAUDECODE", "1")])).as_deref(), Some("Claude Code"));
        assert_eq!(agent_around(&Env::from_pairs([("GEMINI_CLI", "1")])).as_deref(), Some("Gemini CLI"));
    }
}
