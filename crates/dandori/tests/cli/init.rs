//! `dandori init`: the guards in the agents' settings, and out of them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_testkit::env::TestEnv;
use serde_json::Value;

use crate::machine;

/// With these agents on the PATH, and nothing else there.
fn machine_with(agents: &[&str]) -> TestEnv {
    let mut env = machine();
    let bin = env.root().join("bin");
    fs::create_dir(&bin).unwrap();
    for agent in agents {
        program(&bin.join(agent));
    }
    env.var("PATH", bin.as_str());
    env
}

fn program(path: &Utf8Path) {
    fs::File::create(path).unwrap().set_permissions(PermissionsExt::from_mode(0o755)).unwrap();
}

fn put(path: &Utf8Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn json(path: &Utf8Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Every file below, with its bytes.
fn files(folder: &Utf8Path) -> Vec<(Utf8PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in folder.read_dir_utf8().unwrap().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true if entry.file_name() != ".git" => {
                found.push((path.to_owned(), Vec::new()));
                found.extend(files(path));
            }
            true => {}
            false => found.push((path.to_owned(), fs::read(path).unwrap())),
        }
    }
    found.sort();
    found
}

fn codes(answer: &Value) -> Vec<&str> {
    answer["advice"].as_array().unwrap().iter().map(|a| a["code"].as_str().unwrap()).collect()
}

fn actions(answer: &Value) -> Vec<(&str, &str)> {
    let files = answer["files"].as_array().unwrap().iter();
    files.map(|f| (f["agent"].as_str().unwrap(), f["action"].as_str().unwrap())).collect()
}

