//! `dandori doctor`: what is wrong, and what to do about it.

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
        assert!(finding["remedy"].as_str().unwrap().contains(meant), "{finding}");
    }
    let repository = of(&report, "repository_config");
    assert!(repository[0]["detail"].as_str().unwrap().contains("belongs into the user's config.toml"), "{report}");
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
    assert!(said.stdout.contains("→ correct the file"), "{}", said.stdout);
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
    assert!(found["remedy"].as_str().unwrap().contains("dandori trust"), "{found}");
    let _ = env.dandori(["trust"]).ok();
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
