//! Google's models, as its own CLI asks for them.

use serde_json::{Value, json};

use super::{Heard, Reply, Request, Step, field, items};

pub(in super::super) fn reply(request: &Request, heard: &Heard) -> Reply {
    let verb = request.path.rsplit(':').next().unwrap_or_default().split('?').next().unwrap_or_default();
    match verb {
        "streamGenerateContent" => {
            let turns = items(&request.body, "contents").iter().filter(|c| field(c, "role") == "model").count();
            said(turns, heard.step(turns, &request.body))
        }
        // Routing and loop checks.
        "generateContent" => Reply::json(answer(&json!([{ "text": "{}" }]), 0)),
        "countTokens" => Reply::json(json!({ "totalTokens": 10 })),
        _ => Reply::json(json!({ "models": [] })),
    }
}

fn said(turn: usize, step: Option<&Step>) -> Reply {
    let part = match step {
        None => json!({ "text": "done" }),
        Some(step) => {
            let (name, args) = match step {
                Step::Shell(command) => {
                    ("run_shell_command", json!({ "command": command, "description": "self-test" }))
                }
                Step::Write { path, line } => {
                    ("write_file", json!({ "file_path": path, "content": format!("{line}\n") }))
                }
            };
            let call = json!({ "id": format!("call_{turn:03}"), "name": name, "args": args });
            json!({ "functionCall": call, "thoughtSignature": "c2VsZi10ZXN0" })
        }
    };
    Reply::Events(vec![(None, answer(&json!([part]), turn))])
}

fn answer(parts: &Value, turn: usize) -> Value {
    json!({
        "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": { "promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15 },
        "modelVersion": "self-test", "responseId": format!("r{turn}"),
    })
}
