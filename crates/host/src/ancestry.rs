//! Which coding agents this process comes from, as `/proc` tells it. What cannot be read counts as nobody.

use dandori_domain::Client;
use dandori_domain::client::Environment;

/// Set for whatever an agent runs, by whichever agent.
const ANY_AGENT: &str = "AI_AGENT";

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
    pub fn client(&self) -> Option<Client> {
        let names: Vec<String> = self.words().take(3).map(|word| name(&word)).collect();
        let is_interpreter = names.first().is_some_and(|n| matches!(n.as_str(), "node" | "bun" | "deno"));
        let programs = names.iter().take(if is_interpreter { 3 } else { 1 });
        programs.into_iter().find_map(|name| {
            Client::ALL.into_iter().find(|client| client.describe().program.processes.contains(&name.as_str()))
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

    /// The agent whose mark it was started with.
    pub fn marked(&self) -> Option<&'static str> {
        marked(|name| self.has(name))
    }

    /// Whether an agent has started it. An editor that starts a client for its user says only which door was taken.
    pub fn is_agent_s(&self) -> bool {
        let of = |environment: &Environment| environment.marks.iter().any(|name| self.has(name));
        self.has(ANY_AGENT) || Client::ALL.iter().any(|client| of(&client.describe().environment))
    }

    /// Whether it was started with this variable.
    fn has(&self, name: &str) -> bool {
        let mut variables = self.environment.split(|b| *b == 0);
        variables.any(|v| v.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b"=")))
    }
}

/// The agent that has left its mark where `has` looks.
pub fn marked(has: impl Fn(&str) -> bool) -> Option<&'static str> {
    let of = |environment: &Environment| environment.marks.iter().chain(&environment.entry_mark).any(|name| has(name));
    let client = Client::ALL.into_iter().find(|client| of(&client.describe().environment));
    client.map(Client::title).or_else(|| has(ANY_AGENT).then_some("an agent"))
}

fn name(word: &str) -> String {
    word.rsplit('/').next().unwrap_or_default().trim_end_matches(".js").to_owned()
}

/// Our own line, the nearest first.
pub fn ancestors() -> impl Iterator<Item = Ancestor> {
    line_of(std::process::id()).skip(1).take(GENERATIONS).map(|pid| {
        let read = |what: &str| std::fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default();
        Ancestor::new(read("cmdline"), read("environ"))
    })
}

/// Whether a process was started by another, over however many generations a machine has.
pub fn descends_from(pid: u32, ancestor: u32) -> bool {
    line_of(pid).take(GENERATIONS * GENERATIONS).any(|pid| pid == ancestor)
}

/// A process and those above it.
fn line_of(pid: u32) -> impl Iterator<Item = u32> {
    let parent = |pid: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
        line.trim().parse().ok().filter(|parent| *parent != 0)
    };
    std::iter::successors(Some(pid), parent)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_process_descends_from_those_above_it_and_from_nobody_else() {
        let own = std::process::id();
        let parent = std::os::unix::process::parent_id();
        assert!(descends_from(own, own) && descends_from(own, parent));
        assert!(!descends_from(parent, own) && !descends_from(own, u32::MAX));
    }

    use super::*;

    #[test]
    fn a_client_is_known_by_its_command_line_and_a_person_s_shell_is_not_one() {
        for client in Client::ALL {
            for process in client.describe().program.processes {
                for command in [
                    format!("{process}\0-p\0x"),
                    format!("/usr/lib/{process}\0exec\0"),
                    format!("node\0/usr/lib/node_modules/.bin/{process}\0-p\0"),
                ] {
                    assert_eq!(Ancestor::new(command.as_str(), "").client(), Some(client), "{command}");
                }
                assert_eq!(Ancestor::new(format!("vim\0{process}\0"), "").client(), None);
            }
        }
        for command in ["bash\0", "node\0server.js\0", ""] {
            assert_eq!(Ancestor::new(command, "").client(), None, "{command}");
        }
        assert!(Ancestor::new("-bash\0", "").is_shell() && !Ancestor::new("claude\0", "").is_shell());
    }

    #[test]
    fn a_mark_is_a_whole_name() {
        for client in Client::ALL {
            let environment = &client.describe().environment;
            for mark in environment.marks {
                assert_eq!(Ancestor::new("", format!("HOME=/h\0{mark}=1\0")).marked(), Some(client.title()));
                let others = format!("{mark}_HOME=/h\0X={mark}=1\0");
                assert_eq!(Ancestor::new("", others).marked(), None, "{mark}");
            }
            if let Some(mark) = environment.entry_mark {
                let editors = Ancestor::new("", format!("{mark}=x\0"));
                assert!(editors.marked().is_some() && !editors.is_agent_s());
            }
        }
    }

    #[test]
    fn this_process_has_parents() {
        assert!(ancestors().next().is_some_and(|parent| parent.words().next().is_some_and(|w| !w.is_empty())));
    }
}
