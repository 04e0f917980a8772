//! Completion, as a shell asks for it.

use std::process::Command;

use dandori_testkit::env::{Ran, TestEnv};

use crate::machine;

const EDITS: &str = "exec:echo hello > hello.txt";

/// What the shell gets for a line whose last word is being typed.
fn asked(env: &TestEnv, shell: &str, words: &[&str]) -> String {
    let mut command = env.prepared(&env.repo(), ["--", "dandori"]);
    command.args(words).env("DANDORI_COMPLETE", shell).env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    command.env("_CLAP_IFS", "\n");
    let ran = Ran::of(&command.output().unwrap());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "nothing is said into the prompt: {ran:?}");
    ran.stdout
}

fn values(env: &TestEnv, words: &[&str]) -> Vec<String> {
    // Where nothing is typed yet, options are offered too.
    let offered = asked(env, "bash", words);
    offered.lines().filter(|value| !value.starts_with('-')).map(str::to_owned).collect()
}

#[test]
fn tasks_runs_worktrees_and_pull_requests_come_from_the_daemon() {
    let env = machine();
    let first = env.run_json(["Say hello", "--agent", EDITS, "--pr"]);
    let _ = env.run_json(["Say goodbye", "--agent", EDITS]);
    let key = first["runs"][0]["run"].as_str().unwrap().to_owned();
    let branch = first["runs"][0]["branch"].as_str().unwrap().to_owned();
    for verb in ["show", "follow-up", "retry", "cancel", "compare"] {
        assert_eq!(values(&env, &["task", verb, ""]), ["T-2", "T-1"], "{verb}");
        assert_eq!(values(&env, &["task", verb, "T-1"]), ["T-1"], "{verb}");
    }
    assert_eq!(values(&env, &["task", "cancel", "T-1", "t-2"]), ["T-2"], "each of several");
    // A run's key may begin so too.
    assert_eq!(values(&env, &["task", "show", "1"])[0], "1");
    assert_eq!(values(&env, &["task", "show", "#2"]), ["#2"]);
    assert_eq!(values(&env, &["task", "show", &key[..6]]), [key.as_str()]);
    assert!(values(&env, &["task", "log", &key[..6]]).contains(&key));
    assert!(values(&env, &["worktree", "remove", "dandori/"]).contains(&branch));
    assert_eq!(values(&env, &["pr", "show", ""]), ["1"]);
    // Only what a command can be done with.
    assert_eq!(values(&env, &["task", "pick", "T-1", ""]), [key.as_str()], "runs of the task");
    assert_eq!(values(&env, &["pr", "merge", ""]), ["1"]);
    let _ = env.dandori(["pr", "close", "1"]).ok();
    assert!(values(&env, &["pr", "merge", ""]).is_empty(), "it is closed");
    assert_eq!(values(&env, &["pr", "reopen", ""]), ["1"]);
    let failed = env.dandori(["run", "fail", "--agent", "exec:false", "--json"]).json();
    assert_eq!(failed["runs"][0]["state"], "FAILED", "{failed}");
    let inbox = env.dandori(["inbox", "--json"]).json();
    let id = inbox["needs"][0]["id"].as_str().unwrap().to_owned();
    for verb in ["show", "dismiss", "snooze"] {
        assert!(values(&env, &["inbox", verb, ""]).contains(&id), "{verb}");
    }
    env.git(["update-ref", "refs/dandori/preserved/abc", "HEAD"]);
    assert_eq!(values(&env, &["worktree", "restore", ""]), ["refs/dandori/preserved/abc"]);
    // With what they are about, where a shell can show that.
    let zsh = asked(&env, "zsh", &["task", "show", ""]);
    assert!(zsh.contains("T-1:Say hello"), "{zsh}");
    let fish = asked(&env, "fish", &["task", "show", "T-2"]);
    assert_eq!(fish.trim_end(), "T-2\tSay goodbye");
}

#[test]
fn branches_bases_agents_and_keys_need_no_daemon_and_none_is_started() {
    let env = machine();
    env.git(["branch", "feature/one"]);
    env.git(["tag", "v1"]);
    assert_eq!(values(&env, &["run", "x", "--base", "feat"]), ["feature/one"]);
    let bases = values(&env, &["run", "x", "--base", ""]);
    for base in ["HEAD", "main", "origin/main", "v1", "feature/one"] {
        assert!(bases.iter().any(|found| found == base), "{base}: {bases:?}");
    }
    env.write("dandori.toml", "[agents.mine]\ncommand = \"true\"\n");
    let agents = values(&env, &["run", "x", "--agent", ""]);
    assert!(agents.iter().any(|a| a == "claude") && agents.iter().any(|a| a == "mine"), "{agents:?}");
    assert_eq!(values(&env, &["state", "set", "playbook.b"]), ["playbook.branch"]);
    assert!(values(&env, &["task", "show", ""]).is_empty(), "nothing is known without it");
    assert!(values(&env, &["task", "sh"]).contains(&"show".to_owned()));
    assert_eq!(values(&env, &["task", "list", "--state", "fail"]), ["failed"]);
    assert!(env.daemon_pid().is_none(), "a daemon was started");
}

#[test]
fn outside_of_a_repository_and_with_a_broken_configuration_nothing_is_said() {
    let env = TestEnv::without_repository(env!("CARGO_BIN_EXE_dandori"));
    env.write_user_config("this is not toml");
    for words in
        [&["task", "show", ""][..], &["run", "x", "--base", ""], &["run", "x", "--agent", ""], &["nonsense", ""]]
    {
        let _ = asked(&env, "bash", words);
    }
    assert!(env.daemon_pid().is_none());
}

/// The scripts are read by the shells themselves, where they are installed.
#[test]
fn the_scripts_are_understood_by_their_shells() {
    let env = machine();
    let _ = env.run_json(["Say hello", "--agent", EDITS]);
    let folder = env.root().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_dandori"), folder.join("dandori")).unwrap();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    let script = "source <(dandori completions bash)
        COMP_WORDS=(dandori task show T-); COMP_CWORD=3; COMP_TYPE=9
        _clap_complete_dandori dandori T- show; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let ran = Command::new("bash")
        .args(["-c", script])
        .env_clear()
        .envs([("PATH", path.as_str()), ("HOME", env.home().as_str()), ("LANG", "C.UTF-8")])
        .env("DANDORI_STATE_DIR", env.state())
        .current_dir(env.repo())
        .output()
        .unwrap();
    let ran = Ran::of(&ran);
    assert_eq!(ran.stdout.trim(), "T-1", "{ran:?}");
    for shell in ["bash", "zsh", "fish"] {
        let script = env.dandori(["completions", shell]).ok();
        assert!(script.contains("DANDORI_COMPLETE") && script.contains("dandori"), "{shell}: {script}");
    }
    for (lang, word) in [("en", "Install, once:"), ("ja", "設定方法")] {
        let help = env.dandori(["completions", "--help", "--lang", lang]).ok();
        assert!(help.contains(word) && help.contains("~/.bashrc"), "{help}");
    }
}
