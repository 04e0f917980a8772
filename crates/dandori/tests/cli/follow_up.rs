//! Follow-ups: the same task goes on, on the same branch and in the same place.

use dandori_testkit::env::{TestEnv, wait_until};

use crate::machine;
use crate::remote::{overtake, refuse_pushes};

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
    assert_eq!(env.dandori(["pr", "list", "--json"]).json()["total"], 1);
}

#[test]
fn a_run_and_its_follow_ups_are_one_candidate_with_the_whole_of_their_work() {
    let env = machine();
    let agents = "exec:echo a >> a.txt,exec:echo b >> b.txt";
    let answer = env.run_json(["write it", "--agents", agents]);
    let key = |answer: &serde_json::Value, i: usize| {
        let id = answer["runs"][i]["id"].as_str().unwrap().to_owned();
        env.dandori(["task", "show", "T-1", "--json"]).json()["runs"]
            .as_array()
            .unwrap()
            .iter()
            .find(|r| r["id"] == id.as_str())
            .map(|r| r["run"].as_str().unwrap().to_owned())
            .unwrap()
    };
    let (first, rival) = (key(&answer, 0), key(&answer, 1));
    let second = env.dandori(["task", "follow-up", &first, "more", "--json"]).json();
    assert_eq!(second["runs"][0]["state"], "SUCCEEDED", "{second}");
    let last = key(&second, 0);
    let compared = env.dandori(["task", "compare", "T-1", "--json"]).json();
    assert_eq!(compared["runs"].as_array().unwrap().len(), 2, "{compared}");
    assert_eq!(compared["overlap"], serde_json::json!([]), "a chain is no rival of itself");
    let chain = &compared["runs"][0];
    assert_eq!((&chain["run"], &chain["chain"]), (&last.as_str().into(), &serde_json::json!([first, last])));
    assert_eq!((&chain["files"][0]["path"], &chain["insertions"]), (&"a.txt".into(), &2.into()), "{compared}");
    assert_eq!(compared["runs"][1]["run"], rival.as_str());
    // Named by its agent or by its first run, it is the latest that is picked.
    for name in ["exec:echo a >> a.txt", &first] {
        let picked = env.dandori(["task", "pick", "T-1", name, "--json"]).json();
        assert_eq!(picked["picked"], second["runs"][0]["run"], "{name}: {picked}");
    }
}

