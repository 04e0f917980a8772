//! state.md and playbooks, by their verbs.

use crate::machine;

#[test]
fn a_playbook_is_begun_activated_shown_checked_and_followed() {
    let env = machine();
    let said = env.dandori(["playbook", "status"]).fails(1);
    assert!(said.contains("no active playbook") && said.contains("playbook new"), "{said}");
    let made = env.dandori(["playbook", "new", "health", "--activate", "--yes", "--json"]).json();
    assert_eq!((&made["path"], &made["branch"]), (&"plan/playbook-health.md".into(), &"feat/health".into()));
    assert!(env.dandori(["playbook", "check"]).ok().contains("no problems found"));
    assert!(env.dandori(["playbook", "new", "health"]).fails(1).contains("already exists"));
    for bad in ["../x", "a b", ".hidden"] {
        let said = env.dandori(["playbook", "new", bad]).fails(1);
        assert!(said.contains("is not a valid playbook name"), "{bad:?}: {said}");
    }

    let path = env.repo().join("plan/playbook-health.md");
    let text = std::fs::read_to_string(&path).unwrap().replacen("status: pending", "status: in_progress", 1);
    std::fs::write(&path, text.replace("- [ ] p1.1", "- [x] p1.1")).unwrap();
    let faults = env.dandori(["playbook", "check", "plan/playbook-health.md", "--json"]);
    assert_eq!(faults.code, 1);
    assert!(
        faults.json()["faults"][0].as_str().unwrap().contains("without evidence for technical"),
        "{}",
        faults.stdout
    );
    let status = env.dandori(["playbook", "status", "--json"]).json();
    assert_eq!(
        (&status["current"], &status["in_progress"], &status["pending"], &status["on_branch"]),
        (&"p1".into(), &1.into(), &1.into(), &"main".into()),
        "{status}"
    );
    let shown = env.dandori(["playbook", "show", "--lang", "ja"]).ok();
    assert!(shown.contains("進行中") && shown.contains("未レビュー") && shown.contains("1/1"), "{shown}");
    let told = env.dandori(["playbook", "status"]);
    assert!(told.stderr.contains("for branch feat/health, but you are on main"), "{}", told.stderr);
}

#[test]
fn a_value_of_the_state_is_set_alone_and_the_version_before_is_kept() {
    let env = machine();
    assert_eq!(env.dandori(["state", "history", "--json"]).json()["versions"], serde_json::json!([]));
    let mine = "---\n# mine\nplaybook:\n  active: null # none yet\ngoal:\n  phase: p1\n---\nProse: stays.\n";
    env.write("state.md", mine);
    let _ = env.dandori(["state", "set", "playbook.active", "plan/playbook-a.md"]).ok();
    let file = || std::fs::read_to_string(env.repo().join("state.md")).unwrap();
    assert_eq!(file(), mine.replace("active: null #", "active: plan/playbook-a.md #"));
    assert_eq!(env.dandori(["state", "show", "--json"]).json()["values"]["playbook.active"], "plan/playbook-a.md");
    let _ = env.dandori(["state", "set", "playbook.active", "null"]).ok();
    assert_eq!(file(), mine);

    let said = env.dandori(["state", "set", "nothing.here", "x"]).fails(1);
    assert!(said.contains("neither the key nor its section exists"), "{said}");
    let said = env.dandori(["state", "set", "goal", "x"]).fails(1);
    assert!(said.contains("other keys or a list"), "{said}");
    assert_eq!(file(), mine);

    let versions = env.dandori(["state", "history", "--json"]).json()["versions"].clone();
    assert_eq!(versions.as_array().unwrap().len(), 2, "{versions}");
    assert_eq!(versions[0]["active"], "plan/playbook-a.md", "newest first");
    let first = versions[1]["version"].as_str().unwrap();
    assert_eq!(env.dandori(["state", "history", first]).ok(), mine);
    assert!(env.dandori(["state", "history", "../../x"]).fails(1).contains("not found"));
}

