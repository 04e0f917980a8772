//! What is asked and done.

use crate::{PLAN, machine, ordered, submitted};

#[test]
fn an_order_is_planned_shown_and_called_off() {
    let env = machine();
    let command = ordered(&env, "Build it and write about it");
    assert!(command.starts_with("cmd_"), "{command}");
    let taken = submitted(&env, &command, PLAN);
    assert_eq!(taken["command_id"], command.as_str(), "{taken:#}");
    let phases = taken["phases"].as_array().unwrap();
    assert_eq!(
        phases.iter().map(|p| p["status"].as_str().unwrap()).collect::<Vec<_>>(),
        ["active", "active", "pending"]
    );
    assert_eq!(phases[0]["tasks"].as_array().unwrap().len(), 4);
    assert!(phases[0]["tasks"][0]["worker"].as_str().unwrap().starts_with("worker"));
    assert_eq!(phases[2]["tasks"], serde_json::Value::Null);

    let shown = env.dandori(["plan", "show", "1"]).ok();
    for name in ["build (concrete)", "← left, right", "release (deferred)", "after build, docs"] {
        assert!(shown.contains(name), "{name} in\n{shown}");
    }
    let diagram = env.dandori(["plan", "show", "--command-id", &command, "--mermaid"]).ok();
    assert!(diagram.starts_with("flowchart") && diagram.contains("join"), "{diagram}");

    let again = env.dandori(["plan", "submit", "--command-id", &command, "--tasks-file", "plan.yaml"]);
    assert!(again.fails(1).contains("has a plan already"));
    let open =
        env.dandori(["plan", "complete", "--command-id", &command, "--summary", "all is done and well"]).fails(1);
    assert!(open.contains("task base (ready)") && open.contains("phase release"), "{open}");

    let canceled = env.dandori(["plan", "request-cancel", "--command-id", "1", "--reason", "not now", "--json"]).json();
    assert_eq!(canceled["order"]["counts"]["cancelled"], 4, "{canceled:#}");
    let report = ["result", "write", "worker1", "--task-id"];
    let task = phases[0]["tasks"][0]["task_id"].as_str().unwrap();
    let late = ["--lease-epoch", "1", "--status", "completed", "--summary", "The base is there, with its tests"];
    let late = env.dandori([report.as_slice(), &[task], &late].concat());
    assert_eq!(late.code, 1, "{late:?}");
    let done = env.dandori(["plan", "complete", "--command-id", &command, "--summary", "called off by the user"]).ok();
    assert!(done.contains("cancelled"), "{done}");
}

#[test]
fn people_pause_amend_approve_and_cancel_by_number() {
    let env = machine();
    env.dandori(["order", "Write a", "--review", "--detach"]).ok();
    // Nobody is to work on it here.
    env.dandori(["down"]).ok();
    let paused = env.dandori(["order", "pause", "1", "--reason", "lunch", "--json"]).json();
    assert_eq!(paused["order"]["paused"], "lunch");
    env.dandori(["order", "resume", "#1"]).ok();
    let early = env.dandori(["order", "approve", "1"]).fails(1);
    assert!(early.contains("has no plan yet"), "{early}");
    let amended = env.dandori(["order", "amend", "1", "and b", "--json"]).json();
    assert_eq!((&amended["order"]["state"], &amended["replaced_by"]["number"]), (&"cancelled".into(), &2.into()));
    assert_eq!(amended["replaced_by"]["content"], "Write a\n\nand b");
    assert_eq!(amended["replaced_by"]["review"], "wanted");
    let listed = env.dandori(["order", "list", "--json"]).json();
    assert_eq!(listed["total"], 2);
    assert_eq!(listed["orders"][0]["number"], 2, "open ones come first: {listed:#}");
    let canceled = env.dandori(["order", "cancel", "2"]).ok();
    assert!(canceled.contains("order #2 canceled"), "{canceled}");
    assert!(env.dandori(["order", "show", "7"]).fails(1).contains("order 7 not found"));
}

#[test]
fn it_is_up_until_it_is_down_also_over_a_restart() {
    let env = machine();
    let status = |words: &[&str]| env.dandori([&["status", "--json"], words].concat()).json()["formation"].clone();
    assert_eq!(status(&[]), serde_json::Value::Null, "one that nobody has used is not shown");
    let up = env.dandori(["up", "--boost", "--continuous", "--no-notify", "--json"]).json();
    assert_eq!(
        (&up["is_up"], &up["boost"], &up["continuous"], &up["notify"]),
        (&true.into(), &true.into(), &true.into(), &false.into())
    );
    env.dandori(["daemon", "stop"]).ok();
    let seen = status(&[]);
    assert_eq!(seen["is_up"], true);
    assert_eq!(seen["agents"].as_array().unwrap().len(), 6, "{seen:#}");
    assert_eq!(seen["continuous"]["max_iterations"], 10);
    let shown = env.dandori(["status", "--formation"]).ok();
    assert!(shown.contains(": up") && shown.contains("worker4"), "{shown}");
    env.dandori(["down"]).ok();
    assert_eq!(status(&[])["is_up"], false);
    let japanese = env.dandori(["status", "--formation", "--lang", "ja"]).ok();
    assert!(japanese.contains("停止中"), "{japanese}");
}

