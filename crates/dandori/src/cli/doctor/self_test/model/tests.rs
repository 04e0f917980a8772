use std::io::{Read, Write};

use dandori_install::Client;
use serde_json::json;

use super::super::actor::Actor;
use super::*;

fn post(model: &Model, path: &str, body: &Value) -> String {
    let mut stream = TcpStream::connect(model.address).unwrap();
    let body = body.to_string();
    write!(stream, "POST {path} HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn model(client: Client) -> Model {
    let interface = Actor::of(client).interface;
    let write = Step::Write { path: "/r/x".to_owned(), line: "l".to_owned() };
    Model::start(interface, vec![Step::Shell("git status".to_owned()), write]).unwrap()
}

#[test]
fn the_step_is_the_number_of_turns_in_the_request_and_what_was_told_is_the_last_of_them() {
    let claude = model(Client::Claude);
    let turn = |results: &[&str]| {
        let mut messages = vec![json!({ "role": "user", "content": "x" })];
        for result in results {
            messages.push(json!({ "role": "assistant", "content": "x" }));
            messages.push(json!({ "role": "user", "content": [{ "content": result }] }));
        }
        json!({ "stream": true, "tools": [{ "name": "Bash" }], "messages": messages })
    };
    assert!(!claude.was_asked());
    assert!(post(&claude, "/v1/messages", &turn(&[])).contains("git status"));
    assert!(claude.was_asked() && !claude.is_done());
    assert!(post(&claude, "/v1/messages", &turn(&["clean"])).contains("file_path"));
    assert!(post(&claude, "/v1/messages", &turn(&["clean", "refused: secret"])).contains("end_turn"));
    assert!(claude.is_done() && claude.was_told("refused: secret") && !claude.was_told("else"));
    assert!(post(&claude, "/v1/messages", &turn(&[])).contains("git status"), "no memory");
    assert!(claude.was_told("secret"), "the longest conversation counts");
    let title = post(&claude, "/v1/messages", &json!({ "stream": true, "messages": [] }));
    assert!(title.contains("done") && !title.contains("git status"));

    let codex = model(Client::Codex);
    let input = json!({ "input": [
        { "role": "user", "content": "x" },
        { "type": "reasoning" }, { "type": "function_call" }, { "type": "function_call_output", "output": "clean" },
    ] });
    assert!(post(&codex, "/v1/responses", &input).contains("Add File: /r/x"), "two items, one turn");

    let gemini = model(Client::Gemini);
    let contents = json!({ "contents": [{ "role": "user" }, { "role": "model" }, { "role": "user" }] });
    assert!(post(&gemini, "/v1beta/models/m:streamGenerateContent?alt=sse", &contents).contains("write_file"));
}

#[test]
fn nonsense_does_not_bring_it_down() {
    let model = model(Client::Claude);
    for text in [
        "\r\n\r\n",
        "POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n",
        "POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(model.address).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        let _ = stream.read_to_string(&mut String::new());
    }
    assert!(post(&model, "/v1/messages/count_tokens", &json!({})).contains("input_tokens"));
}
