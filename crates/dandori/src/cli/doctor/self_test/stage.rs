//! The place an agent is tried in: a repository and a home of its own, with copies of the settings that concern hooks.
//!
//! Nothing of the user's login goes along, nobody else's hooks do anything there, and the agent knows no way but to the
//! built-in model. The state root of the hooks is below that home: what they write down is found there and goes with
//! it.

use std::os::unix::fs::DirBuilderExt;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::AgentName;
use dandori_host::{Cmd, Env, Layout};
use dandori_install::{Client, CodexConfig, MovedFile, Places, Setting, only_ours, with_setting};
use serde_json::json;

use super::super::hooks::{Look, Scope, codex};
use crate::cli::Context;
use crate::cli::init::{files, places};

/// Removed when it is dropped.
pub(super) struct Stage {
    root: Utf8PathBuf,
}

const KEY: &str = "self-test";
const PROMPT: &str = "Do what the self-test asks for.\n";
/// Where programs are, beside the PATH: an agent may be started by a version manager.
const MANAGERS: &[&str] = &[
    "ASDF_DATA_DIR",
    "ASDF_DIR",
    "BUN_INSTALL",
    "FNM_DIR",
    "FNM_MULTISHELL_PATH",
    "LD_LIBRARY_PATH",
    "MISE_DATA_DIR",
    "N_PREFIX",
    "NODE_PATH",
    "NVM_BIN",
    "NVM_DIR",
    "PNPM_HOME",
    "VOLTA_HOME",
];
/// What decides about hooks in an agent's environment.
const DECISIVE: &[&str] = &["CLAUDE_CODE_SIMPLE", "GEMINI_CLI_TRUST_WORKSPACE", "GEMINI_RESTRICTED_MODE"];

impl Stage {
    pub(super) fn set_up(context: &Context, look: &Look) -> Result<Self, String> {
        let name = format!("{PREFIX}{}", std::process::id());
        let stage = Self { root: context.layout.root().join(name).join(look.client.name()) };
        for folder in [stage.repository(), stage.home(), stage.temporary()] {
            make_folder(&folder)?;
        }
        let git = Cmd::new("git", &stage.bare(context)).args(["init", "--quiet", "-b", "self-test"]);
        git.cwd(&stage.repository()).run().map_err(|e| e.to_string())?;
        for file in &look.files {
            let copy = match file.text() {
                Some(text) => only_ours(look.client, text, &stage.places()).into_bytes(),
                None => file.bytes.clone(),
            };
            let name = file.path.file_name().unwrap_or(look.client.file());
            put(&stage.folder(look.client, file.scope).join(name), &copy)?;
        }
        Ok(stage)
    }

    pub(super) fn repository(&self) -> Utf8PathBuf {
        self.root.join("repository")
    }

    fn home(&self) -> Utf8PathBuf {
        self.root.join("home")
    }

    /// Where the hooks of the copies have their own files.
    fn places(&self) -> Places {
        let env = self.bare_home();
        let state = Layout::from_env(&env).map(|layout| layout.root().to_string());
        let config = Some(dandori_host::layout::user_config(&env).into_string());
        Places { state, config, home: Some(self.home().into_string()) }
    }

    /// Nothing is known but this home.
    fn bare_home(&self) -> Env {
        Env::from_pairs([("HOME", self.home().into_string())])
    }

    fn temporary(&self) -> Utf8PathBuf {
        self.root.join("tmp")
    }

    fn folder(&self, client: Client, scope: Scope) -> Utf8PathBuf {
        match scope {
            Scope::User => self.home().join(client.folder()),
            Scope::Project => self.repository().join(client.folder()),
        }
    }

    /// Where the hooks have written down what they were asked.
    pub(super) fn guard_folders(&self) -> Vec<Utf8PathBuf> {
        let guards = Layout::from_env(&self.bare_home()).map(|layout| layout.guards()).unwrap_or_default();
        guards.read_dir_utf8().into_iter().flatten().flatten().map(|entry| entry.path().to_owned()).collect()
    }