#[test]
fn a_reset_is_agreed_to_and_calls_off_what_is_open() {
    let env = machine();
    ordered(&env, "Write a");
    let refused = env.dandori(["up", "--reset"]).fails(1);
    assert!(refused.contains("dandori up --reset --yes"), "{refused}");
    let reset = env.dandori(["up", "--reset", "--yes", "--json"]).json();
    assert_eq!((&reset["is_up"], reset["canceled"].as_array().unwrap().len()), (&false.into(), 1), "{reset:#}");
    assert_eq!(env.dandori(["order", "list", "--json"]).json()["orders"][0]["state"], "cancelled");
}

#[test]
fn a_phase_is_filled_and_a_dry_run_stores_nothing() {
    let env = machine();
    let command = ordered(&env, "Build it");
    env.write("plan.yaml", PLAN);
    let dry = ["plan", "submit", "--command-id", &command, "--tasks-file", "plan.yaml", "--dry-run"];
    let checked = env.dandori(dry).json();
    assert_eq!((&checked["valid"], &checked["dry_run"]), (&true.into(), &true.into()), "{checked:#}");
    let shown = env.dandori(["plan", "show", "1", "--json"]).json();
    assert_eq!((&shown["state"], shown["tasks"].as_array().unwrap().len()), (&"queued".into(), 0));
    submitted(&env, &command, PLAN);
    let fill = ["plan", "submit", "--command-id", &command, "--phase", "release", "--tasks-file", "fill.yaml"];
    env.write("fill.yaml", "tasks:\n- {name: ship, purpose: p, content: c, acceptance_criteria: d}\n");
    let early = env.dandori(fill).fails(1);
    assert!(early.contains("not awaiting_fill"), "{early}");
}

#[test]
fn words_go_to_the_orchestrator_and_nobody_else() {
    let env = machine();
    let id = env.dandori(["queue", "write", "orchestrator", "--type", "message", "--content", "hello"]).ok();
    assert!(id.starts_with("msg_"), "{id}");
    let wrong = env.dandori(["queue", "write", "planner", "--type", "message", "--content", "hello"]).fails(2);
    assert!(wrong.contains("goes to orchestrator"), "{wrong}");
    let missing = env.dandori(["queue", "write", "planner", "--type", "cancel-request"]).fails(2);
    assert!(missing.contains("--command-id"), "{missing}");
    let seen = env.dandori(["status", "--json"]).json()["formation"].clone();
    assert_eq!(seen["agents"][0]["queued"], 1, "{seen:#}");
}

#[test]
fn a_repository_is_prepared_once_and_what_is_there_stays() {
    let env = machine();
    env.write("dandori.toml", "pr = true\n");
    let done = env.dandori(["setup", ".", "--json"]).json();
    assert_eq!(done["files"][0]["is_new"], true, "{done:#}");
    let text = std::fs::read_to_string(env.repo().join("dandori.toml")).unwrap();
    assert!(text.starts_with("pr = true\n\n[formation]\n"), "{text}");
    let again = env.dandori(["setup", "--json"]).json();
    assert_eq!(again["files"][0]["is_new"], false);
    assert_eq!(std::fs::read_to_string(env.repo().join("dandori.toml")).unwrap(), text);
    env.dandori(["config", "show"]).ok();
    assert!(env.dandori_in(env.root(), ["setup"]).fails(1).contains("not in a git repository"));
}

#[test]
fn the_records_of_a_formation_are_sound_and_counted() {
    let env = machine();
    let command = ordered(&env, "Build it");
    submitted(&env, &command, PLAN);
    let checked = env.dandori(["doctor", "--formation"]).ok();
    assert!(checked.contains("1 orders, 5 tasks, 6 messages checked"), "{checked}");
    let token = std::fs::read_to_string(env.state().join("private/token")).unwrap();
    let socket = env.state().join("dandori.sock");
    let auth = format!("Authorization: Bearer {}", token.trim());
    let page = env.command(
        "curl",
        ["-sS", "--unix-socket", socket.as_str(), "-H", &auth, "http://dandori/metrics"],
        env.root(),
    );
    assert!(page.contains("dandori_formation_tasks_open{") && page.contains("} 5\n"), "{page}");
}
