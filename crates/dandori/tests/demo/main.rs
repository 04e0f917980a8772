//! `dandori demo` as the first thing a user sees: in a pipe, on a machine with nothing but git.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail as a test does")]
#![expect(clippy::disallowed_methods, reason = "a test is its own edge")]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_testkit::env::{Ran, TestEnv, kill, wait_until};
use serde_json::Value;

/// A machine whose user has never told git who he is.
fn machine() -> TestEnv {
    let env = TestEnv::without_repository(env!("CARGO_BIN_EXE_dandori"));
    std::fs::remove_file(env.home().join(".gitconfig")).unwrap();
    env
}

/// Plays the demo in a folder we know.
fn demo(env: &TestEnv, args: &[&str]) -> (Ran, Utf8PathBuf) {
    let folder = env.root().join("show");
    let ran = env.dandori_in(env.root(), [&["demo", "--dir", folder.as_str()], args].concat());
    (ran, folder)
}

/// What still runs and has to do with this folder.
fn processes_of(folder: &Utf8Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse::<u32>().ok()) else { continue };
        let of = |file: &str| {
            let bytes = std::fs::read(entry.path().join(file)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).replace('\0', " ")
        };
        let cwd = std::fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        let line = of("cmdline");
        let ours = line.contains(folder.as_str()) || of("environ").contains(folder.as_str()) || cwd.starts_with(folder);
        if ours && pid != std::process::id() && !line.trim().is_empty() {
            found.push(format!("{pid} {line}"));
        }
    }
    found
}

/// The words of the state column of a task's lines, in order.
fn states(story: &str, task: &str) -> Vec<String> {
    let head = format!("   {task}  ");
    let word = |line: &str| line.strip_prefix(&head)?.split("  ").next().map(|w| w.trim().to_owned());
    story.lines().filter_map(word).filter(|w| !w.is_empty()).collect()
}

#[test]
fn it_plays_every_state_and_leaves_what_it_promised() {
    let env = machine();
    let (ran, folder) = demo(&env, &[]);
    let story = ran.ok();

    let whole = ["PENDING", "RUNNING", "STAGING", "COMMITTING", "PUSHING", "SUCCEEDED"];
    assert_eq!(states(&story, "T-1"), [whole, whole].concat(), "{story}");
    assert_eq!(states(&story, "T-2"), whole, "{story}");
    assert_eq!(states(&story, "T-3"), ["PENDING", "RUNNING", "CANCELED"], "{story}");
    assert!(story.contains("the remote was updated: rebased onto"), "{story}");
    assert!(!story.contains('\u{1b}') && !story.contains('✗'), "{story}");

    assert_eq!(processes_of(&folder), Vec::<String>::new());
    assert!(!env.state().exists(), "the user's own state root is untouched");
    assert!(!env.home().join(".gitconfig").exists() && !env.home().join(".config").exists());

    // The repository, looked at with git alone.
    let (repo, origin) = (folder.join("repo"), folder.join("origin.git"));
    let branches = env.git_in(&origin, ["for-each-ref", "--format=%(refname:short)", "refs/heads/dandori"]);
    assert_eq!(branches.lines().count(), 2, "{branches}");
    let subjects = env.git_in(&origin, ["log", "--format=%an: %s", "--branches", "--not", "main"]);
    assert_eq!(subjects.lines().count(), 4, "{subjects}");
    assert!(subjects.contains("Colleague: test: check the greeting"), "{subjects}");
    assert!(subjects.contains("You: feat: greet several people at once"), "{subjects}");
    let kept = env.git_in(&repo, ["for-each-ref", "--format=%(refname)", "refs/dandori/preserved"]);
    assert!(env.git_in(&repo, ["show", &format!("{kept}:greet.pl")]).contains("Hello"));
    assert_eq!(env.git_in(&repo, ["status", "--porcelain"]), "");
}

#[test]
fn what_it_leaves_can_be_worked_with() {
    let mut env = machine();
    let (ran, folder) = demo(&env, &[]);
    let story = ran.ok();
    let state = folder.join("state");
    assert!(story.contains(&format!("export DANDORI_STATE_DIR={state}")), "{story}");
    env.var("DANDORI_STATE_DIR", state.as_str());
    let repo = folder.join("repo");
    let pulls = env.dandori_in(&repo, ["pr", "list", "--json"]).json()["prs"].clone();
    assert_eq!(pulls.as_array().unwrap().len(), 2, "{pulls}");
    let restore = story.lines().find(|l| l.contains("dandori worktree restore")).unwrap();
    let key = restore.split_whitespace().nth(3).unwrap();
    let restored = env.dandori_in(&repo, ["worktree", "restore", key, "--json"]).json();
    let text = std::fs::read_to_string(Utf8Path::new(restored["worktree"].as_str().unwrap()).join("greet.pl")).unwrap();
    assert!(text.contains("Hello"), "{text}");
    // Another task, by the agent the repository's own configuration names.
    let task = env.dandori_in(&repo, ["run", "Say goodbye\n\nrehearse: write bye.txt Bye", "--json"]).json();
    assert_eq!(task["runs"][0]["state"], "SUCCEEDED", "{task}");
    assert_eq!(task["runs"][0]["pr"]["number"], 3, "{task}");
    env.dandori_in(&repo, ["daemon", "stop"]).ok();
}

