//! Whose environment counts for what: the agent gets the caller's, the daemon's own commands keep the daemon's.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_testkit::env::TestEnv;

use crate::machine;

/// A program that leaves a trace and then does what it stands for.
fn decoy(env: &TestEnv, folder: &Utf8Path, name: &str, then: &str) -> Utf8PathBuf {
    let trace = env.root().join(format!("{name}-ran"));
    std::fs::create_dir_all(folder).unwrap();
    let script = env.root().join("script");
    std::fs::write(&script, format!("#!/bin/sh\necho ran >> {trace}\n{then}\n")).unwrap();
    // By a process of its own: what another test starts meanwhile would hold ours open, and it could not be run.
    env.command("cp", [script.as_str(), folder.join(name).as_str()], env.root());
    env.command("chmod", ["+x", folder.join(name).as_str()], env.root());
    trace
}

#[test]
fn the_daemon_s_own_git_and_gh_do_not_come_from_a_request() {
    let mut env = machine();
    let _ = env.dandori(["daemon", "start"]).ok();
    let bin = env.root().join("bin");
    let git = env.command("sh", ["-c", "command -v git"], env.root());
    let decoys = [
        decoy(&env, &bin, "git", &format!("exec {git} \"$@\"")),
        decoy(&env, &bin, "gh", "exit 1"),
        decoy(&env, &bin, "secret-tool", "exit 1"),
        decoy(&env, &bin, "ssh", "exit 1"),
    ];
    let path = std::env::var("PATH").unwrap();
    env.var("PATH", format!("{bin}:{path}"));
    decoy(&env, &bin, "only-mine", "exit 0");
    for (name, value) in [
        ("GIT_EXEC_PATH", bin.as_str()),
        ("GIT_SSH_COMMAND", bin.join("ssh").as_str()),
        ("GIT_SSH", bin.join("ssh").as_str()),
        ("GIT_ASKPASS", bin.join("ssh").as_str()),
        ("GIT_PROXY_COMMAND", bin.join("ssh").as_str()),
        ("GIT_CONFIG_GLOBAL", env.root().join("evil.gitconfig").as_str()),
        ("XDG_CONFIG_HOME", env.root().join("evil").as_str()),
        ("LD_PRELOAD", env.root().join("evil.so").as_str()),
    ]
    .map(|(name, value)| (name, value.to_owned()))
    {
        env.var(name, value);
    }
    std::fs::write(env.root().join("evil.gitconfig"), "[core]\n\tsshCommand = evil\n[user]\n\tname = Evil\n").unwrap();
    // Only `dandori` itself is run this way: the test's own git would obey.
    env.unset("LD_PRELOAD");
    let answer = env.run_json(["x", "--agent", "exec:only-mine && echo x > x.txt"]);
    assert_eq!(answer["runs"][0]["state"], "SUCCEEDED", "the agent has its caller's PATH: {answer}");
    let _ = env.dandori(["worktree", "add", "mine"]).ok();
    let _ = env.dandori(["pr", "create", "T-1"]).ok();
    for trace in decoys {
        assert!(!trace.exists(), "{trace}");
    }
    let branch = answer["runs"][0]["branch"].as_str().unwrap();
    env.unset("GIT_CONFIG_GLOBAL").unset("GIT_EXEC_PATH");
    assert_eq!(env.command(&git, ["log", "-1", "--format=%an", branch], &env.repo()), "Test User");
}

#[test]
fn a_request_still_says_who_commits() {
    let mut env = machine();
    let _ = env.dandori(["daemon", "start"]).ok();
    env.var("GIT_AUTHOR_NAME", "Somebody").var("GIT_AUTHOR_EMAIL", "somebody@example.com");
    let answer = env.run_json(["x", "--agent", "exec:echo x > x.txt"]);
    let branch = answer["runs"][0]["branch"].as_str().unwrap();
    assert_eq!(env.git(["log", "-1", "--format=%an <%ae>", branch]), "Somebody <somebody@example.com>");
}

#[test]
fn a_program_in_the_folder_a_command_runs_in_is_not_run() {
    let mut env = machine();
    let path = std::env::var("PATH").unwrap();
    env.var("PATH", format!(".::{path}"));
    let _ = env.dandori(["daemon", "start"]).ok();
    let trace = env.root().join("git-ran");
    let agent =
        format!("exec:printf '#!/bin/sh\\necho ran >> {trace}\\nexec git-not \\\"$@\\\"\\n' > git; chmod +x git");
    let answer = env.run_json(["x", "--agent", &agent]);
    assert_eq!(answer["runs"][0]["state"], "SUCCEEDED", "{answer}");
    assert!(!trace.exists());
}
