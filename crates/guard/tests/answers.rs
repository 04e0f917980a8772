//! No answer is given that was not tried on the real client: every decision at every event is encoded, and the shape of
//! the answer is looked up among the recorded runs, which must show the intended effect.
//!
//! A recorded run is what a hook printed and how it ended, which files the tool wrote, and what the model saw next.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use dandori_guard::{
    Agent, Answer, Client, Decision, ErrorPolicy, Event, GuardName, Kind, Outcome, PermissionMode, Reason, Ruling,
    decode, encode,
};
use serde::Deserialize;
use serde_json::Value;

/// An answer without its words: what a client can tell apart.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Shape {
    agent: Client,
    event: String,
    stdout: String,
    stderr: bool,
    exit: u8,
}

/// What a hook of a recorded run said.
struct Said {
    stdout: String,
    stderr: String,
    exit: u8,
}

#[derive(Deserialize)]
struct Run {
    agent: String,
    case: String,
    hooks: Vec<Hook>,
    files_written: Vec<String>,
    model_saw: Vec<String>,
    /// How often the model was called, where that was counted.
    requests: Option<u32>,
}

#[derive(Deserialize)]
struct Hook {
    event: Option<String>,
    behaviour: Option<String>,
}

/// What the work should come to.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Effect {
    /// The tool did not run, and the model was told why.
    ToolRefused,
    /// The prompt never reached the model.
    PromptDropped,
    /// The agent went on working, and was told why.
    TurnGoesOn,
    /// The change of settings did not take the hooks away.
    ChangeRefused,
    /// Went on, and the model was told.
    ModelTold,
    /// Went on, and the model was told nothing; the user may have been.
    ModelNotTold,
    /// The conversation was not summarised.
    CompactionRefused,
}

fn shape(agent: Client, event: &str, stdout: &str, stderr: &str, exit: u8) -> Shape {
    let stdout = match serde_json::from_str::<Value>(stdout) {
        Ok(mut value) => {
            forget_words(&mut value);
            value.to_string()
        }
        Err(_) if stdout.trim().is_empty() => String::new(),
        Err(_) => "plain".to_owned(),
    };
    Shape { agent, event: event.to_owned(), stdout, stderr: !stderr.is_empty(), exit }
}

const WORDS: &[&str] = &["reason", "permissionDecisionReason", "additionalContext", "systemMessage"];

fn forget_words(value: &mut Value) {
    for (key, value) in value.as_object_mut().into_iter().flatten() {
        if WORDS.contains(&key.as_str()) && value.as_str().is_some_and(|text| !text.is_empty()) {
            *value = Value::from("…");
        }
        forget_words(value);
    }
}

/// Reads the little shell that the recorded hooks are written in; `None` for anything beyond printing and ending.
fn said(behaviour: &str) -> Option<Said> {
    let mut said = Said { stdout: String::new(), stderr: String::new(), exit: 0 };
    if matches!(behaviour, "exit 0 (silent)" | "true") {
        return Some(said);
    }
    // Refuse once, then let it go: the first answer is the one that is looked at.
    let mut rest = match behaviour.strip_prefix("if grep -q") {
        Some(guarded) => guarded.split_once("fi; ")?.1,
        None => behaviour,
    };
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix("echo '") {
            let (text, further) = quoted.split_once('\'')?;
            said.stdout.push_str(text);
            rest = further;
        } else {
            let (statement, further) = rest.split_once("; ").unwrap_or((rest, ""));
            match (statement.strip_prefix("echo "), statement.strip_prefix("exit ")) {
                (Some(text), _) => match text.strip_suffix(">&2") {
                    Some(text) => said.stderr.push_str(text.trim()),
                    None => said.stdout.push_str(text),
                },
                (None, Some(code)) => said.exit = code.parse().ok()?,
                (None, None) => return None,
            }
            rest = further;
        }
        rest = rest.strip_prefix("; ").unwrap_or(rest);
    }
    Some(said)
}

/// The words the model should get to see, if it is told.
fn words(said: &Said) -> Option<String> {
    let value: Value = serde_json::from_str(&said.stdout).unwrap_or_default();
    let specific = &value["hookSpecificOutput"];
    [&specific["permissionDecisionReason"], &value["reason"], &specific["additionalContext"]]
        .into_iter()
        .find_map(|text| text.as_str().map(str::to_owned))
        .or_else(|| [&said.stderr, &said.stdout].into_iter().find(|text| !text.is_empty()).cloned())
}

