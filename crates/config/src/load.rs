//! Reading the two files into one configuration.

use std::collections::BTreeMap;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Client;
use dandori_domain::agent::AgentName;
use dandori_domain::run::{Cleanup, CustomAgent, Limits, RunSettings, SandboxMode, SandboxSettings};
use dandori_domain::{Problem, Usd};
use serde::{Deserialize, Serialize};

use crate::formation::{FormationSettings, RawFormation};
use crate::guards::GuardTable;
use crate::key::{self, Found, Place};
use crate::notify::{NotifySettings, RawNotify};
use crate::quantity::{parse_bytes, parse_seconds};
use crate::set_up::SetUp;
use crate::value;

/// The configuration of one repository on this machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    pub base: Option<String>,
    pub agent: AgentName,
    pub pr: bool,
    pub forge: ForgeChoice,
    pub cleanup: Cleanup,
    pub language: Option<String>,
    /// `None` is the embedded SQLite.
    pub store: Option<String>,
    /// `None` is as many as there are cores, at least two.
    pub max_parallel: Option<u32>,
    pub min_free_memory: u64,
    pub min_free_disk: u64,
    pub notify: NotifySettings,
    pub limits: Limits,
    pub budget: Option<Usd>,
    pub commit_template: String,
    pub push_retries: u32,
    pub set_up: SetUp,
    pub pool: u32,
    pub keep_days: u32,
    pub sandbox: SandboxSettings,
    pub pass_env: Vec<String>,
    pub forbidden_paths: Vec<String>,
    pub github_host: String,
    pub github_api: Option<String>,
    pub agents: BTreeMap<String, AgentSettings>,
    pub formation: FormationSettings,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
pub struct AgentSettings {
    pub command: Option<String>,
    /// The shell line of one that speaks the Agent Client Protocol.
    pub acp: Option<String>,
    /// Its own name of the way to log in.
    pub auth: Option<String>,
    pub model: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForgeChoice {
    /// GitHub when the remote is there, else the embedded one.
    Auto,
    Github,
    Local,
}

/// Whose file it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    User,
    Repository,
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read {path}")]
    Unreadable {
        path: Utf8PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{path}: {reason}")]
    Bad { path: Utf8PathBuf, reason: String, suggestion: Option<String> },
}

impl ConfigError {
    pub fn to_problem(&self) -> Problem {
        match self {
            Self::Unreadable { path, source } => Problem::Io { path: path.clone(), reason: source.to_string() },
            Self::Bad { path, reason, suggestion } => {
                Problem::BadConfig { path: path.clone(), reason: reason.clone(), suggestion: suggestion.clone() }
            }
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        let RunSettings { wants_pull, budget, limits, cleanup, commit_template, push_retries, sandbox, .. } =
            RunSettings::default();
        Self {
            base: None,
            agent: AgentName::Client(Client::Claude),
            pr: wants_pull,
            forge: ForgeChoice::Auto,
            cleanup,
            language: None,
            store: None,
            max_parallel: None,
            min_free_memory: 1 << 30,
            min_free_disk: 1 << 30,
            notify: NotifySettings::default(),
            limits,
            budget,
            commit_template,
            push_retries,
            set_up: SetUp::Detect,
            pool: 1,
            keep_days: 14,
            sandbox,
            pass_env: Vec::new(),
            forbidden_paths: Vec::new(),
            github_host: "github.com".to_owned(),
            github_api: None,
            agents: BTreeMap::new(),
            formation: FormationSettings::default(),
        }
    }
}

impl Config {
    /// The user's file and over it the repository's; either may be missing.
    pub fn load(user: &Utf8Path, repository: Option<&Utf8Path>) -> Result<Self, ConfigError> {
        let mut config = Self::default();
        for (path, source) in [(Some(user), Source::User), (repository, Source::Repository)] {
            let Some(path) = path else { continue };
            let text = match std::fs::read_to_string(path) {
                Ok(text) => text,
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                Err(e) if e.kind() == io::ErrorKind::NotADirectory => continue,
                Err(source) => return Err(ConfigError::Unreadable { path: path.to_owned(), source }),
            };
            config.merge(path, &text, source)?;
        }
        Ok(config)
    }

