use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;

use super::*;

fn post(model: &Model, path: &str, body: &Value) -> String {
    let address = model.url().trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    let mut stream = TcpStream::connect(address).unwrap();
    let body = body.to_string();
    write!(stream, "POST {path} HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn model(client: Client) -> Model {
    let write = Call::Write { path: "/r/x".to_owned(), content: "l\n".to_owned() };
    Model::start(client, vec![Call::Shell("git status".to_owned()), write]).unwrap()
}

#[test]
fn it_is_done_when_every_step_was_answered_and_what_was_told_is_in_the_last_request() {
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
    assert!(!claude.is_done());
    assert!(post(&claude, "/v1/messages", &turn(&["clean", "refused: secret"])).contains("end_turn"));
    assert!(claude.is_done() && claude.was_told("refused: secret") && !claude.was_told("else"));
    assert!(post(&claude, "/v1/messages", &turn(&[])).contains("git status"), "no memory");
    assert!(claude.was_told("secret"), "the longest conversation counts");
}

#[test]
fn each_agent_is_asked_in_its_own_words() {
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
