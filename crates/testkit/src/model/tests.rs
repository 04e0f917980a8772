use std::io::{Read, Write};
use std::net::TcpStream;

use super::*;

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
    let server = ModelServer::start(Kind::Anthropic, Script::turns([Turn::say("first"), Turn::say("second")]));
    assert!(post(&server, "/v1/messages", &anthropic(1)).contains("second"));
    assert!(post(&server, "/v1/messages", &anthropic(0)).contains("first"), "no memory: the request decides");
    assert!(post(&server, "/v1/messages", &anthropic(9)).contains("done"));
    assert_eq!(server.turns().len(), 3);

    let server = ModelServer::start(Kind::Gemini, Script::turns([Turn::say("first"), Turn::say("second")]));
    let contents = json!({ "contents": [{ "role": "user" }, { "role": "model" }, { "role": "user" }] });
    assert!(post(&server, "/v1beta/models/m:streamGenerateContent?alt=sse", &contents).contains("second"));

    let server = ModelServer::start(Kind::OpenAi, Script::turns([Turn::say("first"), Turn::say("second")]));
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
    let server = ModelServer::start(Kind::Anthropic, script);
    let answers: Vec<String> = (0..3).map(|_| post(&server, "/v1/messages", &anthropic(0))).collect();
    assert!(answers[0].starts_with("HTTP/1.1 529") && answers[1].starts_with("HTTP/1.1 529"));
    assert!(answers[2].contains("better"), "{}", answers[2]);
}

#[test]
fn a_stopped_server_lets_hanging_clients_go_and_refuses_new_ones() {
    let mut server = ModelServer::start(Kind::Anthropic, Script::turns([Turn::fault(Fault::Hang)]));
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
