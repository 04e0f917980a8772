use dandori_domain::Client;

use super::*;

fn reader(agent: &AgentName) -> Reader {
    Reader::new(agent, None, Usage::default())
}

fn exec() -> AgentName {
    AgentName::Exec("true".to_owned())
}

#[test]
fn a_program_without_a_protocol_is_judged_by_its_exit() {
    let mut plain = reader(&exec());
    assert!(!plain.said_anything());
    let events = plain.feed(b"one\ntwo");
    assert_eq!(events, [AgentEvent::Line { text: "one".to_owned() }]);
    assert!(plain.said_anything());
    assert_eq!(plain.finish(Some(0), None, ""), Verdict::Done { summary: "two".to_owned() });

    let mut failed = reader(&exec());
    failed.feed(b"{\"type\":\"result\",\"is_error\":false}\nworking\n");
    let failure = AgentFailure::ExitCode { code: 3, tail: "no".to_owned() };
    assert_eq!(failed.finish(Some(3), None, "no\n"), Verdict::Failed { failure });

    let mut killed = reader(&exec());
    killed.feed(b"working\n");
    let failure = AgentFailure::NoVerdict { exit: None, signal: Some(9), tail: "working".to_owned() };
    assert_eq!(killed.finish(None, Some(9), ""), Verdict::Failed { failure });
}

