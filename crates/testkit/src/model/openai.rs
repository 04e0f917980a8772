//! OpenAI's Responses API, as Codex uses it: events over HTTP, no WebSocket.

use std::io;
use std::net::TcpStream;

use serde_json::{Value, json};

use super::script::{Call, Fault, Turn};
use super::{Shared, http};

pub(crate) fn answer(request: &http::Request, stream: &mut TcpStream, shared: &Shared) -> io::Result<()> {
    if request.method != "POST" {
        shared.record(request, None);
        let status = if request.headers.contains_key("upgrade") { 426 } else { 200 };
        return http::json(stream, status, &json!({ "data": [], "models": [] }));
    }
    let path = request.path.split('?').next().unwrap_or_default();
    if !path.ends_with("/responses") {
        shared.record(request, None);
        return http::json(stream, 200, &json!({}));
    }
    let items = request.body["input"].as_array().cloned().unwrap_or_default();
    let number = turns_in(&items);
    shared.record(request, Some(number));
    let first: String = items.iter().filter(|i| i["role"] == "user").map(ToString::to_string).collect();
    play(&shared.turn(&first, number), number, stream, shared)
}

/// A model turn is an unbroken run of what a model says.
fn turns_in(items: &[Value]) -> usize {
    let is_models = |item: &Value| match item["type"].as_str() {
        None | Some("message") => item["role"] == "assistant",
        Some(kind) => ["function_call", "custom_tool_call", "local_shell_call", "reasoning"].contains(&kind),
    };
    let marks: Vec<bool> = items.iter().map(is_models).collect();
    std::iter::once(false).chain(marks.iter().copied()).zip(&marks).filter(|(before, now)| !before && **now).count()
}

fn play(turn: &Turn, number: usize, stream: &mut TcpStream, shared: &Shared) -> io::Result<()> {
    match &turn.fault {
        Some(Fault::Status { status, message }) => {
            let error = json!({ "error": { "message": message, "type": "server_error", "code": null } });
            return http::json(stream, *status, &error);
        }
        Some(Fault::Hang) => {
            shared.hang();
            return Ok(());
        }
        _ => {}
    }
    let id = format!("resp_{number:03}");
    http::begin_events(stream)?;
    let mut send = |kind: &str, mut data: Value| {
        data["type"] = json!(kind);
        http::event(stream, Some(kind), &data)
    };
    let begun = json!({ "id": id, "object": "response", "status": "in_progress", "output": [] });
    send("response.created", json!({ "response": begun }))?;
    match turn.fault {
        Some(Fault::HangAfterStart) => {
            shared.hang();
            return Ok(());
        }
        Some(Fault::Cut) => return Ok(()),
        _ => {}
    }
    for (index, item) in items(turn, number).into_iter().enumerate() {
        if item["type"] == "message" {
            let mut begun = item.clone();
            begun["content"] = json!([]);
            begun["status"] = json!("in_progress");
            send("response.output_item.added", json!({ "output_index": index, "item": begun }))?;
            let delta = json!({ "item_id": item["id"], "output_index": index, "content_index": 0,
                                "delta": item["content"][0]["text"] });
            send("response.output_text.delta", delta)?;
        }
        send("response.output_item.done", json!({ "output_index": index, "item": item }))?;
    }
    let (input, output) = turn.usage();
    let usage = json!({
        "input_tokens": input, "input_tokens_details": { "cached_tokens": 0 },
        "output_tokens": output, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": input + output,
    });
    let ended = json!({ "id": id, "object": "response", "status": "completed", "output": [], "usage": usage });
    send("response.completed", json!({ "response": ended }))
}

fn items(turn: &Turn, number: usize) -> Vec<Value> {
    let mut items = Vec::new();
    if let Some(thought) = &turn.thought {
        items.push(json!({ "type": "reasoning", "id": format!("rs_{number}"), "encrypted_content": "c3R1Yg==",
                           "summary": [{ "type": "summary_text", "text": thought }] }));
    }
    if let Some(text) = &turn.text {
        items.push(
            json!({ "type": "message", "id": format!("msg_{number}"), "role": "assistant", "status": "completed",
                           "content": [{ "type": "output_text", "text": text, "annotations": [] }] }),
        );
    }
    for (at, call) in turn.calls.iter().enumerate() {
        let call_id = format!("call_{number}_{at}");
        items.push(match call {
            Call::Shell(command) => function(&call_id, "exec_command", &json!({ "cmd": command })),
            Call::Tool { name, input } => function(&call_id, name, input),
            Call::Write { path, content } => {
                let added: Vec<String> = content.lines().map(|line| format!("+{line}")).collect();
                let added = added.join("\n");
                let patch = format!("*** Begin Patch\n*** Add File: {path}\n{added}\n*** End Patch\n");
                json!({ "type": "custom_tool_call", "id": format!("ctc_{call_id}"), "call_id": call_id,
                        "name": "apply_patch", "input": patch, "status": "completed" })
            }
        });
    }
    items
}

fn function(call_id: &str, name: &str, arguments: &Value) -> Value {
    json!({ "type": "function_call", "id": format!("fc_{call_id}"), "call_id": call_id, "name": name,
            "arguments": arguments.to_string(), "status": "completed" })
}

/// A user with a provider of his own: only those can be told how often to try again. The model is one that uses the plain
/// tools.
pub(super) fn log_in(url: &str, write: &dyn Fn(&str, &str)) -> Vec<(&'static str, String)> {
    write(
        ".codex/config.toml",
        &format!(
            "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\n\
             name = \"scripted\"\nbase_url = \"{url}\"\nenv_key = \"SCRIPTED_KEY\"\n\
             wire_api = \"responses\"\n"
        ),
    );
    vec![("SCRIPTED_KEY", "scripted".to_owned())]
}
