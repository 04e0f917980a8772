//! What is refused: whole, with everything that is wrong, and kept for a person to see.

use crate::{machine, ordered, submitted};

const BAD: &str = "\
tasks:
  - {name: a, purpose: p, content: c, blocked_by: [b]}
  - {name: b, purpose: p, content: c, acceptance_criteria: d, blocked_by: [a, foo], bloom_level: 7}
  - {name: a, purpose: p, content: c, acceptance_criteria: d}
";

#[test]
fn every_problem_of_a_plan_is_named_on_a_line_of_its_own_and_nothing_is_stored() {
    let env = machine();
    let command = ordered(&env, "Build it");
    env.write("bad.yaml", BAD);
    let submit = ["plan", "submit", "--command-id", &command, "--tasks-file", "bad.yaml"];
    let said = env.dandori(submit).fails(1);
    let errors: Vec<&str> = said.lines().filter(|line| line.starts_with("error: ")).collect();
    for wanted in [
        "error: tasks[0].acceptance_criteria: required field is missing",
        "error: tasks[1].blocked_by[1]: references unknown name \"foo\"",
        "error: tasks[1].bloom_level: value 7 is out of range (1-6)",
        "error: tasks[2].name: duplicate name \"a\"",
        "error: tasks: circular dependency detected: a -> b -> a",
    ] {
        assert!(errors.contains(&wanted), "{wanted} in\n{said}");
    }
    let japanese = env.dandori([&submit[..], &["--lang", "ja"]].concat()).fails(1);
    assert!(japanese.contains("エラー: tasks[1].bloom_level: 値 7 は範囲外です (1-6)"), "{japanese}");
    let json = env.dandori([&submit[..], &["--json"]].concat()).json();
    assert_eq!(json["error"]["code"], "bad_plan");
    assert_eq!(json["error"]["detail"]["errors"].as_array().unwrap().len(), errors.len(), "{json:#}");
    let shown = env.dandori(["plan", "show", "1", "--json"]).json();
    assert_eq!((&shown["state"], shown["tasks"].as_array().unwrap().len()), (&"queued".into(), 0));
}

#[test]
fn what_was_refused_is_kept_and_can_be_given_again() {
    let env = machine();
    let command = ordered(&env, "Build it");
    submitted(&env, &command, "tasks:\n- {name: a, purpose: p, content: c, acceptance_criteria: d}\n");
    // A second plan is refused however good it is.
    env.write("other.yaml", "tasks:\n- {name: b, purpose: p, content: c, acceptance_criteria: d}\n");
    env.dandori(["plan", "submit", "--command-id", &command, "--tasks-file", "other.yaml"]).fails(1);
    let listed = env.dandori(["quarantine", "list", "--json"]).json();
    assert_eq!(listed["total"], 1);
    let kept = &listed["quarantined"][0];
    assert_eq!((&kept["kind"], &kept["error"]["detail"]["refused"]), (&"plan".into(), &"submitted".into()), "{kept:#}");
    let number = kept["number"].to_string();
    let shown = env.dandori(["quarantine", "show", &number]).ok();
    assert!(shown.contains("name: b"), "{shown}");
    let again = env.dandori(["quarantine", "restore", &number]).fails(1);
    assert!(again.contains("has a plan already"), "{again}");
    assert!(env.dandori(["quarantine", "show", "99"]).fails(1).contains("99 is not in quarantine"));
    // A dry run is not kept.
    env.dandori(["plan", "submit", "--command-id", &command, "--tasks-file", "other.yaml", "--dry-run"]).fails(1);
    assert_eq!(env.dandori(["quarantine", "list", "--json"]).json()["total"], 1);
}

#[test]
fn a_result_needs_a_task_a_lease_and_something_to_say() {
    let env = machine();
    let command = ordered(&env, "Build it");
    let taken = submitted(&env, &command, "tasks:\n- {name: a, purpose: p, content: c, acceptance_criteria: d}\n");
    let task = taken["tasks"][0]["task_id"].as_str().unwrap();
    let worker = taken["tasks"][0]["worker"].as_str().unwrap();
    let write = |worker: &str, task: &str, summary: &str| {
        let words = ["result", "write", worker, "--task-id", task, "--lease-epoch", "1", "--status", "completed"];
        env.dandori([&words[..], &["--summary", summary]].concat()).fails(1)
    };
    let good = "The base is there, with its tests";
    assert!(write(worker, task, good).contains("was never given"));
    assert!(write(worker, task, "done").contains("says too little"));
    assert!(write("worker4", task, good).contains("is not worker4's"));
    let unknown = "task_00000000000000000000000000";
    assert!(write(worker, unknown, good).contains("unknown task"));
    let beat = env.dandori(["task", "heartbeat", "--task-id", task, "--worker-id", worker, "--epoch", "1"]).fails(1);
    assert!(beat.contains("is not current"), "{beat}");
    assert_eq!(env.dandori(["quarantine", "list", "--json"]).json()["total"], 3, "an unknown task is nobody's");
    let bad = env.dandori([
        "result",
        "write",
        "worker9",
        "--task-id",
        task,
        "--lease-epoch",
        "1",
        "--status",
        "failed",
        "--summary",
        "x",
    ]);
    assert!(bad.fails(2).contains("worker9"));
}

#[test]
fn the_queue_has_an_end() {
    let env = machine();
    env.write("dandori.toml", "[formation.rules]\npending_commands = 2\n");
    ordered(&env, "one");
    ordered(&env, "two");
    let full = env.dandori(["queue", "write", "planner", "--type", "command", "--content", "three"]).fails(1);
    assert!(full.contains("2 commands are queued, the limit is 2"), "{full}");
    let empty = env.dandori(["queue", "write", "planner", "--type", "command", "--content", " "]).fails(1);
    assert!(empty.contains("empty"), "{empty}");
    let letters = env.dandori(["dead-letter", "list", "--json"]).json();
    assert_eq!(letters["total"], 0);
    let none = env.dandori(["dead-letter", "requeue", "msg_00000000000000000000000000"]).fails(1);
    assert!(none.contains("unknown message"), "{none}");
}
