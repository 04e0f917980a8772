//! Every recorded stream of the real agents, read in every way it can arrive, and what it must be taken to mean.

#![expect(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;

use dandori_agent::Reader;
use dandori_domain::{AgentEvent, AgentFailure, AgentName, Client, SessionId, Usage, Usd, Verdict};

fn streams() -> BTreeMap<String, Vec<u8>> {
    let folder = camino::Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/streams");
    let files = folder.read_dir_utf8().unwrap().map(Result::unwrap);
    files.map(|f| (f.path().file_stem().unwrap().to_owned(), std::fs::read(f.path()).unwrap())).collect()
}

fn agent(stream: &str) -> AgentName {
    stream.split('-').next().unwrap().parse().unwrap()
}

fn reader(stream: &str) -> Reader {
    Reader::new(&agent(stream), None, Usage::default())
}

fn read(stream: &str, exit: i32) -> (Vec<AgentEvent>, Verdict, Reader) {
    let bytes = streams().remove(stream).unwrap_or_else(|| panic!("no stream {stream}"));
    let mut reader = reader(stream);
    let events = reader.feed(&bytes);
    let verdict = reader.finish(Some(exit), None, "");
    (events, verdict, reader)
}

#[test]
fn a_stream_means_the_same_whole_and_byte_by_byte() {
    for (name, bytes) in streams() {
        let (mut whole, mut pieces) = (reader(&name), reader(&name));
        let expected = whole.feed(&bytes);
        let found: Vec<AgentEvent> = bytes.iter().flat_map(|b| pieces.feed(&[*b])).collect();
        assert_eq!(found, expected, "{name}");
        assert_eq!(pieces.finish(Some(0), None, ""), whole.finish(Some(0), None, ""), "{name}");
        assert_eq!((pieces.usage(), pieces.session()), (whole.usage(), whole.session()), "{name}");
    }
}

#[test]
fn a_stream_cut_off_at_any_line_is_a_success_only_after_its_terminal_event() {
    for (name, bytes) in streams() {
        let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
        for count in 0..=lines.len() {
            let mut reader = reader(&name);
            let events = reader.feed(&lines[..count].concat());
            let has_ended = events.iter().any(|e| matches!(e, AgentEvent::Finished { .. }));
            let verdict = reader.finish(Some(0), None, "");
            assert!(has_ended || matches!(verdict, Verdict::Failed { .. }), "{name} after {count} lines: {verdict:?}");
            // Half a line at the end of the file.
            if let Some(next) = lines.get(count) {
                let mut reader = self::reader(&name);
                reader.feed(&lines[..count].concat());
                reader.feed(&next[..next.len() / 2]);
                reader.finish(None, Some(9), "");
            }
        }
    }
}

#[test]
fn nothing_in_the_recordings_is_unknown() {
    for (name, bytes) in streams() {
        let unknown: Vec<_> =
            reader(&name).feed(&bytes).into_iter().filter(|e| matches!(e, AgentEvent::Unknown { .. })).collect();
        assert_eq!(unknown, [], "{name}");
    }
}

/// The failure in one word, its status and its detail.
fn meaning(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Done { summary } => format!("done: {summary}"),
        Verdict::Failed { failure } => match failure {
            AgentFailure::NotAuthorised { detail } => format!("not authorised: {detail}"),
            AgentFailure::RateLimited { detail } => format!("rate limited: {detail}"),
            AgentFailure::Overloaded { status, detail } => format!("overloaded {}: {detail}", status.unwrap_or(0)),
            AgentFailure::Unreachable { detail } => format!("unreachable: {detail}"),
            AgentFailure::Api { status, detail } => format!("api {}: {detail}", status.unwrap_or(0)),
            AgentFailure::ContextTooLong { .. } => "context too long".to_owned(),
            AgentFailure::MaxTurns => "max turns".to_owned(),
            AgentFailure::Interrupted => "interrupted".to_owned(),
            AgentFailure::NoVerdict { exit, .. } => format!("no verdict, exit {}", exit.unwrap_or(-1)),
            other => format!("{other:?}"),
        },
    }
}

