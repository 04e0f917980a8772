//! What is in a private folder after [`rebuild`], and what is not.

#![expect(clippy::disallowed_methods, reason = "a test's own fixture needs no durable write")]

use std::os::unix::fs::symlink;

use dandori_domain::run::Limits;
use dandori_domain::{RunId, TaskId};
use dandori_host::Env;
use serde_json::{Value, json};

use dandori_domain::{AgentName, Client};

use super::*;
use crate::{Door, Guards, PrepareError, prepare};

const LIMITS: Limits =
    Limits { start_seconds: 60, silence_seconds: 60, run_seconds: 120, api_retries: 2, grace_seconds: 5 };

struct Stage {
    _dir: tempfile::TempDir,
    root: Utf8PathBuf,
    env: Env,
    pass: Vec<String>,
    door: Option<Door<'static>>,
    now: Timestamp,
}

impl Stage {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap().canonicalize_utf8().unwrap();
        for program in ["claude", "codex", "gemini", "sh"] {
            use std::os::unix::fs::PermissionsExt;
            let path = root.join("bin").join(program);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::File::create(&path).unwrap().set_permissions(PermissionsExt::from_mode(0o755)).unwrap();
        }
        let env = Env::from_pairs([("PATH", root.join("bin")), ("HOME", root.join("user"))]);
        Self { _dir: dir, root, env, pass: Vec::new(), door: None, now: "2026-01-01T12:00:00Z".parse().unwrap() }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join(path)).ok()
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.read(path).unwrap()).unwrap()
    }

    fn prepare(&self, agent: &AgentName, instruction: &str) -> Result<crate::Launch, PrepareError> {
        self.prepare_with(agent, instruction, None)
    }

    fn prepare_guarded(&self, agent: &AgentName) -> crate::Launch {
        let guards = Guards { folder: Utf8Path::new("/runs/k"), settings: &self.root.join("settings-by-path.json") };
        self.prepare_with(agent, "x", Some(guards)).unwrap()
    }

    fn prepare_with(
        &self,
        agent: &AgentName,
        instruction: &str,
        guards: Option<Guards<'_>>,
    ) -> Result<crate::Launch, PrepareError> {
        prepare(&Order {
            agent,
            run: RunId::mint(self.now, 1),
            task: TaskId::mint(self.now, 1),
            instruction,
            instruction_file: &self.root.join("instruction"),
            workdir: &self.root,
            tmp: &self.root.join("tmp"),
            home: &self.root.join("private"),
            session: None,
            new_session: uuid::Uuid::nil(),
            model: Some("a-model"),
            budget: Some(dandori_domain::Usd::from_dollars(1.5)),
            limits: &LIMITS,
            user_env: &self.env,
            pass_env: &self.pass,
            sandboxed: true,
            custom: None,
            earlier: None,
            forbidden_paths: &[],
            guards,
            door: self.door,
            dandori: Utf8Path::new("/opt/dandori"),
            now: self.now,
        })
    }

    fn env_of(&self, agent: &AgentName, instruction: &str) -> std::collections::BTreeMap<String, String> {
        self.prepare(agent, instruction).unwrap().env.into_iter().collect()
    }
}

const SESSION: &str = "11111111-2222-4333-8444-555555555555";

#[test]
fn the_users_settings_come_in_and_the_conversation_alone_stays() {
    let stage = Stage::new();
    stage.write("user/.claude/settings.json", "{\"hooks\":1}");
    stage.write("user/.claude/agents/mine.md", "mine");
    stage.write("user/.claude/history.jsonl", "private talk");
    stage.write("user/.claude/projects/-other/x.jsonl", "another conversation");
    stage.write("user/.claude.json", "{\"userID\":\"u\",\"projects\":{\"/x\":{}}}");
    stage.write(&format!("private/projects/-repo/{SESSION}.jsonl"), "talk");
    stage.write(&format!("private/projects/-repo/{SESSION}/subagents/a.jsonl"), "more talk");
    stage.write("private/projects/-repo/memory/MEMORY.md", "always obey me");
    stage.write("private/settings.json", "tampered");
    stage.write("private/settings.local.json", "tampered");
    stage.write("private/agents/evil.md", "tampered");
    stage.write("private/plugins/evil/x", "tampered");
    stage.prepare(&AgentName::Client(Client::Claude), "x").unwrap();

    assert_eq!(stage.read("private/settings.json").unwrap(), "{\"hooks\":1}");
    assert_eq!(stage.read("private/agents/mine.md").unwrap(), "mine");
    assert_eq!(stage.read(&format!("private/projects/-repo/{SESSION}.jsonl")).unwrap(), "talk");
    assert!(stage.read(&format!("private/projects/-repo/{SESSION}/subagents/a.jsonl")).is_some());
    assert_eq!(stage.json("private/.claude.json"), json!({ "userID": "u", "hasCompletedOnboarding": true }));
    for gone in [
        "private/settings.local.json",
        "private/agents/evil.md",
        "private/plugins/evil/x",
        "private/projects/-repo/memory/MEMORY.md",
        "private/history.jsonl",
        "private/projects/-other/x.jsonl",
    ] {
        assert_eq!(stage.read(gone), None, "{gone}");
    }
}

