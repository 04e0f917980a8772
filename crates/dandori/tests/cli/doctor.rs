//! `dandori doctor`: what is wrong, and what to do about it.

use dandori_domain::Client;
use dandori_testkit::env::TestEnv;
use serde_json::Value;

use crate::machine;

/// The findings of one check.
fn of<'a>(report: &'a Value, check: &str) -> Vec<&'a Value> {
    report["checks"].as_array().unwrap().iter().filter(|c| c["check"] == check).collect()
}

#[test]
fn every_unknown_key_of_both_files_is_found_with_the_nearest_name() {
    let env = machine();
    env.write_user_config("agnt = \"claude\"\n[limits]\nsilense = \"5m\"\n");
    env.write("dandori.toml", "[runs]\nmax_parallel = 2\n");
    let ran = env.dandori(["doctor", "--json"]);
    let report = ran.json();
    assert_eq!((ran.code, &report["ok"]), (1, &false.into()), "{report}");
    let user = of(&report, "user_config");
    assert_eq!(user.len(), 2, "{report}");
    for (finding, meant) in user.iter().zip(["agent", "limits.silence"]) {
        assert_eq!((&finding["ok"], &finding["problem"]["code"]), (&false.into(), &"bad_config".into()), "{finding}");
        assert_eq!(finding["problem"]["suggestion"], meant);
        assert!(finding["hint"].as_str().unwrap().contains(meant), "{finding}");
    }
    let repository = of(&report, "repository_config");
    assert!(repository[0]["detail"].as_str().unwrap().contains("only allowed in the user's config.toml"), "{report}");
}

#[test]
fn a_file_that_is_no_toml_is_told_in_one_line_and_one_that_is_well_by_its_path() {
    let env = machine();
    env.write_user_config("agent = \"codex\"\n");
    env.write("dandori.toml", "this is not toml\n");
    let said = env.dandori(["doctor"]);
    assert_eq!(said.code, 1);
    let line = said.stdout.lines().find(|l| l.contains("repository configuration")).unwrap();
    assert!(line.contains("dandori.toml") && line.contains("line 1") && !line.contains('|'), "{line}");
    assert!(said.stdout.contains("→ fix it with `dandori config edit --repository`"), "{}", said.stdout);
    let report = env.dandori(["doctor", "--json", "--lang", "ja"]).json();
    let path = env.home().join(".config/dandori/config.toml");
    assert_eq!(of(&report, "user_config")[0]["detail"], path.as_str());
}

#[test]
fn settings_nobody_has_agreed_to_are_found_until_they_are_trusted() {
    let env = machine();
    env.write("dandori.toml", "[worktrees]\nset_up = [\"make deps\"]\n");
    let report = env.dandori(["doctor", "--json"]).json();
    let [found] = of(&report, "repository_config")[..] else { panic!("{report}") };
    assert_eq!((&found["ok"], &found["problem"]["code"]), (&false.into(), &"untrusted".into()), "{found}");
    assert!(found["detail"].as_str().unwrap().contains("make deps"), "{found}");
    assert!(found["hint"].as_str().unwrap().contains("dandori trust"), "{found}");
    let _ = env.dandori(["trust", "--yes"]).ok();
    let report = env.dandori(["doctor", "--json"]).json();
    assert_eq!(of(&report, "repository_config")[0]["ok"], true, "{report}");
}

#[test]
fn outside_a_repository_only_the_user_s_file_is_looked_at() {
    let env = TestEnv::without_repository(env!("CARGO_BIN_EXE_dandori"));
    let report = env.dandori(["doctor", "--json"]).json();
    assert!(of(&report, "user_config")[0]["detail"].as_str().unwrap().contains("defaults"), "{report}");
    assert!(of(&report, "repository_config").is_empty(), "{report}");
}

/// An agent's program that ends at once, with these words.
fn fake_agent(env: &mut TestEnv, name: &str, words: &str) {
    let bin = env.root().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let script = format!("#!/bin/sh\necho '{words}' >&2\nexit 1\n");
    std::fs::write(bin.join(name), script).unwrap();
    std::fs::set_permissions(bin.join(name), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    env.var("PATH", format!("{bin}:/usr/local/bin:/usr/bin:/bin"));
}

fn codes<'a>(report: &'a Value, check: &str) -> Vec<&'a str> {
    of(report, check).into_iter().map(|finding| finding["code"].as_str().unwrap_or("-")).collect()
}