#[test]
fn each_recorded_end_means_what_happened() {
    let mut wrong = Vec::new();
    for (stream, exit, expected) in [
        ("claude-success", 0, "done: All done."),
        ("claude-background-bash", 0, "done: started bg"),
        ("claude-resume", 0, "done: second"),
        ("claude-2.1.325-success", 0, "done: All done."),
        ("claude-2.1.325-resume", 0, "done: Follow-up answered."),
        ("claude-2.1.325-background-bash", 0, "done: All done."),
        // A second turn, for what came out of the background: the last result counts.
        ("claude-2.1.325-background-agent", 0, "done: more"),
        ("claude-error-400", 1, "api 400: 400 stub says 400"),
        ("claude-error-401", 1, "not authorised: 401 stub says 401"),
        ("claude-error-403", 1, "not authorised: 403 stub says 403"),
        ("claude-error-404", 1, "api 404: There's an issue with the selected model"),
        ("claude-error-429", 1, "rate limited: Request rejected (429) · stub says 429"),
        ("claude-error-500", 1, "overloaded 500: 500 stub says 500"),
        ("claude-error-529", 1, "overloaded 529: 529 stub says 529"),
        ("claude-conn-refused", 1, "unreachable: Unable to connect to API (ConnectionRefused)"),
        ("claude-nokey", 1, "not authorised: Not logged in · Please run /login"),
        ("claude-max-turns", 1, "max turns"),
        ("claude-max-budget", 1, "Other { detail: \"Reached maximum budget ($0.5)\" }"),
        ("claude-sigint-model", 0, "no verdict, exit 0"),
        ("claude-sigint-streaming", 0, "interrupted"),
        ("claude-sigint-tool", 1, "interrupted"),
        ("claude-sigterm-tool", 143, "no verdict, exit 143"),
        ("claude-sigkill-tool", 137, "no verdict, exit 137"),
        ("codex-success", 0, "done: All done."),
        ("codex-resume", 0, "done: second"),
        ("codex-error-400", 1, "api 0: stub says 400"),
        ("codex-error-401", 1, "not authorised: unexpected status 401 Unauthorized: stub says 401"),
        ("codex-error-403", 1, "not authorised: unexpected status 403 Forbidden: stub says 403"),
        ("codex-error-404", 1, "api 0: stub says 404"),
        ("codex-error-429", 1, "rate limited: exceeded retry limit, last status: 429 Too Many Requests"),
        ("codex-error-500", 1, "overloaded 0: We’re currently experiencing high demand"),
        ("codex-error-503", 1, "overloaded 0: Selected model is at capacity."),
        ("codex-error-529", 1, "overloaded 529: unexpected status 529"),
        ("codex-error-context-length", 1, "context too long"),
        ("codex-error-response-failed", 1, "rate limited: rate limit exceeded: slow down"),
        ("codex-error-stream-cut", 1, "unreachable: stream disconnected before completion"),
        ("codex-conn-refused", 1, "unreachable: Connection failed: error sending request"),
        ("codex-sigint-tool", 1, "no verdict, exit 1"),
        ("codex-sigterm-model", 143, "no verdict, exit 143"),
        ("gemini-success", 0, "done: All done."),
        ("gemini-resume", 0, "done: second"),
        ("gemini-retry-recovered", 0, "done: recovered"),
        ("gemini-error-400", 144, "api 400: stub says 400"),
        ("gemini-error-401", 145, "not authorised: stub says 401"),
        ("gemini-error-403", 147, "not authorised: stub says 403"),
        ("gemini-error-404", 1, "api 0: stub says 404"),
        ("gemini-error-429", 173, "rate limited: stub says 429"),
        ("gemini-error-429-daily", 173, "rate limited: You have exhausted your daily quota on this model."),
        ("gemini-error-503", 247, "overloaded 503: stub says 503"),
        ("gemini-error-500", 0, "no verdict, exit 0"),
        ("gemini-error-empty", 0, "api 0: The model returned an empty response"),
        ("gemini-error-stream-cut", 0, "unreachable: Model stream ended without a finish reason."),
        ("gemini-max-turns", 53, "max turns"),
        ("gemini-nokey", 41, "not authorised: "),
        ("gemini-sigterm-tool", 0, "no verdict, exit 0"),
    ] {
        let found = meaning(&read(stream, exit).1);
        if !found.starts_with(expected) {
            wrong.push(format!("{stream}\n  found    {found}\n  expected {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn tokens_and_money_are_counted_for_this_process() {
    let (_, _, claude) = read("claude-success", 0);
    let cost = Some(Usd::from_dollars(0.003));
    assert_eq!(claude.usage(), Usage { input_tokens: 300, output_tokens: 60, cached_tokens: 0, cost });
    let (_, _, gemini) = read("gemini-success", 0);
    assert_eq!(gemini.usage(), Usage { input_tokens: 500, output_tokens: 100, cached_tokens: 0, cost: None });

    let (_, _, budget) = read("claude-max-budget", 1);
    assert!(budget.is_over_budget());
    assert_eq!(budget.usage().cost, Some(Usd::from_dollars(0.75)));
    assert!(!claude.is_over_budget());
}

#[test]
fn a_resumed_claude_that_reports_its_conversation_is_counted_by_its_own_share() {
    let usage = |input_tokens, output_tokens, cost| {
        let cost = Some(Usd::from_dollars(cost));
        Usage { input_tokens, output_tokens, cached_tokens: 0, cost }
    };
    let counted = |stream| read(stream, 0).2.usage();
    assert_eq!(counted("claude-2.1.325-success"), usage(200, 40, 0.0016));
    assert_eq!(counted("claude-2.1.325-resume"), usage(100, 20, 0.0008), "not 300 and 0.0024, its total");
    assert_eq!(counted("claude-2.1.325-background-agent"), usage(900, 180, 0.0072), "of two results, each once");
}

#[test]
fn what_a_codex_thread_had_used_before_is_not_counted_again() {
    let before = Usage { input_tokens: 100, output_tokens: 20, ..Usage::default() };
    let mut reader = Reader::new(&AgentName::Client(Client::Codex), None, before);
    reader.feed(&streams().remove("codex-resume").unwrap());
    assert_eq!(reader.usage(), Usage { input_tokens: 100, output_tokens: 20, ..Usage::default() });
}

#[test]
fn going_on_with_another_conversation_is_a_failure_even_when_it_says_success() {
    for stream in ["claude-resume", "codex-resume", "gemini-resume"] {
        let bytes = streams().remove(stream).unwrap();
        let asked = SessionId::new("99999999-2222-4333-8444-555555555555");
        let mut reader = Reader::new(&agent(stream), Some(asked.clone()), Usage::default());
        reader.feed(&bytes);
        let got = reader.session().cloned();
        let failure = AgentFailure::WrongSession { asked, got: got.clone() };
        assert_eq!(reader.finish(Some(0), None, ""), Verdict::Failed { failure }, "{stream}");

        let mut reader = Reader::new(&agent(stream), got, Usage::default());
        reader.feed(&bytes);
        assert!(matches!(reader.finish(Some(0), None, ""), Verdict::Done { .. }), "{stream}");
    }
    let asked = SessionId::new("11111111-2222-4333-8444-555555555555");
    let mut reader = Reader::new(&AgentName::Client(Client::Claude), Some(asked.clone()), Usage::default());
    reader.feed(&streams().remove("claude-resume-wrong-cwd").unwrap());
    let failure = AgentFailure::WrongSession { asked, got: None };
    assert_eq!(reader.finish(Some(1), None, ""), Verdict::Failed { failure }, "no such conversation");
}

#[test]
fn a_running_tool_and_retries_are_known_while_they_last() {
    for stream in ["claude-sigkill-tool", "codex-sigterm-tool", "gemini-sigterm-tool"] {
        assert!(read(stream, 0).2.has_open_tool(), "{stream}");
    }
    for stream in ["claude-success", "codex-success", "gemini-success"] {
        assert!(!read(stream, 0).2.has_open_tool(), "{stream}");
    }
    let count = |stream: &str| {
        let (events, _, reader) = read(stream, 1);
        (events.iter().filter(|e| matches!(e, AgentEvent::Retrying { .. })).count(), reader.retries())
    };
    assert_eq!(count("claude-error-401"), (2, 2));
    assert_eq!(count("codex-conn-refused"), (5, 5));
    assert_eq!(count("codex-success"), (0, 0));
}

#[test]
fn an_agent_ended_in_the_middle_of_its_retries_failed_for_what_it_retried() {
    let until_retries = |stream: &str| -> Verdict {
        let bytes = streams().remove(stream).unwrap();
        let mut reader = reader(stream);
        for line in bytes.split_inclusive(|b| *b == b'\n') {
            reader.feed(line);
            if reader.retries() > 0 {
                return reader.finish(None, Some(9), "");
            }
        }
        panic!("{stream} has no retries")
    };
    assert!(meaning(&until_retries("claude-error-401")).starts_with("not authorised"));
    assert!(meaning(&until_retries("claude-error-529")).starts_with("overloaded 529"));
    assert!(meaning(&until_retries("claude-conn-refused")).starts_with("unreachable"));
    assert!(meaning(&until_retries("codex-conn-refused")).starts_with("unreachable"));
    assert!(meaning(&until_retries("codex-error-403")).starts_with("not authorised"));
}