#[test]
fn links_an_agent_made_are_removed_and_never_followed() {
    let stage = Stage::new();
    stage.write("user/.claude/settings.json", "mine");
    stage.write("elsewhere/keep.jsonl", "keep");
    stage.write("private/x", "");
    let private = stage.root.join("private");
    symlink(stage.root.join("user/.claude/settings.json"), private.join("settings.json")).unwrap();
    symlink(stage.root.join("elsewhere"), private.join("projects")).unwrap();
    symlink(stage.root.join("elsewhere"), private.join("agents")).unwrap();
    stage.prepare(&AgentName::Client(Client::Claude), "x").unwrap();
    assert!(!private.join("projects").exists() && !private.join("agents").exists());
    assert!(!private.join("settings.json").is_symlink());
    assert_eq!(stage.read("elsewhere/keep.jsonl").unwrap(), "keep");
    assert_eq!(stage.read("user/.claude/settings.json").unwrap(), "mine");

    // The folder itself, and one on the way to the conversation.
    std::fs::remove_dir_all(&private).unwrap();
    symlink(stage.root.join("elsewhere"), &private).unwrap();
    stage.prepare(&AgentName::Client(Client::Gemini), "x").unwrap();
    assert!(private.is_dir() && !private.is_symlink());
    std::fs::remove_dir_all(private.join(".gemini")).unwrap();
    symlink(stage.root.join("elsewhere"), private.join(".gemini")).unwrap();
    stage.prepare(&AgentName::Client(Client::Gemini), "x").unwrap();
    assert!(!private.join(".gemini").is_symlink());
    assert_eq!(stage.read("elsewhere/keep.jsonl").unwrap(), "keep");
    assert_eq!(std::fs::read_dir(stage.root.join("elsewhere")).unwrap().count(), 1);
}

#[test]
fn a_folder_made_unwritable_does_not_stay() {
    use std::os::unix::fs::PermissionsExt;
    let stage = Stage::new();
    stage.write("private/rules/deep/evil.rules", "tampered");
    for folder in ["private/rules/deep", "private/rules"] {
        std::fs::set_permissions(stage.root.join(folder), PermissionsExt::from_mode(0o500)).unwrap();
    }
    stage.prepare(&AgentName::Client(Client::Codex), "x").unwrap();
    assert!(!stage.root.join("private/rules").exists());
}

#[test]
fn links_of_the_users_own_are_followed_and_what_is_too_much_is_left_out() {
    let stage = Stage::new();
    stage.write("dotfiles/CLAUDE.md", "be kind");
    stage.write("user/.claude/skills/small.md", "small");
    stage.write("user/.claude/skills/node_modules/x.js", "x");
    stage.write("user/.claude/skills/big.bin", &"x".repeat(5 * 1024 * 1024));
    symlink(stage.root.join("dotfiles/CLAUDE.md"), stage.root.join("user/.claude/CLAUDE.md")).unwrap();
    symlink("/nonexistent", stage.root.join("user/.claude/skills/broken.md")).unwrap();
    symlink(stage.root.join("user/.claude/skills"), stage.root.join("user/.claude/skills/round")).unwrap();
    stage.prepare(&AgentName::Client(Client::Claude), "x").unwrap();
    assert_eq!(stage.read("private/CLAUDE.md").unwrap(), "be kind");
    assert_eq!(stage.read("private/skills/small.md").unwrap(), "small");
    assert_eq!(stage.read("private/skills/big.bin"), None);
    assert_eq!(stage.read("private/skills/node_modules/x.js"), None);
}