#[test]
fn a_follow_up_that_changed_nothing_leaves_its_candidate_as_it_was() {
    let env = machine();
    let agent = "exec:[ -e a.txt ] || echo a > a.txt";
    let first = env.run_json(["write it", "--agent", agent]);
    let second = env.dandori(["task", "follow-up", "T-1", "more", "--json"]).json();
    assert_eq!(second["runs"][0]["state"], "SUCCEEDED", "{second}");
    let compared = env.dandori(["task", "compare", "T-1", "--json"]).json();
    assert_eq!(compared["runs"].as_array().unwrap().len(), 1, "{compared}");
    assert_eq!(
        (&compared["runs"][0]["run"], &compared["runs"][0]["insertions"]),
        (&second["runs"][0]["run"], &1.into())
    );
    let picked = env.dandori(["task", "pick", "T-1", agent, "--json"]).json();
    assert_eq!(picked["picked"], first["runs"][0]["run"], "{picked}");
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
    let listed = env.dandori(["worktree", "list", "--json"]).json()["worktrees"].clone();
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

/// A task whose second run could not be pushed, because a colleague had written the same file.
fn in_conflict(env: &TestEnv, agent: &str) -> String {
    let first = env.run_json(["first", "--agent", agent]);
    let branch = first["runs"][0]["branch"].as_str().unwrap().to_owned();
    refuse_pushes(env, true);
    let refused = env.dandori(["task", "follow-up", "T-1", "second", "--json"]).json();
    assert_eq!(refused["runs"][0]["state"], "FAILED", "{refused}");
    refuse_pushes(env, false);
    overtake(env, &branch, "shared.txt", "theirs");
    let conflict = env.dandori(["task", "retry", "T-1", "--json"]).json();
    assert!(conflict["runs"][0]["error"]["message"].as_str().unwrap().contains("shared.txt"), "{conflict}");
    branch
}

#[test]
fn a_follow_up_after_a_conflict_brings_both_sides_together() {
    let env = machine();
    let agent = "exec:cat > told.txt; if grep -q '<<<<<<<' shared.txt 2>/dev/null; \
                 then cp shared.txt seen.txt; printf 'both\\n' > shared.txt; else echo ours >> shared.txt; fi";
    let branch = in_conflict(&env, agent);
    let ours = env.git(["rev-parse", &branch]);
    let third = env.dandori(["task", "follow-up", "T-1", "put it together", "--json"]).json();
    let run = &third["runs"][0];
    assert_eq!(run["state"], "SUCCEEDED", "{third}");
    let show = |file: &str| env.git_in(&env.origin(), ["show", &format!("{branch}:{file}")]);
    assert_eq!(show("shared.txt"), "both");
    assert!(show("seen.txt").contains("theirs") && show("seen.txt").contains("ours"), "{}", show("seen.txt"));
    assert!(show("told.txt").contains("put it together") && show("told.txt").contains("shared.txt"));
    let log = env.git_in(&env.origin(), ["log", "--format=%s", &branch]);
    assert_eq!(log.lines().collect::<Vec<_>>(), ["feat: put it together", "theirs", "feat: first", "init"]);
    let shown = env.dandori(["task", "show", "1", "--json"]).json();
    let kept = shown["runs"][2]["preserved"].as_str().unwrap();
    assert_eq!(env.git(["rev-parse", kept]), ours, "our own commit is kept as it was");
}

#[test]
fn a_follow_up_that_leaves_the_conflict_as_it_is_fails_and_the_next_goes_on() {
    let env = machine();
    let agent = "exec:if [ -e solve ]; then echo both > shared.txt; rm solve; \
                 elif grep -q '<<<<<<<' shared.txt 2>/dev/null; then echo other > other.txt; \
                 else echo ours >> shared.txt; fi";
    let branch = in_conflict(&env, agent);
    let third = env.dandori(["task", "follow-up", "T-1", "something else", "--json"]).json();
    let run = &third["runs"][0];
    assert_eq!(run["state"], "FAILED", "{third}");
    assert!(run["error"]["message"].as_str().unwrap().contains("shared.txt"), "{run}");
    let tree = env.dandori(["task", "show", "1", "--json"]).json()["runs"][2]["worktree"].as_str().unwrap().to_owned();
    std::fs::write(format!("{tree}/solve"), "").unwrap();
    let fourth = env.dandori(["task", "follow-up", "T-1", "solve it", "--json"]).json();
    assert_eq!(fourth["runs"][0]["state"], "SUCCEEDED", "{fourth}");
    assert_eq!(env.git_in(&env.origin(), ["show", &format!("{branch}:shared.txt")]), "both");
    assert_eq!(env.git_in(&env.origin(), ["show", &format!("{branch}:other.txt")]), "other");
}

#[test]
fn a_commit_that_could_not_be_pushed_is_not_lost_when_the_next_is_put_on_the_work_of_another() {
    let env = machine();
    let agent = "exec:n=$(ls | wc -l); echo $n > file-$n.txt; echo at work; while [ -e hold ]; do sleep 0.05; done";
    let first = env.run_json(["first", "--agent", agent]);
    let branch = first["runs"][0]["branch"].as_str().unwrap().to_owned();
    refuse_pushes(&env, true);
    let refused = env.dandori(["task", "follow-up", "T-1", "second", "--json"]).json();
    assert_eq!(refused["runs"][0]["state"], "FAILED", "{refused}");
    refuse_pushes(&env, false);
    let tree = env.dandori(["task", "show", "1", "--json"]).json()["runs"][0]["worktree"].as_str().unwrap().to_owned();
    std::fs::write(format!("{tree}/hold"), "").unwrap();
    let third = env.dandori(["task", "follow-up", "T-1", "third", "--detach", "--json"]).json();
    let id = third["runs"][0]["id"].as_str().unwrap().to_owned();
    wait_until("it is at work", || env.dandori(["task", "log", &id, "--raw"]).stdout.contains("at work"));
    overtake(&env, &branch, "theirs.txt", "theirs");
    std::fs::remove_file(format!("{tree}/hold")).unwrap();
    wait_until("it ends", || env.dandori(["task", "show", "1", "--json"]).json()["runs"][2]["settled"] == true);
    let log = env.git_in(&env.origin(), ["log", "--format=%s", &branch]);
    assert_eq!(log.lines().collect::<Vec<_>>(), ["feat: third", "feat: second", "theirs", "feat: first", "init"]);
}

#[test]
fn a_task_that_is_at_work_takes_no_follow_up() {
    let env = machine();
    env.run_json(["first", "--agent", "exec:echo up; while [ ! -e go ]; do sleep 0.05; done", "--detach"]);
    wait_until("it runs", || env.dandori(["task", "log", "1", "--raw"]).stdout.contains("up"));
    let said = env.dandori(["task", "follow-up", "T-1", "more"]).fails(1);
    assert!(said.contains("still in progress"), "{said}");
    let _ = env.dandori(["task", "cancel", "T-1"]).ok();
}
