//! OpenAI's Responses, as Codex asks for them: events over HTTP, no WebSocket.

use serde_json::{Value, json};

use super::{Heard, Reply, Request, Step, field, items};

pub(in super::super) fn reply(request: &Request, heard: &Heard) -> Reply {
    if request.method != "POST" {
        let status = if request.wants_upgrade { 426 } else { 200 };
        return Reply::Json { status, body: json!({ "data": [], "models": [] }) };
    }
    if !request.path.split('?').next().is_some_and(|path| path.ends_with("/responses")) {
        return Reply::json(json!({}));
    }
    let turns = turns_in(items(&request.body, "input"));
    said(turns, heard.step(turns, &request.body))
}

/// A turn is an unbroken run of what a model says.
fn turns_in(items: &[Value]) -> usize {
    let is_model_s = |item: &Value| match field(item, "type").as_str() {
        None | Some("message") => field(item, "role") == "assistant",
        Some(kind) => ["function_call", "custom_tool_call", "local_shell_call", "reasoning"].contains(&kind),
    };
    let mut was_model_s = false;
    let begins = |item: &&Value| {
        let begins = is_model_s(item) && !was_model_s;
        was_model_s = is_model_s(item);
        begins
    };
    items.iter().filter(begins).count()
}

fn said(turn: usize, step: Option<&Step>) -> Reply {
    let call = format!("call_{turn:03}");
    let item = match step {
        None => json!({ "type": "message", "id": format!("msg_{turn:03}"), "role": "assistant", "status": "completed",
                        "content": [{ "type": "output_text", "text": "done", "annotations": [] }] }),
        Some(Step::Shell(command)) => {
            json!({ "type": "function_call", "id": format!("fc_{turn:03}"), "call_id": call, "name": "exec_command",
                    "arguments": json!({ "cmd": command }).to_string(), "status": "completed" })
        }
        Some(Step::Write { path, line }) => {
            let patch = format!("*** Begin Patch\n*** Add File: {path}\n+{line}\n*** End Patch\n");
            json!({ "type": "custom_tool_call", "id": format!("ctc_{turn:03}"), "call_id": call, "name": "apply_patch",
                    "input": patch, "status": "completed" })
        }
    };
    let response = |status: &str, usage: Value| {
        json!({ "response": { "id": format!("resp_{turn:03}"), "object": "response", "status": status, "output": [],
                              "usage": usage } })
    };
    let usage = json!({
        "input_tokens": 10, "input_tokens_details": { "cached_tokens": 0 },
        "output_tokens": 5, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 15,
    });
    Reply::named([
        ("response.created", response("in_progress", Value::Null)),
        ("response.output_item.done", json!({ "output_index": 0, "item": item })),
        ("response.completed", response("completed", usage)),
    ])
}
