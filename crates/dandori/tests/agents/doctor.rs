//! `dandori doctor --guards` with the real agents: it says that hooks fire and block when they do, and when they do
//! not, that they do not and why.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Client;
use dandori_testkit::clis;
use dandori_testkit::env::TestEnv;
use serde_json::{Value, json};

/// A machine with these agents, and dandori's hooks in the project's settings.
fn guarded(agents: &[&str]) -> TestEnv {
    let env = unguarded(agents);
    let _ = env.dandori(["init", "--agent", &agents.join(",")]).ok();
    env
}

fn unguarded(agents: &[&str]) -> TestEnv {
    let mut env = TestEnv::new(env!("CARGO_BIN_EXE_dandori"));
    let bin = env.root().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for agent in agents {
        std::os::unix::fs::symlink(clis::bin().join(agent).canonicalize_utf8().unwrap(), bin.join(agent)).unwrap();
    }
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap());
    env.var("PATH", path);
    env
}

fn tried(env: &TestEnv, folder: &Utf8Path) -> (i32, Value) {
    let ran = env.dandori_in(folder, ["doctor", "--guards", "--json"]);
    // Nothing of it stays.
    let left: Vec<_> = env.state().read_dir_utf8().unwrap().flatten().map(|e| e.file_name().to_owned()).collect();
    assert!(!left.iter().any(|name| name.starts_with("doctor")), "{left:?}");
    (ran.code, ran.json())
}

/// The only finding of a check.
fn of<'a>(report: &'a Value, check: &str) -> &'a Value {
    let mut found = report["checks"].as_array().unwrap().iter().filter(|c| c["check"] == check);
    match (found.next(), found.next()) {
        (Some(one), None) => one,
        _ => panic!("not one {check}: {report:#}"),
    }
}

fn text<'a>(finding: &'a Value, field: &str) -> &'a str {
    finding[field].as_str().unwrap_or_else(|| panic!("no {field}: {finding}"))
}

/// The hooks do not fire, and both the look at the settings and the self-test say why.
fn does_not_fire(env: &TestEnv, agent: &str, code: &str, why: &[&str]) {
    let (exit, report) = tried(env, &env.repo());
    assert_eq!((exit, &report["ok"]), (1, &json!(false)), "{report:#}");
    let look = of(&report, &format!("{agent}_hooks"));
    assert_eq!((&look["code"], &look["ok"]), (&json!(code), &json!(false)), "{report:#}");
    let test = of(&report, &format!("{agent}_self_test"));
    assert_eq!((&test["code"], &test["ok"]), (&json!("does_not_fire"), &json!(false)), "{report:#}");
    for words in why {
        assert!(text(look, "detail").contains(words), "{words}: {look}");
        assert!(text(test, "hint").contains(words), "{words}: {test}");
    }
}

fn fires_and_blocks(env: &TestEnv, folder: &Utf8Path, agents: &[&str]) {
    let (exit, report) = tried(env, folder);
    for agent in agents {
        assert_eq!(of(&report, &format!("{agent}_self_test"))["code"], "fires_and_blocks", "{report:#}");
    }
    assert_eq!((exit, &report["ok"]), (0, &json!(true)), "{report:#}");
}

fn change(path: &Utf8Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{text}");
    put(path, &text.replacen(from, to, 1));
}

