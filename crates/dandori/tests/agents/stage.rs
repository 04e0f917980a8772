//! A user who is logged in to one agent, whose model plays a script.

use std::collections::BTreeMap;
use std::process::Stdio;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Client;
use dandori_testkit::clis;
use dandori_testkit::env::TestEnv;
use dandori_testkit::model::{Kind, ModelServer, Script};
use serde_json::Value;

/// What a user has beside his login, in the places where agents look for it. None of it may change.
const OWN_FILES: [(&str, &str); 6] = [
    (".claude/settings.json", "{\"includeCoAuthoredBy\":false}\n"),
    (".claude/CLAUDE.md", "Be kind.\n"),
    (".claude.json", "{\"hasCompletedOnboarding\":true,\"numStartups\":7}\n"),
    (".codex/AGENTS.md", "Be kind.\n"),
    (".gemini/GEMINI.md", "Be kind.\n"),
    (".bashrc", "true\n"),
];

/// Limits that no healthy agent breaks on a loaded machine, and a dead API soon does.
const CONFIG: &str = "\
[limits]
start = \"60s\"
silence = \"60s\"
run = \"3m\"
grace = \"2s\"
api_retries = 1

[runs]
min_free_memory = \"16MiB\"

[worktrees]
pool = 0
";

pub(crate) const NO_SANDBOX: &str = "[sandbox]\nmode = \"off\"\n";

pub(crate) struct Stage {
    pub(crate) env: TestEnv,
    pub(crate) agent: &'static str,
    pub(crate) server: ModelServer,
    own: BTreeMap<Utf8PathBuf, Vec<u8>>,
}

impl Stage {
    pub(crate) fn new(agent: &'static str, script: Script) -> Self {
        Self::with(agent, |kind| ModelServer::start(kind, script))
    }

    /// With a script that speaks of the machine's own paths.
    pub(crate) fn planned(agent: &'static str, script: impl FnOnce(&TestEnv) -> Script) -> Self {
        let env = machine();
        let script = script(&env);
        Self::on(env, agent, |kind| ModelServer::start(kind, script))
    }

    pub(crate) fn with(agent: &'static str, server: impl FnOnce(Kind) -> ModelServer) -> Self {
        Self::on(machine(), agent, server)
    }

    fn on(mut env: TestEnv, agent: &'static str, server: impl FnOnce(Kind) -> ModelServer) -> Self {
        let server = server(match agent {
            "gemini-acp" => Kind::from(Client::Gemini),
            name => name.parse::<Client>().map_or(Kind::Anthropic, Kind::from),
        });
        for (path, text) in OWN_FILES {
            put(&env.home().join(path), text);
        }
        for (name, value) in server.log_in(&env.home()) {
            env.var(&name, value);
        }
        let path = format!("{}:{}", clis::bin(), std::env::var("PATH").unwrap());
        env.var("PATH", path);
        env.write_user_config(CONFIG);
        let own = files_below(&env.home());
        Self { env, agent, server, own }
    }

    /// Limits of this test's own in place of the usual ones.
    pub(crate) fn configure_limits(&self, limits: &str) {
        let names: Vec<&str> = limits.lines().filter_map(|line| line.split(' ').next()).collect();
        let others: Vec<&str> = CONFIG.lines().filter(|l| !names.iter().any(|n| l.starts_with(n))).collect();
        self.env.write_user_config(&others.join("\n").replace("[limits]", &format!("[limits]\n{limits}")));
    }

    /// More for the user's configuration; it counts from the next run on.
    pub(crate) fn configure(&self, more: &str) {
        self.env.write_user_config(&format!("{CONFIG}\n{more}"));
    }

    /// `dandori run "…" --agent <this one> --json`, whatever comes of it.
    pub(crate) fn run(&self, instruction: &str, flags: &[&str]) -> Value {
        let mut words = vec![instruction, "--agent", self.agent];
        words.extend(flags);
        self.env.run_json(words)
    }