    /// Everything that is wrong with one file, where reading it for use stops at the first. A file that is missing is
    /// well.
    pub fn faults(path: &Utf8Path, source: Source) -> Vec<ConfigError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Vec::new(),
            Err(source) => return vec![ConfigError::Unreadable { path: path.to_owned(), source }],
        };
        let keys = text.parse().map(|table| misplaced_keys(&table, &[], source)).unwrap_or_default();
        if keys.is_empty() {
            return Self::default().merge(path, &text, source).err().into_iter().collect();
        }
        keys.into_iter()
            .map(|(reason, suggestion)| ConfigError::Bad { path: path.to_owned(), reason, suggestion })
            .collect()
    }

    /// Lays one file over what is there.
    pub fn merge(&mut self, path: &Utf8Path, text: &str, source: Source) -> Result<(), ConfigError> {
        let bad =
            |reason: String, suggestion: Option<String>| ConfigError::Bad { path: path.to_owned(), reason, suggestion };
        let table: toml::Table =
            text.parse().map_err(|e: toml::de::Error| bad(e.to_string().trim().to_owned(), None))?;
        if let Some((reason, suggestion)) = misplaced_keys(&table, &[], source).into_iter().next() {
            return Err(bad(reason, suggestion));
        }
        // From the text and not from the table: only then an error knows its line.
        let raw: Raw = toml::from_str(text).map_err(|e: toml::de::Error| bad(e.to_string().trim().to_owned(), None))?;
        if let Some(guards) = &raw.guards {
            guards.check(source).map_err(|(reason, suggestion)| bad(reason, suggestion))?;
        }
        self.take(raw).map_err(|reason| bad(reason, None))
    }

    /// How an agent of the user's own is started.
    pub fn custom(&self, agent: &AgentName) -> Option<CustomAgent> {
        let settings = self.agents.get(&agent.to_string())?;
        match (&settings.acp, &settings.command) {
            (Some(acp), _) => Some(CustomAgent::Acp { acp: acp.clone(), auth: settings.auth.clone() }),
            (None, Some(command)) => Some(CustomAgent::Command(command.clone())),
            (None, None) => None,
        }
    }

    pub fn model(&self, agent: &AgentName) -> Option<&str> {
        self.agents.get(&agent.to_string())?.model.as_deref()
    }

    /// Names a user may give to `--agent`.
    pub fn known_agents(&self) -> Vec<String> {
        let clients = Client::ALL.iter().map(|client| client.name());
        let mut names: Vec<String> = clients.chain(["exec:<command>"]).map(str::to_owned).collect();
        let is_startable = |agent: &AgentSettings| agent.command.is_some() || agent.acp.is_some();
        names.extend(self.agents.iter().filter(|(_, agent)| is_startable(agent)).map(|(name, _)| name.clone()));
        names
    }

