//! A machine with one agent, the guards in its settings, and a model that plays a script.

use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Client;
use dandori_testkit::clis;
use dandori_testkit::env::{Ran, TestEnv};
use dandori_testkit::model::{Call, ModelServer, Script, Turn};
use serde_json::{Value, json};

use crate::trust;

/// Longer than any script here plays on a loaded machine; a client that loops would never end.
const PATIENCE: Duration = Duration::from_mins(2);

/// The file in a project, or in the user's home, that `init` writes.
pub(crate) fn settings_of(client: Client) -> String {
    let hooks = client.hooks().unwrap();
    format!("{}/{}", client.describe().settings.folder, hooks.local_file.unwrap_or(hooks.file))
}

/// Reads a file with what the agent has for it.
pub(crate) fn read(client: Client, path: &Utf8Path) -> Call {
    match client {
        Client::Claude => Call::Tool { name: "Read".to_owned(), input: json!({ "file_path": path }) },
        Client::Codex => Call::Shell(format!("cat {path}")),
        Client::Gemini => Call::Tool { name: "read_file".to_owned(), input: json!({ "file_path": path }) },
    }
}

/// Headless, and free to do everything: what is refused is refused by the guards.
fn words(client: Client, prompt: &str) -> Vec<&str> {
    match client {
        Client::Claude => vec![
            "-p",
            prompt,
            "--output-format",
            "stream-json",
            "--verbose",
            "--include-hook-events",
            "--permission-mode",
            "acceptEdits",
            "--allowedTools",
            "Bash,Write,Edit,Read,Agent",
        ],
        Client::Codex => vec![
            "exec",
            "--skip-git-repo-check",
            "--dangerously-bypass-approvals-and-sandbox",
            "-c",
            "otel.metrics_exporter=\"none\"",
            "-c",
            "analytics.enabled=false",
            "-c",
            "check_for_update_on_startup=false",
            "--disable",
            "plugins",
            "--disable",
            "unbounded_connection_retries",
            prompt,
        ],
        Client::Gemini => vec!["-o", "stream-json", "--approval-mode", "yolo", "-p", prompt],
    }
}

pub(crate) struct Stage {
    pub(crate) env: TestEnv,
    pub(crate) agent: Client,
    program: Utf8PathBuf,
}

impl Stage {
    /// The agent is on the PATH; nothing guards it yet.
    pub(crate) fn new(agent: Client) -> Self {
        let mut env = TestEnv::new(env!("CARGO_BIN_EXE_dandori"));
        env.git(["switch", "--quiet", "-c", "work"]);
        let path = format!("{}:{}", clis::bin(), std::env::var("PATH").unwrap());
        env.var("PATH", path);
        // Nothing but the scripted model is asked.
        env.var("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").var("DISABLE_AUTOUPDATER", "1");
        if agent == Client::Gemini {
            let settings = json!({ "model": { "name": "gemini-2.5-flash" },
                                   "security": { "auth": { "selectedType": "gemini-api-key" } } });
            put(&env.home().join(".gemini/settings.json"), &settings.to_string());
        }
        Self { env, agent, program: clis::program(agent) }
    }

    /// An earlier Claude Code, with the guards in the repository's settings.
    pub(crate) fn older_claude() -> Self {
        Self { program: clis::older_claude(), ..Self::guarded(Client::Claude) }
    }

    /// With the guards in the repository's settings, which the client trusts.
    pub(crate) fn guarded(agent: Client) -> Self {
        let stage = Self::new(agent);
        let _ = stage.init(&[]).ok();
        stage
    }

    pub(crate) fn init(&self, flags: &[&str]) -> Ran {
        self.env.dandori(["init", "--agent", self.agent.name()].iter().chain(flags))
    }