#[test]
fn what_is_no_event_is_kept_and_harms_nothing() {
    let mut claude = reader(&AgentName::Client(Client::Claude));
    let events = claude
        .feed(b"\n[1]\nnot json\n{\"type\":\"brand_new\"}\n{\"type\":\"system\",\"subtype\":\"odd\"}\n{}\n\xff\xfe\n");
    let kinds: Vec<String> = events
        .iter()
        .map(|e| match e {
            AgentEvent::Line { text } => format!("line {text}"),
            AgentEvent::Unknown { kind } => format!("unknown {kind}"),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(
        kinds,
        ["line [1]", "line not json", "unknown brand_new", "unknown system/odd", "unknown ", "line \u{fffd}\u{fffd}"]
    );
    let result = br#"{"type":"result","subtype":"success","is_error":false,"result":"ok"}"#;
    claude.feed(result);
    assert_eq!(claude.finish(Some(0), None, ""), Verdict::Done { summary: "ok".to_owned() }, "half a line at the end");
}

#[test]
fn long_lines_are_read_and_endless_ones_left_out() {
    let mut claude = reader(&AgentName::Client(Client::Claude));
    let text = "x".repeat(5 * 1024 * 1024);
    let line =
        format!("{{\"type\":\"assistant\",\"message\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n");
    let events = claude.feed(line.as_bytes());
    let [AgentEvent::Message { text }] = events.as_slice() else { panic!("{} events", events.len()) };
    assert!(text.len() < 64 * 1024, "events are cut, the raw stream is not");

    let megabyte = vec![b'y'; 1024 * 1024];
    for _ in 0..40 {
        assert_eq!(claude.feed(&megabyte), []);
    }
    let events = claude.feed(b"\n{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n");
    assert_eq!(events.len(), 2);
    assert_eq!(claude.session().map(SessionId::as_str), Some("s"));
}

#[test]
fn an_agent_that_never_started_says_why_on_stderr() {
    let mut claude = reader(&AgentName::Client(Client::Claude));
    let verdict = claude.finish(Some(1), None, "Error: --max-budget-usd must be a positive number\n");
    let failure = AgentFailure::NotStarted { detail: "Error: --max-budget-usd must be a positive number".to_owned() };
    assert_eq!(verdict, Verdict::Failed { failure });

    let asked = SessionId::new("s");
    let mut gemini = Reader::new(&AgentName::Client(Client::Gemini), Some(asked.clone()), Usage::default());
    let verdict = gemini.finish(
        Some(42),
        None,
        "Error resuming session: Invalid session identifier \"s\".\n  Use --list-sessions\n",
    );
    assert_eq!(verdict, Verdict::Failed { failure: AgentFailure::WrongSession { asked, got: None } });
}

#[test]
fn a_turn_that_begins_after_a_result_takes_its_place() {
    let mut claude = reader(&AgentName::Client(Client::Claude));
    claude.feed(b"{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n");
    claude.feed(b"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"ok\"}\n");
    assert!(claude.verdict().is_some());
    claude.feed(b"{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n");
    let verdict = claude.finish(Some(143), None, "");
    assert!(matches!(verdict, Verdict::Failed { failure: AgentFailure::NoVerdict { .. } }), "{verdict:?}");
}

#[test]
fn what_is_told_of_an_acp_agent_is_taken_as_it_is() {
    let mut reader = Reader::of_acp(None);
    let events = reader.feed(
        concat!(
            "{\"type\":\"started\",\"session\":\"s1\",\"model\":null}\n",
            "{\"type\":\"tool_call\",\"id\":\"1\",\"name\":\"edit\",\"input\":\"a.txt\"}\n",
            "{\"type\":\"from_a_later_version\"}\n",
            "stray\n",
        )
        .as_bytes(),
    );
    assert!(matches!(&events[2], AgentEvent::Unknown { kind } if kind == "from_a_later_version"), "{events:?}");
    assert!(matches!(&events[3], AgentEvent::Line { .. }), "{events:?}");
    assert!(reader.has_open_tool());
    assert_eq!(reader.session().map(SessionId::as_str), Some("s1"));
    reader.feed(b"{\"type\":\"finished\",\"verdict\":{\"result\":\"done\",\"summary\":\"ok\"}}\n");
    assert_eq!(reader.finish(Some(0), None, ""), Verdict::Done { summary: "ok".to_owned() });
}

#[test]
fn an_acp_agent_s_other_conversation_is_no_failure_but_told() {
    let asked = SessionId::new("old");
    let mut reader = Reader::of_acp(Some(asked.clone()));
    reader.feed(b"{\"type\":\"started\",\"session\":\"new\",\"model\":null}\n");
    assert!(reader.is_anew());
    reader.feed(b"{\"type\":\"finished\",\"verdict\":{\"result\":\"done\",\"summary\":\"\"}}\n");
    assert!(matches!(reader.finish(Some(0), None, ""), Verdict::Done { .. }));
    let mut same = Reader::of_acp(Some(asked));
    same.feed(b"{\"type\":\"started\",\"session\":\"old\",\"model\":null}\n");
    assert!(!same.is_anew());
}

#[test]
fn the_failure_of_an_acp_agent_is_explained_by_what_it_said_on_stderr_and_by_what_an_api_means() {
    let failed = |failure: &str| {
        let mut reader = Reader::of_acp(None);
        let verdict = format!("{{\"result\":\"failed\",\"failure\":{failure}}}");
        reader.feed(format!("{{\"type\":\"finished\",\"verdict\":{verdict}}}\n").as_bytes());
        match reader.finish(Some(0), None, "first\nboom\n") {
            Verdict::Failed { failure } => failure,
            Verdict::Done { .. } => panic!("done"),
        }
    };
    let death = failed("{\"why\":\"no_verdict\",\"exit\":3,\"signal\":null,\"tail\":\"\"}");
    assert_eq!(death, AgentFailure::NoVerdict { exit: Some(3), signal: None, tail: "first\nboom".to_owned() });
    let refused = |method: &str, message: &str| {
        failed(&format!(
            "{{\"why\":\"protocol\",\"trouble\":{{\"what\":\"refused\",\"method\":\"{method}\",\"message\":\"{message}\"}}}}"
        ))
    };
    assert!(matches!(refused("session/prompt", "429 rate limit"), AgentFailure::RateLimited { .. }));
    assert!(matches!(refused("session/prompt", "no idea"), AgentFailure::Protocol { .. }));
    assert!(matches!(refused("session/new", "rate limit"), AgentFailure::Protocol { .. }));
}
