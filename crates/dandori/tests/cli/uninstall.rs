//! Leaving without a trace, and without losing anything.

use crate::machine;

#[test]
fn everything_of_ours_goes_and_unsaved_work_is_in_the_repository() {
    let env = machine();
    std::fs::create_dir_all(env.home().join(".claude")).unwrap();
    std::fs::write(env.home().join(".claude/settings.json"), "{\"model\": \"x\"}\n").unwrap();
    env.write(".gemini/settings.json", "{\"theme\": \"dark\"}\n");
    let _ = env.dandori(["init", "--agent", "gemini"]).ok();
    let _ = env.dandori(["init", "--user", "--agent", "claude"]).ok();
    env.run_json(["x", "--agent", "exec:echo new > new.txt"]);
    let shown = env.dandori(["task", "show", "T-1", "--json"]).json();
    let worktree: camino::Utf8PathBuf = shown["runs"][0]["worktree"].as_str().unwrap().into();
    std::fs::write(worktree.join("unsaved.txt"), "mine\n").unwrap();
    // Nobody to ask, and nobody has agreed: nothing happens.
    let said = env.dandori(["uninstall"]).fails(1);
    assert!(said.contains("`dandori uninstall --yes`"), "{said}");
    let planned = env.dandori(["uninstall", "--dry-run", "--json"]).json();
    assert_eq!(planned["hooks"].as_array().unwrap().len(), 2, "{planned}");
    assert_eq!(planned["repositories"][0]["worktrees"][0]["dirty"], 1, "{planned}");
    assert!(worktree.exists() && env.state().exists());
    let done = env.dandori(["uninstall", "--yes", "--json"]).json();
    let kept = done["repositories"][0]["worktrees"][0]["preserved"].as_str();
    let kept = kept.unwrap_or_else(|| panic!("{done}")).to_owned();
    assert!(env.git(["show", &format!("{kept}:unsaved.txt")]).contains("mine"));
    assert!(!env.state().exists());
    assert_eq!(std::fs::read_to_string(env.home().join(".claude/settings.json")).unwrap(), "{\"model\": \"x\"}\n");
    assert_eq!(std::fs::read_to_string(env.repo().join(".gemini/settings.json")).unwrap(), "{\"theme\": \"dark\"}\n");
    // Git knows no worktree of ours any more, and the branch is there.
    assert_eq!(env.git(["worktree", "list"]).lines().count(), 1);
    assert_eq!(env.git(["status", "--porcelain"]), "?? .gemini/");
    assert!(env.git(["branch", "--list", "dandori/*"]).contains("dandori/"));
    assert!(env.processes().is_empty(), "{:?}", env.processes());
    let again = env.dandori(["uninstall", "--yes"]).ok();
    assert!(again.contains("nothing to uninstall"), "{again}");
}

#[test]
fn a_task_at_work_is_not_pulled_out_from_under_its_agent() {
    let env = machine();
    env.run_json(["x", "--agent", "exec:until [ -e go ]; do sleep 0.02; done", "--detach"]);
    let said = env.dandori(["uninstall", "--yes"]).fails(1);
    assert!(said.contains("`dandori task cancel T-1`"), "{said}");
    assert!(env.state().exists());
    let _ = env.dandori(["task", "cancel", "T-1"]).ok();
    let _ = env.dandori(["uninstall", "--yes"]).ok();
    assert!(!env.state().exists());
}

#[test]
fn no_agent_uninstalls_us() {
    let mut env = machine();
    env.var("CLAUDECODE", "1");
    let _ = env.dandori(["uninstall", "--yes"]).fails(1);
}
