//! Where an instruction comes from: templates, the editor, and the worktree it leads to.

use dandori_testkit::env::TestEnv;

use crate::machine;

/// What a person would see who types this at a terminal of 80 columns.
fn at_terminal(env: &TestEnv, line: &str) -> String {
    let dandori = env!("CARGO_BIN_EXE_dandori");
    let line = format!("stty cols 80; {}", line.replace("dandori ", &format!("{dandori} ")));
    let mut command = env.program("script", ["-qec", &line, "/dev/null"], &env.repo());
    String::from_utf8_lossy(&command.output().unwrap().stdout).replace('\r', "")
}

const WRITES: &str = "exec:cat > said.txt; echo done";

fn said(env: &TestEnv, task: &str) -> String {
    let shown = env.dandori(["task", "show", task, "--json"]).json();
    env.git_in(&env.origin(), ["show", &format!("{}:said.txt", shown["runs"][0]["branch"].as_str().unwrap())])
}

#[test]
fn a_template_takes_the_instruction_in() {
    let env = machine();
    let said_none = env.dandori(["run", "-t", "fix", "x"]).fails(1);
    assert!(said_none.contains("`dandori prompt edit fix`"), "{said_none}");
    env.write(".dandori/prompts/fix.md", "# Fix\n\nFix this: {{text}}\n\nAdd a test.\n");
    env.write_user_config("");
    let users = env.home().join(".config/dandori/prompts");
    std::fs::create_dir_all(&users).unwrap();
    std::fs::write(users.join("fix.md"), "of the user").unwrap();
    std::fs::write(users.join("log.md"), "Update the changelog.\n").unwrap();
    insta::assert_snapshot!(env.dandori(["prompt", "list"]).ok(), @r"
    NAME  SET BY      TITLE
    fix   repository  Fix
    log   yours       Update the changelog.
    ");
    env.run_json(["-t", "fix", "the crash", "--agent", WRITES]);
    assert!(said(&env, "T-1").contains("Fix this: the crash\n\nAdd a test."), "{}", said(&env, "T-1"));
    // One without a place for it needs none.
    env.run_json(["-t", "log", "--agent", WRITES]);
    assert!(said(&env, "T-2").contains("Update the changelog."), "{}", said(&env, "T-2"));
    let _ = env.dandori(["run", "-t", "../fix", "x"]).fails(2);
}

#[test]
fn without_an_instruction_the_editor_opens_and_its_text_is_not_lost() {
    let mut env = machine();
    let said_none = env.dandori(["run"]).fails(2);
    assert!(said_none.contains("- to read it from stdin"), "{said_none}");
    env.var("EDITOR", "sh -c 'printf \"# Do it\\nwell\\n\\n\" | cat - \"$0\" > \"$0.new\" && mv \"$0.new\" \"$0\"'");
    let screen = at_terminal(&env, &format!("dandori run --agent '{WRITES}'"));
    assert!(screen.contains("T-1"), "{screen}");
    assert!(said(&env, "T-1").starts_with("# Do it\nwell"), "{}", said(&env, "T-1"));
    assert_eq!(std::fs::read_dir(env.state().join("drafts")).unwrap().count(), 0);
    // Refused: the text is where the note says.
    let screen = at_terminal(&env, "dandori run --agent nobody-has-this");
    let note = screen.split('`').find(|part| part.starts_with("dandori run -f ")).unwrap_or_else(|| panic!("{screen}"));
    let draft = note.trim_start_matches("dandori run -f ");
    assert_eq!(std::fs::read_to_string(draft).unwrap(), "# Do it\nwell\n");
    env.run_json(["-f", draft, "--agent", WRITES]);
    assert!(said(&env, "T-2").starts_with("# Do it\nwell"));
    // Nothing written, nothing done.
    env.var("EDITOR", "true");
    let screen = at_terminal(&env, "dandori run");
    assert!(screen.contains("canceled"), "{screen}");
}

#[test]
fn a_worktree_is_found_by_its_task_and_one_can_go_there() {
    let mut env = machine();
    env.run_json(["x", "--agent", WRITES]);
    let shown = env.dandori(["task", "show", "T-1", "--json"]).json();
    let (key, path) = (shown["runs"][0]["run"].as_str().unwrap(), shown["runs"][0]["worktree"].as_str().unwrap());
    let branch = shown["runs"][0]["branch"].as_str().unwrap();
    for name in ["T-1", "1", key, branch] {
        assert_eq!(env.dandori(["worktree", "path", name]).ok().trim(), path, "{name}");
    }
    // A task is found from anywhere.
    assert_eq!(env.dandori_in(env.root(), ["worktree", "path", "T-1"]).ok().trim(), path);
    let _ = env.dandori(["worktree", "path", "nothing"]).fails(1);
    let shell = env.root().join("shell");
    std::fs::write(&shell, "#!/bin/sh\npwd > $HOME/went\n").unwrap();
    std::fs::set_permissions(&shell, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    env.var("SHELL", shell.as_str());
    let _ = env.dandori(["task", "open", "T-1"]).ok();
    assert_eq!(std::fs::read_to_string(env.home().join("went")).unwrap().trim(), path);
    env.var("EDITOR", "sh -c 'echo \"$0\" > $HOME/edited'");
    let _ = env.dandori(["task", "open", "T-1", "--editor"]).ok();
    assert_eq!(std::fs::read_to_string(env.home().join("edited")).unwrap().trim(), path);
    let _ = env.dandori(["worktree", "remove", key, "--keep-branch"]).ok();
    let said = env.dandori(["task", "open", "T-1"]).fails(1);
    let hint = said.split('`').nth(1).unwrap_or_else(|| panic!("{said}"));
    let words: Vec<&str> = hint.split(' ').skip(1).collect();
    let _ = env.dandori(words).ok();
}
