//! What cannot be written: refused before the work, given up after it.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_testkit::env::{Ran, TestEnv, wait_until};

use crate::machine;

/// Waits for the file `go`, and changes nothing.
const LOOKS: &str = "exec:echo at work; until [ -e go ]; do sleep 0.02; done; rm go";

#[test]
fn a_clean_up_that_cannot_be_done_is_given_up_after_five_tries_and_said_so() {
    let env = machine();
    let _ = env.dandori(["run", "look", "--agent", LOOKS, "--detach"]).ok();
    wait_until("the agent is at work", || env.dandori(["task", "log", "1", "--raw"]).stdout.contains("at work"));
    let shown = env.dandori(["task", "show", "1", "--json"]).json();
    let worktree = Utf8PathBuf::from(shown["runs"][0]["worktree"].as_str().unwrap());
    // A file where the folder should be stops whoever it is, root included.
    let trash = worktree.parent().unwrap().with_file_name("trash");
    std::fs::remove_dir_all(&trash).unwrap();
    std::fs::write(&trash, "in the way").unwrap();
    std::fs::write(worktree.join("go"), "").unwrap();
    wait_until("it is over", || env.dandori(["task", "show", "1", "--json"]).json()["runs"][0]["settled"] == true);
    let run = env.dandori(["task", "show", "1", "--json"]).json()["runs"][0].clone();
    assert_eq!(run["state"], "SUCCEEDED", "the clean-up is not the run: {run}");
    assert_eq!(run["notes"][0]["note"], "not_cleaned_up", "{run}");
    assert!(env.dandori(["task", "show", "1"]).ok().contains("cannot remove the worktree"));
    assert!(worktree.is_dir(), "what could not be removed is still there");
    let log = std::fs::read_to_string(env.state().join("daemon.log")).unwrap();
    let tries = log.lines().filter(|l| l.contains("a step failed") && l.contains("step=\"remove\"")).count();
    assert_eq!(tries, 5, "{log}");

    std::fs::remove_file(&trash).unwrap();
    let _ = env.dandori(["worktree", "remove", worktree.as_str()]).ok();
    assert!(!worktree.exists());
    assert_eq!(env.git(["for-each-ref", "refs/heads/dandori"]), "");
}

#[test]
fn a_repository_that_cannot_be_written_is_refused() {
    let env = machine();
    let git_dir = env.repo().join(".git");
    set_mode(&git_dir, 0o555);
    let refused = as_anybody(&env, &git_dir, &["run", "x", "--agent", "exec:true"]);
    let listed = as_anybody(&env, &git_dir, &["task", "list", "--json"]);
    set_mode(&git_dir, 0o755);
    let said = refused.fails(3);
    assert!(said.contains(git_dir.as_str()) && said.contains("cannot be written"), "{said}");
    assert_eq!(listed.json()["total"], 0, "nothing was taken on");
}

fn set_mode(path: &Utf8Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// dandori as somebody whom permissions concern: root as well, when it goes without the right to pass over them.
fn as_anybody(env: &TestEnv, closed: &Utf8Path, args: &[&str]) -> Ran {
    const WITHOUT: [&str; 3] = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"];
    let can_write = |prefix: &[&str]| {
        let words = [prefix, &["test", "-w", closed.as_str()]].concat();
        Command::new(words[0]).args(&words[1..]).status().unwrap().success()
    };
    let plain = env.prepared(&env.repo(), args);
    if !can_write(&[]) {
        return Ran::of(&{ plain }.output().unwrap());
    }
    assert!(!can_write(&WITHOUT), "as root this needs setpriv and the right to give rights up");
    let mut command = Command::new(WITHOUT[0]);
    command.args(&WITHOUT[1..]).arg(plain.get_program()).args(plain.get_args());
    command.env_clear().envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Ran::of(&command.current_dir(env.repo()).output().unwrap())
}