#[test]
fn a_version_that_nobody_has_tried_is_told_beside_those_that_are_known() {
    let mut env = machine();
    fake_agent(&mut env, "claude", "");
    std::fs::write(env.root().join("bin/claude"), "#!/bin/sh\necho '99.0.1 (Claude Code)'\n").unwrap();
    let known = Client::Claude.describe().program.known_to_work.join(", ");
    for (lang, words) in [("en", "tested versions: "), ("ja", "動作確認済みのバージョン: ")] {
        let report = env.dandori(["doctor", "--json", "--lang", lang]).json();
        let [found] = of(&report, "claude")[..] else { panic!("{report}") };
        assert_eq!((&found["ok"], &found["code"]), (&true.into(), &"untried_version".into()), "{found}");
        let detail = found["detail"].as_str().unwrap();
        assert!(detail.starts_with("99.0.1 (") && detail.ends_with(&format!("{words}{known}")), "{detail}");
    }
}

#[test]
fn an_agent_without_hooks_is_told_how_to_get_them() {
    let mut env = machine();
    fake_agent(&mut env, "claude", "no");
    let ran = env.dandori(["doctor", "--guards", "--json"]);
    let report = ran.json();
    assert_eq!((ran.code, &report["ok"]), (1, &false.into()), "nothing is proven: {report}");
    assert_eq!(codes(&report, "claude_hooks"), ["not_installed"], "{report}");
    assert_eq!(codes(&report, "claude_self_test"), ["not_tried"], "{report}");
    for check in ["claude_hooks", "claude_self_test"] {
        assert!(of(&report, check)[0]["hint"].as_str().unwrap().contains("dandori init"), "{report}");
    }
    assert!(of(&report, "git").is_empty() && of(&report, "codex_hooks").is_empty(), "only the guards: {report}");
    let said = env.dandori(["doctor", "--guards", "--lang", "ja"]);
    assert!(said.stdout.contains("dandori のフックがありません"), "{}", said.stdout);
}

#[test]
fn an_agent_that_does_not_start_is_told_with_its_last_words() {
    let mut env = machine();
    fake_agent(&mut env, "claude", "there is no such library");
    let _ = env.dandori(["init", "--agent", "claude"]).ok();
    let ran = env.dandori(["doctor", "--guards", "--json"]);
    let report = ran.json();
    let [test] = of(&report, "claude_self_test")[..] else { panic!("{report}") };
    assert_eq!((ran.code, &test["code"], &test["ok"]), (1, &"not_tried".into(), &false.into()), "{report}");
    assert!(test["detail"].as_str().unwrap().contains("there is no such library"), "{test}");
}

#[test]
fn plain_doctor_looks_at_the_hooks_and_says_how_to_try_them() {
    let mut env = machine();
    fake_agent(&mut env, "claude", "no");
    let _ = env.dandori(["init", "--agent", "claude"]).ok();
    let said = env.dandori(["doctor"]);
    assert!(said.stdout.contains("hooks of claude") && said.stdout.contains("installed in"), "{}", said.stdout);
    assert!(said.stderr.contains("dandori doctor --guards"), "{}", said.stderr);
    assert!(!said.stdout.contains("self-test"), "{}", said.stdout);
}

