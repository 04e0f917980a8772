//! Every key with the value in force, and which file it comes from.

use camino::Utf8Path;
use dandori_domain::Usd;
use dandori_domain::agent::AgentName;
use dandori_domain::run::SandboxSettings;
use serde::Serialize;
use toml::Value;

use crate::formation::FormationSettings;
use crate::key::{KEYS, Place};
use crate::load::{Config, ConfigError};
use crate::quantity::{bytes_text, seconds_text};
use crate::set_up::SetUp;

#[derive(Clone, PartialEq, Debug)]
pub struct Setting {
    pub key: String,
    /// `None`: not set, and nothing stands in for it.
    pub value: Option<Value>,
    pub default: Option<Value>,
    pub origin: Origin,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    Default,
    User,
    Repository,
    /// A list to which both add.
    Both,
}

/// One key, for those who write about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyInfo {
    pub name: &'static str,
    pub user_only: bool,
}

/// Every key there is; `*` stands for an agent's name, `@` for a guard's, `#` for a class of destructive commands.
pub fn keys() -> impl Iterator<Item = KeyInfo> {
    KEYS.iter().map(|(name, place)| KeyInfo { name, user_only: *place == Place::UserOnly })
}

/// What is in force for a repository, or outside of one. Guards and agents are listed where a file names them: what the
/// guards make of it is told by `guard list`.
pub fn settings(user: &Utf8Path, repository: Option<&Utf8Path>) -> Result<Vec<Setting>, ConfigError> {
    let default = Config::default();
    let of_user = Config::load(user, None)?;
    let merged = Config::load(user, repository)?;
    let users = table_of(user)?;
    let repos = repository.map(table_of).transpose()?.unwrap_or_default();
    let mut found = Vec::new();
    for key in keys() {
        if let Set::To(value) = value(&merged, key.name) {
            let origin = match (has(&users, key.name), has(&repos, key.name)) {
                (false, false) => Origin::Default,
                (true, false) => Origin::User,
                (false, true) => Origin::Repository,
                (true, true) if matches!(value, Some(Value::Array(_))) => Origin::Both,
                // A repository cannot take back everything the user has set.
                (true, true) if value == value_of(&of_user, key.name) => Origin::User,
                (true, true) => Origin::Repository,
            };
            found.push(Setting { key: key.name.to_owned(), value, default: value_of(&default, key.name), origin });
        }
    }
    let (mut named, other) = (leaves(&users), leaves(&repos));
    named.retain(|(key, _)| !other.iter().any(|(theirs, _)| theirs == key));
    let of = |origin| move |(key, value)| (key, value, origin);
    for (key, value, origin) in
        named.into_iter().map(of(Origin::User)).chain(other.into_iter().map(of(Origin::Repository)))
    {
        if !found.iter().any(|setting| setting.key == key) {
            found.push(Setting { key, value: Some(value), default: None, origin });
        }
    }
    Ok(found)
}

fn table_of(path: &Utf8Path) -> Result<toml::Table, ConfigError> {
    match std::fs::read_to_string(path) {
        Ok(text) => text.parse().map_err(|e: toml::de::Error| ConfigError::Bad {
            path: path.to_owned(),
            reason: e.to_string().trim().to_owned(),
            suggestion: None,
        }),
        Err(_) => Ok(toml::Table::new()),
    }
}

fn has(table: &toml::Table, key: &str) -> bool {
    let mut parts = key.split('.');
    let Some(first) = parts.next().and_then(|part| table.get(part)) else { return false };
    parts.try_fold(first, |value, part| value.get(part)).is_some()
}

/// Every value that is set, by its dotted key; a list of tables is one value.
fn leaves(table: &toml::Table) -> Vec<(String, Value)> {
    fn walk(above: &str, table: &toml::Table, found: &mut Vec<(String, Value)>) {
        for (name, value) in table {
            let key = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
            match value {
                Value::Table(inner) => walk(&key, inner, found),
                other => found.push((key, other.clone())),
            }
        }
    }
    let mut found = Vec::new();
    walk("", table, &mut found);
    found
}

fn value_of(config: &Config, key: &str) -> Option<Value> {
    match value(config, key) {
        Set::To(value) => value,
        Set::Many => None,
    }
}

/// What a key is set to.
enum Set {
    To(Option<Value>),
    /// A file may have many of its kind.
    Many,
}

