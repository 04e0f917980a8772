//! Lists: what they show, in which order, how they are narrowed, and that what they say is so.

use dandori_testkit::env::{TestEnv, wait_for};
use serde_json::Value;

use crate::machine;

const EDITS: &str = "exec:echo hello > hello.txt";
const FAILS: &str = "exec:exit 7";
const WAITS: &str = "exec:sleep 600";

fn numbers(list: &Value) -> Vec<&str> {
    list["tasks"].as_array().unwrap().iter().map(|t| t["task"].as_str().unwrap()).collect()
}

fn listed(env: &TestEnv, more: &[&str]) -> Value {
    env.dandori([&["task", "list", "--json"], more].concat()).json()
}

#[test]
fn what_runs_comes_first_then_what_waits_then_the_newest() {
    let env = machine();
    env.write_user_config("[runs]\nmax_parallel = 1\n");
    let _ = env.run_json(["First", "--agent", EDITS]);
    let _ = env.run_json(["Second", "--agent", FAILS]);
    let running = env.run_json(["Third", "--agent", WAITS, "--detach"]);
    assert_eq!(running["task"], "T-3", "{running}");
    wait_for("it runs", || (listed(&env, &["--state", "running"])["total"] == 1).then_some(()));
    let _ = env.run_json(["Fourth", "--agent", WAITS, "--detach"]);
    let _ = env.run_json(["Fifth", "--agent", WAITS, "--detach"]);
    wait_for("they wait", || {
        let places: Vec<Value> =
            listed(&env, &[])["tasks"].as_array().unwrap().iter().map(|t| t["runs"][0]["place"].clone()).collect();
        (places.iter().filter(|p| p.is_number()).count() == 2).then_some(())
    });
    let all = listed(&env, &[]);
    assert_eq!((numbers(&all), &all["total"]), (vec!["T-3", "T-5", "T-4", "T-2", "T-1"], &5.into()));
    assert_eq!(numbers(&listed(&env, &["--open"])), ["T-3", "T-5", "T-4"]);
    assert_eq!(numbers(&listed(&env, &["--state", "failed,Succeeded"])), ["T-2", "T-1"]);
    assert_eq!(numbers(&listed(&env, &["--agent", FAILS])), ["T-2"]);
    assert_eq!(numbers(&listed(&env, &["--agent", "exec"])).len(), 5);
    assert_eq!(numbers(&listed(&env, &["--agent", "exec", "--state", "canceled"])), [""; 0]);

    let few = env.dandori(["task", "list", "-n", "2"]);
    assert!(few.stderr.contains("showing 2 of 5; `dandori task list -n 5` shows all"), "{few:?}");
    let narrowed = env.dandori(["task", "list", "-n", "1", "--state", "pending", "--lang", "ja"]);
    assert!(
        narrowed.stderr.contains("2 件中 1 件") && narrowed.stderr.contains("`dandori task list --state pending -n 2`")
    );
    assert!(!env.dandori(["task", "list"]).stderr.contains("showing"), "nothing more to show");
    let none = env.dandori(["task", "list", "--state", "canceled"]);
    assert!(none.stderr.contains("no matching tasks") && none.code == 0, "{none:?}");

    let shown = env.dandori(["task", "list"]).ok();
    let head = shown.lines().next().unwrap();
    assert!(head.contains("AGE") && !head.contains("REPOSITORY"), "{shown}");
    let everywhere = env.dandori(["task", "list", "-A"]).ok();
    let line = everywhere.lines().find(|l| l.starts_with("T-1 ")).unwrap();
    assert!(everywhere.lines().next().unwrap().contains("REPOSITORY") && line.contains(" repo "), "{everywhere}");

    // Several at once, each told of; one that could not be is an error of its own.
    let canceled =
        env.dandori(["task", "cancel", running["task"].as_str().unwrap(), "4", "#5", "T-1", "T-99", "--json"]);
    assert_eq!(canceled.code, 1);
    let canceled = canceled.json();
    let errors: Vec<&Value> = canceled["tasks"].as_array().unwrap().iter().map(|t| &t["error"]["code"]).collect();
    let codes = [Value::Null, Value::Null, Value::Null, "cannot_cancel".into(), "no_such_task".into()];
    assert_eq!(errors, codes.iter().collect::<Vec<_>>(), "{canceled:#}");
    assert_eq!(numbers(&listed(&env, &["--open"])), [""; 0]);
}

#[test]
fn a_task_is_found_by_its_number_a_beginning_of_an_id_or_key_and_a_branch() {
    let env = machine();
    let one = env.run_json(["One", "--agent", EDITS]);
    let _ = env.run_json(["Two", "--agent", EDITS]);
    let run = &one["runs"][0];
    let (key, id, branch) =
        (run["run"].as_str().unwrap(), run["id"].as_str().unwrap(), run["branch"].as_str().unwrap());
    for name in ["T-1", "t-1", "1", "#1", &key[..7], key, &key.to_uppercase(), id, &id[..29], branch] {
        let shown = env.dandori(["task", "show", name, "--json"]).json();
        assert_eq!(shown["task"], "T-1", "{name}: {shown}");
    }
    let said = env.dandori(["task", "show", "run_"]).fails(1);
    assert!(said.contains("One") && said.contains("Two") && said.contains("T-1"), "with their titles: {said}");
}