#[test]
fn it_speaks_japanese() {
    let mut env = machine();
    env.var("LANG", "ja_JP.UTF-8");
    let (ran, folder) = demo(&env, &[]);
    let story = ran.ok();
    for words in ["2 つのタスクを並行して", "あいさつの誤字を修正して", "CANCELED", "チェックアウトは main のまま"]
    {
        assert!(story.contains(words), "{words}\n{story}");
    }
    let subjects = env.git_in(&folder.join("origin.git"), ["log", "--format=%s", "--branches"]);
    assert!(subjects.contains("fix: あいさつの誤字を修正して"), "{subjects}");
}

#[test]
fn json_is_one_object_and_a_second_demo_beside_it_does_not_matter() {
    let env = machine();
    let start = || {
        let mut command = env.prepared(env.root(), ["demo", "--json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let told: Vec<Value> = [start(), start()].into_iter().map(|demo| answer(demo, 0)).collect();
    for one in &told {
        assert_eq!(one["ok"], true, "{one}");
        assert_eq!(one["claims"].as_array().unwrap().len(), 8, "{one}");
        assert!(one["claims"].as_array().unwrap().iter().all(|c| c["ok"] == true), "{one}");
        assert_eq!(one["tasks"][0]["runs"].as_array().unwrap().len(), 2, "{one}");
        assert_eq!(one["tasks"][2]["runs"][0]["state"], "CANCELED", "{one}");
        assert_eq!(one["pulls"].as_array().unwrap().len(), 2, "{one}");
    }
    assert_ne!(told[0]["dir"], told[1]["dir"]);
    assert_eq!(processes_of(env.root()), Vec::<String>::new());
}

fn answer(demo: Child, code: i32) -> Value {
    let output = demo.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn it_needs_no_home() {
    let mut env = machine();
    env.unset("HOME").unset("DANDORI_STATE_DIR");
    let (ran, _) = demo(&env, &[]);
    ran.ok();
}

#[test]
fn an_interrupt_leaves_nothing_running() {
    let env = machine();
    let folder = env.root().join("show");
    let mut command = env.prepared(env.root(), ["demo", "--dir", folder.as_str()]);
    let mut demo = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut story = BufReader::new(demo.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("RUNNING") {
        line.clear();
        assert_ne!(story.read_line(&mut line).unwrap(), 0, "it ended before anything ran");
    }
    kill(demo.id(), "-INT");
    let mut rest = String::new();
    story.read_to_string(&mut rest).unwrap();
    let output = demo.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(String::from_utf8_lossy(&output.stderr).contains(folder.as_str()), "it says what it left");
    wait_until("everything has ended", || processes_of(&folder).is_empty());
}

#[test]
fn a_folder_with_something_in_it_is_refused_and_left_alone() {
    let env = machine();
    let folder = env.root().join("show");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("mine.txt"), "mine").unwrap();
    let (ran, _) = demo(&env, &[]);
    let said = ran.fails(2);
    assert!(said.contains("not empty"), "{said}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn it_does_not_claim_what_is_not_so() {
    let mut env = machine();
    // A git whose pushes go nowhere when the colleague makes them: nobody is overtaken.
    let git = env.command("sh", ["-c", "command -v git"], env.root());
    let script = format!("#!/bin/sh\ncase \"$PWD $1\" in */colleague\\ push) exit 0 ;; esac\nexec {git} \"$@\"\n");
    let bin = env.root().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::fs::write(bin.join("git"), script).unwrap();
    env.command("chmod", ["+x", bin.join("git").as_str()], env.root());
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap());
    env.var("PATH", path);
    let (ran, folder) = demo(&env, &[]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stdout.contains("✗ dandori/"), "{}", ran.stdout);
    assert!(ran.stderr.contains("daemon.log"), "{}", ran.stderr);
    assert_eq!(processes_of(&folder), Vec::<String>::new());
}
