//! Which coding agents this process comes from, as `/proc` tells it. What cannot be read counts as nobody.

/// Variables the clients set for what they run.
pub const MARKS: [(&str, &str); 9] = [
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

/// A process above this one, as it was started.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ancestor {
    command: Vec<u8>,
    environment: Vec<u8>,
}

impl Ancestor {
    pub fn new(command: impl Into<Vec<u8>>, environment: impl Into<Vec<u8>>) -> Self {
        Self { command: command.into(), environment: environment.into() }
    }

    /// Which client it is: by its program, or by the script an interpreter runs.
    pub fn client(&self) -> Option<&'static str> {
        let names: Vec<String> = self.words().take(3).map(|word| name(&word)).collect();
        let is_interpreter = names.first().is_some_and(|n| matches!(n.as_str(), "node" | "bun" | "deno"));
        let programs = names.iter().take(if is_interpreter { 3 } else { 1 });
        programs.into_iter().find_map(|name| match name.as_str() {
            "claude" | "claude-code" => Some("Claude Code"),
            "codex" => Some("Codex"),
            "gemini" | "gemini-cli" => Some("Gemini CLI"),
            _ => None,
        })
    }

    pub fn is_shell(&self) -> bool {
        let program = self.words().next().map(|word| name(&word)).unwrap_or_default();
        matches!(program.trim_start_matches('-'), "sh" | "bash" | "dash" | "zsh" | "ksh" | "fish" | "ash")
    }

    /// The words of its command line.
    pub fn words(&self) -> impl Iterator<Item = String> {
        self.command.split(|b| *b == 0).map(|word| String::from_utf8_lossy(word).into_owned())
    }

    /// The client whose mark it was started with.
    pub fn marked(&self) -> Option<&'static str> {
        MARKS.iter().find(|(name, _)| self.has(name)).map(|(_, agent)| *agent)
    }

    /// Whether an agent has started it. An editor that starts a client for its user says only which door was taken.
    pub fn is_agent_s(&self) -> bool {
        MARKS.iter().any(|(name, _)| *name != "CLAUDE_CODE_ENTRYPOINT" && self.has(name))
    }

    /// Whether it was started with this variable.
    fn has(&self, name: &str) -> bool {
        let mut variables = self.environment.split(|b| *b == 0);
        variables.any(|v| v.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b"=")))
    }
}

fn name(word: &str) -> String {
    word.rsplit('/').next().unwrap_or_default().trim_end_matches(".js").to_owned()
}

/// Our own line, the nearest first.
pub fn ancestors() -> impl Iterator<Item = Ancestor> {
    let parent = |pid: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
        line.trim().parse().ok().filter(|parent| *parent != 0)
    };
    std::iter::successors(Some(std::process::id()), parent).skip(1).take(GENERATIONS).map(|pid| {
        let read = |what: &str| std::fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default();
        Ancestor::new(read("cmdline"), read("environ"))
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
            assert_eq!(Ancestor::new(command, "").client(), agent, "{command}");
        }
        assert!(Ancestor::new("-bash\0", "").is_shell() && !Ancestor::new("claude\0", "").is_shell());
    }

    #[test]
    fn a_mark_is_a_whole_name() {
        assert_eq!(Ancestor::new("", "HOME=/h\0GEMINI_CLI=1\0").marked(), Some("Gemini CLI"));
        assert_eq!(Ancestor::new("", "GEMINI_CLI_HOME=/h\0X=CLAUDECODE=1\0").marked(), None);
    }

    #[test]
    fn this_process_has_parents() {
        assert!(ancestors().next().is_some_and(|parent| parent.words().next().is_some_and(|w| !w.is_empty())));
    }
}