fn value(config: &Config, key: &str) -> Set {
    let Config {
        base,
        agent,
        pr,
        forge,
        cleanup,
        language,
        store,
        max_parallel,
        min_free_memory,
        min_free_disk,
        notify,
        limits,
        budget,
        commit_template,
        push_retries,
        set_up,
        pool,
        keep_days,
        sandbox,
        pass_env,
        forbidden_paths,
        github_host,
        github_api,
        agents: _,
        formation,
    } = config;
    let SandboxSettings { mode, write, hide, read, processes, open_files, memory } = sandbox;
    let text = |text: &String| Some(Value::from(text.clone()));
    let seconds = |seconds: u64| Some(Value::from(seconds_text(seconds)));
    let bytes = |bytes: u64| Some(Value::from(bytes_text(bytes)));
    let number = |number: u32| Some(Value::from(number));
    let list = |list: &Vec<String>| Some(Value::from(list.clone()));
    Set::To(match key {
        "base" => base.as_ref().and_then(text),
        "agent" => text(&agent.to_string()),
        "pr" => Some(Value::from(*pr)),
        "forge" => word(forge),
        "cleanup" => word(cleanup),
        "language" => language.as_ref().and_then(text),
        // It may hold a password.
        "store" => store.as_ref().map(|address| Value::from(without_password(address))),
        "runs.max_parallel" => max_parallel.and_then(number),
        "runs.min_free_memory" => bytes(*min_free_memory),
        "runs.min_free_disk" => bytes(*min_free_disk),
        "notify.desktop" => Some(Value::from(notify.desktop)),
        "notify.bell" => Some(Value::from(notify.bell)),
        "notify.command" => notify.command.as_ref().and_then(text),
        // Who knows the path may write there.
        "notify.webhook" => notify.webhook.as_ref().map(|address| Value::from(without_path(address))),
        "limits.start" => seconds(limits.start_seconds),
        "limits.silence" => seconds(limits.silence_seconds),
        "limits.run" => seconds(limits.run_seconds),
        "limits.grace" => seconds(limits.grace_seconds),
        "limits.api_retries" => number(limits.api_retries),
        "limits.budget" => budget.map(|usd| Value::from(usd.dollars())),
        "commit.template" => text(commit_template),
        "push.retries" => number(*push_retries),
        "worktrees.set_up" => match set_up {
            SetUp::Commands(lines) => list(lines),
            SetUp::Switch(on) => Some(Value::from(*on)),
            SetUp::Detect => None,
        },
        "worktrees.pool" => number(*pool),
        "worktrees.keep_days" => number(*keep_days),
        "sandbox.mode" => word(mode),
        "sandbox.write" => list(write),
        "sandbox.hide" => list(hide),
        "sandbox.read" => list(read),
        "sandbox.processes" => processes.and_then(|n| i64::try_from(n).ok()).map(Value::from),
        "sandbox.open_files" => open_files.and_then(|n| i64::try_from(n).ok()).map(Value::from),
        "sandbox.memory" => memory.and_then(bytes),
        "sandbox.pass_env" => list(pass_env),
        "forbidden.paths" => list(forbidden_paths),
        "github.host" => text(github_host),
        "github.api" => github_api.as_ref().and_then(text),
        key if key.starts_with("formation.") => return formation_value(formation, key),
        _ => return Set::Many,
    })
}

fn formation_value(formation: &FormationSettings, key: &str) -> Set {
    let FormationSettings {
        mode,
        workers,
        agent,
        orchestrator,
        planner,
        worker_agents,
        small_model,
        large_model,
        capabilities: _,
        check,
        budget,
        coordination_limit,
        continuous,
        rules,
    } = formation;
    let text = |text: &Option<String>| text.clone().map(Value::from);
    let name = |name: &Option<AgentName>| name.as_ref().map(|name| Value::from(name.to_string()));
    let usd = |usd: Option<Usd>| usd.map(|usd| Value::from(usd.dollars()));
    let seconds = |seconds: i64| u64::try_from(seconds).ok().map(|s| Value::from(seconds_text(s)));
    let number = |number: u32| Some(Value::from(number));
    let count = |count: usize| i64::try_from(count).ok().map(Value::from);
    Set::To(match key {
        "formation.mode" => word(mode),
        "formation.workers" => number(u32::from(*workers)),
        "formation.agent" => name(agent),
        "formation.orchestrator" => name(orchestrator),
        "formation.planner" => name(planner),
        "formation.worker_agents" => {
            Some(Value::from(worker_agents.iter().map(ToString::to_string).collect::<Vec<_>>()))
        }
        "formation.small_model" => text(small_model),
        "formation.large_model" => text(large_model),
        "formation.check" => text(check),
        "formation.budget.task" => usd(budget.task),
        "formation.budget.command" => usd(budget.command),
        "formation.budget.day" => usd(budget.day),
        "formation.coordination_limit" => coordination_limit.and_then(|n| number(u32::from(n))),
        "formation.continuous.max_iterations" => number(continuous.max_iterations),
        "formation.continuous.pause_on_failure" => Some(Value::from(continuous.pause_on_failure)),
        "formation.continuous.max_consecutive_failures" => number(continuous.max_consecutive_failures),
        "formation.rules.lease" => seconds(rules.lease_seconds),
        "formation.rules.longest" => seconds(rules.longest_seconds),
        "formation.rules.replan" => seconds(rules.replan_seconds),
        "formation.rules.digest" => seconds(rules.digest_seconds),
        "formation.rules.attempts" => number(rules.attempts),
        "formation.rules.resumes" => number(rules.resumes),
        "formation.rules.repairs" => number(rules.repairs),
        "formation.rules.pending_commands" => count(rules.pending_commands),
        "formation.rules.pending_per_worker" => count(rules.pending_per_worker),
        "formation.rules.tasks_per_plan" => count(rules.tasks_per_plan),
        _ => return Set::Many,
    })
}

