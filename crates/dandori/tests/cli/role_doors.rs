//! The doors of a formation's agents: what they reach from behind their fence, and what they do not.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use dandori_domain::run::{Errand, Purpose, Role};
use dandori_domain::{Epoch, MessageId, Run};
use dandori_host::layout::{Layout, RunLayout};
use dandori_host::{now, random};
use dandori_testkit::env::{TestEnv, wait_until};

use crate::errands::{create, like, over, with_store};
use crate::machine;

/// A run of the second task that works for an agent of this role.
fn errand(env: &TestEnv, role: Role, script: &str) -> (Run, RunLayout) {
    let run = with_store(env, async |store, runs| {
        let agent = if role == Role::Worker { "worker2".to_owned() } else { role.to_string() };
        let (message, epoch, purpose) = (MessageId::mint(now(), random()), Epoch(1), Purpose::Work);
        let errand = Errand { command: None, message, epoch, purpose, agent, role, about: "it".to_owned() };
        let mut run = like(&runs[0], &format!("exec:{script}"));
        run.id = errand.run_id();
        run.errand = Some(errand);
        create(store, &runs[0], run).await.1
    });
    let files = Layout::at(env.state()).repo(run.spec.repo).run(run.spec.id);
    (run, files)
}

fn said(files: &RunLayout) -> String {
    std::fs::read_to_string(files.output()).unwrap_or_default()
}

#[test]
fn a_worker_reads_its_own_task_by_its_door_and_everything_else_is_refused() {
    let env = machine();
    let _ = env.run_json(["add a", "--agent", "exec:echo a > a.txt", "--pr"]);
    let script = "echo \"i am $DANDORI_AGENT\"; door=$(dirname \"$DANDORI_DOOR\"); \
        dandori task show T-2 --json > seen.json; echo \"own $?\"; \
        dandori task show T-1; echo \"other $?\"; \
        dandori run 'more' --agent exec:true; echo \"run $?\"; \
        dandori pr merge 1 -y; echo \"merge $?\"; dandori pr show 1; echo \"pr $?\"; \
        dandori task cancel T-2; echo \"cancel $?\"; \
        dandori daemon stop; echo \"stop $?\"; \
        ls -A \"$door\" \"$door/..\"; touch \"$door/x\" && echo wrote; rm \"$DANDORI_DOOR\" && echo removed; \
        LANG=ja_JP.UTF-8 dandori task list; true";
    let (_, files) = errand(&env, Role::Worker, script);
    let ran = over(&env, "T-2", 1);
    let said = said(&files);
    assert_eq!(ran["state"], "SUCCEEDED", "{ran}\n{said}");
    for line in ["i am worker2", "own 0", "other 1", "run 1", "merge 1", "pr 1", "cancel 1", "stop 1"] {
        assert!(said.lines().any(|said| said == line), "{line}: {said}");
    }
    let refused = "error: worker2 is not allowed to do this\nhint: a worker can use `dandori task show`, \
        `dandori result write`, `dandori task heartbeat`; everything else is done by people";
    assert_eq!(said.replace("\n  ", " ").matches(refused).count(), 5, "{said}");
    assert!(said.contains("worker2 にこの操作は許可されていません"), "{said}");
    assert!(!said.contains("wrote") && !said.contains("removed") && !said.contains("token"), "{said}");
    let seen = env.git(["show", &format!("{}:seen.json", ran["branch"].as_str().unwrap())]);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&seen).unwrap()["task"], "T-2", "{seen}");
    assert_eq!(env.dandori(["task", "list", "--json"]).json()["total"], 2, "nothing was begun");
    assert!(!files.door().exists() && !files.door().parent().unwrap().exists(), "it goes with the agent");
}

#[test]
fn a_planner_has_other_verbs_and_an_ordinary_run_has_no_door() {
    let env = machine();
    let first = env.run_json(["look", "--agent", "exec:echo \"door: $DANDORI_DOOR.\" > door.txt"]);
    let branch = first["runs"][0]["branch"].as_str().unwrap();
    assert_eq!(env.git(["show", &format!("{branch}:door.txt")]), "door: .");
    let (_, files) = errand(&env, Role::Planner, "dandori task show T-2; echo \"own $?\"");
    let _ = over(&env, "T-2", 1);
    let said = said(&files);
    assert!(said.contains("own 1") && said.contains("a planner can use `dandori plan submit`"), "{said}");
}

#[test]
fn the_door_is_made_again_by_the_next_daemon_while_the_agent_works() {
    let env = machine();
    let _ = env.run_json(["add a", "--agent", "exec:echo a > a.txt"]);
    let look = "dandori task show T-2 > /dev/null && echo";
    let script = format!("{look} first; while [ ! -e go ]; do sleep 0.1; done; {look} second; rm go; echo b > b.txt");
    let (run, files) = errand(&env, Role::Worker, &script);
    wait_until("it was answered", || said(&files).contains("first"));
    // Nobody else is let in, also where no sandbox keeps him from the socket.
    let mut stranger = UnixStream::connect(files.door()).unwrap();
    let _ = stranger.write_all(b"GET /v1/ping HTTP/1.1\r\nHost: dandori\r\nConnection: close\r\n\r\n");
    let mut answer = Vec::new();
    let _ = stranger.read_to_end(&mut answer);
    assert_eq!(String::from_utf8_lossy(&answer), "");
    let _ = env.dandori(["daemon", "stop"]).ok();
    let worktree = Layout::at(env.state()).repo(run.spec.repo).worktree(&run.spec.id.key().into());
    // It asks while nobody answers, and is answered by the next one.
    std::fs::write(worktree.join("go"), "").unwrap();
    let _ = env.dandori(["daemon", "start"]).ok();
    let ran = over(&env, "T-2", 1);
    assert_eq!(ran["state"], "SUCCEEDED", "{ran}");
    assert!(said(&files).contains("second"), "{}", said(&files));
    assert!(!files.door().exists());
}