fn put(path: &Utf8Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn claude_settings(env: &TestEnv) -> Utf8PathBuf {
    env.repo().join(".claude/settings.local.json")
}

fn trust_project_in_codex(env: &TestEnv) {
    let project = format!("[projects.\"{}\"]\ntrust_level = \"trusted\"\n", env.repo());
    put(&env.home().join(".codex/config.toml"), &project);
}

/// What a user does in `/hooks`: the hashes are those Codex itself shows there.
fn trust_hooks_in_codex(env: &TestEnv) {
    let home = env.home();
    let mut server = std::process::Command::new(clis::program(Client::Codex))
        .arg("app-server")
        .env_clear()
        .env("PATH", std::env::var("PATH").unwrap())
        .env("HOME", &home)
        .env("CODEX_HOME", home.join(".codex"))
        .current_dir(env.repo())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    let client = json!({ "clientInfo": { "name": "test", "version": "1" } });
    writeln!(input, "{}", json!({ "id": 1, "method": "initialize", "params": client })).unwrap();
    writeln!(input, "{}", json!({ "method": "initialized" })).unwrap();
    writeln!(input, "{}", json!({ "id": 2, "method": "hooks/list", "params": { "cwds": [env.repo()] } })).unwrap();
    let lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let answers = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let listed = answers.into_iter().find(|answer| answer["id"] == 2).unwrap();
    drop(input);
    server.wait().unwrap();
    let hooks = listed["result"]["data"][0]["hooks"].as_array().unwrap().clone();
    assert!(!hooks.is_empty(), "{listed}");
    let state = |hook: &Value| {
        let (key, hash) = (text(hook, "key"), text(hook, "currentHash"));
        format!("[hooks.state.\"{key}\"]\ntrusted_hash = \"{hash}\"\n")
    };
    let config = env.home().join(".codex/config.toml");
    let before = std::fs::read_to_string(&config).unwrap_or_default();
    put(&config, &(before + &hooks.iter().map(state).collect::<String>()));
}

fn trust_folder_in_gemini(env: &TestEnv) {
    put(&env.home().join(".gemini/trustedFolders.json"), &json!({ env.repo().as_str(): "TRUST_FOLDER" }).to_string());
}

#[test]
fn hooks_that_were_installed_and_agreed_to_fire_and_block_in_all_three() {
    let env = guarded(&["claude", "codex", "gemini"]);
    trust_project_in_codex(&env);
    trust_hooks_in_codex(&env);
    trust_folder_in_gemini(&env);
    let config = std::fs::read_to_string(env.home().join(".codex/config.toml")).unwrap();
    fires_and_blocks(&env, &env.repo(), &["claude", "codex", "gemini"]);
    assert_eq!(std::fs::read_to_string(env.home().join(".codex/config.toml")).unwrap(), config);
    assert_eq!(env.git(["status", "--porcelain", "--", ".", ":!.claude", ":!.codex", ":!.gemini"]), "");
}

#[test]
fn the_user_s_own_hooks_fire_wherever_an_agent_is_started() {
    let env = unguarded(&["claude", "codex", "gemini"]);
    let _ = env.dandori(["init", "--user"]).ok();
    trust_hooks_in_codex(&env);
    let folder = env.repo().join("sub");
    std::fs::create_dir(&folder).unwrap();
    fires_and_blocks(&env, &folder, &["claude", "codex", "gemini"]);
}

#[test]
fn nobody_else_s_hooks_run_and_no_way_leads_to_another_model() {
    let env = guarded(&["claude"]);
    let settings = json!({
        "env": { "ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "ANTHROPIC_AUTH_TOKEN": "mine", "CLAUDE_CODE_USE_BEDROCK": "1" },
        "apiKeyHelper": format!("touch {}/helped; echo key", env.root()),
        "hooks": { "PreToolUse": [{ "hooks": [
            { "type": "command", "command": format!("touch {}/hooked; exit 2", env.root()) } ] }] },
    });
    put(&env.home().join(".claude/settings.json"), &settings.to_string());
    fires_and_blocks(&env, &env.repo(), &["claude"]);
    assert!(!env.root().join("hooked").exists() && !env.root().join("helped").exists());
}

#[test]
fn one_field_of_the_wrong_kind_drops_all_hooks_of_claude_and_is_named() {
    let env = guarded(&["claude"]);
    change(&claude_settings(&env), "\"timeout\": 120", "\"timeout\": \"120\"");
    let place = "`hooks.PreToolUse[0].hooks[0].timeout`";
    does_not_fire(&env, "claude", "bad_field", &["settings.local.json", place, "not a number"]);
}

/// It goes on with the other events where an earlier version would have dropped them all: the look names it, and that
/// tools are still judged is true.
#[test]
fn a_fault_at_another_event_is_named_and_tools_are_judged_all_the_same() {
    let env = guarded(&["claude"]);
    change(&claude_settings(&env), "\"timeout\": 10", "\"timeout\": \"10\"");
    let (exit, report) = tried(&env, &env.repo());
    assert_eq!((exit, &of(&report, "claude_hooks")["code"]), (1, &json!("bad_field")), "{report:#}");
    assert_eq!(of(&report, "claude_self_test")["code"], "fires_and_blocks", "{report:#}");
}

#[test]
fn a_wrong_word_for_a_hook_s_failure_drops_all_hooks_of_claude_and_is_named() {
    let env = guarded(&["claude"]);
    change(&claude_settings(&env), "\"onFailure\": \"block\"", "\"onFailure\": \"bogus\"");
    does_not_fire(&env, "claude", "bad_field", &["settings.local.json", "hooks[0].onFailure", "block"]);
}

#[test]
fn a_switch_in_another_file_is_found() {
    let env = guarded(&["claude"]);
    put(&env.repo().join(".claude/settings.json"), "{\"disableAllHooks\": true}\n");
    does_not_fire(&env, "claude", "disabled", &[".claude/settings.json", "disableAllHooks"]);
}

#[test]
fn an_entry_that_calls_a_program_which_is_gone_is_found() {
    let env = guarded(&["claude", "gemini"]);
    trust_folder_in_gemini(&env);
    for file in [".claude/settings.local.json", ".gemini/settings.json"] {
        let file = env.repo().join(file);
        let text = std::fs::read_to_string(&file).unwrap();
        put(&file, &text.replace(env!("CARGO_BIN_EXE_dandori"), "/gone/dandori"));
    }
    does_not_fire(&env, "claude", "no_program", &["/gone/dandori"]);
    does_not_fire(&env, "gemini", "no_program", &["/gone/dandori"]);
}

#[test]
fn a_narrowed_entry_fires_and_does_not_block() {
    let env = guarded(&["claude"]);
    let settings = claude_settings(&env);
    let whole = std::fs::read_to_string(&settings).unwrap();
    let (before, after) = whole.split_once("\"PreToolUse\"").unwrap();
    put(
        &settings,
        &format!("{before}\"PreToolUse\"{}", after.replacen("\"matcher\": \"*\"", "\"matcher\": \"Bash\"", 1)),
    );
    let (exit, report) = tried(&env, &env.repo());
    assert_eq!(exit, 1);
    let look = of(&report, "claude_hooks");
    assert!(
        look["code"] == "weak" && text(look, "detail").contains("PreToolUse") && text(look, "detail").contains("Bash"),
        "{look}"
    );
    let test = of(&report, "claude_self_test");
    assert_eq!(test["code"], "fires_but_does_not_block", "{test}");
    assert!(text(test, "detail").contains("Write"), "{test}");
}

#[test]
fn what_codex_has_not_been_told_to_trust_does_not_fire() {
    let env = guarded(&["codex"]);
    does_not_fire(&env, "codex", "codex_project", &[env.repo().as_str()]);
    trust_project_in_codex(&env);
    does_not_fire(&env, "codex", "codex_untrusted", &["9 hooks"]);
    trust_hooks_in_codex(&env);
    change(&env.repo().join(".codex/hooks.json"), "\"timeout\": 120", "\"timeout\": 121");
    let (_, report) = tried(&env, &env.repo());
    assert_eq!(of(&report, "codex_hooks")["code"], "codex_changed", "{report:#}");
    assert_eq!(
        of(&report, "codex_self_test")["code"],
        "fires_but_does_not_block",
        "the other events are heard: {report:#}"
    );
}

#[test]
fn a_folder_gemini_does_not_trust_has_no_hooks() {
    let env = guarded(&["gemini"]);
    does_not_fire(&env, "gemini", "gemini_folder", &[env.repo().as_str()]);
}