/// An enum by the word a file has for it.
fn word(value: &impl Serialize) -> Option<Value> {
    Value::try_from(value).ok()
}

/// `postgres://user:secret@host/db` → `postgres://user:…@host/db`
fn without_password(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let Some((login, place)) = rest.rsplit_once('@') else { return address.to_owned() };
    match login.split_once(':') {
        Some((user, _)) => format!("{scheme}://{user}:…@{place}"),
        None => address.to_owned(),
    }
}

/// `https://host/secret` → `https://host/…`
fn without_path(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    match rest.split_once('/') {
        Some((host, path)) if !path.is_empty() => format!("{scheme}://{host}/…"),
        _ => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Source;

    #[expect(clippy::disallowed_methods, reason = "a test's own file")]
    fn file(folder: &Utf8Path, name: &str, text: &str) -> camino::Utf8PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn of<'s>(settings: &'s [Setting], key: &str) -> &'s Setting {
        settings.iter().find(|s| s.key == key).unwrap_or_else(|| panic!("{key} is not listed"))
    }

    #[test]
    fn each_value_says_where_it_comes_from() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let user = file(
            folder,
            "config.toml",
            "agent = \"codex\"\nstore = \"postgres://me:secret@db/x\"\n[sandbox]\nmode = \"require\"\nhide = [\"~/a\"]\n[limits]\nrun = \"90m\"\n",
        );
        let repo = file(
            folder,
            "dandori.toml",
            "agent = \"gemini\"\n[sandbox]\nmode = \"off\"\nhide = [\"~/b\"]\n[agents.mine]\ncommand = \"./x\"\n[guards]\nprofile = \"safety\"\n",
        );
        let found = settings(&user, Some(&repo)).unwrap();
        let pairs =
            ["agent", "sandbox.mode", "sandbox.hide", "limits.run", "pr", "agents.mine.command", "guards.profile"]
                .map(|key| (of(&found, key).value.clone().unwrap().to_string(), of(&found, key).origin));
        assert_eq!(
            pairs,
            [
                ("\"gemini\"".to_owned(), Origin::Repository),
                ("\"require\"".to_owned(), Origin::User),
                ("[\"~/a\", \"~/b\"]".to_owned(), Origin::Both),
                ("\"1h 30m\"".to_owned(), Origin::User),
                ("false".to_owned(), Origin::Default),
                ("\"./x\"".to_owned(), Origin::Repository),
                ("\"safety\"".to_owned(), Origin::Repository),
            ]
        );
        assert_eq!(of(&found, "store").value, Some(Value::from("postgres://me:…@db/x")));
        assert_eq!(of(&found, "base").value, None);
    }

    #[test]
    fn every_key_with_one_meaning_is_listed() {
        let listed = settings(Utf8Path::new("/nonexistent/a"), None).unwrap();
        let expected = keys().filter(|key| !key.name.contains(['*', '@', '#']) && !key.name.starts_with("guards."));
        assert_eq!(
            listed.iter().map(|s| s.key.as_str()).collect::<Vec<_>>(),
            expected.map(|k| k.name).collect::<Vec<_>>()
        );
    }

    /// What is shown can be written into a file as it is.
    #[test]
    fn a_shown_default_means_the_same_when_it_is_written_down() {
        let mut config = Config::default();
        for setting in settings(Utf8Path::new("/nonexistent/a"), None).unwrap() {
            if let Some(value) = setting.value {
                let text = crate::edit::set("", &setting.key, &value.to_string()).unwrap();
                config.merge(Utf8Path::new("x"), &text, Source::User).unwrap();
            }
        }
        assert_eq!(config, Config::default());
    }
}
