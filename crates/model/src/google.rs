//! Google's API.

use std::io;
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::http;
use crate::script::{Call, Fault, Turn};
use crate::server::Shared;

pub(crate) fn answer(request: &http::Request, stream: &mut TcpStream, shared: &Shared) -> io::Result<()> {
    let verb = request.path.rsplit(':').next().unwrap_or_default().split('?').next().unwrap_or_default();
    if verb != "streamGenerateContent" {
        shared.record(request, None);
        return http::json(stream, 200, &aside(verb));
    }
    let contents = request.body["contents"].as_array().cloned().unwrap_or_default();
    let number = contents.iter().filter(|c| c["role"] == "model").count();
    shared.record(request, Some(number));
    // The first content is the environment the CLI describes, or both in one.
    let first: String = contents.iter().filter(|c| c["role"] == "user").map(ToString::to_string).collect();
    play(&shared.turn(&first, number), number, stream, shared)
}

/// Counting, routing and loop checks.
fn aside(verb: &str) -> Value {
    match verb {
        "countTokens" => json!({ "totalTokens": 10 }),
        "generateContent" => json!({
            "candidates": [{ "content": { "role": "model", "parts": [{ "text": "{}" }] }, "finishReason": "STOP", "index": 0 }],
            "usageMetadata": { "promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2 },
            "modelVersion": "scripted",
        }),
        _ => json!({ "models": [] }),
    }
}

fn play(turn: &Turn, number: usize, stream: &mut TcpStream, shared: &Shared) -> io::Result<()> {
    match &turn.fault {
        Some(Fault::Status { status, message }) => {
            let error = json!({ "code": status, "message": message, "status": reason(*status), "details": [] });
            return http::json(stream, *status, &json!({ "error": error }));
        }
        Some(Fault::Hang) => {
            shared.hang();
            return Ok(());
        }
        _ => {}
    }
    http::begin_events(stream)?;
    let mut send = |parts: Value, end: Option<Value>| {
        let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
        let mut answer = json!({ "modelVersion": "scripted", "responseId": format!("r{number}") });
        if let Some(usage) = end {
            candidate["finishReason"] = json!("STOP");
            answer["usageMetadata"] = usage;
        }
        answer["candidates"] = json!([candidate]);
        http::event(stream, None, &answer)
    };
    match turn.fault {
        Some(Fault::HangAfterStart) => {
            send(json!([{ "text": "par" }]), None)?;
            shared.hang();
            return Ok(());
        }
        Some(Fault::Cut) => return send(json!([{ "text": "par" }]), None),
        _ => {}
    }
    if let Some(thought) = &turn.thought {
        send(json!([{ "text": thought, "thought": true }]), None)?;
    }
    if let Some(text) = &turn.text {
        send(json!([{ "text": text }]), None)?;
    }
    for (at, call) in turn.calls.iter().enumerate() {
        let (name, args) = match call {
            Call::Shell(command) => ("run_shell_command", json!({ "command": command, "description": "scripted" })),
            Call::Write { path, content } => ("write_file", json!({ "file_path": path, "content": content })),
            Call::Tool { name, input } => (name.as_str(), input.clone()),
        };
        let call = json!({ "id": format!("call_{number}_{at}"), "name": name, "args": args });
        send(json!([{ "functionCall": call, "thoughtSignature": "c3R1Yg==" }]), None)?;
    }
    let (input, output) = turn.usage();
    let usage = json!({ "promptTokenCount": input, "candidatesTokenCount": output, "totalTokenCount": input + output });
    send(json!([{ "text": "" }]), Some(usage))
}

fn reason(status: u16) -> &'static str {
    match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        _ => "INTERNAL",
    }
}