    /// Several at the same time, each has to fail. Agents wait more than they work.
    pub(crate) fn all_fail(&self, instructions: &[String], flags: &[&str]) -> Vec<Ended> {
        let start = |instruction: &String| {
            let words = ["run", instruction, "--agent", self.agent, "--json"];
            let mut command = self.env.prepared(&self.env.repo(), words.iter().chain(flags));
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let started: Vec<_> = instructions.iter().map(start).collect();
        started
            .into_iter()
            .map(|command| {
                let output = command.wait_with_output().unwrap();
                let object = serde_json::from_slice(&output.stdout)
                    .unwrap_or_else(|e| panic!("{}: {e}\n{}", self.agent, String::from_utf8_lossy(&output.stderr)));
                self.failed(&object)
            })
            .collect()
    }

    /// The same, and its one run has to end well.
    pub(crate) fn succeeds(&self, instruction: &str, flags: &[&str]) -> Ended {
        let ended = Ended::of(&self.run(instruction, flags));
        assert_eq!(ended.state, "SUCCEEDED", "{}: {:?}\n{}", self.agent, ended.error, self.story(&ended.id));
        assert_eq!(ended.error, None);
        ended
    }

    fn failed(&self, object: &Value) -> Ended {
        let ended = Ended::of(object);
        assert_eq!(ended.state, "FAILED", "{}\n{}", self.agent, self.story(&ended.id));
        assert_one_sentence(ended.error.as_deref().unwrap_or_default());
        ended
    }

    pub(crate) fn follow_up(&self, task: &str, instruction: &str) -> Ended {
        let ran = self.env.dandori(["task", "follow-up", task, instruction, "--json"]);
        let ended = Ended::of(&ran.json());
        assert_eq!(ended.state, "SUCCEEDED", "{}: {:?}\n{}", self.agent, ended.error, self.story(&ended.id));
        ended
    }

    /// What `task show --json` has about a run.
    pub(crate) fn shown(&self, run: &str) -> Value {
        let task = self.env.dandori(["task", "show", run, "--json"]).json();
        let runs = task["runs"].as_array().unwrap().clone();
        runs.into_iter().find(|r| r["id"] == run).unwrap()
    }

    pub(crate) fn worktree(&self, run: &Ended) -> Utf8PathBuf {
        self.shown(&run.id)["worktree"].as_str().unwrap().into()
    }

    /// Where dandori keeps all about a run.
    pub(crate) fn run_folder(&self, run: &Ended) -> Utf8PathBuf {
        let repo = self.worktree(run).parent().unwrap().parent().unwrap().to_owned();
        let key = &run.id[run.id.len() - 8..];
        repo.join("runs").join(key)
    }

    /// A file of the branch as the origin has it.
    pub(crate) fn on_origin(&self, branch: &str, path: &str) -> String {
        self.env.git_in(&self.env.origin(), ["show", &format!("{branch}:{path}")])
    }

    pub(crate) fn branches_on_origin(&self) -> Vec<String> {
        let all = self.env.git_in(&self.env.origin(), ["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
        all.lines().map(str::to_owned).collect()
    }

    /// Everything a user has in his home is what it was, byte for byte. What agents put beside it on the way (caches)
    /// does not count.
    pub(crate) fn assert_own_files_untouched(&self) {
        let config = self.env.home().join(".config/dandori/config.toml");
        for (path, before) in self.own.iter().filter(|(path, _)| **path != config) {
            assert_eq!(&std::fs::read(path).unwrap(), before, "{path} has changed");
        }
        for folder in Client::folders() {
            let now = files_below(&self.env.home().join(folder));
            let new: Vec<_> = now.keys().filter(|path| !self.own.contains_key(*path)).collect();
            assert!(new.is_empty(), "new in the user's folder: {new:?}");
        }
    }

    /// What the agent said and did: for a test that is about to fail.
    pub(crate) fn story(&self, run: &str) -> String {
        let log = self.env.dandori(["task", "log", run]);
        format!("{}{}", log.stdout, log.stderr)
    }
}

/// One run as `--json` tells of it.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) task: String,
    pub(crate) id: String,
    pub(crate) state: String,
    pub(crate) branch: String,
    pub(crate) commit: Option<String>,
    pub(crate) pr: Value,
    pub(crate) session: Option<String>,
    pub(crate) error: Option<String>,
}

impl Ended {
    pub(crate) fn of(object: &Value) -> Self {
        let run = &object["runs"][0];
        let text = |key: &str| run[key].as_str().map(str::to_owned);
        Self {
            task: object["task"].as_str().unwrap_or_else(|| panic!("{object}")).to_owned(),
            id: text("id").unwrap(),
            state: text("state").unwrap(),
            branch: text("branch").unwrap_or_default(),
            commit: text("commit"),
            pr: run["pr"].clone(),
            session: text("session"),
            error: run["error"]["message"].as_str().map(str::to_owned),
        }
    }

    pub(crate) fn error(&self) -> &str {
        self.error.as_deref().unwrap()
    }
}

fn assert_one_sentence(text: &str) {
    assert!(!text.is_empty() && !text.contains('\n') && text.len() < 500, "{text:?}");
}

fn machine() -> TestEnv {
    TestEnv::new(env!("CARGO_BIN_EXE_dandori"))
}

fn put(path: &Utf8Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn files_below(folder: &Utf8Path) -> BTreeMap<Utf8PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir_utf8().into_iter().flatten().flatten() {
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => folders.push(entry.into_path()),
                kind if kind.is_file() => {
                    let bytes = std::fs::read(entry.path()).unwrap();
                    found.insert(entry.into_path(), bytes);
                }
                _ => {}
            }
        }
    }
    found
}
