//! Anthropic's Messages, as Claude Code asks for them.

use serde_json::{Value, json};

use super::{Heard, Reply, Request, Step, field, items};

pub(in super::super) fn reply(request: &Request, heard: &Heard) -> Reply {
    let is_turn = request.method == "POST" && request.path.starts_with("/v1/messages");
    if !is_turn || request.path.contains("count_tokens") {
        return Reply::json(json!({ "data": [], "input_tokens": 10 }));
    }
    let body = &request.body;
    // Titles and the like come without tools.
    if items(body, "tools").is_empty() {
        return said(body, 0, None);
    }
    let turns = items(body, "messages").iter().filter(|m| field(m, "role") == "assistant").count();
    said(body, turns, heard.step(turns, body))
}

fn said(body: &Value, turn: usize, step: Option<&Step>) -> Reply {
    let block = match step {
        None => json!({ "type": "text", "text": "done" }),
        Some(step) => {
            let (name, input) = match step {
                Step::Shell(command) => ("Bash", json!({ "command": command, "description": "self-test" })),
                Step::Write { path, line } => ("Write", json!({ "file_path": path, "content": format!("{line}\n") })),
            };
            json!({ "type": "tool_use", "id": format!("toolu_{turn:03}"), "name": name, "input": input })
        }
    };
    let stop = if step.is_some() { "tool_use" } else { "end_turn" };
    let usage = json!({ "input_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
                        "output_tokens": 1 });
    let message = |content: Value, stop: Value| {
        json!({ "id": format!("msg_{turn:03}"), "type": "message", "role": "assistant", "model": field(body, "model"),
                "content": content, "stop_reason": stop, "stop_sequence": null, "usage": usage })
    };
    if field(body, "stream") != true {
        return Reply::json(message(json!([block]), json!(stop)));
    }
    let (begun, delta) = match field(&block, "type").as_str() {
        Some("text") => {
            (json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": field(&block, "text") }))
        }
        _ => (
            json!({ "type": "tool_use", "id": field(&block, "id"), "name": field(&block, "name"), "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": field(&block, "input").to_string() }),
        ),
    };
    let end = json!({ "stop_reason": stop, "stop_sequence": null });
    Reply::named([
        ("message_start", json!({ "message": message(json!([]), Value::Null) })),
        ("content_block_start", json!({ "index": 0, "content_block": begun })),
        ("content_block_delta", json!({ "index": 0, "delta": delta })),
        ("content_block_stop", json!({ "index": 0 })),
        ("message_delta", json!({ "delta": end, "usage": { "output_tokens": 5 } })),
        ("message_stop", json!({})),
    ])
}