    pub(crate) fn path(&self, name: &str) -> Utf8PathBuf {
        self.env.repo().join(name)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Writes a file of the repository with the agent's editing tool.
    pub(crate) fn write(&self, name: &str) -> Turn {
        // Codex names files from where it stands; the others get whole paths.
        let path = if self.agent == Client::Codex { name.into() } else { self.path(name) };
        Turn::call(Call::Write { path: path.into_string(), content: "written\n".to_owned() })
    }

    /// The model plays these turns to the end, in a new session in the repository.
    pub(crate) fn play(&self, turns: impl IntoIterator<Item = Turn>) -> Played {
        self.play_with(&self.env.repo(), "do it", &[], turns)
    }

    pub(crate) fn play_with(
        &self,
        folder: &Utf8Path,
        prompt: &str,
        flags: &[&str],
        turns: impl IntoIterator<Item = Turn>,
    ) -> Played {
        self.session(folder, prompt, flags, Trust::Given, turns)
    }

    pub(crate) fn session(
        &self,
        folder: &Utf8Path,
        prompt: &str,
        flags: &[&str],
        trusted: Trust,
        turns: impl IntoIterator<Item = Turn>,
    ) -> Played {
        let server = ModelServer::start(self.agent, Script::turns(turns));
        // Gemini's settings are there, and may hold hooks by now.
        let settings = self.env.home().join(".gemini/settings.json");
        let kept = std::fs::read_to_string(&settings);
        let vars = server.log_in(&self.env.home());
        if let (Client::Gemini, Ok(kept)) = (self.agent, kept) {
            put(&settings, &kept);
        }
        if trusted == Trust::Given {
            trust::give(self);
        }
        let words = words(self.agent, prompt);
        let words = words.iter().chain(flags);
        let mut command = self.env.program(self.program.as_str(), words, folder);
        command.envs(vars);
        if self.agent == Client::Gemini && trusted == Trust::Given {
            command.env("GEMINI_CLI_TRUST_WORKSPACE", "true");
        }
        let ran = within_patience(command);
        Played { agent: self.agent, server, ran }
    }
}

/// Whether the user has confirmed what the client wants confirmed before it runs hooks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    Given,
    NotGiven,
}

pub(crate) fn put(path: &Utf8Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn within_patience(mut command: std::process::Command) -> Ran {
    use std::os::unix::process::CommandExt;
    use std::process::Stdio;
    let mut child = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let until = Instant::now() + PATIENCE;
    let pid = child.id();
    let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let drain = |mut from: Box<dyn std::io::Read + Send>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = from.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let (stdout, stderr) = (drain(Box::new(stdout)), drain(Box::new(stderr)));
    let code = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status.code().unwrap_or(-1);
        }
        if Instant::now() > until {
            // With all it has started: they hold the other ends of the pipes.
            let group = ["-KILL".to_owned(), "--".to_owned(), format!("-{pid}")];
            let _ = std::process::Command::new("kill").args(group).status();
            let _ = child.wait();
            panic!("the client did not end:\n{}\n{}", stdout.join().unwrap(), stderr.join().unwrap());
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    Ran { code, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
}

/// A session that has ended.
pub(crate) struct Played {
    agent: Client,
    pub(crate) server: ModelServer,
    pub(crate) ran: Ran,
}

impl Played {
    /// How many turns the model was asked for.
    pub(crate) fn turns(&self) -> usize {
        let requests = self.server.requests();
        let turns = requests.iter().filter_map(|r| r["turn"].as_u64());
        turns.max().map_or(0, |last| usize::try_from(last).unwrap() + 1)
    }

    /// The whole request for a turn of the model.
    pub(crate) fn request(&self, turn: usize) -> Value {
        let requests = self.server.requests();
        let found = requests.iter().rev().find(|r| r["turn"] == json!(turn));
        found.unwrap_or_else(|| panic!("{:?}: no turn {turn}\n{}", self.agent, self.story()))["body"].clone()
    }

    /// What the model was told after its turn: everything that is new in the next request.
    pub(crate) fn told(&self, turn: usize) -> String {
        let body = self.request(turn + 1);
        let key = match self.agent {
            Client::Claude => "messages",
            Client::Codex => "input",
            Client::Gemini => "contents",
        };
        let items = body[key].as_array().unwrap();
        let is_models = |item: &Value| match self.agent {
            Client::Claude => item["role"] == "assistant",
            Client::Codex => {
                item["role"] == "assistant"
                    || item["type"].as_str().is_some_and(|kind| kind.ends_with("_call") || kind == "reasoning")
            }
            Client::Gemini => item["role"] == "model",
        };
        let after = items.iter().rposition(is_models).map_or(0, |at| at + 1);
        plain(&Value::from(items[after..].to_vec()))
    }

    pub(crate) fn assert_told(&self, turn: usize, words: &str) {
        let told = self.told(turn);
        assert!(told.contains(words), "{:?}, turn {turn}: {words:?} is not in {told}\n{}", self.agent, self.story());
    }

    pub(crate) fn assert_not_told(&self, turn: usize, words: &str) {
        let told = self.told(turn);
        assert!(!told.contains(words), "{:?}, turn {turn}: {words:?} is in {told}\n{}", self.agent, self.story());
    }

    /// What the user was shown.
    pub(crate) fn shown(&self) -> String {
        format!("{}{}", self.ran.stdout, self.ran.stderr)
    }

    /// For a test that is about to fail.
    pub(crate) fn story(&self) -> String {
        format!("exit {}\n{}\n{}", self.ran.code, self.ran.stdout, self.ran.stderr)
    }
}

/// All strings of a value, one below the other: as the model reads them, without JSON's escapes.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(fields) => fields.values().map(plain).collect(),
        _ => String::new(),
    }
}