#[test]
fn a_state_behind_a_link_stays_behind_it_with_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let env = machine();
    let real = env.root().join("elsewhere.md");
    std::fs::write(&real, "---\ngoal:\n  phase: p1\n---\n").unwrap();
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&real, env.repo().join("state.md")).unwrap();
    let _ = env.dandori(["state", "set", "goal.phase", "p2"]).ok();
    assert!(env.repo().join("state.md").symlink_metadata().unwrap().is_symlink());
    assert_eq!(std::fs::read_to_string(&real).unwrap(), "---\ngoal:\n  phase: p2\n---\n");
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_worktree_has_documents_of_its_own() {
    let env = machine();
    let _ = env.dandori(["state", "set", "goal.phase", "p1"]).ok();
    let tree = env.root().join("tree");
    env.git(["worktree", "add", "--quiet", "-b", "topic", tree.as_str()]);
    let show = |folder: &camino::Utf8Path| env.dandori_in(folder, ["state", "show", "--json"]).json()["values"].clone();
    let _ = env.dandori_in(&tree, ["state", "set", "goal.phase", "p2"]).ok();
    assert_eq!((&show(&env.repo())["goal.phase"], &show(&tree)["goal.phase"]), (&"p1".into(), &"p2".into()));
    let _ = env.dandori_in(&tree, ["playbook", "new", "x", "--activate"]).ok();
    assert_eq!(env.dandori_in(&tree, ["playbook", "status", "--json"]).json()["on_branch"], "topic");
}

#[test]
fn an_agent_does_not_set_the_verdict_on_its_own_work() {
    let mut env = machine();
    let mine = "---\ngoal:\n  phase: p1\nverification:\n  self_complete: false\n---\n";
    env.write("state.md", mine);
    env.var("CLAUDECODE", "1");
    let said = env.dandori(["state", "set", "verification.self_complete", "true"]).fails(1);
    assert!(said.contains("Claude Code"), "{said}");
    assert_eq!(std::fs::read_to_string(env.repo().join("state.md")).unwrap(), mine);
    let _ = env.dandori(["state", "set", "goal.phase", "p2"]).ok();
}

#[test]
fn a_first_state_says_which_rules_come_with_it_and_a_new_active_playbook_what_it_replaces() {
    let env = machine();
    let inactive = env.dandori(["playbook", "new", "a"]);
    assert!(inactive.stdout.contains("it is not active") && inactive.stderr.is_empty(), "{}", inactive.stdout);
    let first = env.dandori(["state", "set", "goal.phase", "p1"]);
    assert!(first.stderr.contains("now uses the profile discipline"), "{}", first.stderr);
    let second = env.dandori(["state", "set", "goal.phase", "p2"]);
    assert_eq!((second.code, second.stderr.as_str()), (0, ""), "only the first time");
    let told = env.dandori(["playbook", "new", "b", "--activate"]).ok();
    assert!(told.contains("plan/playbook-b.md is now the active playbook\n"), "{told}");
    let told = env.dandori(["playbook", "new", "c", "--activate", "--yes"]).ok();
    assert!(told.contains("replaces plan/playbook-b.md as the active playbook"), "{told}");
    let told = env.dandori(["playbook", "new", "d", "--activate", "--yes", "--json"]).json();
    assert_eq!((&told["replaced"], &told["made_state"]), (&"plan/playbook-c.md".into(), &false.into()));

    let other = machine();
    other.write_user_config("[guards]\nprofile = \"discipline\"\n");
    let told = other.dandori(["playbook", "new", "a", "--activate"]);
    assert!(told.stderr.contains("created state.md") && !told.stderr.contains("now uses"), "{}", told.stderr);
}