    fn take(&mut self, raw: Raw) -> Result<(), String> {
        fn set<T>(slot: &mut T, value: Option<T>) {
            if let Some(value) = value {
                *slot = value;
            }
        }
        fn seconds(slot: &mut u64, key: &str, value: Option<&String>) -> Result<(), String> {
            if let Some(text) = value {
                *slot = parse_seconds(text)
                    .ok_or_else(|| format!("{key} = {text:?} is not a duration such as \"90s\" or \"15m\""))?;
            }
            Ok(())
        }
        fn bytes(slot: &mut u64, key: &str, value: Option<&String>) -> Result<(), String> {
            if let Some(text) = value {
                *slot = parse_bytes(text)
                    .ok_or_else(|| format!("{key} = {text:?} is not a size such as \"512MiB\" or \"2GiB\""))?;
            }
            Ok(())
        }
        // A repository may lower what the user has set.
        fn least(one: Option<u64>, other: Option<u64>) -> Option<u64> {
            one.into_iter().chain(other).min()
        }
        self.base = raw.base.or(self.base.take());
        if let Some(agent) = raw.agent {
            self.agent = agent.parse().map_err(|_| format!("agent = {agent:?} is not the name of an agent"))?;
        }
        set(&mut self.pr, raw.pr);
        set(&mut self.forge, raw.forge);
        set(&mut self.cleanup, raw.cleanup);
        raw.language.as_deref().map_or(Ok(()), value::language)?;
        raw.store.as_deref().map_or(Ok(()), value::store)?;
        self.language = raw.language.or(self.language.take());
        self.store = raw.store.or(self.store.take());
        if let Some(runs) = raw.runs {
            if runs.max_parallel == Some(0) {
                return Err("runs.max_parallel must be at least 1".to_owned());
            }
            self.max_parallel = runs.max_parallel.or(self.max_parallel);
            bytes(&mut self.min_free_memory, "runs.min_free_memory", runs.min_free_memory.as_ref())?;
            bytes(&mut self.min_free_disk, "runs.min_free_disk", runs.min_free_disk.as_ref())?;
        }
        if let Some(notify) = raw.notify {
            self.notify.take(notify)?;
        }
        if let Some(limits) = raw.limits {
            seconds(&mut self.limits.start_seconds, "limits.start", limits.start.as_ref())?;
            seconds(&mut self.limits.silence_seconds, "limits.silence", limits.silence.as_ref())?;
            seconds(&mut self.limits.run_seconds, "limits.run", limits.run.as_ref())?;
            seconds(&mut self.limits.grace_seconds, "limits.grace", limits.grace.as_ref())?;
            set(&mut self.limits.api_retries, limits.api_retries);
            if let Some(dollars) = limits.budget {
                if !(dollars.is_finite() && dollars > 0.0) {
                    return Err("limits.budget must be an amount in US dollars above 0".to_owned());
                }
                self.budget = Some(Usd::from_dollars(dollars));
            }
        }
        if let Some(template) = raw.commit.and_then(|c| c.template) {
            value::template(&template)?;
            self.commit_template = template;
        }
        set(&mut self.push_retries, raw.push.and_then(|p| p.retries));
        if let Some(worktrees) = raw.worktrees {
            worktrees.pool.map_or(Ok(()), value::pool)?;
            set(&mut self.set_up, worktrees.set_up);
            set(&mut self.pool, worktrees.pool);
            set(&mut self.keep_days, worktrees.keep_days);
        }
        if let Some(sandbox) = raw.sandbox {
            // What the user requires no repository takes back.
            if self.sandbox.mode != SandboxMode::Require {
                set(&mut self.sandbox.mode, sandbox.mode);
            }
            self.sandbox.write.extend(sandbox.write.unwrap_or_default());
            self.sandbox.hide.extend(sandbox.hide.unwrap_or_default());
            self.sandbox.read.extend(sandbox.read.unwrap_or_default());
            self.sandbox.processes = least(self.sandbox.processes, sandbox.processes);
            self.sandbox.open_files = least(self.sandbox.open_files, sandbox.open_files);
            if sandbox.memory.is_some() {
                let mut memory = u64::MAX;
                bytes(&mut memory, "sandbox.memory", sandbox.memory.as_ref())?;
                self.sandbox.memory = least(self.sandbox.memory, Some(memory));
            }
            self.pass_env.extend(sandbox.pass_env.unwrap_or_default());
        }
        self.forbidden_paths.extend(raw.forbidden.and_then(|f| f.paths).unwrap_or_default());
        if let Some(github) = raw.github {
            github.host.as_deref().map_or(Ok(()), value::host)?;
            set(&mut self.github_host, github.host);
            self.github_api = github.api.or(self.github_api.take());
        }
        for (name, agent) in raw.agents.unwrap_or_default() {
            match (&agent.command, &agent.acp) {
                (Some(_), Some(_)) => {
                    return Err(format!("agents.{name} has both command and acp: use only one"));
                }
                (None, Some(_)) if !matches!(name.parse(), Ok(AgentName::Custom(_))) => {
                    return Err(format!("agents.{name}.acp: {name} is built in; choose another name"));
                }
                _ => {}
            }
            let slot = self.agents.entry(name).or_default();
            // What starts it is one thing: the nearer file's.
            if agent.command.is_some() || agent.acp.is_some() {
                (slot.command, slot.acp) = (agent.command, agent.acp);
            }
            slot.auth = agent.auth.or(slot.auth.take());
            slot.model = agent.model.or(slot.model.take());
        }
        raw.formation.map_or(Ok(()), |formation| self.formation.take(formation))
    }
}

