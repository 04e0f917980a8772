//! Trying again: once, however often it is asked for at the same moment.

use dandori_testkit::env::{TestEnv, wait_until};

use crate::{machine, worktree_of};

/// Fails once it is let go.
const FAILS: &str = "exec:until [ -e go ]; do sleep 0.02; done; rm go; exit 1";

/// Lets a run of the first task go, and waits for its end.
fn let_go(env: &TestEnv, run: usize) {
    std::fs::write(worktree_of(env, "T-1", run).join("go"), "").unwrap();
    wait_until("it is over", || env.dandori(["task", "show", "T-1", "--json"]).json()["runs"][run]["settled"] == true);
}

#[test]
fn six_retries_at_once_are_one_run_and_the_others_are_told_which() {
    let env = machine();
    env.write_user_config("[runs]\nmin_free_disk = \"1MiB\"\n");
    // None is over before the last is asked for.
    env.run_json(["x", "--agent", FAILS, "--detach"]);
    let_go(&env, 0);
    let answers: Vec<serde_json::Value> = std::thread::scope(|scope| {
        let ask = || scope.spawn(|| env.dandori(["task", "retry", "T-1", "--detach", "--json"]));
        let asked: Vec<_> = (0..6).map(|_| ask()).collect();
        asked.into_iter().map(|asked| asked.join().unwrap().json()).collect()
    });
    let shown = env.dandori(["task", "show", "T-1", "--json"]).json();
    assert_eq!(shown["runs"].as_array().unwrap().len(), 2, "{shown}");
    let key = shown["runs"][1]["run"].as_str().unwrap();
    let refused: Vec<_> = answers.iter().filter(|a| a["error"]["code"] == "task_is_busy").collect();
    assert_eq!(refused.len(), 5, "{answers:?}");
    assert!(refused.iter().all(|a| a["error"]["message"].as_str().unwrap().contains(key)), "{answers:?}");
    let_go(&env, 1);
}

#[test]
fn a_run_that_is_being_retried_is_not_retried_beside_it_by_its_own_name() {
    let env = machine();
    let first = env.run_json(["x", "--agent", FAILS, "--detach"])["runs"][0]["id"].as_str().unwrap().to_owned();
    let_go(&env, 0);
    let _ = env.dandori(["task", "retry", "T-1", "--detach"]).ok();
    let shown = env.dandori(["task", "show", "T-1", "--json"]).json();
    let second = shown["runs"][1]["run"].as_str().unwrap();
    let said = env.dandori(["task", "retry", &first]).fails(1);
    assert!(said.contains(second), "{said}");
    // Once that is over too, the user may have any of them again.
    let_go(&env, 1);
    let _ = env.dandori(["task", "retry", &first, "--detach"]).ok();
    assert_eq!(env.dandori(["task", "show", "T-1", "--json"]).json()["runs"].as_array().unwrap().len(), 3);
}

#[test]
fn a_push_that_is_tried_again_six_times_at_once_is_tried_once() {
    let env = machine();
    let hook = env.origin().join("hooks/pre-receive");
    std::fs::write(&hook, "#!/bin/sh\necho closed; exit 1\n").unwrap();
    env.command("chmod", ["+x", hook.as_str()], env.root());
    let failed = env.run_json(["x", "--agent", "exec:echo x > x.txt"]);
    assert!(failed["runs"][0]["error"]["message"].as_str().unwrap().contains("push was rejected"), "{failed}");
    std::fs::remove_file(&hook).unwrap();
    let codes: Vec<i32> = std::thread::scope(|scope| {
        let asked: Vec<_> =
            (0..6).map(|_| scope.spawn(|| env.dandori(["task", "retry", "T-1", "--detach"]).code)).collect();
        asked.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    assert!(codes.iter().all(|code| [0, 1].contains(code)) && codes.contains(&0), "{codes:?}");
    wait_until("it is over", || env.dandori(["task", "show", "T-1", "--json"]).json()["runs"][0]["settled"] == true);
    let shown = env.dandori(["task", "show", "T-1", "--json"]).json();
    assert_eq!((shown["runs"].as_array().unwrap().len(), &shown["runs"][0]["state"]), (1, &"SUCCEEDED".into()));
}