#[test]
fn a_value_the_state_does_not_understand_is_refused_and_a_documented_key_finds_its_place() {
    let env = machine();
    env.write("state.md", "");
    let set = |key: &str, value: &str| env.dandori(["state", "set", key, value]);
    for (key, bad) in
        [("config.security", "banana"), ("verification.self_complete", "maybe"), ("config.toolstack", "Z")]
    {
        let said = set(key, bad).fails(1);
        assert!(said.contains(bad) && said.contains("one of"), "{said}");
    }
    let shown = || env.dandori(["state", "show", "--json"]).json()["values"].clone();
    assert_eq!(std::fs::read_to_string(env.repo().join("state.md")).unwrap(), "");
    for (key, value) in [
        ("config.security", "admin"),
        ("focus", "web"),
        ("goal.milestone", "say \"hi\""),
        ("config.roles.worker", "codex"),
    ] {
        let _ = set(key, value).ok();
        assert_eq!(shown()[key], value);
    }
    let _ = set("active_playbooks.web", "plan/playbook-w.md").ok();
    assert_eq!(shown()["playbook.active"], "plan/playbook-w.md", "by the focus");
    let _ = set("goal.done_criteria", "[a, b]").ok();
    assert_eq!(shown()["goal.done_criteria"], serde_json::json!(["a", "b"]));
    let _ = set("verification.self_complete", "yes").ok();
    assert!(set("playbook.active", "plan/none.md").stderr.contains("plan/none.md does not exist"));
}

#[test]
fn a_file_that_was_named_and_is_not_there_is_the_user_s_to_put_right() {
    let env = machine();
    let _ = env.dandori(["playbook", "new", "health"]).ok();
    assert!(env.dandori(["playbook", "check", "health"]).ok().contains("plan/playbook-health.md: no problems found"));
    let _ = env.dandori(["playbook", "show", "health"]).ok();
    for words in [
        &["playbook", "check", "none"][..],
        &["playbook", "show", "plan"],
        &["guard", "test", "none.json"],
        &["guard", "test", "plan"],
        &["run", "--file", "none.txt", "--agent", "exec:true"],
    ] {
        let said = env.dandori(words).fails(1);
        assert!(said.contains("not found"), "{words:?}: {said}");
    }
}

#[test]
fn nobody_s_playbook_or_profile_is_changed_by_the_way() {
    let env = machine();
    let new = |words: &[&str]| env.dandori(["playbook", "new"].iter().chain(words));
    // A first state.md brings another profile.
    let refused = new(&["a", "--branch", "my work", "--activate"]).fails(1);
    assert!(refused.contains("will use the profile discipline"), "{refused}");
    assert!(!env.repo().join("plan").exists() && !env.repo().join("state.md").exists(), "nothing was written");
    let hint = refused.split('`').nth(1).unwrap();
    assert_eq!(hint, "dandori playbook new a --branch 'my work' --activate --yes");
    let _ = new(&["a", "--branch", "my work", "--activate", "--yes"]).ok();
    let state = || std::fs::read_to_string(env.repo().join("state.md")).unwrap();
    let before = state();
    assert!(before.contains("plan/playbook-a.md") && before.contains("my work"), "{before}");
    // Another is active.
    let refused = new(&["b", "--activate"]).fails(1);
    assert!(refused.contains("plan/playbook-a.md will no longer be the active playbook"), "{refused}");
    let ja = env.dandori(["--lang", "ja", "playbook", "new", "b", "--activate"]).fails(1);
    assert!(ja.contains("plan/playbook-a.md は有効な playbook ではなくなります"), "{ja}");
    assert_eq!(state(), before);
    // Nothing is replaced: nobody has to be asked.
    let _ = env.dandori(["state", "set", "playbook.active", "null"]).ok();
    let _ = new(&["b", "--activate"]).ok();
    assert_eq!(new(&["c", "--yes"]).code, 2, "there is nothing to agree to");
}

/// At a terminal it is asked, and only a yes counts.
#[test]
fn at_a_terminal_the_user_is_asked() {
    let env = machine();
    let answered = |name: &str, answer: &str| {
        let line = format!("{} playbook new {name} --activate", env!("CARGO_BIN_EXE_dandori"));
        let script = format!("printf '{answer}\\n' | script -qec '{line}' /dev/null");
        env.program("sh", ["-c", &script], &env.repo()).output().unwrap()
    };
    let said = |output: &std::process::Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let no = answered("a", "n");
    assert!(
        said(&no).contains("profile discipline. Continue? [y/N]") && said(&no).contains("nothing was changed"),
        "{no:?}"
    );
    assert!(!env.repo().join("plan").exists());
    let yes = answered("a", "y");
    assert!(said(&yes).contains("is now the active playbook"), "{yes:?}");
}
