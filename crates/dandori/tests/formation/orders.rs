//! Orders that rehearsal agents carry out, in their sandboxes, through the doors of their roles.

use dandori_testkit::env::{TestEnv, kill, wait_for};
use serde_json::Value;

use crate::machine;

const ORDER: &str = "Build a greeting:\n1. a page that greets\n2. a style sheet\n3. a test that checks both";

fn with_rehearsal() -> TestEnv {
    let env = machine();
    env.write_user_config("runs.max_parallel = 4\n[formation]\nagent = \"rehearsal\"\nworkers = 2\n");
    env
}

/// Every task's runs, by the title of the task.
fn runs(env: &TestEnv) -> Vec<(String, usize)> {
    let listed = env.dandori(["task", "list", "--all", "--json"]).json();
    let one = |task: &Value| (task["title"].as_str().unwrap().to_owned(), task["runs"].as_array().unwrap().len());
    let mut found: Vec<(String, usize)> = listed["tasks"].as_array().unwrap().iter().map(one).collect();
    found.sort();
    found
}

/// Exactly what the plan says was done, once, and it is in one pull request.
fn assert_done(env: &TestEnv) {
    let pulls = env.dandori(["pr", "list", "--state", "all", "--json"]).json();
    assert_eq!(pulls["total"], 1, "{pulls:#}");
    let head = pulls["prs"][0]["branch"].as_str().unwrap().to_owned();
    let files = env.git(["ls-tree", "-r", "--name-only", &head]);
    for part in ["part-1.md", "part-2.md", "part-3.md"] {
        assert_eq!(files.lines().filter(|file| *file == part).count(), 1, "{files}");
    }
    let merges = env.git(["log", "--merges", "--format=%s", &head]);
    assert_eq!(merges.lines().count(), 3, "{merges}");
    assert_eq!(merges.lines().filter(|line| line.starts_with("Merge part-3 into")).count(), 1, "{merges}");
    let own = ["a page that greets", "a style sheet", "a test that checks both"];
    let worked: Vec<(String, usize)> =
        runs(env).into_iter().filter(|(title, _)| own.contains(&title.as_str())).collect();
    assert_eq!(worked, own.map(|title| (title.to_owned(), 1)), "each task was worked on once");
}

#[test]
fn an_order_becomes_one_pull_request_while_its_giver_watches() {
    let env = with_rehearsal();
    let said = env.dandori(["order", ORDER]).ok();
    for line in ["part-3", "completed", "pull request #1"] {
        assert!(said.contains(line), "{line}:\n{said}");
    }
    assert_done(&env);
    let shown = env.dandori(["order", "show", "1", "--json"]).json();
    assert_eq!(shown["state"], "completed", "{shown:#}");
    // What was done for it is nobody's worry but the pull request's.
    let inbox = env.dandori(["inbox", "--json"]).json();
    assert_eq!(inbox["total"], 1, "{inbox:#}");
}

#[test]
fn an_order_outlives_the_daemon_however_often_it_is_killed() {
    let env = with_rehearsal();
    let _ = env.dandori(["order", ORDER, "--detach"]).ok();
    let mut deaths = 0;
    wait_for("the order is over", || {
        let shown = env.dandori(["order", "show", "1", "--json"]).json();
        if shown["state"] == "completed" {
            return Some(());
        }
        if deaths < 6 {
            deaths += 1;
            kill(env.daemon_pid()?, "-KILL");
        }
        None
    });
    wait_for("the pull request is there", || {
        (env.dandori(["pr", "list", "--state", "all", "--json"]).json()["total"] == 1).then_some(())
    });
    assert_done(&env);
}