#[test]
fn each_thing_in_the_way_of_the_hooks_is_found_by_looking() {
    let mut env = machine();
    fake_agent(&mut env, "claude", "no");
    let _ = env.dandori(["init", "--agent", "claude"]).ok();
    let settings = env.repo().join(".claude/settings.local.json");
    let whole = std::fs::read_to_string(&settings).unwrap();
    let found = |env: &TestEnv, text: &str| {
        env.write(".claude/settings.local.json", text);
        let report = env.dandori(["doctor", "--guards", "--json"]).json();
        codes(&report, "claude_hooks").join(" ")
    };
    let own = env!("CARGO_BIN_EXE_dandori");
    let other = env.root().join("bin/dandori");
    std::os::unix::fs::symlink("/bin/true", &other).unwrap();
    let plain = env.root().join("plain/dandori");
    std::fs::create_dir(plain.parent().unwrap()).unwrap();
    std::fs::write(&plain, "").unwrap();
    assert_eq!(found(&env, &whole), "-");
    assert_eq!(found(&env, &whole.replace("\"PreToolUse\"", "\"Other\"")), "missing_events");
    assert_eq!(found(&env, &whole.replace(own, "/gone/dandori")), "no_program");
    assert_eq!(found(&env, &whole.replace(own, plain.as_str())), "not_executable");
    assert_eq!(found(&env, &whole.replace(own, other.as_str())), "other_program");
    assert_eq!(found(&env, &whole.replace(own, "dandori")), "other_program");
    assert_eq!(found(&env, &whole.replacen('{', "{\"disableAllHooks\": true,", 1)), "disabled");
    assert_eq!(found(&env, &whole.replacen('{', "{\"permissions\": {\"allow\": \"Bash\"},", 1)), "bad_field");
    assert_eq!(found(&env, &whole.replacen('{', "{ // mine\n", 1)), "unread");
    assert_eq!(found(&env, &whole.replacen('{', "", 1)), "not_json");
    assert_eq!(found(&env, &whole.replace("\"block\"", "\"bogus\"")), "bad_field bad_field");
    assert_eq!(found(&env, &whole.replace("\"block\"", "\"continue\"")), "weak");
    assert_eq!(found(&env, &whole.replace("\"onFailure\": \"block\"", "\"statusMessage\": \"x\"")), "outdated");
    let words = format!(", \"--state\", \"{}\"", env.state());
    assert_eq!(found(&env, &whole.replace(&words, "")), "outdated", "an earlier version's");
    assert_eq!(found(&env, &whole.replace("\"refuse\"", "\"accept\"")), "open_to_sessions");
    assert_eq!(found(&env, &whole.replace("\"refuse\"", "\"off\"")), "open_to_sessions", "a word it does not know");
    assert_eq!(found(&env, &whole.replace("\"refuse\"", "\"hold\"")), "-");
    let elsewhere = env.root().join("elsewhere.toml");
    env.var("DANDORI_CONFIG", elsewhere.as_str());
    assert_eq!(found(&env, &whole), "other_place");
    let said = env.dandori(["doctor"]);
    assert!(said.stdout.contains(elsewhere.as_str()), "{}", said.stdout);
    env.var("DANDORI_CONFIG", env.home().join(".config/dandori/config.toml").as_str());
    env.var("CLAUDE_CODE_SIMPLE", "1");
    assert_eq!(found(&env, &whole), "disabled_by_variable");
}

#[test]
fn a_subfolder_without_hooks_for_claude_is_found_and_a_worktree_without_for_codex() {
    let mut env = machine();
    fake_agent(&mut env, "claude", "no");
    fake_agent(&mut env, "codex", "no");
    let _ = env.dandori(["init", "--agent", "claude"]).ok();
    let sub = env.repo().join("sub");
    std::fs::create_dir(&sub).unwrap();
    let report = env.dandori_in(&sub, ["doctor", "--guards", "--json"]).json();
    assert_eq!(codes(&report, "claude_hooks"), ["claude_subfolder"], "{report}");
    let linked = env.root().join("linked");
    env.git(["worktree", "add", "--quiet", linked.as_str()]);
    let _ = env.dandori_in(&linked, ["init", "--agent", "codex"]).ok();
    let report = env.dandori_in(&linked, ["doctor", "--guards", "--json"]).json();
    assert_eq!(codes(&report, "codex_hooks"), ["codex_worktree"], "{report}");
    let [found] = of(&report, "codex_hooks")[..] else { panic!("{report}") };
    assert!(found["hint"].as_str().unwrap().contains(env.repo().as_str()), "{found}");
}

#[test]
fn a_machine_without_agents_is_told_so() {
    let mut env = machine();
    let bin = env.root().join("bin");
    std::fs::create_dir(&bin).unwrap();
    env.var("PATH", bin.as_str());
    let said = env.dandori(["doctor", "--guards"]);
    assert_eq!(said.code, 1);
    assert!(
        said.stdout.contains("no agent has dandori's hooks") && said.stdout.contains("dandori init"),
        "{}",
        said.stdout
    );
    let report = env.dandori(["doctor", "--guards", "--json"]).json();
    assert_eq!(codes(&report, "guards"), ["no_agent"], "{report}");
}

#[test]
fn gemini_s_folder_needs_no_trust_where_the_user_s_own_hooks_are() {
    let mut env = machine();
    fake_agent(&mut env, "gemini", "no");
    let _ = env.dandori(["init", "--agent", "gemini"]).ok();
    let found = |env: &TestEnv| codes(&env.dandori(["doctor", "--guards", "--json"]).json(), "gemini_hooks").join(" ");
    assert_eq!(found(&env), "gemini_folder");
    let _ = env.dandori(["init", "--user", "--agent", "gemini"]).ok();
    assert_eq!(found(&env), "-");
}
