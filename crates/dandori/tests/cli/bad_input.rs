//! Bad input: one clear error each, and nothing changed.

use dandori_testkit::env::{TestEnv, wait_until};

use crate::{machine, worktree_of};

/// The refusal, after seeing that no task, branch or worktree came of it.
fn refused(env: &TestEnv, args: &[&str]) -> String {
    let words: Vec<&str> = std::iter::once("run").chain(args.iter().copied()).collect();
    let said = env.dandori(&words).fails(1);
    assert!(said.starts_with("error: "), "{said}");
    let tasks = env.dandori_in(env.root(), ["task", "list", "--all", "--json"]).json();
    assert_eq!(tasks["total"], 0, "nothing was taken on");
    said
}

#[test]
fn a_folder_that_is_no_repository() {
    let env = TestEnv::without_repository(env!("CARGO_BIN_EXE_dandori"));
    let said = refused(&env, &["x", "--agent", "exec:true"]);
    assert!(said.contains("is not in a git repository") && said.contains("git init"), "{said}");
}

#[test]
fn a_repository_of_another_user() {
    let mut env = machine();
    let bin = env.root().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let git = env.command("sh", ["-c", "command -v git"], env.root());
    let script = format!("#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {git} \"$@\"\n");
    std::fs::write(env.root().join("script"), script).unwrap();
    // By a process of its own: what another test starts meanwhile would hold ours open, and it could not be run.
    env.command("cp", [env.root().join("script"), bin.join("git")], env.root());
    env.command("chmod", ["+x", bin.join("git").as_str()], env.root());
    let path = std::env::var("PATH").unwrap();
    env.var("PATH", format!("{bin}:{path}"));
    std::fs::create_dir_all(env.repo().join("deep")).unwrap();
    let said = env.dandori_in(&env.repo().join("deep"), ["run", "x", "--agent", "exec:true"]).fails(1);
    let remedy = format!("git config --global --add safe.directory {}", env.repo());
    assert!(said.contains("another user") && said.contains(&remedy), "{said}");
    let said = env.dandori_in(env.root(), ["run", "x", "--agent", "exec:true"]).fails(1);
    assert!(said.contains("is not in a git repository"), "{said}");
    // The remedy is one.
    env.git(["config", "--global", "--add", "safe.directory", env.repo().as_str()]);
    let answer = env.run_json(["x", "--agent", "exec:true"]);
    assert_eq!(answer["runs"][0]["state"], "SUCCEEDED", "{answer}");
}

#[test]
fn a_repository_that_was_moved_since() {
    let env = machine();
    env.write_user_config("[runs]\nmax_parallel = 1\n");
    env.run_json(["x", "--agent", "exec:echo x > x.txt"]);
    env.run_json(["hold", "--agent", "exec:while [ ! -e go ]; do sleep 0.05; done", "--detach"]);
    env.run_json(["later", "--agent", "exec:true", "--detach"]);
    // Its worktree is made: nobody is at work in the repository while it moves.
    dandori_testkit::env::wait_for("it runs", || {
        let state = env.dandori(["task", "show", "T-2", "--json"]).json()["runs"][0]["state"].clone();
        Some(()).filter(|()| state == "RUNNING")
    });
    let holding = worktree_of(&env, "T-2", 0);
    let moved = env.root().join("moved");
    std::fs::rename(env.repo(), &moved).unwrap();
    let gone = |said: String| {
        assert!(
            said.contains(&format!("repository {} not found", env.repo())) && said.contains("move it back"),
            "{said}"
        );
    };
    gone(env.dandori_in(&moved, ["task", "follow-up", "T-1", "more"]).fails(1));
    gone(env.dandori_in(&moved, ["task", "compare", "T-1"]).fails(1));
    let report = env.dandori_in(&moved, ["doctor", "--json"]).json();
    let told = report["checks"].as_array().unwrap().iter().find(|c| c["problem"]["code"] == "repository_gone").unwrap();
    assert!(told["hint"].as_str().unwrap().contains("move it back"), "{told}");
    // One that waited fails with the reason.
    std::fs::write(holding.join("go"), "").unwrap();
    let settled = || env.dandori_in(&moved, ["task", "show", "T-3", "--json"]).json()["runs"][0].clone();
    let run = dandori_testkit::env::wait_for("it is over", || Some(settled()).filter(|r| r["settled"] == true));
    assert_eq!((&run["state"], &run["error"]["code"]), (&"FAILED".into(), &"repository_gone".into()), "{run}");
    let shown = env.dandori_in(&moved, ["task", "show", "T-3"]).ok();
    assert!(shown.contains("was moved or deleted") && shown.contains("dandori task retry"), "{shown}");
    std::fs::rename(&moved, env.repo()).unwrap();
    let again = env.dandori(["task", "retry", "T-3", "--json"]).json();
    assert_eq!(again["runs"][0]["state"], "SUCCEEDED", "{again}");
}

/// Moves the repository while its run is at work; the run, once it is over.
fn moved_meanwhile(env: &TestEnv, agent: &str) -> (serde_json::Value, camino::Utf8PathBuf) {
    let agent = format!("exec:echo at work; until [ -e go ]; do sleep 0.02; done; rm go; {agent}");
    env.run_json(["x", "--agent", &agent, "--detach"]);
    wait_until("it runs", || env.dandori(["task", "log", "1", "--raw"]).stdout.contains("at work"));
    let (tree, moved) = (worktree_of(env, "T-1", 0), env.root().join("moved"));
    std::fs::rename(env.repo(), &moved).unwrap();
    std::fs::write(tree.join("go"), "").unwrap();
    let run = || env.dandori_in(&moved, ["task", "show", "T-1", "--json"]).json()["runs"][0].clone();
    wait_until("it is over", || run()["settled"] == true);
    (run(), moved)
}