/// Keys that are unknown, or may not stand in this file, each with the name that was meant.
pub(crate) fn misplaced_keys(table: &toml::Table, above: &[&str], source: Source) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    for (name, value) in table {
        let parts: Vec<&str> = above.iter().copied().chain([name.as_str()]).collect();
        let dotted = parts.join(".");
        match (key::look_up(&parts), value) {
            (Found::Known(Place::UserOnly), _) if source == Source::Repository => {
                found.push((
                    format!(
                        "`{dotted}` configures the daemon, which serves all repositories: it is only allowed in the user's config.toml"
                    ),
                    None,
                ));
            }
            (Found::Known(_), _) => {}
            (Found::Table, toml::Value::Table(inner)) => found.extend(misplaced_keys(inner, &parts, source)),
            (Found::List, toml::Value::Array(entries)) if entries.iter().all(toml::Value::is_table) => {
                let tables = entries.iter().filter_map(toml::Value::as_table);
                found.extend(tables.flat_map(|inner| misplaced_keys(inner, &parts, source)));
            }
            (Found::Table, _) => found.push((format!("`{dotted}` is a table: write [{dotted}]"), None)),
            (Found::List, _) => found.push((format!("`{dotted}` is a list of tables: write [[{dotted}]]"), None)),
            (Found::Unknown, _) => found.push((format!("unknown key `{dotted}`"), key::nearest_key(&dotted))),
        }
    }
    found
}

#[derive(Deserialize)]
struct Raw {
    base: Option<String>,
    agent: Option<String>,
    pr: Option<bool>,
    forge: Option<ForgeChoice>,
    cleanup: Option<Cleanup>,
    language: Option<String>,
    store: Option<String>,
    runs: Option<RawRuns>,
    notify: Option<RawNotify>,
    limits: Option<RawLimits>,
    commit: Option<RawCommit>,
    push: Option<RawPush>,
    worktrees: Option<RawWorktrees>,
    sandbox: Option<RawSandbox>,
    forbidden: Option<RawForbidden>,
    github: Option<RawGithub>,
    agents: Option<BTreeMap<String, AgentSettings>>,
    formation: Option<RawFormation>,
    /// Looked through here so that a mistake is found with all others; used by those who judge.
    guards: Option<GuardTable>,
}

#[derive(Deserialize)]
struct RawRuns {
    max_parallel: Option<u32>,
    min_free_memory: Option<String>,
    min_free_disk: Option<String>,
}

#[derive(Deserialize)]
struct RawLimits {
    start: Option<String>,
    silence: Option<String>,
    run: Option<String>,
    grace: Option<String>,
    api_retries: Option<u32>,
    budget: Option<f64>,
}

#[derive(Deserialize)]
struct RawCommit {
    template: Option<String>,
}

#[derive(Deserialize)]
struct RawPush {
    retries: Option<u32>,
}

#[derive(Deserialize)]
struct RawWorktrees {
    set_up: Option<SetUp>,
    pool: Option<u32>,
    keep_days: Option<u32>,
}

#[derive(Deserialize)]
struct RawSandbox {
    mode: Option<SandboxMode>,
    write: Option<Vec<String>>,
    hide: Option<Vec<String>>,
    read: Option<Vec<String>>,
    processes: Option<u64>,
    open_files: Option<u64>,
    memory: Option<String>,
    pass_env: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct RawForbidden {
    paths: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct RawGithub {
    host: Option<String>,
    api: Option<String>,
}

#[cfg(test)]
mod tests;