fn is_told(run: &Run, said: &Said) -> bool {
    words(said).is_some_and(|words| run.model_saw.iter().any(|text| text.contains(&words)))
}

fn shows(run: &Run, said: &Said, effect: Effect) -> bool {
    match effect {
        Effect::ToolRefused | Effect::TurnGoesOn | Effect::ModelTold => is_told(run, said),
        Effect::CompactionRefused => run.requests == Some(0),
        Effect::PromptDropped | Effect::ChangeRefused | Effect::ModelNotTold => true,
    }
}

/// Some recordings looked at less than others, so one that shows an effect is enough; but none may show the contrary.
fn contradicts(run: &Run, said: &Said, effect: Effect) -> bool {
    let value: Value = serde_json::from_str(&said.stdout).unwrap_or_default();
    let leaked = value["systemMessage"].as_str().is_some_and(|s| run.model_saw.iter().any(|text| text.contains(s)));
    let ran = !run.files_written.is_empty();
    leaked
        || match effect {
            Effect::ToolRefused | Effect::ChangeRefused => ran,
            Effect::PromptDropped => ran || !run.model_saw.is_empty(),
            Effect::ModelNotTold => is_told(run, said),
            Effect::CompactionRefused => run.requests.is_some_and(|n| n > 0),
            Effect::TurnGoesOn | Effect::ModelTold => false,
        }
}

fn data(folder: &str) -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(folder);
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(&path).unwrap()))
        .collect()
}

fn recorded_runs() -> BTreeMap<Shape, Vec<(Run, Said)>> {
    let mut runs: BTreeMap<Shape, Vec<(Run, Said)>> = BTreeMap::new();
    for (file, text) in data("decisions") {
        let agent: Client = file.split('-').next().unwrap().parse().unwrap();
        for run in serde_json::from_str::<Vec<Run>>(&text).unwrap() {
            for hook in &run.hooks {
                let (Some(event), Some(behaviour)) = (&hook.event, &hook.behaviour) else { continue };
                // Of two hooks at one event nobody knows which one had the effect.
                if run.hooks.iter().filter(|h| h.event == hook.event).count() > 1 || is_about_set_up(&run.case) {
                    continue;
                }
                let Some(said) = said(behaviour) else { continue };
                let shape = shape(agent, event, &said.stdout, &said.stderr, said.exit);
                let copy = Run {
                    agent: run.agent.clone(),
                    case: run.case.clone(),
                    hooks: Vec::new(),
                    files_written: run.files_written.clone(),
                    model_saw: run.model_saw.clone(),
                    requests: run.requests,
                };
                runs.entry(shape).or_default().push((copy, said));
            }
        }
    }
    runs
}

/// Runs that vary how the hook was installed or started, not what it said.
fn is_about_set_up(case: &str) -> bool {
    let starts =
        ["badset_", "ctl_", "start_", "epipe_", "untrusted", "proj_", "user_untrusted", "http_type", "selfd_disable"];
    starts.iter().any(|start| case.starts_with(start))
        || ["selfd_rm_script", "BeforeTool_timeout5", "trap_async_cfg", "stdin", "PreToolUse_patch_via_shell"]
            .contains(&case)
}

