//! Follow-ups: the same task goes on, on the same branch and in the same place.

use dandori_testkit::env::wait_until;

use crate::machine;

#[test]
fn a_follow_up_is_a_second_commit_on_the_same_branch_and_pull_request() {
    let env = machine();
    let first = env.run_json(["first", "--agent", "exec:cat >> log.txt; pwd >> place.txt", "--pr"]);
    let branch = first["runs"][0]["branch"].as_str().unwrap().to_owned();
    let second = env.dandori(["task", "follow-up", "T-1", "and then this", "--pr", "--json"]).json();
    let run = &second["runs"][0];
    assert_eq!((&run["state"], &run["branch"]), (&"SUCCEEDED".into(), &first["runs"][0]["branch"]), "{second}");
    assert_eq!(run["pr"]["number"], 1, "the pull request is the same");
    assert_eq!(env.git_in(&env.origin(), ["rev-list", "--count", &format!("main..{branch}")]), "2");
    let places = env.git_in(&env.origin(), ["show", &format!("{branch}:place.txt")]);
    let lines: Vec<&str> = places.lines().collect();
    assert_eq!(lines[0], lines[1], "the same worktree");
    assert_eq!(env.dandori(["pr", "list", "--json"]).json().as_array().unwrap().len(), 1);
}

#[test]
fn a_worktree_that_is_gone_is_made_again_at_its_place() {
    let env = machine();
    let first = env.run_json(["first", "--agent", "exec:pwd >> place.txt"]);
    let branch = first["runs"][0]["branch"].as_str().unwrap().to_owned();
    let _ = env.dandori(["worktree", "remove", &branch, "--keep-branch"]).ok();
    let second = env.dandori(["task", "follow-up", "T-1", "more", "--json"]).json();
    assert_eq!(second["runs"][0]["state"], "SUCCEEDED", "{second}");
    let places = env.git_in(&env.origin(), ["show", &format!("{branch}:place.txt")]);
    let lines: Vec<&str> = places.lines().collect();
    assert_eq!((lines.len(), lines[0]), (2, lines[1]));
}

#[test]
fn a_follow_up_of_a_failed_run_goes_on_with_its_uncommitted_work() {
    let env = machine();
    let agent = "exec:if [ -e half.txt ]; then echo whole >> half.txt; else echo half > half.txt; exit 1; fi";
    env.run_json(["first", "--agent", agent]);
    let second = env.dandori(["task", "follow-up", "T-1", "finish it", "--json"]).json();
    let run = &second["runs"][0];
    assert_eq!(run["state"], "SUCCEEDED", "{second}");
    let branch = run["branch"].as_str().unwrap();
    assert_eq!(env.git_in(&env.origin(), ["show", &format!("{branch}:half.txt")]), "half\nwhole");
}

#[test]
fn work_kept_when_the_worktree_was_removed_comes_back_with_a_follow_up() {
    let env = machine();
    let agent = "exec:if [ -e half.txt ]; then echo whole >> half.txt; else echo half > half.txt; exit 1; fi";
    env.run_json(["first", "--agent", agent]);
    let listed = env.dandori(["worktree", "list", "--json"]).json();
    let branch = listed[0]["branch"].as_str().unwrap().to_owned();
    let _ = env.dandori(["worktree", "remove", &branch, "--force"]).ok();
    let second = env.dandori(["task", "follow-up", "T-1", "finish it", "--json"]).json();
    assert_eq!(
        (&second["runs"][0]["state"], &second["runs"][0]["branch"]),
        (&"SUCCEEDED".into(), &branch.as_str().into()),
        "{second}"
    );
    assert_eq!(env.git_in(&env.origin(), ["show", &format!("{branch}:half.txt")]), "half\nwhole");
}

#[test]
fn a_retried_follow_up_goes_on_where_it_began_and_a_canceled_one_is_passed_over() {
    let env = machine();
    let agent = "exec:if [ -e hold ]; then echo held; while true; do sleep 0.1; done; fi; \
                 [ -e fail ] && exit 1; echo line >> log.txt";
    env.write_user_config("[limits]\ngrace = \"1s\"\n");
    let first = env.run_json(["first", "--agent", agent]);
    let branch = first["runs"][0]["branch"].as_str().unwrap().to_owned();
    let tree = env.dandori(["task", "show", "1", "--json"]).json()["runs"][0]["worktree"].as_str().unwrap().to_owned();
    std::fs::write(format!("{tree}/fail"), "").unwrap();
    let failed = env.dandori(["task", "follow-up", "T-1", "more", "--json"]).json();
    assert_eq!(failed["runs"][0]["state"], "FAILED", "{failed}");
    std::fs::remove_file(format!("{tree}/fail")).unwrap();
    let retried = env.dandori(["task", "retry", "T-1", "--json"]).json();
    assert_eq!(
        (&retried["runs"][0]["state"], &retried["runs"][0]["branch"]),
        (&"SUCCEEDED".into(), &branch.as_str().into())
    );
    assert_eq!(env.git_in(&env.origin(), ["show", &format!("{branch}:log.txt")]), "line\nline");

    std::fs::write(format!("{tree}/hold"), "").unwrap();
    let held = env.dandori(["task", "follow-up", "T-1", "call it off", "--detach", "--json"]).json();
    let id = held["runs"][0]["id"].as_str().unwrap().to_owned();
    wait_until("it is at work", || env.dandori(["task", "log", &id, "--raw"]).stdout.contains("held"));
    let _ = env.dandori(["task", "cancel", &id]).ok();
    let third = env.dandori(["task", "follow-up", "T-1", "go on", "--json"]).json();
    assert_eq!(
        (&third["runs"][0]["state"], &third["runs"][0]["branch"]),
        (&"SUCCEEDED".into(), &branch.as_str().into()),
        "{third}"
    );
    assert_eq!(env.git_in(&env.origin(), ["show", &format!("{branch}:log.txt")]), "line\nline\nline");
}

#[test]
fn a_task_that_is_at_work_takes_no_follow_up() {
    let env = machine();
    env.run_json(["first", "--agent", "exec:echo up; while [ ! -e go ]; do sleep 0.05; done", "--detach"]);
    wait_until("it runs", || env.dandori(["task", "log", "1", "--raw"]).stdout.contains("up"));
    let said = env.dandori(["task", "follow-up", "T-1", "more"]).fails(1);
    assert!(said.contains("still at work"), "{said}");
    let _ = env.dandori(["task", "cancel", "T-1"]).ok();
}
