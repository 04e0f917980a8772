//! Settings: what is in force, where it comes from, and changing it without breaking the file.

use crate::machine;

#[test]
fn each_value_is_shown_with_the_file_it_comes_from() {
    let env = machine();
    env.write_user_config("agent = \"codex\"\n[limits]\nrun = \"90m\"\n");
    env.write("dandori.toml", "agent = \"gemini\"\n");
    let shown = env.dandori(["config", "show", "--json"]).json();
    let of = |key: &str| {
        let settings = shown["settings"].as_array().unwrap();
        settings.iter().find(|s| s["key"] == key).unwrap_or_else(|| panic!("{key} in {shown}")).clone()
    };
    assert_eq!((&of("agent")["value"], &of("agent")["source"]), (&"gemini".into(), &"repository".into()));
    assert_eq!((&of("limits.run")["value"], &of("limits.run")["source"]), (&"1h 30m".into(), &"user".into()));
    assert!(of("base")["value"].is_null());
    assert_eq!(shown["total"], shown["settings"].as_array().unwrap().len());
    let said = env.dandori(["config", "show"]).ok();
    insta::assert_snapshot!(said.replace(env.root().as_str(), "ROOT"), @r#"
    KEY         VALUE     SET BY
    agent       "gemini"  dandori.toml
    limits.run  "1h 30m"  config.toml
    ROOT/home/.config/dandori/config.toml
    ROOT/repo/dandori.toml
    60 settings at the default; `dandori config show --all` shows every key
    "#);
    let said = env.dandori(["config", "show", "limits.rn"]).fails(1);
    assert!(said.contains("`dandori config show limits.run`"), "{said}");
}

#[test]
fn a_key_is_set_in_place_and_a_wrong_value_changes_nothing() {
    let env = machine();
    let text = "# mine\nagent = \"claude\" # usual\n";
    env.write_user_config(text);
    let file = env.home().join(".config/dandori/config.toml");
    let read = || std::fs::read_to_string(&file).unwrap();
    for wrong in [["limits.run", "soon"], ["agnt", "codex"], ["runs.max_parallel", "0"]] {
        let said = env.dandori(["config", "set", wrong[0], wrong[1]]).fails(1);
        assert!(said.contains("nothing was changed"), "{said}");
        assert_eq!(read(), text);
    }
    let _ = env.dandori(["config", "set", "agent", "codex"]).ok();
    let _ = env.dandori(["config", "set", "limits.run", "3h"]).ok();
    assert_eq!(read(), "# mine\nagent = \"codex\" # usual\n\n[limits]\nrun = \"3h\"\n");
    let _ = env.dandori(["config", "set", "--unset", "limits.run"]).ok();
    assert!(!read().contains("3h"));
    let _ = env.dandori(["config", "set", "--unset", "limits.run"]).fails(1);
    // What speaks for the daemon does not belong into a repository's file.
    let said = env.dandori(["config", "set", "--repository", "store", "x"]).fails(1);
    assert!(said.contains("store"), "{said}");
    assert!(!env.repo().join("dandori.toml").exists());
}

#[test]
fn a_value_that_cannot_work_is_refused_with_what_can_in_both_languages() {
    let env = machine();
    for (key, value, en_says, ja_says) in [
        ("language", "fr", "use en or ja", "en か ja"),
        ("agent", "nosuch", "claude, codex, gemini", "claude、codex、gemini"),
        ("store", "mysql://x", "postgres://", "postgres://"),
        ("worktrees.pool", "1000000", "0 to 64", "0 から 64"),
        ("worktrees.set_up", "7", "a list of commands", "コマンドのリスト"),
        ("commit.template", "{bogus}", "{subject}", "{subject}"),
        ("github.host", "a b", "a host such as", "ホスト名"),
        ("limits.budget", "much", "US dollars", "米ドル"),
        ("pr", "maybe", "true or false", "true か false"),
        ("agents..command", "x", "between two dots", "空の部分"),
    ] {
        let en = env.dandori(["config", "set", key, value]).fails(1);
        let ja = env.dandori(["config", "set", key, value, "--lang", "ja"]).fails(1);
        assert!(en.contains(en_says) && en.contains("nothing was changed"), "{key}: {en}");
        assert!(ja.contains(ja_says) && !ja.contains("expected"), "{key}: {ja}");
    }
    assert!(!env.home().join(".config/dandori/config.toml").exists());
    let _ = env.dandori(["config", "set", "agents.mine.command", "./x"]).ok();
    let _ = env.dandori(["config", "set", "agent", "mine"]).ok();
}

#[test]
fn what_a_repository_s_file_could_execute_is_said_when_it_is_set() {
    let env = machine();
    let said = env.dandori(["config", "set", "-r", "worktrees.set_up", "[\"make\"]"]);
    assert!(said.stderr.contains("`dandori trust`"), "{}", said.stderr);
    assert_eq!(std::fs::read_to_string(env.repo().join("dandori.toml")).unwrap(), "[worktrees]\nset_up = [\"make\"]\n");
}

#[test]
fn no_agent_changes_settings() {
    let mut env = machine();
    env.var("CLAUDECODE", "1");
    for verb in [vec!["set", "agent", "codex"], vec!["init"], vec!["edit"]] {
        let _ = env.dandori([vec!["config"], verb].concat()).fails(1);
    }
    let _ = env.dandori(["config", "show"]).ok();
    assert!(!env.home().join(".config/dandori").exists());
}

#[test]
fn a_new_file_has_every_key_and_says_nothing_yet() {
    let env = machine();
    let _ = env.dandori(["config", "init"]).ok();
    let said = env.dandori(["config", "init"]).fails(1);
    assert!(said.contains("`dandori config edit`"), "{said}");
    let shown = env.dandori(["config", "show"]).ok();
    assert!(!shown.contains("KEY"), "{shown}");
}

#[test]
fn the_editor_s_result_is_checked() {
    let mut env = machine();
    env.var("EDITOR", "sh -c 'echo \"agnt = 1\" > \"$0\"'");
    let said = env.dandori(["config", "edit"]).fails(1);
    assert!(said.contains("agnt") && said.contains("agent"), "{said}");
    env.var("EDITOR", "sh -c 'echo \"agent = \\\"codex\\\"\" > \"$0\"'");
    let said = env.dandori(["config", "edit"]).ok();
    assert!(said.contains("is valid"), "{said}");
    env.var("EDITOR", "/usr/bin/vi -n");
    for edit in [vec!["config", "edit"], vec!["prompt", "edit", "fix"]] {
        let said = env.dandori(edit).fails(2);
        assert!(said.contains("without a terminal"), "{said}");
    }
    assert!(!env.repo().join(".dandori/prompts/fix.md").exists());
    env.var("EDITOR", "false");
    let said = env.dandori(["config", "edit"]).fails(1);
    assert!(said.contains("false"), "{said}");
}