fn all_events() -> Vec<(String, Event)> {
    let mut events: Vec<_> = data("events")
        .into_iter()
        .map(|(name, text)| {
            let agent = name.split('-').next().unwrap().parse().unwrap();
            (name, decode(text.as_bytes(), Some(agent)).unwrap())
        })
        .collect();
    // Part of the protocols, but no sample was recorded.
    for (agent, name) in [
        (Client::Codex, "SubagentStart"),
        (Client::Codex, "SubagentStop"),
        (Client::Codex, "PreCompact"),
        (Client::Codex, "PermissionRequest"),
        (Client::Gemini, "Notification"),
    ] {
        let text = format!(r#"{{"hook_event_name":"{name}"}}"#);
        events.push((format!("{agent}-{name}"), decode(text.as_bytes(), Some(agent)).unwrap()));
    }
    events
}

fn decisions() -> Vec<(&'static str, Decision)> {
    let (guard, reason) = (GuardName::known("g"), Reason::new("words"));
    let error = |policy| Decision::Error { guard: guard.clone(), detail: reason.clone(), policy };
    vec![
        ("block", Decision::Block { guard: guard.clone(), reason: reason.clone() }),
        ("ask", Decision::Ask { guard: guard.clone(), reason: reason.clone() }),
        ("warn", Decision::Warn { guard: guard.clone(), reason: reason.clone() }),
        ("info", Decision::Info { guard: guard.clone(), reason: reason.clone() }),
        ("pass", Decision::Pass),
        ("open", error(ErrorPolicy::Open)),
        ("closed", error(ErrorPolicy::Closed)),
    ]
}

/// What each decision is meant to do at each event, whichever way the client is told. `None`: nothing is said.
fn intended(event: &Event, decision: &str) -> Option<Effect> {
    let refuses = matches!(decision, "block" | "ask" | "closed");
    match (&event.kind, event.agent) {
        (_, _) if decision == "pass" => None,
        (Kind::PreTool, _) if refuses => Some(Effect::ToolRefused),
        (Kind::PreTool, Agent::Client(Client::Gemini)) if decision == "info" => None,
        (Kind::PreTool, Agent::Client(Client::Gemini)) => Some(Effect::ModelNotTold),
        (Kind::PromptSubmit { .. }, _) if refuses => Some(Effect::PromptDropped),
        (Kind::PreTool | Kind::PromptSubmit { .. } | Kind::SessionStart { .. } | Kind::PostTool { .. }, _)
        | (Kind::SubagentStart, Agent::Client(Client::Claude)) => {
            Some(if decision == "open" { Effect::ModelNotTold } else { Effect::ModelTold })
        }
        (Kind::Stop { active: false, .. }, _)
        | (Kind::SubagentStop { active: false, .. }, Agent::Client(Client::Claude))
            if refuses =>
        {
            Some(Effect::TurnGoesOn)
        }
        (Kind::Stop { .. }, _)
        | (Kind::SubagentStop { .. }, Agent::Client(Client::Claude))
        | (Kind::SessionEnd { .. }, Agent::Client(Client::Gemini)) => Some(Effect::ModelNotTold),
        (Kind::SessionEnd { .. }, Agent::Client(Client::Claude)) => {
            (decision != "info").then_some(Effect::ModelNotTold)
        }
        (Kind::PreCompact { .. }, Agent::Client(Client::Claude)) if refuses => Some(Effect::CompactionRefused),
        (Kind::PreCompact { .. }, Agent::Client(Client::Claude)) => (decision != "open").then_some(Effect::ModelTold),
        (Kind::ConfigChange { .. }, Agent::Client(Client::Claude)) => refuses.then_some(Effect::ChangeRefused),
        _ => None,
    }
}

#[test]
fn every_answer_was_tried_on_the_real_client_with_the_intended_effect() {
    let runs = recorded_runs();
    let mut wrong = BTreeSet::new();
    let (mut answers, mut shapes) = (0, BTreeSet::new());
    for (name, event) in all_events() {
        for mode in [None, Some(PermissionMode::Default), Some(PermissionMode::Bypass)] {
            let event = Event { permission_mode: mode, ..event.clone() };
            for (decision_name, decision) in decisions() {
                let answer = encode(&event, &decision.into());
                answers += 1;
                let what = format!("{decision_name} at {name}");
                let Some(effect) = intended(&event, decision_name) else {
                    assert_eq!(answer, Answer::default(), "{what}: something is said");
                    continue;
                };
                assert_ne!(answer, Answer::default(), "{what}: nothing is said");
                let stdout = str::from_utf8(&answer.stdout).unwrap();
                let Agent::Client(client) = event.agent else { panic!("not a client's") };
                let shape = shape(client, &event.name, stdout, &answer.stderr, answer.exit);
                let tried = runs.get(&shape).map_or(&[][..], Vec::as_slice);
                if !tried.iter().any(|(run, said)| shows(run, said, effect)) {
                    wrong.insert(format!("{what}: no run shows {effect:?} for {shape:?}"));
                }
                for (run, _) in tried.iter().filter(|(run, said)| contradicts(run, said, effect)) {
                    wrong.insert(format!("{what}: {} shows the contrary of {effect:?} for {shape:?}", run.case));
                }
                shapes.insert(shape);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.into_iter().collect::<Vec<_>>().join("\n"));
    assert!(answers > 1900 && shapes.len() > 30, "{answers} answers in {} shapes", shapes.len());
}

#[test]
fn the_recordings_are_of_the_pinned_clients() {
    for run in recorded_runs().values().flatten().map(|(run, _)| run) {
        let pinned = ["claude-code 2.1.197", "codex 0.166.0", "gemini-cli 0.61.0"];
        assert!(pinned.contains(&run.agent.as_str()), "{}: {}", run.case, run.agent);
    }
}

/// Silence lets everything go on: recorded for every event that a session of the client has.
#[test]
fn silence_was_tried_on_every_client() {
    let runs = recorded_runs();
    for (agent, events) in [
        (
            Client::Claude,
            &["PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "Stop", "SubagentStop"][..],
        ),
        (Client::Codex, &["PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "Stop"]),
        (Client::Gemini, &["BeforeTool", "AfterTool", "BeforeAgent", "SessionStart", "AfterAgent", "PreCompress"]),
    ] {
        for event in events {
            assert!(runs.contains_key(&shape(agent, event, "", "", 0)), "{agent} {event}");
        }
    }
}

fn find(name: &str) -> Event {
    all_events().into_iter().find(|(n, _)| n == name).unwrap().1
}

fn said_to(event: &Event, decision: &str) -> Answer {
    let decision = decisions().into_iter().find(|(name, _)| *name == decision).unwrap().1;
    encode(event, &Ruling::from(decision))
}

#[test]
fn a_refused_tool_is_told_in_the_form_that_is_honoured_and_shown() {
    let want = concat!(
        r#"{"decision":"block","reason":"words","hookSpecificOutput":{"hookEventName":"PreToolUse","#,
        r#""permissionDecision":"deny","permissionDecisionReason":"words"}}"#,
        "\n"
    );
    for name in ["claude-PreToolUse-Write", "codex-PreToolUse-apply_patch"] {
        let answer = said_to(&find(name), "block");
        assert_eq!(str::from_utf8(&answer.stdout).unwrap(), want, "{name}");
        assert_eq!((answer.stderr.as_str(), answer.exit), ("words\n", 2), "{name}");
        assert!(answer.is_refusal());
    }
    let gemini = said_to(&find("gemini-BeforeTool-write_file"), "block");
    let want = "{\"decision\":\"deny\",\"reason\":\"words\",\"systemMessage\":\"words\"}\n";
    assert_eq!((str::from_utf8(&gemini.stdout).unwrap(), gemini.stderr.as_str(), gemini.exit), (want, "", 0));
    assert!(gemini.is_refusal() && !Answer::default().is_refusal());
}

#[test]
fn a_question_is_asked_only_where_a_person_can_answer() {
    let asks = |event: &Event| str::from_utf8(&said_to(event, "ask").stdout).unwrap().contains(r#""ask""#);
    let claude = find("claude-PreToolUse-Write");
    assert!(asks(&claude));
    assert!(!asks(&Event { headless: true, ..claude.clone() }));
    assert!(!asks(&Event { permission_mode: Some(PermissionMode::Bypass), ..claude.clone() }));
    assert!(!asks(&Event { permission_mode: Some(PermissionMode::DontAsk), ..claude }));
    for name in ["codex-PreToolUse-Bash", "gemini-BeforeTool-run_shell_command"] {
        assert!(!asks(&Event { permission_mode: Some(PermissionMode::Default), ..find(name) }), "{name}");
    }
}

#[test]
fn a_stop_is_refused_once_and_then_the_user_is_told() {
    for name in ["claude-Stop", "claude-SubagentStop", "codex-Stop", "gemini-AfterAgent"] {
        let refused = said_to(&find(name), "block");
        assert!(str::from_utf8(&refused.stdout).unwrap().contains(r#""decision""#), "{name}");
        let again = said_to(&find(&format!("{name}-active")), "block");
        assert_eq!(str::from_utf8(&again.stdout).unwrap(), "{\"systemMessage\":\"words\"}\n", "{name}");
        assert_eq!(again.exit, 0);
    }
}

#[test]
fn what_has_happened_is_fed_back_and_its_output_kept() {
    for (name, event) in all_events() {
        if let Kind::PostTool { outcome, .. } = event.kind {
            let answer = said_to(&event, "block");
            let value: Value = serde_json::from_slice(&answer.stdout).unwrap();
            assert_eq!(value["hookSpecificOutput"]["additionalContext"], "words", "{name} {outcome:?}");
            assert_eq!((value.get("decision"), answer.exit), (None, 0), "{name}");
            assert!(outcome != Outcome::Failed || name.contains("Failure"), "{name}");
        }
    }
}

#[test]
fn text_for_the_summary_that_looks_like_json_is_still_read_as_text() {
    let info = Decision::Info { guard: GuardName::known("g"), reason: Reason::new("{\"decision\":\"block\"}") };
    let answer = encode(&find("claude-PreCompact-manual"), &info.into());
    assert!(serde_json::from_slice::<Value>(&answer.stdout).is_err());
}