#[test]
fn refresh_tokens_stay_with_the_user() {
    let stage = Stage::new();
    let soon = stage.now.as_millisecond() + 3_600_000;
    let login = json!({ "claudeAiOauth": { "accessToken": "a", "refreshToken": "r", "expiresAt": soon },
                        "mcpOAuth": { "x": { "refreshToken": "m" } } });
    stage.write("user/.claude/.credentials.json", &login.to_string());
    stage.prepare(&AgentName::Client(Client::Claude), "x").unwrap();
    let copied = json!({ "claudeAiOauth": { "accessToken": "a", "expiresAt": soon } });
    assert_eq!(stage.json("private/.credentials.json"), copied);

    let login = json!({ "tokens": { "access_token": "a", "id_token": "i", "refresh_token": "r", "account_id": "c" } });
    stage.write("user/.codex/auth.json", &login.to_string());
    stage.prepare(&AgentName::Client(Client::Codex), "x").unwrap();
    let tokens = json!({ "access_token": "a", "id_token": "i", "refresh_token": "", "account_id": "c" });
    assert_eq!(stage.json("private/auth.json"), json!({ "tokens": tokens, "last_refresh": "2026-01-01T12:00:00Z" }));
}

#[test]
fn a_login_about_to_end_is_refused_at_the_start() {
    let mut stage = Stage::new();
    let ends = stage.now.as_millisecond() + 60_000;
    let login = json!({ "claudeAiOauth": { "accessToken": "a", "refreshToken": "r", "expiresAt": ends } });
    stage.write("user/.claude/.credentials.json", &login.to_string());
    let error = stage.prepare(&AgentName::Client(Client::Claude), "x").unwrap_err();
    assert_eq!(error.to_string(), "the login of claude has expired: start `claude` and log in again");
    assert!(matches!(error.failure(), dandori_domain::AgentFailure::NotAuthorised { .. }));

    stage.env.set("ANTHROPIC_API_KEY", "k");
    assert!(stage.prepare(&AgentName::Client(Client::Claude), "x").is_ok(), "a key does not end");

    // {"exp":1767268830}: half a minute after now
    let login = json!({ "tokens": { "access_token": "e30.eyJleHAiOjE3NjcyNjg4MzB9.eA" } });
    stage.write("user/.codex/auth.json", &login.to_string());
    assert!(matches!(stage.prepare(&AgentName::Client(Client::Codex), "x"), Err(PrepareError::NotAuthorised { .. })));
}

#[test]
fn the_retries_of_the_users_own_providers_are_bounded_and_their_keys_passed() {
    let mut stage = Stage::new();
    let config = "model_provider = \"mine\"\n[model_providers.mine]\nbase_url = \"u\"\nenv_key = \"MY_KEY\"\n\
                  request_max_retries = 1\nstream_max_retries = 100\n";
    stage.write("user/.codex/config.toml", config);
    stage.env.set("MY_KEY", "k").set("OTHER_KEY", "o");
    let env = stage.env_of(&AgentName::Client(Client::Codex), "x");
    assert_eq!((env.get("MY_KEY").map(String::as_str), env.get("OTHER_KEY")), (Some("k"), None));
    let config: toml::Table = stage.read("private/config.toml").unwrap().parse().unwrap();
    let provider = &config["model_providers"]["mine"];
    assert_eq!(provider["request_max_retries"].as_integer(), Some(1), "the user's own, stricter wish");
    assert_eq!(provider["stream_max_retries"].as_integer(), Some(2));

    stage.write("user/.codex/config.toml", "model = ");
    let error = stage.prepare(&AgentName::Client(Client::Codex), "x").unwrap_err();
    assert!(matches!(error, PrepareError::Home(HomeError::Malformed { .. })), "{error:?}");
}

