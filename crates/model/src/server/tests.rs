use std::io::{Read, Write};
use std::net::TcpStream;

use super::*;
use crate::script::Fault;

fn start(kind: Kind, script: Script) -> ModelServer {
    ModelServer::start(kind, script).unwrap()
}

fn post(server: &ModelServer, path: &str, body: &Value) -> String {
    let mut stream = TcpStream::connect(server.address).unwrap();
    let body = body.to_string();
    write!(stream, "POST {path} HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn anthropic(assistants: usize) -> Value {
    let mut messages = vec![json!({ "role": "user", "content": "do it" })];
    messages.extend((0..assistants).map(|_| json!({ "role": "assistant", "content": "x" })));
    json!({ "model": "m", "tools": [{ "name": "Bash" }], "messages": messages })
}

#[test]
fn the_turn_is_the_number_of_model_turns_in_the_request() {
    let server = start(Kind::Anthropic, Script::turns([Turn::say("first"), Turn::say("second")]));
    assert!(post(&server, "/v1/messages", &anthropic(1)).contains("second"));
    assert!(post(&server, "/v1/messages", &anthropic(0)).contains("first"), "no memory: the request decides");
    assert!(post(&server, "/v1/messages", &anthropic(9)).contains("done"));
    assert_eq!(server.turns().len(), 3);

    let server = start(Kind::Google, Script::turns([Turn::say("first"), Turn::say("second")]));
    let contents = json!({ "contents": [{ "role": "user" }, { "role": "model" }, { "role": "user" }] });
    assert!(post(&server, "/v1beta/models/m:streamGenerateContent?alt=sse", &contents).contains("second"));

    let server = start(Kind::OpenAi, Script::turns([Turn::say("first"), Turn::say("second")]));
    let input = json!({ "input": [
        { "role": "user", "content": "x" },
        { "type": "reasoning" }, { "type": "message", "role": "assistant" }, { "type": "function_call" },
        { "type": "function_call_output" },
    ] });
    assert!(post(&server, "/v1/responses", &input).contains("second"), "three items, one turn");
}

#[test]
fn a_fault_is_played_its_number_of_times_and_routes_by_what_was_asked() {
    let flaky = Turn::status(529).times(2, Turn::say("better"));
    let script = Script::default().when("other", [Turn::say("elsewhere")]).when("do it", [flaky]);
    let server = start(Kind::Anthropic, script);
    let answers: Vec<String> = (0..3).map(|_| post(&server, "/v1/messages", &anthropic(0))).collect();
    assert!(answers[0].starts_with("HTTP/1.1 529") && answers[1].starts_with("HTTP/1.1 529"));
    assert!(answers[2].contains("better"), "{}", answers[2]);
}

#[test]
fn a_stopped_server_lets_hanging_clients_go_and_refuses_new_ones() {
    let mut server = start(Kind::Anthropic, Script::turns([Turn::fault(Fault::Hang)]));
    let mut stream = TcpStream::connect(server.address).unwrap();
    let body = anthropic(0).to_string();
    write!(stream, "POST /v1/messages HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    while server.turns().is_empty() {
        std::thread::yield_now();
    }
    server.stop();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert!(answer.is_empty());
    assert!(TcpStream::connect(server.address).is_err());
}

#[test]
fn the_furthest_turn_counts_however_often_an_earlier_one_is_asked_for_again() {
    let server = start(Kind::Anthropic, Script::turns([Turn::say("first")]));
    let furthest = || server.furthest(|turn, body| (turn, body["messages"].as_array().map_or(0, Vec::len)));
    assert_eq!(furthest(), None);
    post(&server, "/v1/messages", &json!({ "messages": [{ "role": "user" }] }));
    assert_eq!(furthest(), None, "a title is no turn");
    for assistants in [0, 2, 1] {
        post(&server, "/v1/messages", &anthropic(assistants));
    }
    assert_eq!(furthest(), Some((3, 3)));
}

#[test]
fn nonsense_does_not_bring_it_down() {
    let server = start(Kind::Anthropic, Script::default());
    for text in [
        "\r\n\r\n",
        "POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n",
        "POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n",
        "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nfffffffff\r\n",
    ] {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        let _ = stream.read_to_string(&mut String::new());
    }
    assert!(post(&server, "/v1/messages/count_tokens", &json!({})).contains("input_tokens"));
}
