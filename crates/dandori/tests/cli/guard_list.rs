//! What is in force, by the verbs of the guards.

use serde_json::{Value, json};

use crate::hook::hook;
use crate::machine;

fn guard<'l>(list: &'l Value, name: &str) -> &'l Value {
    let guards = list["guards"].as_array().unwrap();
    guards.iter().find(|guard| guard["guard"] == name).unwrap_or_else(|| panic!("no {name} in {list}"))
}

#[test]
fn every_guard_is_listed_with_its_level_and_who_set_it() {
    let env = machine();
    let list = env.dandori(["guard", "list", "--json"]).json();
    assert_eq!((&list["profile"], &list["notes"]), (&json!("safety"), &json!([])));
    assert_eq!(guard(&list, "secrets")["level"], "block");
    assert_eq!(guard(&list, "secrets")["on_error"], "closed");
    assert_eq!(
        (&guard(&list, "playbook")["level"], &guard(&list, "playbook")["source"]),
        (&json!("off"), &json!("default"))
    );

    env.write("state.md", "# state\n");
    env.write_user_config("[guards.level]\nscope = \"ask\"\n");
    env.write(
        "dandori.toml",
        "[guards.level]\nscope = \"block\"\nsecrets = \"off\"\n[[guards.rule]]\nname = \"no-publish\"\ncommands = [\"npm publish *\"]\n",
    );
    let list = env.dandori(["guard", "list", "--json"]).json();
    assert_eq!(list["profile"], "discipline");
    assert_eq!(
        (&guard(&list, "scope")["level"], &guard(&list, "scope")["source"]),
        (&json!("block"), &json!("repository"))
    );
    assert_eq!(guard(&list, "secrets")["level"], "block", "not without trust");
    assert_eq!(guard(&list, "no-publish")["own"], true);
    assert_eq!(guard(&list, "no-publish")["events"], json!(["PreToolUse"]));
    assert_eq!(list["notes"][0]["keys"], json!(["guards.level.secrets"]));
    let said = env.dandori(["guard", "list"]);
    assert!(said.stderr.contains("dandori trust"), "{}", said.stderr);

    let trusted = env.dandori(["trust", "--yes"]).ok();
    assert!(trusted.contains("guards.level.secrets: off"), "{trusted}");
    let list = env.dandori(["guard", "list", "--json"]).json();
    assert_eq!(guard(&list, "secrets")["level"], "off");

    let writes = ["PreToolUse:Edit/Write", "PreToolUse:Bash"];
    assert_eq!(guard(&list, "playbook")["events"], json!(writes), "one event each");
    let japanese = env.dandori(["guard", "list", "--lang", "ja"]).ok();
    assert!(japanese.contains("ガード") && japanese.contains("リポジトリ"), "{japanese}");
}

#[test]
fn a_broken_configuration_is_named_and_guards_go_on() {
    let env = machine();
    env.write_user_config("[guards]\nprofil = \"safety\"\n");
    env.write("dandori.toml", "[guards\n");
    let shown = env.dandori(["guard", "list", "--json"]).json();
    assert_eq!(shown["profile"], "discipline", "all of them until it is put right");
    let kinds: Vec<&Value> = shown["notes"].as_array().unwrap().iter().map(|note| &note["kind"]).collect();
    assert_eq!(kinds, ["bad_user_config", "bad_repository_config"]);
    let said = env.dandori(["doctor"]);
    assert!(said.stdout.contains("guards.profil"), "{}\n{}", said.stdout, said.stderr);
}

#[test]
fn a_linked_worktree_goes_by_the_main_checkout_s_file_and_outside_of_a_repository_only_the_user_s_counts() {
    let env = machine();
    env.write("dandori.toml", "[guards.level]\nscope = \"block\"\n");
    let linked = env.root().join("linked");
    env.git(["worktree", "add", "-q", linked.as_str()]);
    std::fs::write(linked.join("dandori.toml"), "[guards.level]\nmerge = \"ask\"\ncritic = \"block\"\n").unwrap();
    let list = env.dandori_in(&linked, ["guard", "list", "--json"]).json();
    assert_eq!((&guard(&list, "scope")["level"], &guard(&list, "critic")["level"]), (&json!("block"), &json!("off")));
    env.write_user_config("[guards.level]\ncritic = \"warn\"\n");
    let list = env.dandori_in(&env.home(), ["guard", "list", "--json"]).json();
    assert_eq!((&guard(&list, "scope")["level"], &guard(&list, "critic")["level"]), (&json!("off"), &json!("warn")));
}

#[test]
fn a_misspelt_section_and_a_line_that_is_no_toml_are_told_in_one_line_each() {
    let env = machine();
    env.write("dandori.toml", "[guard]\nprofile = \"discipline\"\n");
    let said = env.dandori(["guard", "list"]);
    assert!(said.stderr.contains("unknown key `guard` (`guards`?)"), "{}", said.stderr);
    assert_eq!(env.dandori(["guard", "list", "--json"]).json()["notes"][0]["kind"], "unknown_key");
    let start = json!({"session_id": "s1", "cwd": env.repo(), "hook_event_name": "SessionStart", "source": "startup"});
    assert!(hook(&env, "claude", &start).stdout.contains("unknown key `guard`"));

    env.write("dandori.toml", "[guards]\nprofile = 3\n");
    let said = env.dandori(["guard", "list"]).stderr;
    assert!(said.contains("line 2, column 11; wanted string or table") && !said.contains('|'), "{said}");
}