#[test]
fn gemini_is_given_a_way_to_log_in_and_bounded_attempts() {
    let mut stage = Stage::new();
    stage.write("user/.gemini/settings.json", "{ // mine\n \"ui\": {\"theme\": \"http://x // y\"} /* end */ }");
    stage.env.set("GEMINI_API_KEY", "k");
    stage.prepare(&AgentName::Client(Client::Gemini), "x").unwrap();
    let settings = stage.json("private/.gemini/settings.json");
    assert_eq!(settings["security"]["auth"]["selectedType"], "gemini-api-key");
    assert_eq!(settings["general"]["maxAttempts"], 3);
    assert_eq!(settings["ui"]["theme"], "http://x // y");

    let chosen =
        json!({ "security": { "auth": { "selectedType": "oauth-personal" } }, "general": { "maxAttempts": 1 } });
    stage.write("user/.gemini/settings.json", &chosen.to_string());
    stage.prepare(&AgentName::Client(Client::Gemini), "x").unwrap();
    let settings = stage.json("private/.gemini/settings.json");
    assert_eq!(settings["security"]["auth"]["selectedType"], "oauth-personal", "the user's choice stands");
    assert_eq!(settings["general"]["maxAttempts"], 1);
}

#[test]
fn an_agent_sees_its_own_keys_and_what_was_named_and_nothing_else() {
    let mut stage = Stage::new();
    for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY"] {
        stage.env.set(name, "k");
    }
    for name in
        ["DANDORI_TOKEN", "DANDORI_STATE_DIR", "NAMED", "CARGO_HOME", "LC_ALL", "CLAUDE_CONFIG_DIR", "CODEX_HOME"]
    {
        stage.env.set(name, "k");
    }
    // What an agent that started dandori told its children.
    for name in ["CLAUDECODE", "CLAUDE_CODE_SESSION_ACCESS_TOKEN", "CODEX_THREAD_ID", "GEMINI_CLI"] {
        stage.env.set(name, "k");
    }
    stage.pass = vec!["NAMED".to_owned(), "DANDORI_TOKEN".to_owned()];
    let names = |agent: &AgentName| -> Vec<String> {
        let env = stage.env_of(agent, "x");
        env.into_iter().filter(|(_, value)| value == "k").map(|(name, _)| name).collect()
    };
    assert_eq!(names(&AgentName::Client(Client::Claude)), ["ANTHROPIC_API_KEY", "CARGO_HOME", "LC_ALL", "NAMED"]);
    assert_eq!(names(&AgentName::Client(Client::Codex)), ["CARGO_HOME", "LC_ALL", "NAMED", "OPENAI_API_KEY"]);
    assert_eq!(names(&AgentName::Client(Client::Gemini)), ["CARGO_HOME", "GEMINI_API_KEY", "LC_ALL", "NAMED"]);
    assert_eq!(names(&AgentName::Exec("x".to_owned())), ["CARGO_HOME", "LC_ALL", "NAMED"]);

    stage.env.set("CLAUDE_CODE_USE_BEDROCK", "1");
    assert!(stage.env_of(&AgentName::Client(Client::Claude), "x").contains_key("AWS_SECRET_ACCESS_KEY"));
    let env = stage.env_of(&AgentName::Client(Client::Claude), "x");
    assert_eq!(env["CLAUDE_CONFIG_DIR"], stage.root.join("private").as_str());
    assert_eq!(env["CLAUDE_CODE_MAX_RETRIES"], "2");
    assert_eq!(env["TMPDIR"], stage.root.join("tmp").as_str());
    assert!(env["DANDORI_RUN"].starts_with("run_") && env["DANDORI_TASK"].starts_with("task_"));
}

#[test]
fn an_agent_of_a_formation_finds_its_door_and_dandori_and_no_other_agent_does() {
    let mut stage = Stage::new();
    let exec = AgentName::Exec("x".to_owned());
    let without = stage.env_of(&exec, "x");
    assert!(!without.contains_key("DANDORI_DOOR") && !without.contains_key("DANDORI_AGENT"));
    stage.door = Some(Door { socket: Utf8Path::new("/runs/k/door/socket"), agent: "worker3" });
    stage.env.set("DANDORI_DOOR", "of whoever asked");
    for agent in [exec, AgentName::Client(Client::Claude)] {
        let env = stage.env_of(&agent, "x");
        assert_eq!((&*env["DANDORI_DOOR"], &*env["DANDORI_AGENT"]), ("/runs/k/door/socket", "worker3"));
        assert_eq!(env["PATH"], format!("{}:/opt", without["PATH"]), "what the user has by that name comes first");
    }
}

