//! Finished is finished: what an agent leaves behind after its last word neither holds a run up nor fails it, and is not
//! paid for twice.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use dandori_testkit::env::wait_until;
use dandori_testkit::model::{Script, Turn};

use crate::stage::Stage;

const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"'$session'","model":"m"}"#;

fn result(text: &str) -> String {
    format!(r#"{{"type":"result","subtype":"success","is_error":false,"session_id":"'$session'","result":"{text}"}}"#)
}

/// A client that speaks as Claude Code does, and plays these lines of a shell script.
fn stage_with_client(lines: &str) -> Stage {
    let mut stage = Stage::new("claude", Script::default());
    let bin = stage.env.root().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let words = "while [ $# -gt 0 ]; do case $1 in --session-id|--resume) session=$2;; esac; shift; done";
    let client = bin.join("claude");
    std::fs::write(&client, format!("#!/bin/sh\n{words}\ncat > /dev/null\n{lines}\n")).unwrap();
    std::fs::set_permissions(&client, PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap());
    stage.env.var("PATH", path);
    stage
}

#[test]
fn a_client_that_stays_for_its_background_work_is_stopped_and_its_run_is_done() {
    let aborted = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"session_id":"'$session'","terminal_reason":"aborted_tools"}"#;
    let stage = stage_with_client(&format!(
        "trap 'echo '\\''{aborted}'\\''; exit 0' INT\n\
         echo '{INIT}'\necho done > work.txt\nsleep 98766 &\necho '{}'\n\
         while :; do sleep 0.5; echo '{{\"type\":\"system\",\"subtype\":\"task_progress\"}}'; done",
        result("All done.")
    ));
    stage.configure_limits("silence = \"15s\"\nrun = \"2m\"");
    let began = Instant::now();
    let run = stage.succeeds("Start something", &[]);
    assert!(began.elapsed() < Duration::from_mins(1), "it was waited for: {:?}", began.elapsed());
    assert_eq!(stage.on_origin(&run.branch, "work.txt"), "done");
    assert_eq!(stage.shown(&run.id)["summary"], "All done.");
    wait_until("what it left in the background has ended", || {
        !stage.env.processes().iter().any(|(_, line)| line.contains("98766"))
    });
}

#[test]
fn silence_after_the_last_word_is_no_silence() {
    let stage =
        stage_with_client(&format!("echo '{INIT}'\necho done > work.txt\necho '{}'\nsleep 300", result("Done.")));
    stage.configure_limits("silence = \"2s\"");
    let run = stage.succeeds("Be quiet afterwards", &[]);
    assert_eq!(stage.on_origin(&run.branch, "work.txt"), "done");
}

#[test]
fn a_client_that_goes_on_after_a_result_is_waited_for() {
    let call = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}"#;
    let answer = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}"#;
    let stage = stage_with_client(&format!(
        "echo '{INIT}'\necho '{}'\nsleep 1\necho '{INIT}'\necho '{call}'\nsleep 15\necho '{answer}'\n\
         echo second > second.txt\necho '{}'",
        result("First."),
        result("Second.")
    ));
    let run = stage.succeeds("Do it in two turns", &[]);
    assert_eq!(stage.on_origin(&run.branch, "second.txt"), "second");
    assert_eq!(stage.shown(&run.id)["summary"], "Second.");
}

/// A resumed conversation reports what all of it has cost: the run's own budget is for its own part.
#[test]
fn a_follow_up_has_its_budget_to_itself() {
    let script = Script::turns([
        Turn::shell("echo one > one.txt"),
        Turn::say("One."),
        Turn::shell("echo two > two.txt"),
        Turn::say("Two."),
    ]);
    let stage = Stage::new("claude", script);
    let first = stage.succeeds("Write one", &[]);
    let cost = |run: &str| stage.shown(run)["usage"]["cost"].as_f64().unwrap();
    let spent = cost(&first.id);
    assert!(spent > 0.0);
    stage.configure_limits(&format!("budget = {:.6}", spent * 1.5));
    let second = stage.follow_up(&first.task, "Write two");
    assert_eq!(stage.on_origin(&second.branch, "two.txt"), "two");
    assert!((cost(&second.id) - spent).abs() < spent * 0.1, "{} after {spent}", cost(&second.id));
}

#[test]
fn claude_in_a_run_is_offered_nothing_that_works_behind_its_back_or_speaks_to_other_sessions() {
    let stage = Stage::new("claude", Script::turns([Turn::say("Nothing to do.")]));
    let _ = stage.succeeds("Look at your tools", &[]);
    let request = stage.server.turns().remove(0);
    let tools: Vec<&str> = request["tools"].as_array().unwrap().iter().filter_map(|t| t["name"].as_str()).collect();
    assert!(tools.contains(&"Bash"), "{tools:?}");
    let all = request.to_string();
    for tool in ["Monitor", "SendMessage", "EnterWorktree", "CronCreate", "ScheduleWakeup", "Workflow"] {
        assert!(!tools.contains(&tool), "{tool} is among {tools:?}");
    }
    assert!(!all.contains("run_in_background"), "{all}");
}

/// The client opens a door for messages of other sessions, and gives its shell the key to it.
#[test]
fn what_another_session_sends_does_not_reach_a_run() {
    let stage = Stage::planned("claude", |env| {
        env.write("tools/speak.js", SPEAKS);
        env.git(["add", "-A"]);
        env.git(["commit", "--quiet", "-m", "tools"]);
        env.git(["push", "--quiet", "origin", "main"]);
        let turns = [Turn::shell("node tools/speak.js"), Turn::shell("sleep 2"), Turn::say("end"), Turn::say("end")];
        Script::turns(turns)
    });
    let run = stage.succeeds("Speak", &[]);
    assert_eq!(stage.on_origin(&run.branch, "spoke.txt"), "to a door");
    let asked: Vec<String> = stage.server.turns().iter().map(ToString::to_string).collect();
    assert!(asked.len() >= 3 && !asked.iter().any(|turn| turn.contains("SMUGGLED")), "{}", asked.join("\n"));
}

const SPEAKS: &str = "\
const door = process.env.CLAUDE_CODE_MESSAGING_SOCKET, token = process.env.CLAUDE_CODE_MESSAGING_TOKEN;
require('fs').writeFileSync('spoke.txt', door ? 'to a door' : 'to nobody');
const line = (value) => JSON.stringify(value) + '\\n';
const said = require('net').connect(door, () => {
  said.write(line({ type: 'auth', token }));
  said.write(line({ type: 'user', message: { role: 'user', content: 'SMUGGLED words' } }));
  setTimeout(() => said.end(), 500);
});
said.on('error', () => {});
";