    fn bare(&self, context: &Context) -> Env {
        let is_kept = |name: &str| name == "PATH" || MANAGERS.contains(&name) || DECISIVE.contains(&name);
        let mut env = context.env.filtered(is_kept);
        env.set("HOME", self.home().into_string())
            .set("TMPDIR", self.temporary().into_string())
            .set("LANG", "C.UTF-8")
            .set("TERM", "dumb")
            .set("NO_PROXY", "127.0.0.1,localhost")
            .set("GIT_CONFIG_NOSYSTEM", "1");
        env
    }

    /// The agent, about to be started.
    pub(super) fn command(&self, context: &Context, look: &Look, url: &str) -> Result<Cmd, String> {
        let (agent, name) = match look.client {
            Client::Claude => (self.claude(url)?, AgentName::Claude),
            Client::Codex => (self.codex(context, look, url)?, AgentName::Codex),
            Client::Gemini => (self.gemini(look, url)?, AgentName::Gemini),
        };
        let program = dandori_agent::find_program(&name, &context.env).map_err(|e| e.to_string())?;
        let mut env = self.bare(context);
        for (name, value) in agent.variables {
            env.set(name, value);
        }
        Ok(Cmd::new(program.as_str(), &env).args(agent.words).stdin(PROMPT).cwd(&self.repository()))
    }

    fn claude(&self, url: &str) -> Result<Agent, String> {
        let folder = self.home().join(Client::Claude.folder());
        make_folder(&folder)?;
        put(&folder.join(".claude.json"), json!({ "hasCompletedOnboarding": true }).to_string().as_bytes())?;
        // The settings may name another way to the model; what is said on the command line counts before them.
        let nowhere_else = json!({
            "env": {
                "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url, "ANTHROPIC_AUTH_TOKEN": "",
                "CLAUDE_CODE_USE_BEDROCK": "", "CLAUDE_CODE_USE_VERTEX": "", "CLAUDE_CODE_USE_FOUNDRY": "",
                "HTTP_PROXY": "", "HTTPS_PROXY": "", "http_proxy": "", "https_proxy": "",
            },
            "apiKeyHelper": "",
        });
        let words = ["-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits"];
        let tools = ["--allowedTools", "Bash,Write", "--strict-mcp-config", "--settings"];
        let mut agent = Agent::new(words.iter().chain(&tools));
        agent.words.push(nowhere_else.to_string());
        agent.set("CLAUDE_CONFIG_DIR", folder.as_str());
        agent.set("ANTHROPIC_API_KEY", KEY).set("ANTHROPIC_BASE_URL", url);
        agent.set("CLAUDE_CODE_MAX_RETRIES", "1").set("DISABLE_AUTOUPDATER", "1");
        agent.set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        Ok(agent)
    }

    /// Of the user's configuration only what concerns hooks, for the places where the copies are.
    fn codex(&self, context: &Context, look: &Look, url: &str) -> Result<Agent, String> {
        let folder = self.home().join(Client::Codex.folder());
        make_folder(&folder)?;
        let users = places::user_folder(context, Client::Codex).join("config.toml");
        let text = files::read(&users).ok().flatten().unwrap_or_default();
        let config = CodexConfig::read(&text).map_err(|reason| format!("{users}: {reason}"))?;
        let mut moved = Vec::new();
        for settings in &look.files {
            let to = self.folder(Client::Codex, settings.scope).join(Client::Codex.file()).into_string();
            let text = settings.text().unwrap_or_default().to_owned();
            let copy = only_ours(Client::Codex, &text, &self.places());
            let file = |from| MovedFile { from, to: to.clone(), text: text.clone(), copy: copy.clone() };
            moved.extend(codex::names(&settings.path).into_iter().map(file));
        }
        let project = look.root.as_deref().map(codex::project);
        let projects = project.iter().flat_map(|root| codex::names(root));
        let projects: Vec<_> = projects.map(|from| (from, self.repository().into_string())).collect();
        let text = format!(
            "model = \"gpt-5.5\"\nmodel_provider = \"self_test\"\n\n{}\n[model_providers.self_test]\n\
             name = \"self-test\"\nbase_url = \"{url}\"\nenv_key = \"SELF_TEST_KEY\"\nwire_api = \"responses\"\n\
             request_max_retries = 1\nstream_max_retries = 1\n",
            config.moved(&moved, &projects)
        );
        put(&folder.join("config.toml"), text.as_bytes())?;
        let words = ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
        let quiet = ["-c", "otel.metrics_exporter=\"none\"", "-c", "analytics.enabled=false"];
        let short = ["-c", "check_for_update_on_startup=false", "--disable", "plugins"];
        let end = ["--disable", "unbounded_connection_retries", "-"];
        let mut agent = Agent::new(words.iter().chain(&quiet).chain(&short).chain(&end));
        agent.set("CODEX_HOME", folder.as_str()).set("SELF_TEST_KEY", KEY);
        Ok(agent)
    }

