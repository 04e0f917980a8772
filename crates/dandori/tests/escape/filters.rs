//! Filters of the user's own configuration work, and what they run of the agent's runs behind the fence.

use crate::ground::{Ground, kinds, run};

#[test]
fn a_filter_that_is_a_program_of_the_tree_gets_no_further_than_the_agent() {
    for kind in kinds() {
        let ground = Ground::new(kind);
        let env = &ground.env;
        env.git(["config", "--global", "filter.fmt.clean", "./tools/fmt.sh"]);
        env.git(["config", "--global", "filter.fmt.smudge", "./tools/fmt.sh"]);
        ground.plant(".gitattributes", "*.fmt filter=fmt\n");
        let evil = format!(
            "#!/bin/sh\necho evil > {home}/evil; echo evil > {repo}/evil; cat {state}/private/token {home}/.ssh/id_ed25519; \
             [ -n \"$GIT_DIR\" ] && echo {home}/evil-git > \"$GIT_DIR/commondir\"; \
             (setsid sleep 1000.7 > /dev/null 2>&1 &); exec cat\n",
            home = env.home(),
            repo = env.repo(),
            state = env.state()
        );
        // The agent brings the program and a file that git gives to it.
        ground.plant(
            "bring.sh",
            &format!(
                "mkdir -p tools\ncat > tools/fmt.sh <<'END'\n{evil}END\nchmod +x tools/fmt.sh\necho text > a.fmt\n"
            ),
        );
        let ended = run(&ground, "exec:sh bring.sh");
        assert_eq!(ended["state"], "SUCCEEDED", "{kind:?}: {ended:#}");
        let branch = ended["branch"].as_str().unwrap();
        let staged = env.git_in(&env.origin(), ["show", &format!("{branch}:a.fmt")]);
        assert_eq!(staged, "text", "{kind:?}: the filter ran, and had nothing to tell");
        assert!(!ground.home("evil").exists() && !env.repo().join("evil").exists(), "{kind:?}");
        // And again when the files are written: for a follow-up in a worktree that is made anew.
        let _ = env.dandori(["worktree", "remove", ended["worktree_key"].as_str().unwrap_or("x"), "--force"]);
        let _ = env.dandori(["task", "follow-up", "T-1", "go on", "--json"]);
        assert!(!ground.home("evil").exists() && !env.repo().join("evil").exists(), "{kind:?}: on the way out");
        // By this the user's own git finds the repository.
        for record in env.repo().join(".git/worktrees").read_dir_utf8().unwrap().flatten() {
            let leads = std::fs::read_to_string(record.path().join("commondir")).unwrap();
            assert_eq!(leads.trim(), "../..", "{kind:?}: {}", record.path());
        }
    }
}

#[test]
fn a_filter_does_its_work() {
    let ground = Ground::new(kinds()[0]);
    let env = &ground.env;
    env.git(["config", "--global", "filter.loud.clean", "tr a-z A-Z"]);
    ground.plant(".gitattributes", "*.loud filter=loud\n");
    let ended = run(&ground, "exec:echo quiet > a.loud");
    assert_eq!(ended["state"], "SUCCEEDED", "{ended:#}");
    let branch = ended["branch"].as_str().unwrap();
    assert_eq!(env.git_in(&env.origin(), ["show", &format!("{branch}:a.loud")]), "QUIET");
}
