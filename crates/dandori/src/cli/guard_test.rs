//! `dandori guard test`

use std::io::Read;
use std::process::ExitCode;

use camino::Utf8PathBuf;
use clap::Args;
use dandori_domain::Problem;
use dandori_guard::decode;
use dandori_text::guard::verbs as text;
use serde_json::json;

use super::Context;
use super::guard_explain::{guards_json, show_guards, verdict_word};
use crate::guarded::judge_all;
use crate::out::{Failed, dim};

#[derive(Args)]
pub(crate) struct GuardTestArgs {
    /// The event's JSON, as a client sends it; - for stdin
    event: Utf8PathBuf,
    /// The client it is of (default: as the event looks)
    #[arg(long)]
    agent: Option<String>,
}

pub(crate) fn run(args: &GuardTestArgs, context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    let bad = |why: String| Failed::Refused(text::bad_event(out.lang, &why));
    let mut bytes = Vec::new();
    let read = if args.event == "-" {
        std::io::stdin().lock().read_to_end(&mut bytes)
    } else {
        std::fs::File::open(&args.event).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    read.map_err(|e| Problem::Io { path: args.event.clone(), reason: e.to_string() })?;
    let agent = args
        .agent
        .as_deref()
        .map(str::parse)
        .transpose()
        .map_err(|e: dandori_guard::event::UnknownAgent| bad(e.to_string()))?;
    let mut event = decode(&bytes, agent).map_err(|e| bad(e.to_string()))?;
    event.cwd = event.cwd.or(Some(context.here()?));
    let (_, judged) = judge_all(context, &event)?;
    let answer = &judged.answer;
    let stdout = String::from_utf8_lossy(&answer.stdout).into_owned();
    out.object(&json!({
        "agent": event.agent.to_string(),
        "event": event.name,
        "guards": guards_json(&judged.judgement),
        "verdict": verdict_word(&judged.judgement),
        "answer": { "stdout": stdout, "stderr": answer.stderr, "exit": answer.exit },
        "oddities": event.oddities.iter().map(ToString::to_string).collect::<Vec<_>>(),
    }));
    for oddity in &event.oddities {
        out.note(oddity);
    }
    show_guards(out, &judged.judgement);
    out.line(dim(&format!("exit {}", answer.exit)));
    if !stdout.is_empty() {
        out.line(dim(&stdout));
    }
    Ok(ExitCode::SUCCESS)
}