#[test]
fn a_repository_that_is_moved_during_a_run_is_not_the_agent_s_fault() {
    let env = machine();
    let (run, moved) = moved_meanwhile(&env, "echo x > x.txt");
    assert_eq!((&run["state"], &run["error"]["code"]), (&"FAILED".into(), &"repository_gone".into()), "{run}");
    let shown = env.dandori_in(&moved, ["task", "show", "T-1"]).ok();
    assert!(shown.contains("was moved or deleted") && !shown.contains("may not do"), "{shown}");
    let tree = camino::Utf8PathBuf::from(run["worktree"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(tree.join("x.txt")).unwrap(), "x\n", "the work is kept");
    // What it says to do helps, and the agent's work is not done again.
    std::fs::rename(&moved, env.repo()).unwrap();
    let again = env.dandori(["task", "retry", "T-1", "--json"]).json();
    assert_eq!(again["runs"][0]["state"], "SUCCEEDED", "{again}");
    assert_eq!(again["runs"][0]["id"], run["id"], "it is the same run, taken up where it failed: {again}");
    let branch = again["runs"][0]["branch"].as_str().unwrap();
    assert_eq!(env.git(["show", &format!("{branch}:x.txt")]), "x");
}

#[test]
fn a_repository_without_a_commit() {
    let env = TestEnv::without_repository(env!("CARGO_BIN_EXE_dandori"));
    env.git(["init", "--quiet"]);
    assert!(refused(&env, &["x", "--agent", "exec:true"]).contains("has no commits yet"));
}

#[test]
fn a_base_that_does_not_exist() {
    let env = machine();
    let said = refused(&env, &["x", "--agent", "exec:true", "--base", "mian"]);
    assert!(said.contains("base `mian` not found") && said.contains("main"), "{said}");
}

#[test]
fn an_agent_that_is_missing_or_unknown() {
    let mut env = machine();
    let bin = env.root().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    for program in ["git", "sh"] {
        let path = env.command("sh", ["-c", &format!("command -v {program}")], env.root());
        std::os::unix::fs::symlink(path, bin.join(program)).unwrap();
    }
    env.var("PATH", bin.as_str());
    let said = refused(&env, &["x", "--agent", "claude"]);
    assert!(said.contains("agent claude is not installed") && said.contains("npm install"), "{said}");
    let said = refused(&env, &["x", "--agent", "clod"]);
    assert!(said.contains("unknown agent `clod`"), "{said}");
}

#[test]
fn a_configuration_that_is_wrong_or_not_trusted() {
    let env = machine();
    env.write("dandori.toml", "agnt = \"claude\"\n");
    let said = refused(&env, &["x", "--agent", "exec:true"]);
    assert!(said.contains("dandori.toml") && said.contains("did you mean `agent`?"), "{said}");
    env.write("dandori.toml", "[agents.mine]\ncommand = \"touch /tmp/evil\"\n");
    let said = refused(&env, &["x", "--agent", "mine"]);
    assert!(
        said.contains("not trusted") && said.contains("touch /tmp/evil") && said.contains("dandori trust"),
        "{said}"
    );
}

#[test]
fn the_configuration_of_a_worktree_is_never_read() {
    let env = machine();
    let answer = env.run_json(["x", "--agent", "exec:printf 'agent = \"exec:false\"\\npr = true\\n' > dandori.toml"]);
    assert_eq!(answer["runs"][0]["state"], "SUCCEEDED", "{answer}");
    let again = env.dandori(["task", "follow-up", "T-1", "more", "--json"]).json();
    assert_eq!((&again["runs"][0]["state"], &again["runs"][0]["pr"]), (&"SUCCEEDED".into(), &serde_json::Value::Null));
}

#[test]
fn an_instruction_that_is_empty_or_too_long() {
    let env = machine();
    assert!(refused(&env, &["  \n", "--agent", "exec:true"]).contains("the instruction is empty"));
    std::fs::write(env.root().join("long.txt"), "x".repeat(1024 * 1024 + 1)).unwrap();
    let path = env.root().join("long.txt");
    let said = refused(&env, &["--file", path.as_str(), "--agent", "exec:true"]);
    assert!(said.contains("1048577 bytes") && said.contains("1048576"), "{said}");
}

#[test]
fn an_instruction_of_a_mebibyte_arrives_whole() {
    let env = machine();
    let path = env.root().join("long.txt");
    // Every character grows when it is written as JSON.
    std::fs::write(&path, "\"".repeat(1024 * 1024)).unwrap();
    let answer = env.run_json([
        "--file",
        path.as_str(),
        "--agent",
        "exec:wc -c < \"$DANDORI_INSTRUCTION_FILE\" > n.txt; wc -c > m.txt",
    ]);
    assert_eq!(answer["runs"][0]["state"], "SUCCEEDED", "{answer}");
    let branch = answer["runs"][0]["branch"].as_str().unwrap();
    let counted: usize = env.git(["show", &format!("{branch}:m.txt")]).trim().parse().unwrap();
    assert!(counted >= 1024 * 1024 - 2, "{counted}");
}

#[test]
fn errors_are_in_japanese_for_those_who_read_it_and_json_for_those_who_parse_it() {
    let env = machine();
    let ran = env.dandori(["run", " ", "--agent", "exec:true", "--lang", "ja"]);
    assert!(ran.stderr.starts_with("エラー: 指示が空です"), "{}", ran.stderr);
    let ran = env.dandori(["run", " ", "--agent", "exec:true", "--json"]);
    assert_eq!(ran.json()["error"]["code"], "empty_instruction");
    assert_eq!(env.dandori(["run"]).code, 2, "wrong usage");
    assert_eq!(env.dandori(["task", "show", "T-99"]).code, 1);
}