/// Everything a list or a task says of its worktree and branch, after somebody else has had his hands on them.
#[test]
fn what_is_gone_is_not_said_to_be_there() {
    let env = machine();
    for (task, title) in [("T-1", "kept"), ("T-2", "by hand"), ("T-3", "removed"), ("T-4", "branch")] {
        let ran = env.run_json([title, "--agent", EDITS]);
        assert_eq!((&ran["task"], &ran["runs"][0]["state"]), (&task.into(), &"SUCCEEDED".into()), "{ran:#}");
    }
    let run = |task: &str| env.dandori(["task", "show", task, "--json"]).json()["runs"][0].clone();
    let place = |task: &str| run(task)["worktree"].as_str().map(camino::Utf8PathBuf::from);
    let paths = ["T-1", "T-2", "T-3", "T-4"].map(|task| place(task).unwrap());
    std::fs::remove_dir_all(&paths[1]).unwrap();
    let _ = env.dandori(["worktree", "remove", run("T-3")["branch"].as_str().unwrap()]).ok();
    let branch = run("T-4")["branch"].as_str().unwrap().to_owned();
    env.git(["worktree", "remove", "--force", "--force", paths[3].as_str()]);
    env.git(["branch", "-D", &branch]);

    assert_eq!(place("T-1").as_ref(), Some(&paths[0]));
    for task in ["T-2", "T-3", "T-4"] {
        assert_eq!(run(task)["worktree"], Value::Null, "{task}: its worktree is gone");
        let shown = env.dandori(["task", "show", task]).ok();
        assert!(!shown.contains("/worktrees/"), "{task}: {shown}");
    }
    let listed = env.dandori(["worktree", "list", "--json"]).json();
    let states: Vec<(&str, &str)> = listed["worktrees"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| (w["task"].as_str().unwrap(), w["state"].as_str().unwrap()))
        .collect();
    assert_eq!(states, [("T-4", "missing"), ("T-2", "missing"), ("T-1", "idle")], "{listed:#}");
    let worktrees = |env: &TestEnv| {
        let report = env.dandori(["doctor", "--json"]).json();
        let of = report["checks"].as_array().unwrap().iter().find(|c| c["check"] == "repository").unwrap().clone();
        of["detail"].as_str().unwrap().to_owned()
    };
    assert!(worktrees(&env).contains("1 worktree"), "{}", worktrees(&env));

    // What would be done is not said to be done, and what was done is.
    let planned = env.dandori(["worktree", "gc", "--dry-run"]);
    assert!(planned.stdout.lines().all(|l| l.starts_with("would ")) && !planned.stdout.is_empty(), "{planned:?}");
    assert!(planned.stderr.contains("nothing was removed"), "{planned:?}");
    let planned = env.dandori(["worktree", "gc", "--dry-run", "--lang", "ja"]).ok();
    assert!(planned.contains("削除します") && !planned.contains("しました"), "{planned}");
    let done = env.dandori(["worktree", "gc"]).ok();
    assert!(done.lines().all(|l| l.starts_with("removed ") || l.starts_with("  ")), "{done}");
    let listed = env.dandori(["worktree", "list", "--json"]).json();
    assert_eq!((&listed["total"], &listed["worktrees"][0]["task"]), (&1.into(), &"T-1".into()), "{listed:#}");

    // The repository goes elsewhere: its worktrees stand where they stood, and nothing new is made up.
    let moved = env.root().join("moved");
    std::fs::rename(env.repo(), &moved).unwrap();
    let shown = env.dandori_in(env.root(), ["task", "show", "T-1", "--json"]).json();
    assert_eq!(shown["runs"][0]["worktree"], paths[0].as_str(), "{shown:#}");
    let report = env.dandori_in(env.root(), ["doctor", "--json"]).json();
    let gone = report["checks"].as_array().unwrap().iter().any(|c| c["problem"]["code"] == "repository_gone");
    assert!(gone, "{report:#}");
    std::fs::rename(&moved, env.repo()).unwrap();
}

#[test]
fn kept_work_that_was_brought_back_and_dropped_is_not_said_to_be_kept() {
    let env = machine();
    let started = env.run_json(["Edit", "--agent", "exec:echo precious > edit.txt; sleep 600", "--detach"]);
    let task = started["task"].as_str().unwrap();
    wait_for("it has edited", || {
        let shown = env.dandori(["task", "show", task, "--json"]).json();
        let path = shown["runs"][0]["worktree"].as_str()?.to_owned();
        std::path::Path::new(&path).join("edit.txt").exists().then_some(())
    });
    let canceled = env.dandori(["task", "cancel", task, "--json"]).json();
    let reference = canceled["tasks"][0]["runs"][0]["preserved"].as_str().unwrap().to_owned();
    env.git(["update-ref", "-d", &reference]);
    let shown = env.dandori(["task", "show", task, "--json"]).json();
    assert_eq!(shown["runs"][0]["preserved"], Value::Null, "{shown:#}");
    assert!(!env.dandori(["task", "show", task]).ok().contains("restore"));
}