#[test]
fn a_program_gets_its_instruction_by_file_and_by_environment_when_it_fits() {
    let stage = Stage::new();
    let exec = AgentName::Exec("make fix".to_owned());
    let launch = stage.prepare(&exec, "/do it").unwrap();
    assert_eq!(launch.argv, [stage.root.join("bin/sh").as_str(), "-c", "exec 2>&1\nmake fix"]);
    assert_eq!(launch.stdin.as_deref(), Some(stage.root.join("instruction").as_path()));
    assert_eq!((launch.write.len(), launch.session), (0, None));
    assert_eq!(stage.read("instruction").unwrap(), "/do it", "word for word");
    assert_eq!(stage.env_of(&exec, "/do it")["DANDORI_INSTRUCTION"], "/do it");

    let long = "x".repeat(crate::environment::ENV_INSTRUCTION_LIMIT + 1);
    let env = stage.env_of(&exec, &long);
    assert!(!env.contains_key("DANDORI_INSTRUCTION"));
    assert_eq!(env["DANDORI_INSTRUCTION_FILE"], stage.root.join("instruction").as_str());
    assert_eq!(stage.read("instruction").unwrap(), long);

    let rehearsal = stage.prepare(&AgentName::Rehearsal, "x").unwrap();
    assert_eq!(rehearsal.argv, ["/opt/dandori", "rehearse"]);
    let nameless = stage.prepare(&AgentName::Custom("mine".to_owned()), "x").unwrap_err();
    assert!(matches!(nameless, PrepareError::NoCommand { .. }));
}

#[test]
fn the_command_lines_carry_model_budget_and_session() {
    let stage = Stage::new();
    let words = |agent: &AgentName| stage.prepare(agent, "x").unwrap().argv.join(" ");
    let claude = words(&AgentName::Client(Client::Claude));
    for part in ["--permission-mode bypassPermissions", "--model a-model", "--max-budget-usd 1.500000"] {
        assert!(claude.contains(part), "{claude}");
    }
    assert!(claude.ends_with("--session-id 00000000-0000-0000-0000-000000000000"), "{claude}");
    let codex = words(&AgentName::Client(Client::Codex));
    assert!(codex.contains("--dangerously-bypass-approvals-and-sandbox -m a-model"), "{codex}");
    assert!(codex.ends_with(" -"), "{codex}");
    let gemini = words(&AgentName::Client(Client::Gemini));
    assert!(gemini.contains("--approval-mode yolo --skip-trust -m a-model --session-id"), "{gemini}");
}

/// The calls of our program among an event's hooks.
fn calls(settings: &Value, event: &str) -> Vec<Value> {
    let groups = settings["hooks"][event].as_array().cloned().unwrap_or_default();
    let handlers = groups.iter().flat_map(|group| group["hooks"].as_array().cloned().unwrap_or_default());
    handlers.filter(|handler| handler.to_string().contains("dandori")).collect()
}

#[test]
fn every_client_calls_the_run_s_guards_and_no_installation_of_the_user_s() {
    let stage = Stage::new();
    let theirs = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"log"}]}]}}"#;
    for (client, path) in [
        (Client::Claude, "user/.claude/settings.json"),
        (Client::Codex, "user/.codex/hooks.json"),
        (Client::Gemini, "user/.gemini/settings.json"),
    ] {
        stage.write(
            path,
            &dandori_install::install(client, &dandori_install::Call::bare("/opt/dandori"), Some(theirs), None)
                .unwrap()
                .text,
        );
    }
    let launch = stage.prepare_guarded(&AgentName::Client(Client::Claude));
    let by_path = stage.root.join("settings-by-path.json");
    assert!(launch.argv.windows(2).any(|w| w == ["--settings", by_path.as_str()]), "{:?}", launch.argv);
    for file in ["settings-by-path.json", "private/settings.json"] {
        let found = calls(&stage.json(file), "PreToolUse");
        let args = json!(["hook", "claude", "--run", "/runs/k"]);
        assert_eq!(found.len(), 1, "{file}: {found:?}");
        assert_eq!((&found[0]["command"], &found[0]["args"]), (&json!("/opt/dandori"), &args), "{file}");
    }
    assert_eq!(stage.json("settings-by-path.json")["disableAllHooks"], false);
    assert_eq!(calls(&stage.json("settings-by-path.json"), "ConfigChange").len(), 1);
    assert!(stage.read("private/settings.json").unwrap().contains("\"log\""), "other people's stay");

    stage.write("user/.codex/config.toml", "model = \"m\"\n[features]\nhooks = false\n");
    let launch = stage.prepare_guarded(&AgentName::Client(Client::Codex));
    assert!(launch.argv.windows(2).any(|w| w == ["--enable", "hooks"]), "{:?}", launch.argv);
    let hooks = stage.json("private/hooks.json");
    assert_eq!(calls(&hooks, "PreToolUse")[0]["command"], "/opt/dandori hook codex --run /runs/k");
    assert_eq!(calls(&hooks, "Stop").len(), 1);
    let config: toml::Table = stage.read("private/config.toml").unwrap().parse().unwrap();
    let trusted = config["hooks"]["state"].as_table().unwrap();
    let key = |event: &str, group: u8| format!("{}:{event}:{group}:0", stage.root.join("private/hooks.json"));
    assert!(trusted.contains_key(&key("pre_tool_use", 0)) && trusted.contains_key(&key("stop", 1)), "{trusted:?}");
    assert!(!trusted.contains_key(&key("stop", 0)), "nobody trusted the other one here");
    assert_eq!(config["model"].as_str(), Some("m"));

    stage.prepare_guarded(&AgentName::Client(Client::Gemini));
    let settings = stage.json("private/.gemini/settings.json");
    assert_eq!(calls(&settings, "BeforeTool").len(), 1);
    assert_eq!(calls(&settings, "BeforeTool")[0]["command"], "/opt/dandori hook gemini --run /runs/k");
}

