//! An order from its words to its pull request, by rehearsal agents.

use std::process::Stdio;

use dandori_testkit::env::{Ran, TestEnv, kill, wait_until};

use crate::machine;

fn rehearsing() -> TestEnv {
    let env = machine();
    env.write_user_config(&format!("[formation]\nworkers = 2\nagent = \"exec:{} rehearse\"\n", env.bin()));
    env
}

const ORDER: &str = "Do both:\n- write a\n- write b\nrehearse: 1 write a.txt One\nrehearse: 2 write b.txt Two\n";

#[test]
fn an_order_is_followed_from_its_plan_to_its_pull_request() {
    let env = rehearsing();
    let ran = env.dandori(["order", ORDER]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for words in ["part-1", "part-2", "order #1: completed 2/2", "pull request #1: "] {
        assert!(ran.stdout.contains(words), "{words} in\n{}", ran.stdout);
    }
    assert!(ran.stderr.contains("order #1 given to the planner, 2 demands"), "{}", ran.stderr);
    let shown = env.dandori(["order", "show", "1", "--json"]).json();
    assert_eq!(
        (&shown["state"], &shown["pr"]["number"], &shown["is_done"]),
        (&"completed".into(), &1.into(), &false.into())
    );
    let results = shown["results"].as_array().unwrap();
    assert_eq!(results.iter().filter(|result| result["applied"] == true).count(), 3, "{shown:#}");
    // Both came together in one branch.
    let diff = env.dandori(["pr", "diff", "1"]).ok();
    assert!(diff.contains("a.txt") && diff.contains("b.txt"), "{diff}");
    // For those who look at a page.
    let page = || {
        let mut folders = std::fs::read_dir(env.state().join("repos")).unwrap();
        folders.find_map(|entry| std::fs::read_to_string(entry.unwrap().path().join("dashboard.md")).ok())
    };
    wait_until("the page has it", || page().is_some_and(|page| page.contains("#1") && page.contains("worker2")));
    let sound = env.dandori(["doctor", "--formation"]).ok();
    assert!(sound.contains("1 orders, 2 tasks"), "{sound}");
}

#[test]
fn nobody_works_on_a_plan_before_it_is_approved() {
    let env = rehearsing();
    env.dandori(["order", ORDER, "--review", "--detach"]).ok();
    let order = || env.dandori(["order", "show", "1", "--json"]).json();
    wait_until("it is planned", || order()["state"] == "sealed");
    let tasks = order()["tasks"].as_array().unwrap().clone();
    assert!(tasks.iter().all(|task| task["state"] == "ready"), "{tasks:#?}");
    let shown = env.dandori(["order", "show", "1"]).ok();
    assert!(shown.contains("the plan waits for approval"), "{shown}");
    assert!(env.dandori(["order", "approve", "1"]).ok().contains("plan of #1 approved"));
    let followed = env.dandori(["order", "show", "1", "--follow"]);
    assert_eq!(followed.code, 0, "{followed:?}");
    assert!(followed.stdout.contains("pull request #1: "), "{followed:?}");
}

#[test]
fn whoever_leaves_is_told_how_to_come_back_and_the_work_goes_on() {
    let env = rehearsing();
    let order = "Do both:\n- write a\n- write b\nrehearse: 1 wait-for go.txt\nrehearse: 2 write b.txt Two\n";
    let mut command = env.prepared(&env.repo(), ["order", order]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let state = || env.dandori(["order", "show", "1", "--json"]).json();
    wait_until("somebody works on it", || {
        state()["tasks"].as_array().is_some_and(|tasks| tasks.iter().any(|task| task["state"] == "running"))
    });
    kill(child.id(), "-INT");
    let left = Ran::of(&child.wait_with_output().unwrap());
    assert_eq!(left.code, 130, "{left:?}");
    assert!(left.stderr.contains("`dandori order show 1 --follow`"), "{left:?}");
    assert_eq!(state()["state"], "sealed");
    let canceled = env.dandori(["order", "cancel", "1"]).ok();
    assert!(canceled.contains("is being canceled"), "{canceled}");
    wait_until("its agents are stopped", || {
        state()["tasks"].as_array().unwrap().iter().all(|task| task["state"] != "running")
    });
}
