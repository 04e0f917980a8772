//! Every event recorded from the real clients is understood, and what was understood is written down.

#![expect(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use dandori_guard::{
    ChangeKind, Client, Decision, ErrorPolicy, Event, GuardName, Kind, Reason, Ruling, Tool, decode, encode,
};

fn recorded() -> BTreeMap<String, Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/events");
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read(&path).unwrap()))
        .collect()
}

/// One line per event: `name: what was understood`.
fn understood(event: &Event) -> String {
    let mut line = format!("{} {}", event.agent, kind(&event.kind));
    if let Some(tool) = &event.tool {
        let _ = write!(line, " | {}", tool_line(tool));
    }
    if let Some(subagent) = &event.subagent {
        let _ = write!(line, " | in {}", subagent.role.as_deref().unwrap_or("?"));
    }
    if let Some(mode) = &event.permission_mode {
        let _ = write!(line, " | {mode:?}");
    }
    line
}

fn kind(kind: &Kind) -> String {
    match kind {
        Kind::SessionStart { source } => format!("start {source:?}"),
        Kind::PromptSubmit { prompt } => format!("prompt {prompt:?}"),
        Kind::PreTool => "pre".to_owned(),
        Kind::PostTool { outcome, response } => format!("post {outcome:?} {}", response.as_ref().unwrap().len()),
        Kind::Stop { active, last_message } => format!("stop active={active} {last_message:?}"),
        Kind::SubagentStart => "subagent start".to_owned(),
        Kind::SubagentStop { active, last_message } => format!("subagent stop active={active} {last_message:?}"),
        Kind::PreCompact { trigger } => format!("compact {trigger:?}"),
        Kind::SessionEnd { reason } => format!("end {reason:?}"),
        Kind::Notification { about, message } => format!("notification {about:?} {message:?}"),
        Kind::ConfigChange { source, path } => format!("config {source:?} {path:?}"),
        Kind::Other => "other".to_owned(),
    }
}

fn tool_line(tool: &Tool) -> String {
    match tool {
        Tool::Bash { command, cwd, .. } => format!("bash {command:?} in {}", cwd.as_ref().unwrap()),
        Tool::Edit { with, changes, complete } => {
            let mut line = format!("{with:?} complete={complete}");
            for change in changes {
                let to = match &change.kind {
                    ChangeKind::Rename { to } => format!(" to {to}"),
                    kind => format!(" {kind:?}"),
                };
                let _ = write!(line, " {}{to} {:?}→{:?}", change.path, change.old, change.new);
            }
            line
        }
        Tool::Read { path } => format!("read {path}"),
        Tool::Search { path, pattern, .. } => format!("search {path:?} {pattern:?}"),
        Tool::Skill { name } => format!("skill {name}"),
        Tool::Agent { role, prompt } => format!("agent {role:?} {prompt:?}"),
        Tool::Mcp { server, tool, input } => format!("mcp {server} {tool} {input}"),
        Tool::Other { name, input } => format!("other {name} {input}"),
    }
}

#[test]
fn every_recorded_event_is_understood_as_written_down() {
    let want: BTreeMap<&str, &str> =
        include_str!("data/understood.txt").lines().map(|line| line.split_once(": ").unwrap()).collect();
    let recorded = recorded();
    assert_eq!(recorded.len(), 102);
    let mut wrong = Vec::new();
    for (name, bytes) in &recorded {
        let event = decode(bytes, None).unwrap();
        assert_eq!(event.oddities, [], "{name}");
        assert_eq!(event.raw.as_bytes(), bytes, "{name}");
        assert!(event.session.is_some() && event.transcript.is_some() && event.cwd.is_some(), "{name}");
        let got = understood(&event);
        if want.get(name.as_str()).copied() != Some(got.as_str()) {
            wrong.push(format!("{name}: {got}"));
        }
    }
    assert!(wrong.is_empty(), "not as written down:\n{}", wrong.join("\n"));
    assert_eq!(want.len(), recorded.len());
}

#[test]
fn the_agent_is_found_without_being_named_and_naming_it_changes_nothing() {
    for (name, bytes) in recorded() {
        let agent: Client = name.split('-').next().unwrap().parse().unwrap();
        let by_fields = decode(&bytes, None).unwrap();
        assert_eq!(by_fields.agent, agent, "{name}");
        assert_eq!(decode(&bytes, Some(agent)).unwrap(), by_fields, "{name}");
    }
}

#[test]
fn a_hook_entry_copied_to_another_client_still_reads_that_clients_events() {
    let bytes = &recorded()["gemini-BeforeTool-run_shell_command"];
    let event = decode(bytes, Some(Client::Claude)).unwrap();
    assert_eq!((event.agent, &event.kind), (Client::Gemini.into(), &Kind::PreTool));
    assert_eq!(event.oddities.len(), 1);
}

#[test]
fn a_prompt_is_what_the_user_typed_not_what_hooks_said_before_it() {
    let prompt = |text: &str| {
        let event =
            serde_json::json!({"hook_event_name": "BeforeAgent", "session_id": "s", "prompt": text}).to_string();
        match dandori_guard::decode(event.as_bytes(), Some(Client::Gemini)).unwrap().kind {
            dandori_guard::Kind::PromptSubmit { prompt } => prompt,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(prompt("<hook_context>Read state.md</hook_context>\n\ngo ahead"), "go ahead");
    assert_eq!(prompt("what is <hook_context>?"), "what is <hook_context>?");
    assert_eq!(prompt("<hook_context>never closed"), "<hook_context>never closed");
}

#[test]
fn an_outline_is_answered_like_the_event_and_holds_nothing_large() {
    for (name, bytes) in recorded() {
        let event = decode(&bytes, None).unwrap();
        let outline = event.outline();
        for policy in [ErrorPolicy::Closed, ErrorPolicy::Open] {
            let failed = || Decision::Error { guard: GuardName::known("hook"), detail: Reason::new("late"), policy };
            let answer = |event: &Event| encode(event, &Ruling::from(failed()));
            assert_eq!(answer(&outline), answer(&event), "{name}");
        }
        assert!(outline.tool.is_none() && outline.raw.is_empty(), "{name}");
    }
}