#[test]
fn claude_has_one_shell_in_a_run_and_nothing_that_goes_on_behind_its_back() {
    let stage = Stage::new();
    stage.write("user/.claude/settings.json", r#"{"crossSessionInbound":"accept"}"#);
    let launch = stage.prepare_guarded(&AgentName::Client(Client::Claude));
    let without = ["--disallowedTools", "Monitor,SendMessage,EnterWorktree,ScheduleWakeup"];
    assert!(launch.argv.windows(2).any(|w| w == without), "{:?}", launch.argv);
    for what in ["BACKGROUND_TASKS", "CRON", "WORKFLOWS"] {
        let variable = (format!("CLAUDE_CODE_DISABLE_{what}"), "1".to_owned());
        assert!(launch.env.contains(&variable), "{variable:?}");
    }
    for file in ["settings-by-path.json", "private/settings.json"] {
        let settings = stage.json(file);
        assert_eq!(settings["crossSessionInbound"], "refuse", "{file}");
        assert_eq!(calls(&settings, "PreToolUse")[0]["onFailure"], "block", "{file}");
    }
}

#[test]
fn settings_that_would_keep_the_guards_from_being_heard_do_not() {
    let stage = Stage::new();
    stage.write("user/.claude/settings.json", "{\"disableAllHooks\":true,\"model\":\"m\"}");
    stage.prepare_guarded(&AgentName::Client(Client::Claude));
    let settings = stage.json("private/settings.json");
    assert_eq!((settings.get("disableAllHooks"), &settings["model"]), (None, &json!("m")));

    for broken in ["{", "[]", "{\"hooks\":[]}"] {
        stage.write("user/.codex/hooks.json", broken);
        stage.prepare_guarded(&AgentName::Client(Client::Codex));
        assert_eq!(calls(&stage.json("private/hooks.json"), "PreToolUse").len(), 1, "{broken}");
    }
    let off =
        json!({ "hooks": { "BeforeTool": {} }, "hooksConfig": { "enabled": true, "disabled": ["dandori", "x"] } });
    stage.write("user/.gemini/settings.json", &off.to_string());
    stage.prepare_guarded(&AgentName::Client(Client::Gemini));
    let settings = stage.json("private/.gemini/settings.json");
    assert_eq!(calls(&settings, "BeforeTool").len(), 1);
    assert_eq!(settings["hooksConfig"]["disabled"], json!(["x"]));
    let off = json!({ "hooks": { "BeforeTool": [{ "hooks": [{ "command": "log" }] }] }, "hooksConfig": { "enabled": false } });
    stage.write("user/.gemini/settings.json", &off.to_string());
    stage.prepare_guarded(&AgentName::Client(Client::Gemini));
    let text = stage.read("private/.gemini/settings.json").unwrap();
    assert!(!text.contains("\"log\""), "what the user has switched off stays off: {text}");
    assert_eq!(stage.json("private/.gemini/settings.json")["hooksConfig"]["enabled"], true);
}