#[test]
fn every_agent_found_gets_its_hooks_and_the_user_is_told_what_to_confirm() {
    let env = machine_with(&["claude", "codex", "gemini"]);
    let said = env.dandori(["init"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    insta::assert_snapshot!(said.stdout, @r"
    created   .claude/settings.local.json
    created   .codex/hooks.json
    created   .gemini/settings.json
    ");
    let project = format!("[projects.\"{}\"] trust_level", env.repo());
    for told in [
        project.as_str(),
        "Do not commit it",
        "`/hooks`",
        "trusted folder",
        "dandori init --user",
        "`dandori doctor --guards`",
    ] {
        assert!(said.stderr.contains(told), "{told}: {}", said.stderr);
    }
    let bin = env!("CARGO_BIN_EXE_dandori");
    let claude = &json(&env.repo().join(".claude/settings.local.json"))["hooks"]["PreToolUse"][0];
    assert_eq!(claude["matcher"], "*");
    assert_eq!(claude["hooks"][0]["command"], bin);
    let (state, home) = (env.state(), env.home());
    let config = home.join(".config/dandori/config.toml");
    let args = serde_json::json!(["hook", "claude", "--state", state, "--config", config, "--home", home]);
    assert_eq!(claude["hooks"][0]["args"], args);
    assert_eq!(claude["hooks"][0]["onFailure"], "block");
    assert_eq!(json(&env.repo().join(".claude/settings.local.json"))["crossSessionInbound"], "refuse");
    let places = format!("--state {state} --config {config} --home {home}");
    let codex = &json(&env.repo().join(".codex/hooks.json"))["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!(codex["command"], format!("{bin} hook codex {places}"));
    let gemini = &json(&env.repo().join(".gemini/settings.json"))["hooks"]["BeforeTool"][0]["hooks"][0];
    assert_eq!(
        (&gemini["command"], &gemini["timeout"]),
        (&format!("{bin} hook gemini {places}").into(), &120_000.into())
    );

    let before = files(&env.repo());
    let again = env.dandori(["init", "--json"]).json();
    assert_eq!(actions(&again), [("claude", "unchanged"), ("codex", "unchanged"), ("gemini", "unchanged")]);
    assert_eq!(codes(&again), ["claude_subfolder", "codex_trust", "gemini_trust", "not_for_others", "doctor"]);
    assert_eq!(files(&env.repo()), before);
    let japanese = env.dandori(["init", "--lang", "ja"]);
    assert!(japanese.stdout.contains("変更なし") && japanese.stderr.contains("信頼"), "{}", japanese.stderr);
}

#[test]
fn what_init_did_is_undone_to_the_byte_whatever_was_there() {
    for text in [
        None,
        Some("{}"),
        Some("{\"hooks\": {}}"),
        Some(
            "{\n\t\"hooks\": {\r\n\t\t\"PreToolUse\": [ ],\n\t\t\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]\n\t}, \"a\" :1\n}",
        ),
        Some("\u{feff}{ // theirs\n  \"hooks\": { /* none */ },\n}\n\n"),
        Some("\n"),
    ] {
        let env = machine_with(&["claude", "codex", "gemini"]);
        for path in [".claude/settings.local.json", ".codex/hooks.json", ".gemini/settings.json"] {
            if let Some(text) = text {
                env.write(path, text);
            }
        }
        let before = files(&env.repo());
        let _ = env.dandori(["init"]).ok();
        assert_ne!(files(&env.repo()), before);
        let answer = env.dandori(["init", "--uninstall", "--json"]).json();
        let action = if text.is_none() { "removed" } else { "changed" };
        assert_eq!(actions(&answer), [("claude", action), ("codex", action), ("gemini", action)], "{text:?}");
        assert_eq!(files(&env.repo()), before, "{text:?}");
        assert!(env.dandori(["init", "--uninstall"]).ok().contains("hooks are not installed"));
    }
}

#[test]
fn a_folder_that_others_use_by_now_stays() {
    let env = machine_with(&["claude"]);
    let _ = env.dandori(["init"]).ok();
    env.write(".claude/commands/x.md", "x");
    let _ = env.dandori(["init", "--uninstall"]).ok();
    assert!(!env.repo().join(".claude/settings.local.json").exists());
    assert!(env.repo().join(".claude/commands/x.md").exists());
}

#[test]
fn a_dry_run_shows_the_diff_and_writes_nothing() {
    let env = machine_with(&["claude"]);
    env.write(".claude/settings.local.json", "{\n  \"model\": \"x\"\n}\n");
    let before = files(&env.repo());
    let said = env.dandori(["init", "--dry-run"]);
    let start = "--- a/.claude/settings.local.json\n+++ b/.claude/settings.local.json\n@@ -1,3 +1,";
    assert!(said.stdout.starts_with(start), "{}", said.stdout);
    assert!(said.stdout.contains("\n-  \"model\": \"x\"\n+  \"model\": \"x\",\n+  \"hooks\": {\n"), "{}", said.stdout);
    assert!(said.stderr.contains("nothing was written"), "{}", said.stderr);
    let answer = env.dandori(["init", "--dry-run", "--json", "--agent", "codex,claude"]).json();
    assert_eq!(
        (actions(&answer), &answer["dry_run"]),
        (vec![("claude", "changed"), ("codex", "created")], &true.into())
    );
    assert!(
        answer["files"][1]["diff"].as_str().unwrap().starts_with("--- /dev/null\n+++ b/.codex/hooks.json"),
        "{answer}"
    );
    assert_eq!(files(&env.repo()), before);
    assert!(!env.state().join("guards").exists(), "nothing is remembered of what was not done");

    let _ = env.dandori(["init"]).ok();
    let installed = files(&env.repo());
    assert!(env.dandori(["init", "--uninstall", "--dry-run"]).ok().contains("-  \"hooks\": {"));
    assert_eq!(files(&env.repo()), installed);
}

#[test]
fn settings_that_are_not_understood_leave_every_file_alone() {
    let env = machine_with(&["claude", "codex", "gemini"]);
    for (text, told) in [
        ("{\n  \"a\": 1\n  \"b\": 2\n}", "line 2, column 9"),
        ("{\n  \"hooks\": []\n}", "line 2, column 12: `hooks` is not an object"),
        ("[]", "not an object"),
        ("{\"hooks\": {\"AfterTool\": {}}}", "`hooks.AfterTool` is not a list"),
    ] {
        env.write(".gemini/settings.json", text);
        let before = files(&env.repo());
        let said = env.dandori(["init"]).fails(1);
        assert!(said.contains(".gemini/settings.json") && said.contains(told), "{said}");
        assert_eq!(files(&env.repo()), before, "{text}");
    }
    fs::write(env.repo().join(".gemini/settings.json"), b"{\"a\": \"\xff\"}").unwrap();
    assert!(env.dandori(["init"]).fails(1).contains("UTF-8"));
    assert!(!env.repo().join(".claude").exists());
}

#[test]
fn other_peoples_hooks_and_later_changes_stay() {
    let env = machine_with(&["claude"]);
    let theirs = "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"Bash\", \"hooks\": [{ \"type\": \"command\", \"command\": \"lint\" }] }\n    ]\n  }\n}\n";
    env.write(".claude/settings.local.json", theirs);
    let path = env.repo().join(".claude/settings.local.json");
    let _ = env.dandori(["init"]).ok();
    let installed = fs::read_to_string(&path).unwrap();
    fs::write(&path, installed.replacen("{\n", "{\n  \"model\": \"x\",\n", 1)).unwrap();
    let _ = env.dandori(["init", "--uninstall"]).ok();
    assert_eq!(fs::read_to_string(&path).unwrap(), theirs.replacen("{\n", "{\n  \"model\": \"x\",\n", 1));
}

#[test]
fn an_entry_of_an_older_place_is_brought_up_to_date() {
    let env = machine_with(&[]);
    let old = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/old/dandori hook claude"}]}]}}"#;
    env.write(".claude/settings.json", old);
    let answer = env.dandori(["init", "--json"]).json();
    assert_eq!(actions(&answer), [("claude", "changed")], "its settings are here, though it is not on the PATH");
    let text = fs::read_to_string(env.repo().join(".claude/settings.json")).unwrap();
    assert!(!text.contains("/old/"), "{text}");
    assert_eq!(json(&env.repo().join(".claude/settings.json"))["hooks"]["Stop"].as_array().unwrap().len(), 1);
}

#[test]
fn a_link_stays_a_link_and_a_mode_a_mode() {
    let env = machine_with(&["claude"]);
    let real = env.root().join("dotfiles/claude.json");
    put(&real, "{}");
    fs::set_permissions(&real, PermissionsExt::from_mode(0o666)).unwrap();
    fs::create_dir(env.repo().join(".claude")).unwrap();
    let link = env.repo().join(".claude/settings.local.json");
    symlink(&real, &link).unwrap();
    let _ = env.dandori(["init"]).ok();
    assert!(link.symlink_metadata().unwrap().is_symlink() && real.metadata().unwrap().is_file());
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o666);
    let _ = env.dandori(["init", "--uninstall"]).ok();
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}");

    // A link that leads to nothing yet: what it leads to is made, and goes again.
    fs::remove_file(&real).unwrap();
    let _ = env.dandori(["init"]).ok();
    assert!(link.symlink_metadata().unwrap().is_symlink() && real.is_file());
    let _ = env.dandori(["init", "--uninstall"]).ok();
    assert!(link.symlink_metadata().unwrap().is_symlink() && !real.exists());
}

#[test]
fn the_users_own_settings_are_where_each_agent_looks_for_them() {
    let mut env = machine_with(&["claude", "codex", "gemini"]);
    let home = env.home();
    let answer = env.dandori_in(&home, ["init", "--user", "--json"]).json();
    let paths: Vec<&str> = answer["files"].as_array().unwrap().iter().map(|f| f["path"].as_str().unwrap()).collect();
    let expected = [".claude/settings.json", ".codex/hooks.json", ".gemini/settings.json"].map(|p| home.join(p));
    assert_eq!(paths, expected);
    assert_eq!(files(&env.repo()).len(), 1, "nothing in the repository");
    let codes = codes(&answer);
    assert!(codes.contains(&"codex_trust") && codes.contains(&"doctor"), "{codes:?}");
    assert!(!codes.contains(&"gemini_trust") && !codes.contains(&"claude_subfolder"), "{codes:?}");

    let twice = env.dandori(["init", "--json"]).json();
    let twice = twice["advice"].as_array().unwrap().iter().filter(|a| a["code"] == "twice").count();
    assert_eq!(twice, 2, "Claude Code runs the same command once");
    let still = env.dandori(["init", "--uninstall"]).stderr;
    assert!(still.contains("dandori init --uninstall --user"), "{still}");
    let _ = env.dandori(["init", "--uninstall", "--user"]).ok();
    assert!(expected.iter().all(|p| !p.exists() && !p.parent().unwrap().exists()));

    let other = env.root().join("other");
    env.var("CLAUDE_CONFIG_DIR", other.join("c").as_str());
    env.var("CODEX_HOME", other.join("x").as_str());
    env.var("GEMINI_CLI_HOME", other.join("g").as_str());
    let _ = env.dandori(["init", "--user"]).ok();
    for path in ["c/settings.json", "x/hooks.json", "g/.gemini/settings.json"] {
        assert!(other.join(path).is_file(), "{path}");
    }
}

#[test]
fn what_keeps_the_hooks_from_being_heard_is_said() {
    let env = machine_with(&["claude", "codex"]);
    env.write(".claude/settings.local.json", "{\"disableAllHooks\": true}");
    put(&env.home().join(".claude/settings.json"), "{\"disableAllHooks\": true}");
    env.write(".codex/hooks.json", "{\n  // mine\n}");
    let answer = env.dandori(["init", "--json"]).json();
    let advice = answer["advice"].as_array().unwrap();
    let of = |code: &str| -> Vec<&str> {
        advice.iter().filter(|a| a["code"] == code).map(|a| a["message"].as_str().unwrap()).collect()
    };
    let off = of("disabled");
    assert_eq!(off.len(), 2, "{answer}");
    assert!(off[0].contains("home/.claude/settings.json") && off[1].contains("settings.local.json"), "{off:?}");
    assert!(of("unread")[0].contains("because of the comment in line 2, column 3"), "{answer}");
}

#[test]
fn a_program_inside_the_repository_it_guards_is_warned_of() {
    let env = machine_with(&["claude"]);
    assert!(!codes(&env.dandori(["init", "--json"]).json()).contains(&"program_in_repository"));
    let inside = env.repo().join("tools/dandori");
    fs::create_dir(env.repo().join("tools")).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_dandori"), &inside).unwrap();
    let said = std::process::Command::new(&inside)
        .args(["init", "--json"])
        .env_clear()
        .envs([("HOME", env.home()), ("DANDORI_STATE_DIR", env.state()), ("PATH", env.root().join("bin"))])
        .current_dir(env.repo())
        .output()
        .unwrap();
    let answer: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(answer["program"], inside.as_str());
    assert!(codes(&answer).contains(&"program_in_repository"), "{answer}");
}

#[test]
fn the_name_on_the_path_is_written_rather_than_what_it_leads_to() {
    let env = machine_with(&["claude"]);
    let link = env.root().join("bin/dandori");
    symlink(env!("CARGO_BIN_EXE_dandori"), &link).unwrap();
    assert_eq!(env.dandori(["init", "--json"]).json()["program"], link.as_str());
    // Another program of that name is not this one.
    fs::remove_file(&link).unwrap();
    program(&link);
    assert_eq!(env.dandori(["init", "--json"]).json()["program"], env!("CARGO_BIN_EXE_dandori"));
}

#[test]
fn without_a_repository_or_an_agent_the_way_out_is_told() {
    let env = machine_with(&["claude"]);
    let said = env.dandori_in(&env.home(), ["init"]).fails(1);
    assert!(said.contains("not in a git repository") && said.contains("dandori init --user"), "{said}");
    let env = machine_with(&[]);
    let said = env.dandori(["init"]).fails(1);
    assert!(said.contains("no agent found") && said.contains("--agent"), "{said}");
    assert!(env.dandori(["init", "--agent", "aider"]).fails(2).contains("claude"));
    let _ = env.dandori(["init", "--agent", "gemini"]).ok();
    assert!(env.repo().join(".gemini/settings.json").is_file());
}

#[test]
fn a_subfolder_and_a_worktree_are_guarded_at_their_own_root() {
    let mut env = machine();
    let tree = env.root().join("tree");
    env.git(["worktree", "add", "--quiet", "-b", "topic", tree.as_str()]);
    fs::create_dir(tree.join("deep")).unwrap();
    env.var("PATH", "/nonexistent");
    let _ = env.dandori_in(&tree.join("deep"), ["init", "--agent", "claude"]).ok();
    assert!(tree.join(".claude/settings.local.json").is_file() && !env.repo().join(".claude").exists());
}

#[test]
fn what_is_remembered_is_what_was_there_at_the_last_beginning() {
    let env = machine_with(&["claude"]);
    let path = env.repo().join(".claude/settings.local.json");
    let _ = env.dandori(["init"]).ok();
    // Taken back by hand, or a kill came before the file was written: the memory of then does not count any more.
    fs::write(&path, "{ \"hooks\" : { } }").unwrap();
    let _ = env.dandori(["init"]).ok();
    let _ = env.dandori(["init", "--uninstall"]).ok();
    assert_eq!(fs::read_to_string(&path).unwrap(), "{ \"hooks\" : { } }");
    let _ = env.dandori(["init"]).ok();
    fs::write(&path, "{}").unwrap();
    let _ = env.dandori(["init", "--uninstall"]).ok();
    let left = files(&env.state().join("guards"));
    assert!(left.iter().all(|(path, _)| path.file_name() != Some("install.json")), "{left:?}");
}

#[test]
fn without_what_was_remembered_ours_still_comes_out() {
    let env = machine_with(&["claude"]);
    env.write(".claude/settings.local.json", "{\n  \"model\": \"x\"\n}\n");
    let _ = env.dandori(["init"]).ok();
    fs::remove_dir_all(env.state().join("guards")).unwrap();
    let _ = env.dandori(["init", "--uninstall"]).ok();
    assert_eq!(
        fs::read_to_string(env.repo().join(".claude/settings.local.json")).unwrap(),
        "{\n  \"model\": \"x\"\n}\n"
    );
}

#[test]
fn a_file_its_client_drops_is_named_with_the_place_and_the_way_out() {
    for (text, key) in [
        ("{\"hooks\": {\"PreToolUse\": [1]}}", "`hooks.PreToolUse[0]` is not an object"),
        (
            "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\"}]}]}}",
            "`hooks.Stop[0].hooks[0].command` is missing",
        ),
    ] {
        let env = machine_with(&["claude"]);
        env.write(".claude/settings.local.json", text);
        let said = env.dandori(["init"]);
        assert!(said.stderr.contains(key) && said.stderr.contains("fix this place"), "{}", said.stderr);
        assert!(codes(&env.dandori(["init", "--json"]).json()).contains(&"bad_field"));
    }
    let env = machine_with(&["claude"]);
    env.write(".claude/settings.local.json", "{ // mine\n}\n");
    let said = env.dandori(["init"]);
    assert!(said.stderr.contains("because of the comment") && said.stderr.contains("remove it"), "{}", said.stderr);
}

#[test]
fn a_read_only_file_is_changed_with_a_word_and_nothing_to_do_has_none() {
    let env = machine_with(&["claude"]);
    let settings = env.repo().join(".claude/settings.local.json");
    put(&settings, "{}\n");
    fs::set_permissions(&settings, PermissionsExt::from_mode(0o444)).unwrap();
    assert!(codes(&env.dandori(["init", "--json"]).json()).contains(&"read_only"));
    assert_eq!(settings.metadata().unwrap().permissions().mode() & 0o777, 0o444);
    let again = env.dandori(["init", "--dry-run"]);
    assert!(again.stdout.contains("unchanged") && !again.stderr.contains("what would change"), "{}", again.stderr);
    assert!(!again.stderr.contains("read-only"), "{}", again.stderr);
}

#[test]
fn codex_in_a_linked_worktree_is_sent_to_the_main_checkout() {
    let env = machine_with(&["codex"]);
    // The PATH of the machine has agents alone.
    let linked = env.root().join("linked");
    let git = "export PATH=/usr/local/bin:/usr/bin:/bin; git worktree add --quiet ../linked";
    env.command("/bin/sh", ["-c", git], &env.repo());
    let answer = env.dandori_in(&linked, ["init", "--json"]).json();
    assert!(codes(&answer).contains(&"codex_worktree") && !codes(&answer).contains(&"codex_trust"), "{answer}");
    assert!(answer["advice"][0]["message"].as_str().unwrap().contains(env.repo().as_str()), "{answer}");
    let users = env.dandori(["init", "--user", "--json"]).json();
    assert!(codes(&users).contains(&"codex_trust") && !codes(&users).contains(&"not_for_others"), "{users}");
}

#[test]
fn colleagues_are_not_given_hooks_to_a_program_they_do_not_have() {
    let mut env = machine_with(&["claude"]);
    let path = std::env::var("PATH").unwrap();
    env.var("PATH", format!("{}:{path}", env.root().join("bin")));
    let (shared, local) = (env.repo().join(".claude/settings.json"), env.repo().join(".claude/settings.local.json"));
    let before = files(&env.repo());
    let said = env.dandori(["init", "--agent", "claude"]);
    assert!(local.is_file() && !shared.exists(), "{}", said.stdout);
    assert!(!said.stderr.contains("Do not commit it"), "it is not for others: {}", said.stderr);
    // git would take it along: it is said how to keep it out, and that works.
    let hint =
        said.stderr.split('`').find(|part| part.starts_with("echo ")).unwrap_or_else(|| panic!("{}", said.stderr));
    assert!(env.git(["status", "--porcelain", "--untracked-files=all"]).contains("settings.local.json"));
    env.command("sh", ["-c", hint], &env.repo());
    assert_eq!(env.git(["status", "--porcelain", "--untracked-files=all"]), "");
    let again = env.dandori(["init", "--agent", "claude", "--json"]).json();
    assert_eq!((actions(&again), codes(&again).contains(&"not_ignored")), (vec![("claude", "unchanged")], false));

    // Deliberately for everybody: one place, not two.
    let moved = env.dandori(["init", "--agent", "claude", "--shared", "--json"]).json();
    assert_eq!(actions(&moved), [("claude", "created"), ("claude", "removed")], "{moved}");
    assert!(shared.is_file() && !local.exists());
    assert!(codes(&moved).contains(&"not_for_others") && !codes(&moved).contains(&"shared"), "{moved}");
    // Where they are shared they stay so, and the way out is told.
    let stays = env.dandori(["init", "--agent", "claude", "--json"]).json();
    assert_eq!(actions(&stays), [("claude", "unchanged")], "{stays}");
    assert!(codes(&stays).contains(&"shared"), "{stays}");
    let _ = env.dandori(["init", "--uninstall"]).ok();
    assert_eq!(files(&env.repo()), before, "the folder we made goes, too");
    let _ = env.dandori(["init", "--agent", "claude"]).ok();
    assert!(local.is_file() && !shared.exists());
    for flags in [["--user", "--shared"], ["--uninstall", "--shared"]] {
        assert_eq!(env.dandori(["init"].iter().chain(&flags)).code, 2);
    }
}

#[test]
fn ours_come_out_of_both_files_of_a_project_and_leave_each_as_it_was() {
    let env = machine_with(&["claude"]);
    env.write(".claude/settings.json", "{ \"model\" : \"x\" }");
    env.write(".claude/settings.local.json", "{\n\t\"permissions\": {}\n}");
    let before = files(&env.repo());
    let _ = env.dandori(["init"]).ok();
    let local = fs::read(env.repo().join(".claude/settings.local.json")).unwrap();
    let _ = env.dandori(["init", "--shared"]).ok();
    // As an earlier version may have left it: in both.
    fs::write(env.repo().join(".claude/settings.local.json"), local).unwrap();
    let answer = env.dandori(["init", "--uninstall", "--json"]).json();
    assert_eq!(actions(&answer), [("claude", "changed"), ("claude", "changed")], "{answer}");
    assert_eq!(files(&env.repo()), before);
}
