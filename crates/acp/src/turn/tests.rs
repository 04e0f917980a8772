//! A turn with a peer that plays a script: the protocol alone.

use super::*;
use crate::agent::Letter;
use crate::stage::{Ground, Peer};

fn failure(verdict: Verdict) -> AgentFailure {
    match verdict {
        Verdict::Failed { failure } => failure,
        Verdict::Done { summary } => panic!("done: {summary}"),
    }
}

#[test]
fn a_turn_goes_from_hello_to_its_summary() {
    let ground = Ground::new();
    let (verdict, told) = ground.turn(ground.order(), |peer| {
        peer.say("Welcome to the agent!");
        let (id, prompt) = peer.open(json!({}));
        assert_eq!(prompt, "Do it");
        peer.message("It is ");
        peer.message("done.");
        peer.say(r#"{"jsonrpc":"2.0","method":"_other/news","params":{}}"#);
        let usage = json!({ "totalTokens": 5, "inputTokens": 3, "outputTokens": 2 });
        peer.answer(&id, json!({ "stopReason": "end_turn", "usage": usage }));
    });
    assert_eq!(verdict, Verdict::Done { summary: "It is done.".to_owned() });
    let session = Some(SessionId::new("s1"));
    assert_eq!(told[0], AgentEvent::Started { session, model: None });
    assert_eq!(told[1], AgentEvent::Line { text: "Welcome to the agent!".to_owned() });
    assert_eq!(told[2], AgentEvent::Message { text: "It is done.".to_owned() });
    assert!(matches!(told[3], AgentEvent::Usage { usage } if usage.tokens() == 5));
    assert_eq!(told.len(), 4, "{told:?}");
}

#[test]
fn a_conversation_is_loaded_and_what_is_told_again_is_not_news() {
    let ground = Ground::new();
    let order = AcpOrder { session: Some(SessionId::new("s1")), ..ground.order() };
    let (verdict, told) = ground.turn(order, |peer| {
        let (id, _) = peer.expect("initialize");
        peer.answer(&id, json!({ "protocolVersion": 1, "agentCapabilities": { "loadSession": true } }));
        let (id, params) = peer.expect("session/load");
        assert_eq!(params["sessionId"], "s1");
        peer.message("what I said last week");
        peer.answer(&id, Value::Null);
        peer.message("and what I said a little later");
        let (id, prompt) = peer.prompted();
        assert_eq!(prompt, "Do it");
        peer.message("news");
        peer.end_turn(&id);
    });
    assert_eq!(verdict, Verdict::Done { summary: "news".to_owned() });
    assert_eq!(told.len(), 2, "{told:?}");
}

#[test]
fn a_conversation_is_resumed_where_the_agent_can() {
    let ground = Ground::new();
    let order = AcpOrder { session: Some(SessionId::new("s1")), ..ground.order() };
    let (verdict, _) = ground.turn(order, |peer| {
        let (id, _) = peer.expect("initialize");
        let can = json!({ "loadSession": true, "sessionCapabilities": { "resume": {} } });
        peer.answer(&id, json!({ "protocolVersion": 1, "agentCapabilities": can }));
        let (id, _) = peer.expect("session/resume");
        peer.answer(&id, json!({}));
        let (id, _) = peer.prompted();
        peer.end_turn(&id);
    });
    assert!(matches!(verdict, Verdict::Done { .. }), "{verdict:?}");
}

#[test]
fn without_the_earlier_conversation_a_new_one_hears_what_came_before() {
    let ground = Ground::new();
    let order = AcpOrder {
        session: Some(SessionId::new("old")),
        prompt_anew: Some("Earlier: x. Do it".to_owned()),
        ..ground.order()
    };
    let (verdict, told) = ground.turn(order.clone(), |peer| {
        let (id, prompt) = peer.open(json!({ "loadSession": false }));
        assert_eq!(prompt, "Earlier: x. Do it");
        peer.end_turn(&id);
    });
    assert!(matches!(verdict, Verdict::Done { .. }), "{verdict:?}");
    assert_eq!(told[0], AgentEvent::Started { session: Some(SessionId::new("s1")), model: None });

    let (_, told) = ground.turn(order, |peer| {
        let (id, _) = peer.expect("initialize");
        peer.answer(&id, json!({ "protocolVersion": 1, "agentCapabilities": { "loadSession": true } }));
        let (id, _) = peer.expect("session/load");
        peer.error(&id, -32603, "No previous sessions found");
        let (id, _) = peer.expect("session/new");
        peer.answer(&id, json!({ "sessionId": "s1" }));
        let (id, prompt) = peer.prompted();
        assert_eq!(prompt, "Earlier: x. Do it");
        peer.end_turn(&id);
    });
    assert!(
        matches!(&told[1], AgentEvent::Warning { text } if text.contains("No previous sessions found")),
        "{told:?}"
    );
}

#[test]
fn a_login_is_made_only_when_it_is_asked_for_and_the_user_has_said_how() {
    let ground = Ground::new();
    let hello = |peer: &Peer| {
        let (id, _) = peer.expect("initialize");
        let logins = json!([{ "id": "key", "name": "Key" }, { "id": "browser", "name": "Browser" }]);
        peer.answer(&id, json!({ "protocolVersion": 1, "authMethods": logins }));
        let (id, _) = peer.expect("session/new");
        peer.error(&id, AUTH_REQUIRED, "Authentication required");
    };
    let (verdict, told) = ground.turn(ground.order(), hello);
    let methods = vec!["key".to_owned(), "browser".to_owned()];
    let trouble = ProtocolTrouble::LoginNeeded { methods };
    assert_eq!(failure(verdict), AgentFailure::Protocol { trouble });
    assert_eq!(told, [], "nothing was said: it never got so far");

    let order = AcpOrder { auth: Some("key".to_owned()), ..ground.order() };
    let (verdict, _) = ground.turn(order.clone(), |peer| {
        hello(peer);
        let (id, params) = peer.expect("authenticate");
        assert_eq!(params, json!({ "methodId": "key" }));
        peer.answer(&id, json!({}));
        let (id, _) = peer.expect("session/new");
        peer.answer(&id, json!({ "sessionId": "s1" }));
        let (id, _) = peer.prompted();
        peer.end_turn(&id);
    });
    assert!(matches!(verdict, Verdict::Done { .. }), "{verdict:?}");

    let (verdict, _) = ground.turn(order, |peer| {
        hello(peer);
        let (id, _) = peer.expect("authenticate");
        peer.error(&id, -32603, "bad key");
    });
    assert_eq!(failure(verdict), AgentFailure::NotAuthorised { detail: "bad key".to_owned() });
}

#[test]
fn the_model_that_was_asked_for_is_set_or_the_turn_is_not_begun() {
    let ground = Ground::new();
    let order = AcpOrder { model: Some("big".to_owned()), ..ground.order() };
    let open = |peer: &Peer| {
        let (id, _) = peer.expect("initialize");
        peer.answer(&id, json!({ "protocolVersion": 1 }));
        let (id, _) = peer.expect("session/new");
        let models = json!([{ "modelId": "big" }]);
        peer.answer(&id, json!({ "sessionId": "s1", "models": { "availableModels": models } }));
    };
    let (verdict, _) = ground.turn(order.clone(), |peer| {
        open(peer);
        let (id, params) = peer.expect("session/set_model");
        assert_eq!(params, json!({ "sessionId": "s1", "modelId": "big" }));
        peer.answer(&id, json!({}));
        let (id, _) = peer.prompted();
        peer.end_turn(&id);
    });
    assert!(matches!(verdict, Verdict::Done { .. }), "{verdict:?}");
    let (verdict, _) = ground.turn(AcpOrder { model: Some("huge".to_owned()), ..order }, open);
    let trouble = ProtocolTrouble::NoSuchModel { model: "huge".to_owned(), offered: vec!["big".to_owned()] };
    assert_eq!(failure(verdict), AgentFailure::Protocol { trouble });
}

#[test]
fn another_version_garbage_death_and_errors_each_have_their_failure() {
    let ground = Ground::new();
    let fails = |peer: fn(&Peer)| failure(ground.turn(ground.order(), peer).0);
    let protocol = |trouble| AgentFailure::Protocol { trouble };

    let version = fails(|peer| {
        let (id, _) = peer.expect("initialize");
        peer.answer(&id, json!({ "protocolVersion": 2 }));
    });
    assert_eq!(version, protocol(ProtocolTrouble::Version { offered: "2".to_owned() }));

    let garbage = fails(|peer| (0..100).for_each(|_| peer.say("Usage: agent [options]")));
    assert_eq!(garbage, protocol(ProtocolTrouble::NotJson { line: "Usage: agent [options]".to_owned() }));
    let usage = fails(|peer| {
        peer.say("Usage: agent [options]");
        peer.ends(1);
    });
    assert_eq!(usage, garbage);

    let death = fails(|peer| {
        let _ = peer.open(json!({}));
        peer.say("Segmentation fault");
        peer.ends(7);
    });
    assert_eq!(death, AgentFailure::NoVerdict { exit: Some(7), signal: None, tail: String::new() });

    let refused = fails(|peer| {
        let (id, _) = peer.open(json!({}));
        peer.error(&id, -32603, "Internal error");
    });
    let (method, message) = ("session/prompt".to_owned(), "Internal error".to_owned());
    assert_eq!(refused, protocol(ProtocolTrouble::Refused { method, message }));

    let nameless = fails(|peer| {
        let (id, _) = peer.expect("initialize");
        peer.answer(&id, json!({ "protocolVersion": 1 }));
        let (id, _) = peer.expect("session/new");
        peer.answer(&id, json!({}));
    });
    let (method, detail) = ("session/new".to_owned(), "no sessionId".to_owned());
    assert_eq!(nameless, protocol(ProtocolTrouble::BadAnswer { method, detail }));
}

#[test]
fn output_that_ends_while_the_process_lives_is_the_end_too() {
    let ground = Ground::new();
    let (verdict, _) = ground.turn(ground.order(), |peer| {
        let _ = peer.open(json!({}));
        peer.tell.send(Heard::Closed).unwrap();
        // Not answered any more, and not waited for longer than a moment.
    });
    assert_eq!(failure(verdict), AgentFailure::NoVerdict { exit: None, signal: None, tail: String::new() });
}

#[test]
fn asked_to_stop_the_agent_is_cancelled_and_its_open_questions_too() {
    let ground = Ground::new();
    let (verdict, _) = ground.turn(ground.order(), |peer| {
        let (id, _) = peer.open(json!({}));
        peer.tell.send(Heard::StopAsked).unwrap();
        let (no_id, params) = peer.expect("session/cancel");
        assert_eq!((no_id, &params["sessionId"]), (Value::Null, &json!("s1")));
        let answer = peer.permission(json!({ "toolCallId": "1", "kind": "execute", "title": "ls" }));
        assert_eq!(answer, json!({ "outcome": { "outcome": "cancelled" } }));
        let error = peer.request("terminal/create", json!({ "sessionId": "s1", "command": "ls" })).unwrap_err();
        assert_eq!(error["code"], rpc::CANCELLED);
        peer.answer(&id, json!({ "stopReason": "cancelled" }));
    });
    assert_eq!(failure(verdict), AgentFailure::Interrupted);
}

#[test]
fn an_agent_that_does_not_hear_of_it_is_not_waited_for() {
    let ground = Ground::new();
    let order = AcpOrder { grace_seconds: 1, ..ground.order() };
    let (verdict, _) = ground.turn(order.clone(), |peer| {
        let _ = peer.open(json!({}));
        peer.tell.send(Heard::StopAsked).unwrap();
        let _ = peer.expect("session/cancel");
    });
    assert_eq!(failure(verdict), AgentFailure::Interrupted);
    // Before there is anything to cancel.
    let (verdict, _) = ground.turn(order, |peer| {
        let _ = peer.expect("initialize");
        peer.tell.send(Heard::StopAsked).unwrap();
    });
    assert_eq!(failure(verdict), AgentFailure::Interrupted);
}

#[test]
fn what_is_asked_for_is_judged_by_the_run_s_guards() {
    let ground = Ground::new();
    let tree = ground.worktree.clone();
    let (verdict, told) = ground.turn(ground.order(), |peer| {
        let (id, _) = peer.open(json!({}));
        let outcome = |call: Value| peer.permission(call)["outcome"]["optionId"].as_str().unwrap().to_owned();
        assert_eq!(outcome(json!({ "toolCallId": "1", "kind": "execute", "title": "ls -l" })), "yes");
        let refused = peer.permission(json!({ "toolCallId": "2", "kind": "execute", "title": "git push origin HEAD" }));
        assert_eq!(refused["outcome"]["optionId"], "no");
        assert_eq!(refused["_meta"]["dandori"]["guard"], "constraints", "{refused}");
        let words = json!({ "command": ["bash", "-lc", "cd /x && git commit -m x"] });
        assert_eq!(outcome(json!({ "toolCallId": "3", "kind": "execute", "title": "run", "rawInput": words })), "no");
        let diff = |path: String| json!([{ "type": "diff", "path": path, "oldText": null, "newText": "x" }]);
        let edit = |path: String| json!({ "toolCallId": "4", "kind": "edit", "title": "Edit", "content": diff(path) });
        assert_eq!(outcome(edit(format!("{tree}/a.txt"))), "yes");
        assert_eq!(outcome(edit(format!("{tree}/.env"))), "no");
        assert_eq!(outcome(edit(format!("{tree}/../elsewhere.txt"))), "no");
        let nameless = json!({ "toolCallId": "5", "title": "x", "rawInput": { "command": "git push" } });
        assert_eq!(outcome(nameless), "no", "also without a kind");
        peer.end_turn(&id);
    });
    assert!(matches!(verdict, Verdict::Done { .. }), "{verdict:?}");
    let is_refusal = |event: &&AgentEvent| match event {
        AgentEvent::ToolResult { ok: false, output, .. } => output.starts_with("[dandori "),
        _ => false,
    };
    assert_eq!(told.iter().filter(is_refusal).count(), 5, "{told:?}");
    let records = ground.records();
    assert!(records.contains("\"agent\":\"acp\"") && records.contains("git push origin HEAD"), "{records}");
}

#[test]
fn files_are_read_and_written_for_the_agent_where_the_guards_let_it() {
    let ground = Ground::new();
    let tree = ground.worktree.clone();
    let (_, told) = ground.turn(ground.order(), |peer| {
        let (id, _) = peer.open(json!({}));
        let read =
            |path: &str| peer.request("fs/read_text_file", json!({ "sessionId": "s1", "path": path, "limit": 1 }));
        let write = |path: &str| {
            peer.request("fs/write_text_file", json!({ "sessionId": "s1", "path": path, "content": "new\n" }))
        };
        assert_eq!(read(&format!("{tree}/a.txt")).unwrap(), json!({ "content": "one\n" }));
        assert_eq!(read(&format!("{tree}/.env")).unwrap_err()["code"], rpc::REFUSED);
        assert_eq!(read("a.txt").unwrap_err()["code"], rpc::INVALID_PARAMS);
        assert_eq!(read(&format!("{tree}/none")).unwrap_err()["code"], rpc::NOT_FOUND);
        assert_eq!(write(&format!("{tree}/sub/b.txt")).unwrap(), json!({}));
        for path in [format!("{tree}/.env"), format!("{tree}/.git/config"), format!("{tree}/../out.txt")] {
            assert_eq!(write(&path).unwrap_err()["code"], rpc::REFUSED, "{path}");
        }
        peer.end_turn(&id);
    });
    assert_eq!(std::fs::read_to_string(tree.join("sub/b.txt")).unwrap(), "new\n");
    assert_eq!(std::fs::read_to_string(tree.join(".env")).unwrap(), "SECRET=1\n");
    assert!(!tree.parent().unwrap().join("out.txt").exists());
    assert!(told.iter().any(|event| matches!(event, AgentEvent::Warning { .. })), "{told:?}");
}

#[test]
fn commands_are_run_for_the_agent_where_the_guards_let_it() {
    let ground = Ground::new();
    let (_, told) = ground.turn(ground.order(), |peer| {
        let (id, _) = peer.open(json!({}));
        let create = |command: &str, args: &[&str]| {
            peer.request("terminal/create", json!({ "sessionId": "s1", "command": command, "args": args }))
        };
        let of = |terminal: &Value| json!({ "sessionId": "s1", "terminalId": terminal["terminalId"] });
        let terminal = create("cat", &["a.txt"]).unwrap();
        let exit = peer.request("terminal/wait_for_exit", of(&terminal)).unwrap();
        assert_eq!(exit["exitCode"], 0);
        let output = peer.request("terminal/output", of(&terminal)).unwrap();
        assert_eq!(output["output"], "one\ntwo\n", "in the worktree");
        assert_eq!(peer.request("terminal/release", of(&terminal)).unwrap(), json!({}));
        for (command, args) in [("git", vec!["push"]), ("git commit -am x", vec![]), ("sh", vec!["-c", "git push"])] {
            let error = create(command, &args).unwrap_err();
            assert_eq!(error["code"], rpc::REFUSED, "{command}");
            assert_eq!(error["data"]["guard"], "constraints", "{error}");
        }
        assert_eq!(peer.request("elicitation/create", json!({})).unwrap_err()["code"], rpc::METHOD_NOT_FOUND);
        peer.end_turn(&id);
    });
    let call = AgentEvent::ToolCall { id: "term-1".into(), name: "terminal".into(), input: "cat a.txt".into() };
    let result = AgentEvent::ToolResult { id: "term-1".into(), ok: true, output: String::new() };
    assert_eq!(told[1..3], [call, result], "a command that is waited for is a tool at work");
}

#[test]
fn without_rules_nothing_is_let_through() {
    let ground = Ground::new();
    std::fs::remove_file(ground.run.join("rules.json")).unwrap();
    ground.turn(ground.order(), |peer| {
        let (id, _) = peer.open(json!({}));
        let answer = peer.permission(json!({ "toolCallId": "1", "kind": "execute", "title": "ls" }));
        assert_eq!(answer["outcome"]["optionId"], "no");
        assert!(peer.request("terminal/create", json!({ "sessionId": "s1", "command": "ls" })).is_err());
        peer.end_turn(&id);
    });
}

#[test]
fn an_agent_that_asks_and_never_listens_has_no_more_than_its_share() {
    let ground = Ground::new();
    ground.turn(ground.order(), |peer| {
        let (id, _) = peer.open(json!({}));
        // The letters keep their permits until somebody takes them.
        for number in 0..100 {
            let params = json!({ "sessionId": "s1", "terminalId": "none" });
            peer.say(
                &json!({ "jsonrpc": "2.0", "id": number, "method": "terminal/output", "params": params }).to_string(),
            );
        }
        let kept: Vec<Letter> = (0..100).map(|_| peer.letters.recv_timeout(Duration::from_secs(20)).unwrap()).collect();
        let code = |letter: &Letter| match letter {
            Letter::Message(message, _) => message["error"]["code"].as_i64(),
            Letter::Close => None,
        };
        let refused = kept.iter().filter(|letter| code(letter) == Some(rpc::REFUSED)).count();
        assert_eq!(refused, 36);
        drop(kept);
        let params = json!({ "sessionId": "s1", "terminalId": "none" });
        assert_eq!(peer.request("terminal/output", params).unwrap_err()["code"], rpc::NOT_FOUND, "there is room again");
        peer.end_turn(&id);
    });
}
