//! Where an agent's program is, and which version of it.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::AgentName;
use dandori_host::{Cmd, CmdError, Env};

use crate::driver::Driver;

/// The longest a `--version` may take: one needs two seconds on a slow machine, eight on a cold one.
const VERSION_DEADLINE: Duration = Duration::from_secs(20);

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the program {program} of agent {agent} is not on the PATH")]
pub struct Missing {
    pub agent: String,
    pub program: String,
}

#[derive(Debug, thiserror::Error)]
pub enum VersionError {
    #[error(transparent)]
    Missing(#[from] Missing),
    #[error(transparent)]
    Failed(#[from] CmdError),
}

/// The name looked for on the PATH. Programs without a driver run in a shell.
pub(crate) fn program_name(agent: &AgentName) -> &'static str {
    match agent {
        AgentName::Client(client) => client.describe().program.name,
        AgentName::Exec(_) | AgentName::Custom(_) | AgentName::Rehearsal => "sh",
    }
}

/// The program to start: what is on the PATH, or what stands behind it.
pub fn find_program(agent: &AgentName, env: &Env) -> Result<Utf8PathBuf, Missing> {
    let program = program_name(agent);
    let found =
        env.find_program(program).ok_or_else(|| Missing { agent: agent.to_string(), program: program.to_owned() })?;
    Ok(agent.client().and_then(|client| (Driver::of(client).native)(&found)).unwrap_or(found))
}

/// What the program says its version is, for `doctor`. It sees the PATH and nothing else; `home` is an empty folder,
/// because the agents write into it even for this.
pub fn version(agent: &AgentName, env: &Env, home: &Utf8Path) -> Result<String, VersionError> {
    let program = find_program(agent, env)?;
    let bare = env.filtered(|name| name == "PATH" || name == "LANG");
    let mut command = Cmd::new(program.as_str(), &bare)
        .arg("--version")
        .env("HOME", home.as_str())
        .env("TMPDIR", home.as_str())
        .cwd(home)
        .deadline(VERSION_DEADLINE);
    for (name, value) in agent.client().map_or(&[][..], |client| client.describe().environment.quiet) {
        command = command.env(name, value);
    }
    let output = command.run()?;
    Ok(version_in(&output.text()))
}

/// The first word with a digit in front: `2.1.197 (Claude Code)`, `codex-cli 0.166.0`, `0.61.0`.
fn version_in(text: &str) -> String {
    text.split_whitespace()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        .unwrap_or_else(|| text.trim())
        .to_owned()
}

#[cfg(test)]
mod tests {
    use dandori_domain::Client;

    use super::*;

    #[test]
    fn the_version_is_the_word_with_the_number() {
        assert_eq!(version_in("2.1.197 (Claude Code)"), "2.1.197");
        assert_eq!(version_in("codex-cli 0.166.0\n"), "0.166.0");
        assert_eq!(version_in("nightly"), "nightly");
    }

    #[test]
    fn a_missing_agent_is_named_with_its_program() {
        let env = Env::from_pairs([("PATH", "/nonexistent")]);
        for client in Client::ALL {
            let missing = find_program(&AgentName::Client(client), &env).unwrap_err();
            let program = client.describe().program.name.to_owned();
            assert_eq!(missing, Missing { agent: client.name().to_owned(), program });
        }
    }
}
