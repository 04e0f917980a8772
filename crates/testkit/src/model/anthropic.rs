//! Anthropic's Messages API, streaming and not.

use std::io;
use std::net::TcpStream;

use serde_json::{Value, json};

use super::script::{Call, Fault, Turn};
use super::{Shared, http};

pub(crate) fn answer(request: &http::Request, stream: &mut TcpStream, shared: &Shared) -> io::Result<()> {
    let is_turn = request.method == "POST" && request.path.starts_with("/v1/messages");
    if !is_turn || request.path.contains("count_tokens") {
        shared.record(request, None);
        return http::json(stream, 200, &json!({ "data": [], "input_tokens": 10 }));
    }
    let body = &request.body;
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    // Titles and the like come without tools.
    if body["tools"].as_array().is_none_or(Vec::is_empty) {
        shared.record(request, None);
        return play(&Turn::say("ok"), 0, body, stream, shared);
    }
    let number = messages.iter().filter(|m| m["role"] == "assistant" && !is_made_up(m)).count();
    shared.record(request, Some(number));
    let first = messages.first().map(ToString::to_string).unwrap_or_default();
    play(&shared.turn(&first, number), number, body, stream, shared)
}

/// Claude Code puts a message of its own after a turn that was broken off.
fn is_made_up(message: &Value) -> bool {
    message["content"].to_string().contains("No response requested.")
}

fn play(turn: &Turn, number: usize, body: &Value, stream: &mut TcpStream, shared: &Shared) -> io::Result<()> {
    match &turn.fault {
        Some(Fault::Status { status, message }) => {
            let error = json!({ "type": "error", "error": { "type": "api_error", "message": message } });
            return http::json(stream, *status, &error);
        }
        Some(Fault::Hang) => {
            shared.hang();
            return Ok(());
        }
        _ => {}
    }
    let (input, output) = turn.usage();
    let blocks = blocks(turn, number);
    let stop = if turn.calls.is_empty() { "end_turn" } else { "tool_use" };
    let mut message = json!({
        "id": format!("msg_{number:03}"), "type": "message", "role": "assistant", "model": body["model"],
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": input, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
                   "output_tokens": 1 },
    });
    if body["stream"] != true {
        message["content"] = Value::Array(blocks);
        message["stop_reason"] = json!(stop);
        message["usage"]["output_tokens"] = json!(output);
        return http::json(stream, 200, &message);
    }
    http::begin_events(stream)?;
    let mut send = |kind: &str, mut data: Value| {
        data["type"] = json!(kind);
        http::event(stream, Some(kind), &data)
    };
    send("message_start", json!({ "message": message }))?;
    match turn.fault {
        Some(Fault::HangAfterStart) => {
            shared.hang();
            return Ok(());
        }
        Some(Fault::Cut) => {
            return send("content_block_start", json!({ "index": 0, "content_block": { "type": "text", "text": "" } }));
        }
        _ => {}
    }
    for (index, block) in blocks.iter().enumerate() {
        let (start, deltas) = streamed(block);
        send("content_block_start", json!({ "index": index, "content_block": start }))?;
        for delta in deltas {
            send("content_block_delta", json!({ "index": index, "delta": delta }))?;
        }
        send("content_block_stop", json!({ "index": index }))?;
    }
    let delta = json!({ "stop_reason": stop, "stop_sequence": null });
    send("message_delta", json!({ "delta": delta, "usage": { "output_tokens": output } }))?;
    send("message_stop", json!({}))
}

fn blocks(turn: &Turn, number: usize) -> Vec<Value> {
    let mut blocks = Vec::new();
    if let Some(thought) = &turn.thought {
        blocks.push(json!({ "type": "thinking", "thinking": thought, "signature": "c3R1Yg==" }));
    }
    if let Some(text) = &turn.text {
        blocks.push(json!({ "type": "text", "text": text }));
    }
    for (at, call) in turn.calls.iter().enumerate() {
        let (name, input) = match call {
            Call::Shell(command) => ("Bash", json!({ "command": command, "description": "scripted" })),
            Call::Write { path, content } => ("Write", json!({ "file_path": path, "content": content })),
            Call::Tool { name, input } => (name.as_str(), input.clone()),
        };
        blocks.push(json!({ "type": "tool_use", "id": format!("toolu_{number}_{at}"), "name": name, "input": input }));
    }
    blocks
}

fn streamed(block: &Value) -> (Value, Vec<Value>) {
    match block["type"].as_str() {
        Some("text") => {
            (json!({ "type": "text", "text": "" }), vec![json!({ "type": "text_delta", "text": block["text"] })])
        }
        Some("thinking") => (
            json!({ "type": "thinking", "thinking": "", "signature": "" }),
            vec![
                json!({ "type": "thinking_delta", "thinking": block["thinking"] }),
                json!({ "type": "signature_delta", "signature": block["signature"] }),
            ],
        ),
        _ => (
            json!({ "type": "tool_use", "id": block["id"], "name": block["name"], "input": {} }),
            vec![json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() })],
        ),
    }
}

/// A user who has a key.
pub(super) fn log_in(url: &str, _write: &dyn Fn(&str, &str)) -> Vec<(&'static str, String)> {
    vec![("ANTHROPIC_API_KEY", "sk-ant-scripted".to_owned()), ("ANTHROPIC_BASE_URL", url.to_owned())]
}
