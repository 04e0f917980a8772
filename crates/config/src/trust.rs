//! The user's one-time word for what a repository's configuration could execute or loosen.
//!
//! Trust is given to content, not to a path: a pull that changes a command asks again. Who wrote the file cannot be
//! told from git (an author line is free text), so every repository is asked about once.

use std::collections::BTreeMap;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::agent::AgentName;
use dandori_domain::run::SandboxMode;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::formation::FormationSettings;
use crate::guards::GuardTable;
use crate::load::{Config, ConfigError, Source};
use crate::set_up::SetUp;

/// What a file asks for that needs trust, one line each, in an order that does not change.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Powers(pub Vec<String>);

impl Powers {
    /// The powers of a repository's file alone.
    pub fn of_file(path: &Utf8Path) -> Result<Self, ConfigError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(source) => return Err(ConfigError::Unreadable { path: path.to_owned(), source }),
        };
        Self::of_text(path, &text)
    }

    pub fn of_text(path: &Utf8Path, text: &str) -> Result<Self, ConfigError> {
        let mut config = Config::default();
        config.merge(path, text, Source::Repository)?;
        let mut powers = Self::of(&config);
        powers.0.extend(GuardTable::read(path, text, Source::Repository)?.powers());
        Ok(powers)
    }

    fn of(config: &Config) -> Self {
        let mut powers = Vec::new();
        if let SetUp::Commands(lines) = &config.set_up {
            powers.extend(lines.iter().map(|line| format!("worktrees.set_up: {line}")));
        }
        if let AgentName::Exec(command) = &config.agent {
            powers.push(format!("agent: exec:{command}"));
        }
        for (name, agent) in &config.agents {
            if let Some(command) = &agent.command {
                powers.push(format!("agents.{name}.command: {command}"));
            }
            if let Some(acp) = &agent.acp {
                powers.push(format!("agents.{name}.acp: {acp}"));
            }
        }
        if let Some(check) = &config.formation.check {
            powers.push(format!("formation.check: {check}"));
        }
        let FormationSettings { agent, orchestrator, planner, worker_agents, .. } = &config.formation;
        for name in [agent, orchestrator, planner].into_iter().flatten().chain(worker_agents) {
            if let AgentName::Exec(command) = name {
                powers.push(format!("formation: exec:{command}"));
            }
        }
        if config.sandbox.mode == SandboxMode::Off {
            powers.push("sandbox.mode: off".to_owned());
        }
        powers.extend(config.sandbox.write.iter().map(|path| format!("sandbox.write: {path}")));
        powers.extend(config.sandbox.read.iter().map(|path| format!("sandbox.read: {path}")));
        powers.extend(config.pass_env.iter().map(|name| format!("sandbox.pass_env: {name}")));
        if config.github_host != Config::default().github_host {
            powers.push(format!("github.host: {}", config.github_host));
        }
        if let Some(api) = &config.github_api {
            powers.push(format!("github.api: {api}"));
        }
        Self(powers)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn digest(&self) -> String {
        use std::fmt::Write;
        let hash = Sha256::digest(self.0.join("\n").as_bytes());
        hash.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

/// `trust.json` in the state root: repository → digest of the powers it was trusted with.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TrustFile {
    version: u32,
    trusted: BTreeMap<Utf8PathBuf, String>,
}

impl TrustFile {
    /// A file that is missing or damaged trusts nobody.
    pub fn load(path: &Utf8Path) -> Self {
        std::fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    pub fn trusts(&self, git_dir: &Utf8Path, powers: &Powers) -> bool {
        powers.is_empty() || self.trusted.get(git_dir).is_some_and(|digest| *digest == powers.digest())
    }

    pub fn trust(&mut self, git_dir: &Utf8Path, powers: &Powers) {
        self.version = 1;
        self.trusted.insert(git_dir.to_owned(), powers.digest());
    }

    pub fn revoke(&mut self, git_dir: &Utf8Path) -> bool {
        self.trusted.remove(git_dir).is_some()
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn powers(text: &str) -> Powers {
        Powers::of_text(Utf8Path::new("dandori.toml"), text).unwrap()
    }

    #[test]
    fn harmless_settings_need_no_trust_and_commands_do() {
        assert!(powers("base = \"main\"\npr = true\nagent = \"codex\"\n[limits]\nrun = \"1h\"").is_empty());
        assert_eq!(powers("agent = \"exec:rm -rf ~\"").0, ["agent: exec:rm -rf ~"]);
        let formation =
            powers("[formation]\nworkers = 2\ncheck = \"make test\"\nworker_agents = [\"codex\", \"exec:evil\"]");
        assert_eq!(formation.0, ["formation.check: make test", "formation: exec:evil"]);
        assert_eq!(powers("[agents.a]\nacp = \"b --acp\"\nauth = \"key\"").0, ["agents.a.acp: b --acp"]);
        assert_eq!(
            powers("[worktrees]\nset_up = [\"make\"]\n[agents.a]\ncommand = \"b\"\n[sandbox]\nmode = \"off\"\nwrite = [\"~\"]\n[github]\napi = \"http://h\"").0,
            ["worktrees.set_up: make", "agents.a.command: b", "sandbox.mode: off", "sandbox.write: ~", "github.api: http://h"]
        );
    }

    #[test]
    fn trust_is_given_to_content_and_asked_again_when_it_changes() {
        let git_dir = Utf8Path::new("/r/.git");
        let first = powers("[worktrees]\nset_up = [\"make\"]");
        let second = powers("[worktrees]\nset_up = [\"make evil\"]");
        let mut file = TrustFile::default();
        assert!(!file.trusts(git_dir, &first));
        file.trust(git_dir, &first);
        let file: TrustFile = serde_json::from_slice(&file.to_bytes()).unwrap();
        assert!(file.trusts(git_dir, &first));
        assert!(!file.trusts(git_dir, &second));
        assert!(!file.trusts(Utf8Path::new("/other/.git"), &first));
        assert!(file.trusts(Utf8Path::new("/other/.git"), &Powers::default()));
    }
}
