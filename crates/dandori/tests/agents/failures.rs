//! Must-show 3, as far as agents and their models fail: FAILED, the cause in one sentence, within the limits set.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use dandori_testkit::env::{kill, wait_for};
use dandori_testkit::model::{Fault, ModelServer, Script, Turn};

use crate::stage::{Ended, Stage};

/// What limits of a few seconds may take on a loaded machine, start and end of the agent included. Left to
/// themselves the agents try for more than three minutes, or for ever.
const WITHIN: Duration = Duration::from_secs(90);

/// What happens, and the words for it.
struct Case {
    what: &'static str,
    english: &'static str,
    japanese: &'static str,
    detail: &'static str,
}

const UNAUTHORISED: Case = Case {
    what: "unauthorised",
    english: "not logged in or its key was rejected: ",
    japanese: "キーが拒否されました: ",
    detail: "scripted 401",
};
const OVERLOADED: Case = Case {
    what: "overloaded",
    english: "the model's API failed or is overloaded: ",
    japanese: "過負荷か、障害中です: ",
    detail: "scripted 529",
};
const HANGING: Case = Case {
    what: "hanging",
    english: "no output for 5 s",
    japanese: "5 秒間、出力がありませんでした",
    detail: "(limits.silence)",
};
const REFUSED: Case =
    Case {
        what: "refused", english: "cannot reach the model's API: ", japanese: "API に接続できません: ", detail: ""
    };

fn fail_with(stage: &Stage, cases: &[Case]) {
    let started = Instant::now();
    let instructions: Vec<String> = cases.iter().map(|case| format!("Meet what is {}.", case.what)).collect();
    let runs = stage.all_fail(&instructions, &[]);
    assert!(started.elapsed() < WITHIN, "{}: took {:?}", stage.agent, started.elapsed());
    for (run, case) in runs.iter().zip(cases) {
        let sentence = run.error();
        assert!(sentence.contains(case.english) && sentence.contains(case.detail), "{}: {sentence}", stage.agent);
        let shown = stage.env.dandori(["--lang", "ja", "task", "show", &run.task]).ok();
        assert!(shown.contains(case.japanese), "{}: {shown}", stage.agent);
        // The log ends with it, once, whoever ended the run.
        let log = stage.env.dandori(["task", "log", &run.id]).ok();
        assert_eq!(log.lines().last(), Some(format!("✗ {sentence}").as_str()), "{log}");
        assert_eq!(log.matches(sentence).count(), 1, "{log}");
        assert_nothing_came_of_it(stage, run);
    }
}

/// No commit, nothing on the remote, nothing still running. The worktree stays for whoever looks.
fn assert_nothing_came_of_it(stage: &Stage, run: &Ended) {
    assert_eq!(run.commit, None);
    assert_eq!(stage.branches_on_origin(), ["main"]);
    assert!(stage.worktree(run).is_dir());
    let left: Vec<_> = stage.env.processes().into_iter().filter(|(_, line)| !line.contains(" daemon ")).collect();
    assert!(left.is_empty(), "{}: still alive: {left:?}", stage.agent);
}

fn a_dead_api_fails_the_run(agent: &'static str) {
    let script = Script::default()
        .when("what is unauthorised", [Turn::status(401)])
        .when("what is overloaded", [Turn::status(529)])
        .when("what is hanging", [Turn::fault(Fault::Hang)]);
    let stage = Stage::new(agent, script);
    fail_with(&stage, &[UNAUTHORISED, OVERLOADED]);
    stage.configure_limits("silence = \"5s\"");
    fail_with(&stage, &[HANGING]);
    stage.assert_own_files_untouched();
}

#[test]
fn claude_on_a_dead_api_fails_the_run_with_the_cause() {
    a_dead_api_fails_the_run("claude");
}

#[test]
fn codex_on_a_dead_api_fails_the_run_with_the_cause() {
    a_dead_api_fails_the_run("codex");
}

#[test]
fn gemini_on_a_dead_api_fails_the_run_with_the_cause() {
    a_dead_api_fails_the_run("gemini");
}

fn a_refused_connection_fails_the_run(agent: &'static str) {
    let stage = Stage::with(agent, ModelServer::refusing);
    fail_with(&stage, &[REFUSED]);
}