    fn gemini(&self, look: &Look, url: &str) -> Result<Agent, String> {
        let folder = self.home().join(Client::Gemini.folder());
        if look.is_folder_trusted {
            let trusted = json!({ self.repository().as_str(): "TRUST_FOLDER" });
            put(&folder.join("trustedFolders.json"), trusted.to_string().as_bytes())?;
        }
        // It looks for one in every folder above, and takes the first.
        put(&self.repository().join(".gemini/.env"), b"")?;
        // It does not start without a way to log in chosen. The project's settings count before the user's.
        let users = folder.join(Client::Gemini.file());
        if !users.exists() {
            put(&users, b"{}\n")?;
        }
        for file in [users, self.repository().join(".gemini/settings.json")] {
            if let Ok(Some(text)) = files::read(&file) {
                put(&file, by_key(&text).as_bytes())?;
            }
        }
        let words = ["-o", "stream-json", "--approval-mode", "yolo", "--skip-trust", "-m", "gemini-2.5-flash"];
        let mut agent = Agent::new(words.iter().chain(&["--allowed-mcp-server-names", "none"]));
        agent.set("GEMINI_CLI_HOME", self.home().as_str()).set("GEMINI_API_KEY", KEY);
        agent.set("GOOGLE_GEMINI_BASE_URL", url).set("GEMINI_CLI_NO_RELAUNCH", "true");
        Ok(agent)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
        // The last of several takes the folder with it.
        if let Some(folder) = self.root.parent() {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// How an agent is started.
struct Agent {
    words: Vec<String>,
    variables: Vec<(&'static str, String)>,
}

impl Agent {
    fn new<'w>(words: impl Iterator<Item = &'w &'w str>) -> Self {
        Self { words: words.map(|w| (*w).to_owned()).collect(), variables: Vec::new() }
    }

    fn set(&mut self, name: &'static str, value: &str) -> &mut Self {
        self.variables.push((name, value.to_owned()));
        self
    }
}

/// Settings of Gemini with a login by key and nothing sent home.
fn by_key(text: &str) -> String {
    let settings = [
        (["security", "auth", "selectedType"].as_slice(), Setting::Text("gemini-api-key")),
        (&["general", "enableAutoUpdate"], Setting::Flag(false)),
        (&["general", "enableAutoUpdateNotification"], Setting::Flag(false)),
        (&["privacy", "usageStatisticsEnabled"], Setting::Flag(false)),
        (&["telemetry", "enabled"], Setting::Flag(false)),
    ];
    settings.into_iter().fold(text.to_owned(), |text, (place, to)| with_setting(&text, place, to))
}

const PREFIX: &str = "doctor-";

/// Removes what a doctor that was killed has left.
pub(super) fn sweep(layout: &Layout) {
    for entry in layout.root().read_dir_utf8().into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().strip_prefix(PREFIX).and_then(|pid| pid.parse::<u32>().ok()) else {
            continue;
        };
        if !Utf8Path::new("/proc").join(pid.to_string()).exists() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn make_folder(path: &Utf8Path) -> Result<(), String> {
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|e| format!("{path}: {e}"))
}

fn put(path: &Utf8Path, bytes: &[u8]) -> Result<(), String> {
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    dandori_host::put_file(path, bytes, 0o600).map_err(|e| format!("{path}: {e}"))
}