#[test]
fn claude_with_nobody_there_fails_the_run_with_the_cause() {
    a_refused_connection_fails_the_run("claude");
}

#[test]
fn codex_with_nobody_there_fails_the_run_with_the_cause() {
    a_refused_connection_fails_the_run("codex");
}

#[test]
fn gemini_with_nobody_there_fails_the_run_with_the_cause() {
    a_refused_connection_fails_the_run("gemini");
}

/// Somebody, or the kernel, kills the agent's process in the middle of a turn. A follow-up takes its conversation up.
fn a_killed_agent_fails_the_run(agent: &'static str) {
    let script = Script::turns([
        Turn::shell("echo work > work.txt"),
        Turn::fault(Fault::Hang).times(1, Turn::say("Picked up.")),
        Turn::say("Picked up, and done."),
    ]);
    let stage = Stage::new(agent, script);
    let env = &stage.env;
    let mut command = env.prepared(&env.repo(), ["run", "Do it", "--agent", agent, "--json"]);
    let command = command.stdout(Stdio::piped()).spawn().unwrap();
    wait_for("the model is asked a second time", || (stage.server.turns().len() > 1).then_some(()));
    let process = wait_for("the agent's process", || child_of_shim(&stage));
    kill(process, "-KILL");
    let output = command.wait_with_output().unwrap();
    let run = Ended::of(&serde_json::from_slice(&output.stdout).unwrap());
    assert_eq!(run.state, "FAILED");
    assert!(run.error().contains("signal 9"), "{agent}: {}", run.error());
    assert_eq!(std::fs::read_to_string(stage.worktree(&run).join("work.txt")).unwrap(), "work\n");
    assert_nothing_came_of_it(&stage, &run);

    let again = stage.follow_up(&run.task, "Go on, please");
    assert_eq!(again.session, run.session, "the same conversation");
    assert_eq!(stage.on_origin(&again.branch, "work.txt"), "work");
    let last = stage.server.turns().pop().unwrap().to_string();
    assert!(last.contains("Do it") && last.contains("Go on, please"), "{agent}");
}

fn child_of_shim(stage: &Stage) -> Option<u32> {
    let processes = stage.env.processes();
    let (shim, _) = processes.iter().find(|(_, line)| line.contains(" shim "))?;
    let children = std::fs::read_to_string(Path::new("/proc").join(format!("{shim}/task/{shim}/children"))).ok()?;
    children.split_whitespace().next()?.parse().ok()
}

#[test]
fn a_killed_claude_fails_the_run_and_a_follow_up_goes_on() {
    a_killed_agent_fails_the_run("claude");
}

#[test]
fn a_killed_codex_fails_the_run_and_a_follow_up_goes_on() {
    a_killed_agent_fails_the_run("codex");
}

#[test]
fn a_killed_gemini_fails_the_run_and_a_follow_up_goes_on() {
    a_killed_agent_fails_the_run("gemini");
}

/// Said before anything is made: no task, no worktree.
#[test]
fn an_agent_that_is_not_installed_is_named() {
    for agent in ["claude", "codex", "gemini"] {
        let mut stage = Stage::new(agent, Script::default());
        let without = stage.env.root().join("bin");
        std::fs::create_dir(&without).unwrap();
        for tool in ["git", "sh"] {
            let found = stage.env.command("sh", ["-c", &format!("command -v {tool}")], stage.env.root());
            std::os::unix::fs::symlink(found, without.join(tool)).unwrap();
        }
        stage.env.var("PATH", without.as_str());
        let said = stage.env.dandori(["run", "Do it", "--agent", agent]).fails(1);
        assert!(said.contains(agent) && said.contains("PATH"), "{said}");
        let said = stage.env.dandori(["--lang", "ja", "run", "Do it", "--agent", agent]).fails(1);
        assert!(said.contains(agent) && said.contains("インストールされていません"), "{said}");
        assert_eq!(stage.env.dandori(["task", "list", "--json"]).json()["tasks"], serde_json::json!([]));
        assert_eq!(stage.env.git(["worktree", "list"]).lines().count(), 1);
    }
}
